"""The pool in detail, out of what three parts know."""

import msgspec
import pytest

from studio.app.pool import Pool
from studio.domain.events import Event, PoolChanged
from studio.domain.metrics import EngineSample, Tick
from studio.domain.plans import Plan, PlanVerdict
from studio.domain.pool import Resident
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState

READY = EngineSnapshot(
    state=EngineState.READY, preset="27b-mtp", pool_tokens=68_605, max_model_len=65_536
)
TICK = Tick(
    at=1.0,
    pool_tokens=68_605,
    pool_used_tokens=20_000,
    pool_used_share=0.2915,
    running=2,
    waiting=0,
    tokens_per_step=4.0,
    preemptions=0,
)
PLAN = Plan(
    preset="27b-mtp",
    model="m",
    engine="vllm-0.31.0",
    host="h",
    verdict=next(iter(PlanVerdict)),
    pool_tokens=68_605,
    pool_tokens_error=0,
    seats=8,
)


class Parts:
    """What the pool asks."""

    def __init__(self) -> None:
        self.engine = READY
        self.tick: Tick | None = TICK
        self.residents: tuple[Resident, ...] = ()
        self.pieces: list[float] = []
        self.published: list[Event] = []
        self.pool = Pool(
            engine=lambda: self.engine,
            tick=lambda: self.tick,
            residents=self._residents,
            publish=self.published.append,
        )

    def _residents(self, tokens_a_piece: float) -> tuple[Resident, ...]:
        self.pieces.append(tokens_a_piece)
        return self.residents


@pytest.fixture
def parts() -> Parts:
    """An engine with two requests."""
    made = Parts()
    made.pool.expect(PLAN)
    made.pool.see(EngineSample(blocks=380, block_size=448))
    return made


def test_everything_known_is_there(parts: Parts) -> None:
    """From the engine, the plan and the tick."""
    found = parts.pool.now()

    assert (found.tokens, found.used_tokens) == (68_605, 20_000)
    assert (found.blocks, found.used_blocks, found.block_tokens) == (380, 111, 448)
    assert found.seats == 8
    assert found.concurrency == pytest.approx(68_605 / 65_536)
    assert found.forecast_note == "The pool is what was forecast, to the token."
    assert found.room.sentence == "Room for one more 48k conversation, or four of 12k."


def test_a_piece_of_an_answer_is_as_many_tokens_as_a_step_makes(parts: Parts) -> None:
    """With speculation a piece holds several tokens."""
    parts.pool.now()

    assert parts.pieces == [4.0]


def test_residents_come_largest_first_and_explain_the_pool(parts: Parts) -> None:
    """What they do not explain is said; unknown where one of them is unknown."""
    small = Resident(request_id="a", prompt_tokens=4_000, generated_tokens=10)
    large = Resident(request_id="b", prompt_tokens=15_000)
    parts.residents = (small, large)

    assert [one.request_id for one in parts.pool.now().residents] == ["b", "a"]
    assert parts.pool.now().other_tokens == 20_000 - 9 * 448 - 34 * 448
    parts.residents = (small, Resident(request_id="c"))
    assert parts.pool.now().other_tokens is None


@pytest.mark.parametrize(
    ("forecast", "error", "note"),
    [
        (68_000, 1_000, "605 tokens larger than forecast, within its error bar of ±1,000"),
        (70_000, 500, "1,395 tokens smaller than forecast, beyond its error bar of ±500"),
        (70_000, 0, "1,395 tokens smaller than forecast (70,000 tokens)"),
    ],
)
def test_the_forecast_is_held_against_what_was_printed(
    parts: Parts, forecast: int, error: int, note: str
) -> None:
    """So that people trust the next one, or do not."""
    parts.pool.expect(msgspec.structs.replace(PLAN, pool_tokens=forecast, pool_tokens_error=error))

    assert parts.pool.now().forecast_note == f"The pool is {note}."


def test_an_engine_that_does_not_serve_has_no_pool(parts: Parts) -> None:
    """What was last heard of another one is not its own."""
    parts.engine = EngineSnapshot()

    found = parts.pool.now()

    assert found.tokens is found.used_tokens is found.blocks is found.seats is None


def test_an_adopted_server_has_no_plan(parts: Parts) -> None:
    """Its seats are not known, so they limit nothing."""
    adopted = AdoptedInfo(name="lab", url="http://lab")
    parts.engine = EngineSnapshot(state=EngineState.ADOPTED, adopted=adopted, preset="27b-mtp")

    found = parts.pool.now()

    assert found.preset == "lab"
    assert found.seats is found.forecast_note is None


def test_it_is_announced_when_something_to_see_has_changed(parts: Parts) -> None:
    """Not every second for nothing."""
    parts.pool.hear_tick(TICK)
    parts.pool.hear_tick(TICK)
    assert len(parts.published) == 1

    parts.residents = (Resident(request_id="new"),)
    parts.pool.hear_tick(TICK)
    (_, event) = parts.published
    assert isinstance(event, PoolChanged)
    assert event.pool.residents[0].request_id == "new"
