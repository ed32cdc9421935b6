"""The screen of `weir top`, drawn."""

import time
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.cli.cells import text_of, width_of
from studio.cli.top_state import State
from studio.cli.top_view import screen
from studio.domain.errors import ErrorInfo
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.metrics import Tick
from studio.domain.remedies import Badge
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.speed import SpeedVerdict
from studio.domain.spill import SpillFlow, SpillKind
from tests.cli import top_screens
from tests.cli.top_samples import NOW, STATES, card, state


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clocks on screens are local."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def drawn(found: State, width: int = 80, height: int = 24) -> str:
    """Return a screen as text."""
    return "\n".join(text_of(line) for line in screen(found, width, height, NOW))


@pytest.mark.parametrize("case", top_screens.names(), ids=lambda case: case[0])
def test_every_screen_is_as_it_was_reviewed(case: tuple[str, str, int, int]) -> None:
    """`python -m tests.cli.top_screens` writes them anew."""
    kept = (top_screens.FOLDER / f"{case[0]}.txt").read_text(encoding="utf-8")

    assert top_screens.text(*case) == kept


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("view", ["main", "alarms", "cards", "help"])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (97, 31), (200, 60), (40, 10), (10, 3)])
def test_a_screen_is_exactly_as_large_as_the_terminal(
    name: str, view: str, width: int, height: int
) -> None:
    """One line too many scrolls the title away; one column too many wraps."""
    found = STATES[name]
    before, found.view = found.view, view
    try:
        lines = screen(found, width, height, NOW)
    finally:
        found.view = before

    assert len(lines) == height
    assert max(width_of(text_of(line)) for line in lines) <= width


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Tick,
        at=st.floats(0, 2e9),
        pool_tokens=st.none() | st.integers(0, 10**9),
        pool_used_share=st.none() | st.floats(0, 1),
        running=st.none() | st.integers(0, 10**6),
        decode_tokens_per_s=st.none() | st.floats(0, 1e7),
        prefill_tokens_per_s=st.none() | st.floats(0, 1e7),
        tokens_per_step=st.none() | st.floats(0, 100),
        spill_bytes=st.none() | st.integers(0, 10**13),
    ),
    st.integers(80, 240),
    st.integers(24, 80),
)
def test_no_figures_break_the_screen(tick: Tick, width: int, height: int) -> None:
    """Whatever an engine counts."""
    found = State(engine=EngineSnapshot(state=EngineState.READY, preset="p"))
    found.fill([tick])

    lines = screen(found, width, height, NOW)

    assert len(lines) == height
    assert max(width_of(text_of(line)) for line in lines) <= width


def test_what_matters_most_is_there_at_the_smallest_size() -> None:
    """Engine, pool, spill, tok/s; then alarms, cards, keys."""
    shown = drawn(state((card(),)))

    for words in (
        "Ready: 27b-dflash2",
        "62 %  42,535 of 68,605 tokens",
        "none where it hurts",
        "tok/s",
        "first 0.17 s, 95 % 0.31 s · step 26 ms · 3.10 tok/step · cache 71 %",
        "Room for one more conversation of 20,000 tokens.",
        "41 tok/s, published 52 on this card at 350 W",
        "22.1/24.0",
        "248/250",
        "sw-power-cap",
        "laptop",
        "q quit",
    ):
        assert words in shown, words


def test_an_unknown_has_its_reason_beside_it() -> None:
    """A dash alone sends people searching."""
    assert "– (NVIDIA's driver does not answer, or there is none)" in drawn(state(None))
    assert "none: the driver lists no card" in drawn(state(()))
    unknown = drawn(STATES["unknown"])
    assert "– (no reading yet)" in unknown
    spill = state(None, (SpillFlow(kind=SpillKind.SWAP, note="The kernel does not tell."),))
    spill.tick = msgspec.structs.replace(spill.ticks[-1], spill_bytes=None)
    assert "– where it hurts (The kernel does not tell)" in drawn(spill)
    stopped = drawn(STATES["stopped"])
    assert "– (no reading yet)" in stopped
    idle = state(None)
    idle.tick = msgspec.structs.replace(idle.ticks[-1], decode_tokens_per_s=None)
    assert "– (no work in the last seconds)" in drawn(idle)
    idle.engine = EngineSnapshot()
    assert "– (no engine serves)" in drawn(idle)
    assert "power: not supported" in (top_screens.FOLDER / "page-cards.txt").read_text()


def test_spill_is_split_into_what_hurts_and_what_was_meant() -> None:
    """A KV tier in the machine's memory is no alarm."""
    spilled, quiet = drawn(STATES["spilled"]), drawn(state((card(),)), 120, 40)

    assert "1.86 GiB where it hurts" in spilled
    wide = drawn(STATES["spilled"], 120, 40)
    assert "shared memory (RTX 4090) 1.86 GiB, 600.0 MiB/s" in wide
    assert "CPU KV tier 1.00 GiB, 3.0 MiB/s" in quiet
    assert "expert ring – (The engine does not say)" in quiet


