"""How fast it is, and what it is held against."""

import time
from pathlib import Path

import pytest

from studio.app.speed import Speed
from studio.domain.control import UpRequest
from studio.domain.errors import NotFound
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.keys import UsageRow
from studio.domain.manifests import Expected
from studio.domain.metrics import Tick
from studio.domain.plans import Plan, PlanVerdict
from studio.domain.pool import Resident
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.domain.speed import SpeedCause, SpeedVerdictKind
from studio.monitor.recorder import Recorder
from tests.app.running import fake_paths, running
from tests.fakes.counting import counted

CARD = Gpu(index=0, name="NVIDIA GeForce RTX 3090", power_limit_w=350.0)
PLAN = Plan(
    preset="27b-mtp",
    model="m",
    engine="vllm-0.31.0",
    host="h",
    verdict=next(iter(PlanVerdict)),
    gpus=(0,),
)


class Serving:
    """One engine, one request, one second after the other."""

    def __init__(self, path: Path) -> None:
        self.now = time.time() // 86_400 * 86_400 + 40_000
        self.engine = EngineSnapshot(state=EngineState.READY, preset="27b-mtp", runtime_id="r1")
        self.tick: Tick | None = None
        self.residents: tuple[Resident, ...] = (Resident(request_id="a", prompt_tokens=700),)
        self.rows: list[Expected] = []
        self.host = HostSnapshot(system="Linux", machine="x", os_name="x", gpus=(CARD,))
        self.recorder = Recorder(path / "history.db", clock=lambda: self.now)
        self.speed = Speed(
            recorder=self.recorder,
            engine=lambda: self.engine,
            tick=lambda: self.tick,
            residents=lambda _pieces: self.residents,
            host=lambda: self.host,
            expected=self._expected,
            used=self._used,
            clock=lambda: self.now,
        )
        self.speed.expect(PLAN)

    def _expected(self, preset: str) -> list[Expected]:
        if preset != "27b-mtp":
            raise NotFound("preset-unknown", "There is none.")
        return self.rows

    async def _used(self, seconds: int) -> list[UsageRow]:
        return [
            UsageRow(
                key_id="k",
                key="laptop",
                begins_at=None,
                requests=seconds,
                errors=0,
                estimated=0,
                prompt_tokens=10,
                cached_tokens=0,
                generated_tokens=90,
                tok_s_p50=40.0,
            )
        ]

    def serve(self, seconds: int, decode: float, **more: object) -> None:
        """Let so many seconds pass."""
        for _ in range(seconds):
            self.now += 1
            self.tick = Tick(
                at=self.now, running=len(self.residents), decode_tokens_per_s=decode, **more
            )
            self.speed.hear_tick(self.tick)


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    """Return an engine on an RTX 3090 at 350 W."""
    return Serving(tmp_path)


async def test_a_published_figure_of_this_card_is_what_counts(serving: Serving) -> None:
    """With the drafter told from the steps."""
    serving.rows = [
        Expected(
            card="RTX 3090 at 350 W, Linux",
            decode_tokens_per_s=52.0,
            tokens_per_step=3.6,
            source="them",
        )
    ]
    serving.serve(30, 40.0, tokens_per_step=2.8, acceptance=(0.8, 0.6, 0.4))

    found = await serving.speed.report()

    assert found.verdict.cause is SpeedCause.DRAFTER
    assert "(1.8 of 3 a step instead of 2.6)" in found.verdict.sentence
    assert found.card == "NVIDIA GeForce RTX 3090 at 350 W"
    assert found.decode_tokens_per_s_each == 40
    assert found.keys[0].key == "laptop"
    assert found.keys[0].requests == 3_600
    await serving.recorder.close()


async def test_without_one_this_machines_own_past_counts(serving: Serving) -> None:
    """Learnt by itself while one short conversation runs."""
    serving.serve(300, 60.0)
    await serving.speed.keep()
    assert (await serving.speed.report()).verdict.kind is SpeedVerdictKind.AS_EXPECTED

    serving.now += 86_400
    serving.serve(30, 30.0)
    found = (await serving.speed.report()).verdict
    assert found.sentence.startswith("30.0 tok/s, 60.0 tok/s before on this machine: steps take")
    await serving.recorder.close()


async def test_without_speculation_steps_are_held_against_the_published_speed(
    serving: Serving,
) -> None:
    """A step that "takes longer" beside a published speed is not one of this machine's past."""
    serving.rows = [Expected(card="RTX 3090", decode_tokens_per_s=80.0, source="them")]
    serving.serve(300, 60.0)
    await serving.speed.keep()
    serving.now += 86_400
    serving.serve(30, 50.0)

    found = (await serving.speed.report()).verdict

    assert found.cause is SpeedCause.STEP_TIME
    assert "published 80.0 tok/s" in found.sentence
    assert "(20 ms instead of 12)" in found.sentence
    await serving.recorder.close()


