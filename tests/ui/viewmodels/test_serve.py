"""The gauge and the big figures."""

import msgspec
import pytest

from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.domain.spill import SpillFlow, SpillKind
from studio.ui.state import Action, Known, Link
from studio.ui.viewmodels.serve import Mode, gauge_moved, mode_of, serve_view
from studio.ui.viewmodels.words import Role
from tests.ui.fake_service import POOL, READY, booting, tick

LIVE = Known(link=Link.LIVE, engine=READY)
ADOPTED = AdoptedInfo(name="Bob's", url="http://127.0.0.1:8000")
THEIRS = EngineSnapshot(state=EngineState.ADOPTED, adopted=ADOPTED)
GONE = EngineSnapshot(state=EngineState.GONE, adopted=ADOPTED)


@pytest.mark.parametrize(
    ("known", "choosing", "mode"),
    [
        (Known(link=Link.LIVE), False, Mode.CHOOSE),
        (Known(engine=EngineSnapshot(state=EngineState.FAILED)), False, Mode.CHOOSE),
        (Known(pending=frozenset({Action.UP})), False, Mode.PROGRESS),
        (
            Known(
                stages=(
                    StageProgress(
                        of_up=True, stage=Stage.MODEL, state=StageState.RUNNING, title="Get it"
                    ),
                )
            ),
            False,
            Mode.PROGRESS,
        ),
        (Known(engine=booting(1, elapsed_s=1.0)), True, Mode.PROGRESS),
        (Known(engine=EngineSnapshot(state=EngineState.BACKING_OFF)), False, Mode.PROGRESS),
        (Known(link=Link.LIVE, engine=THEIRS), False, Mode.WEIR),
        (Known(link=Link.LIVE, engine=GONE), True, Mode.WEIR),
        (LIVE, False, Mode.WEIR),
        (LIVE, True, Mode.CHOOSE),
        (msgspec.structs.replace(LIVE, pending=frozenset({Action.SWITCH})), False, Mode.PROGRESS),
        (msgspec.structs.replace(LIVE, pending=frozenset({Action.STOP})), False, Mode.WEIR),
    ],
)
def test_the_page_shows_what_matters_now(known: Known, choosing: bool, mode: Mode) -> None:
    """Choose, wait, watch: one at a time."""
    assert mode_of(known, choosing=choosing) is mode


def test_an_adopted_engine_has_figures_until_it_is_gone() -> None:
    """A number of an engine that does not answer would be a lie."""
    news = tick(0, pool_used_tokens=41_200, decode_tokens_per_s=132.4)

    there = serve_view(Known(link=Link.LIVE, engine=THEIRS), [news]).figures
    gone = serve_view(Known(link=Link.LIVE, engine=GONE), [news]).figures

    assert there[0].value == "41,200"
    assert gone[0].value != "41,200"
    assert "does not answer" in gone[0].tooltip


def test_figures_say_the_number_its_unit_and_its_meaning() -> None:
    """The three that are read from across the room."""
    news = tick(0, pool_used_tokens=41_200, decode_tokens_per_s=132.4)

    pool, spill, speed = serve_view(LIVE, [news]).figures

    assert (pool.value, pool.unit) == ("41,200", "of 68,605 tokens")
    assert pool.meaning == "1 request waits its turn"
    assert (spill.value, spill.unit, spill.role) == ("0", "B", Role.INK)
    assert (speed.value, speed.unit) == ("132", "tok/s")
    assert speed.meaning == "decode, with prefill at 1,240 tok/s"


@pytest.mark.parametrize(
    ("used", "meaning"),
    [
        (0, "room for 3 more 20k conversations"),
        (41_200, "room for one more 20k conversation"),
        (POOL - 900, "room for 900 tokens more"),
        (POOL, "room for 0 tokens more"),
    ],
)
def test_the_pool_says_what_still_fits(used: int, meaning: str) -> None:
    """Tokens mean little; conversations mean something."""
    news = tick(20, pool_used_tokens=used)

    assert serve_view(LIVE, [news]).figures[0].meaning == meaning