def test_pressure_has_no_bytes_and_is_shown_all_the_same() -> None:
    """It is a share of time."""
    pressed = (SpillFlow(kind=SpillKind.MEMORY_PRESSURE, share=0.31, since=NOW - 9),)

    assert "memory pressure 31 % where it hurts" in drawn(state((card(),), pressed))


def test_the_worst_alarm_comes_first() -> None:
    """Three lines have to do."""
    shown = drawn(STATES["spilled"])

    first = shown.index("harm: 1.8 GiB in system memory (card 0). The KV pin exceeds")
    assert first < shown.index("notice: The disk fills up")
    page = (top_screens.FOLDER / "page-alarms.txt").read_text()
    assert "Lower kv_cache_memory_bytes to 4,100,000,000 and restart." in page
    assert "shared memory 1.86 GiB above its idle baseline for 40 s" in page


def test_a_boot_shows_its_bar_and_its_sentence() -> None:
    """That is what one looks at for three minutes."""
    found = state(None)
    found.engine = EngineSnapshot(state=EngineState.STARTING, preset="p", note="about 40 s left")
    found.stages["boot"] = StageProgress(
        stage=Stage.BOOT,
        state=StageState.RUNNING,
        title="Start the engine",
        note="about 40 s left: compiling",
        done=20.0,
        total=60.0,
        unit="s",
    )

    shown = drawn(found)

    assert "Boot     ███░░░░░░░  33 % Start the engine: 20.0 s of 1 min 00 s" in shown


def test_failures_and_slow_paths_are_said_above_all_figures() -> None:
    """They explain the figures."""
    found = state(None)
    found.engine = EngineSnapshot(
        state=EngineState.FAILED, error=ErrorInfo(code="oom", message="The card is full.")
    )
    assert "Engine   The card is full." in drawn(found)
    found.engine = EngineSnapshot(state=EngineState.BACKING_OFF, died_of="It was killed.")
    assert "Engine   It was killed." in drawn(found)
    badge = Badge(code="eager", title="Eager mode", cost="slow", evidence="a line")
    found.engine = EngineSnapshot(state=EngineState.READY, badges=(badge,), stalled_s=33.0)
    shown = drawn(found)
    assert "slower than it could be: Eager mode" in shown
    assert "no step for 33.0 s although it has work" in shown


def test_a_service_that_is_gone_is_said_and_the_last_figures_stay() -> None:
    """They are what one wants to see of it."""
    shown = drawn(STATES["gone"])

    assert "service gone" in shown.splitlines()[0]
    assert "The service is gone (weir down); looking for it again." in shown
    assert "42,535 of 68,605 tokens" in shown


def test_a_paused_screen_says_so() -> None:
    """Else it is taken for a dead one."""
    assert "paused" in drawn(state(None, is_paused=True)).splitlines()[0]


def test_a_speed_that_cannot_be_compared_takes_no_room_from_figures() -> None:
    """Most of the time nothing runs that a figure is known of."""
    found = state(None)
    assert found.speed is not None
    verdict = SpeedVerdict(sentence="Nothing runs.")
    found.speed = msgspec.structs.replace(found.speed, verdict=verdict)

    assert "Nothing runs." not in drawn(found)
    assert "Nothing runs." in drawn(found, 120, 40)


def test_reasons_for_waiting_and_guesses_are_for_wide_terminals() -> None:
    """They explain two figures that stand beside them."""
    shown = drawn(state(None), 160, 40)

    assert "waiting 1 (no room or seat 1)" in shown
    assert "guesses taken 81 62 40 %" in shown
    assert "between tokens 25 ms, 95 % 31 ms" in shown
    assert "41.3" in shown
    odd = state(None)
    odd.tick = msgspec.structs.replace(odd.ticks[-1], waiting_by_reason={"new": 0})
    assert "waiting 1 (–)" in drawn(odd, 160, 40)


def test_why_cards_are_not_known_is_the_monitors_own_word() -> None:
    """It knows whether a driver hangs or is not there."""
    found = state(None)
    found.tick = msgspec.structs.replace(found.ticks[-1], cards_note="The driver hangs.")
    assert "– (The driver hangs.)" in drawn(found)
    stale = state((card(),), view="cards")
    stale.tick = msgspec.structs.replace(stale.ticks[-1], cards_note="Cards are 9 s old.")
    assert "Cards are 9 s old." in drawn(stale)


def test_a_terminal_that_is_too_small_is_told() -> None:
    """With both sizes."""
    shown = drawn(state(None), 60, 20)

    assert "60 × 20 characters" in shown
    assert "80 × 24" in " ".join(shown.split())


def test_cards_that_have_no_room_are_counted() -> None:
    """Eight of them leave room for nothing else at 24 lines."""
    shown = drawn(state(tuple(card(n) for n in range(16))))

    assert "more: g" in shown
    page = state(tuple(card(n) for n in range(16)), view="cards")
    assert "more: g" not in drawn(page)


def test_without_blocks_the_screen_is_plain_text() -> None:
    """For terminals that know Latin-1 only."""
    lines = screen(state((card(),)), 80, 24, NOW, is_plain=True)

    assert not set("█░▁▂▃▄▅▆▇") & set("".join(text_of(line) for line in lines))