async def test_a_drafter_that_nobody_published_is_held_against_the_past_and_its_speed(
    serving: Serving,
) -> None:
    """The parts are of before, so the speed that they made before stands beside them."""
    serving.rows = [Expected(card="RTX 3090", decode_tokens_per_s=80.0, source="them")]
    serving.serve(300, 60.0, tokens_per_step=3.0)
    await serving.speed.keep()
    serving.now += 86_400
    serving.serve(30, 30.0, tokens_per_step=3.0)

    found = (await serving.speed.report()).verdict

    head = "30.0 tok/s, published 80.0 tok/s on this card; 60.0 tok/s before on this machine"
    assert found.sentence.startswith(f"{head}: the drafter's guesses are taken as before")
    assert "(100 ms instead of 50)" in found.sentence
    await serving.recorder.close()


@pytest.mark.parametrize("tokens", [20_000, None])
async def test_long_or_unknown_conversations_teach_nothing(
    serving: Serving, tokens: int | None
) -> None:
    """Or the figure would be of something else."""
    serving.residents = (Resident(request_id="a", prompt_tokens=tokens),)
    serving.serve(400, 60.0)
    await serving.speed.keep()

    found = await serving.speed.report()

    assert found.verdict.figure is None
    assert found.measured.context_tokens == tokens
    await serving.recorder.close()


async def test_requests_beside_the_gateway_make_the_context_unknown(serving: Serving) -> None:
    """Somebody talks to the engine who is not among the residents."""
    serving.residents = ()
    for second in range(30):
        serving.speed.hear_tick(Tick(at=serving.now + second, running=1, decode_tokens_per_s=50.0))

    assert (await serving.speed.report()).measured.context_tokens is None
    await serving.recorder.close()


async def test_changed_settings_have_no_published_figure(serving: Serving) -> None:
    """And a past of their own."""
    serving.rows = [Expected(card="RTX 3090", decode_tokens_per_s=52.0, source="them")]
    serving.engine = EngineSnapshot(
        state=EngineState.READY, preset="27b-mtp", overrides={"max_num_seqs": "2"}
    )
    serving.serve(200, 50.0)
    await serving.speed.keep()

    figure = (await serving.speed.report()).verdict.figure
    assert figure is not None
    assert not figure.is_published
    await serving.recorder.close()


async def test_an_alarm_can_ask_at_every_tick(serving: Serving) -> None:
    """Without a look at any file; the figure of another engine is not this one's."""
    serving.rows = [Expected(card="RTX 3090", decode_tokens_per_s=52.0, source="them")]
    serving.serve(30, 20.0)
    assert serving.speed.verdict_now().kind is SpeedVerdictKind.NOT_COMPARABLE

    await serving.speed.look_up()
    assert serving.speed.verdict_now().kind is SpeedVerdictKind.SLOWER
    serving.engine = EngineSnapshot(state=EngineState.READY, preset="other")
    serving.serve(30, 20.0)
    assert serving.speed.verdict_now().kind is SpeedVerdictKind.NOT_COMPARABLE
    await serving.recorder.close()


async def test_a_preset_that_is_gone_is_survived(serving: Serving) -> None:
    """Its engine still serves."""
    serving.engine = EngineSnapshot(state=EngineState.READY, preset="gone")
    serving.serve(20, 50.0)

    assert (await serving.speed.report()).verdict.figure is None
    await serving.recorder.close()


async def test_another_engine_begins_anew(serving: Serving) -> None:
    """And an adopted one, or none, is not judged."""
    serving.serve(30, 50.0)
    for engine in (
        EngineSnapshot(),
        EngineSnapshot(state=EngineState.ADOPTED, adopted=AdoptedInfo(name="lab", url="x")),
    ):
        serving.engine = engine
        serving.serve(1, 50.0)
        found = await serving.speed.report()
        assert found.measured.seconds == 0
        assert found.verdict.kind is SpeedVerdictKind.NOT_COMPARABLE
    assert found.preset == "lab"
    await serving.recorder.close()


async def test_what_is_shown_is_what_a_client_counts(tmp_path: Path) -> None:
    """Two streams through the real gateway. Over a minute it is within 1 % (`make bench-speed`);
    some seconds on a machine that does other things leave more room."""
    with fake_paths(tmp_path, tokens_per_s=60.0) as paths:
        async with running(paths) as made:
            result = await made.studio.up(UpRequest())
            assert result.api_key is not None
            found = await counted(made, result.api_key, seconds=5.0, streams=2)

    assert found.client_tokens_per_s > 50
    assert found.off < 0.05