def test_a_small_pool_counts_in_small_conversations() -> None:
    """The demo's pool would otherwise never have room."""
    news = tick(20, pool_tokens=20_000, pool_used_tokens=5_000)

    assert serve_view(LIVE, [news]).figures[0].meaning == "room for 7 more 2k conversations"


def test_spill_hurts_in_colour_words_and_water() -> None:
    """Swap is where speed goes to die."""
    news = tick(20, spill_bytes=3 << 30)

    view = serve_view(LIVE, [news])

    assert view.figures[1].role is Role.HARM
    assert view.figures[1].meaning == "in swap, where it slows every answer"
    assert view.gauge.spills
    assert view.gauge.spill == "spill 3.00 GiB"
    assert 0 < view.gauge.spill_share <= 1


def test_kinds_of_spill_have_words() -> None:
    """`wddm-shared` is a name in a file."""
    flow = SpillFlow(kind=SpillKind.WDDM_SHARED, bytes=3 << 30)

    view = serve_view(LIVE, [tick(20, spill_bytes=3 << 30, spill=(flow,))])

    assert view.figures[1].tooltip.splitlines()[1:] == ["shared: 3.00 GiB"]


@pytest.mark.parametrize("link", [Link.LIVE, Link.LOST])
def test_unknown_is_a_dash_with_a_reason_and_never_zero(link: Link) -> None:
    """A zero that nobody measured sends people looking in the wrong place."""
    known = Known(link=link, engine=READY if link is Link.LOST else EngineSnapshot())
    reason = "The service does not answer." if link is Link.LOST else "The engine is not running."

    view = serve_view(known, [tick(0)])

    assert [figure.value for figure in view.figures] == ["–"] * 3
    assert {figure.tooltip for figure in view.figures} == {reason}
    assert view.gauge.share is None
    assert view.gauge.empty == reason
    assert all("0" not in text.text for _, text in view.gauge.facts)


def test_a_ready_engine_that_reports_nothing_yet_says_so() -> None:
    """The first second after ready."""
    view = serve_view(LIVE, [])

    assert view.gauge.empty == "The engine has not reported its pool yet."
    assert view.figures[0].value == "–"
    assert view.gauge.crest == "pool 68,605 tokens"


def test_acceptance_length_is_shown_where_the_engine_speculates() -> None:
    """Tokens per step is what a drafter earns."""
    plain = dict(serve_view(LIVE, [tick(0)]).gauge.facts)["tok/step"]
    fast = dict(serve_view(LIVE, [tick(0, tokens_per_step=4.63)]).gauge.facts)["tok/step"]

    assert plain.text == "–"
    assert plain.tooltip == "The engine reports this under speculation"
    assert fast.text == "4.6"


def test_the_latest_ttft_stays_while_no_request_begins() -> None:
    """Most seconds have none; a dash there would hide the number that is on the chart."""
    ticks = [tick(0, ttft_s=0.17), tick(1, ttft_s=None)]

    assert dict(serve_view(LIVE, ticks).gauge.facts)["TTFT"].text == "0.17 s"


def test_decode_without_prefill_says_for_how_many() -> None:
    """`prefill at 0.0 tok/s` is noise."""
    news = tick(0, prefill_tokens_per_s=0.0)

    assert serve_view(LIVE, [news]).figures[2].meaning == "decode, for 5 requests"


def test_idle_is_told_from_unmeasured() -> None:
    """Nought is a fact too."""
    view = serve_view(LIVE, [tick(0, load=False)])

    assert view.figures[2].value == "0.0"
    assert view.figures[2].meaning == "idle, waiting for a question"


def test_a_still_gauge_asks_for_no_paint() -> None:
    """Calm when calm: an idle window costs nothing."""
    still = [tick(second, load=False) for second in range(301)]
    later = [tick(second, load=False) for second in range(1, 302)]
    moved = [*later[1:], tick(302)]

    before = serve_view(LIVE, still).gauge
    assert not gauge_moved(before, serve_view(LIVE, later).gauge)
    assert gauge_moved(before, serve_view(LIVE, moved).gauge)
