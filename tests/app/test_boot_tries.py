"""A refusal of a cold boot is tried again, as often as may help and never more."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from studio.app import boot_tries
from studio.app.boot_about import ESTIMATE, About
from studio.app.boot_history import BootHistoryFile
from studio.app.boot_tries import Tries, is_certain
from studio.app.boot_watch import BootWatch
from studio.app.stages import Stages
from studio.app.up import Choice
from studio.domain.boots import BootTry
from studio.domain.errors import EngineFailed, StudioError, from_info
from studio.domain.events import Event, StageProgress
from studio.domain.server import EngineSnapshot, EngineState
from studio.serving.command import Launch
from tests.app.boot_samples import PLACE, REFUSED, about, boot, plan

READY = EngineSnapshot(state=EngineState.READY, preset="p", boot_s=1.0)
CHOICE = cast("Choice", None)
"""`about` is played here, and nobody else looks at it."""


def launch(**environment: str) -> Launch:
    """Return a command."""
    return Launch(
        argv=("engine", "--uds", "/run/engine-1.sock"),
        environment=environment,
        preset="p",
        served_name="p",
        runtime="engine",
        runtime_id="r1",
        knobs={},
        overrides={},
        python="python",
        socket="/run/engine-1.sock",
        ready_within_s=1.0,
        drain_s=1.0,
    )


class Engine:
    """Plays engines: each start takes the next of `ends`; what its log said is in `facts`."""

    def __init__(self, *ends: str | None, facts: Mapping[str, int] | None = None) -> None:
        self.ends = list(ends)
        self.facts: dict[str, int | float | str] = dict(facts or {"compiled": 1})
        self.started: list[Launch] = []

    async def ensure_ready(self, one: Launch) -> EngineSnapshot:
        """Start one."""
        self.started.append(one)
        code = self.ends.pop(0)
        if code is None:
            return READY
        raise EngineFailed(code, "No.", data=REFUSED.data)


class Announced(BootWatch):
    """Keeps what was announced."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        super().__init__(BootHistoryFile(folder / "boots.json"), lambda: engine.facts)
        self.announced: list[tuple[BootTry, int]] = []

    async def begin(self, about: About, attempt: BootTry, tries: tuple[str, ...] = ()) -> None:
        """Keep it, and go on."""
        self.announced.append((attempt, len(tries)))
        await super().begin(about, attempt, tries)


class Made:
    """A `Tries` with what it needs."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.events: list[Event] = []
        self.watch = Announced(engine, folder)
        self.tries = Tries(
            ensure_ready=engine.ensure_ready,
            watch=self.watch,
            stages=Stages(self.events.append),
            facts=lambda: engine.facts,
            cache=folder,
        )

    async def start(self, **environment: str) -> EngineSnapshot:
        """Start it."""
        return await self.tries.ensure_ready(launch(**environment), CHOICE, [])

    @property
    def said(self) -> list[str]:
        """What was said meanwhile."""
        return [one.note or "" for one in self.events if isinstance(one, StageProgress)]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what sets what is known of the start."""

    def known(**changes: Any) -> None:
        monkeypatch.setattr(boot_tries, "about", lambda *_arguments: about(**changes))

    known()
    return known


async def test_what_starts_is_started_once(start: Callable[..., None], tmp_path: Path) -> None:
    """The plain case."""
    made = Made(Engine(None), tmp_path)

    assert await made.start() == READY
    assert made.watch.announced == [(BootTry.FIRST, 0)]


@pytest.mark.parametrize("code", ["kv-cache-too-small", "kv-cache-no-room"])
async def test_a_cold_refusal_is_started_again_warm_and_said(
    start: Callable[..., None], tmp_path: Path, code: str
) -> None:
    """The same command on a socket of its own; the person reads why it takes twice as long."""
    made = Made(Engine(code, None), tmp_path)

    assert await made.start() == READY

    first, second = made.engine.started
    assert first.socket != second.socket
    assert first.at_socket(second.socket) == second
    assert made.watch.announced == [(BootTry.FIRST, 0), (BootTry.WARM, 1)]
    assert "refused its KV memory while it compiled" in made.said[0]


async def test_then_once_without_the_graph_estimate_and_never_more(
    start: Callable[..., None], tmp_path: Path
) -> None:
    """Three boots at most: the last error is the one to be seen."""
    refused = "kv-cache-too-small"
    made = Made(Engine(refused, refused, refused), tmp_path)

    with pytest.raises(StudioError) as caught:
        await made.start()

    assert caught.value.code == refused
    assert [one.environment.get(ESTIMATE) for one in made.engine.started] == [None, None, "0"]
    assert made.watch.announced == [
        (BootTry.FIRST, 0),
        (BootTry.WARM, 1),
        (BootTry.WITHOUT_GRAPH_ESTIMATE, 2),
    ]


@pytest.mark.parametrize(
    ("facts", "changes"),
    [
        ({"cache_loaded": 1}, {}),
        ({"is_eager": 1}, {}),
        ({"compiled": 1}, {"is_pinned": True}),
        ({"compiled": 1}, {"plan": plan(kv_gib=3.0)}),
    ],
    ids=["warm", "eager", "pinned", "the plan says no"],
)
async def test_a_refusal_that_a_warm_boot_would_repeat_is_told_at_once(
    start: Callable[..., None], tmp_path: Path, facts: dict[str, int], changes: dict[str, Any]
) -> None:
    """Minutes of a second boot for the same sentence help nobody."""
    start(**changes)
    made = Made(Engine("kv-cache-too-small", None, facts=facts), tmp_path)

    with pytest.raises(StudioError):
        await made.start()

    assert len(made.engine.started) == 1


async def test_other_failures_are_told_at_once(start: Callable[..., None], tmp_path: Path) -> None:
    """A missing compiler is still missing the second time."""
    made = Made(Engine("compiler-missing", None), tmp_path)

    with pytest.raises(StudioError):
        await made.start()

    assert len(made.engine.started) == 1


async def test_a_second_boot_that_fails_of_something_else_is_the_last(
    start: Callable[..., None], tmp_path: Path
) -> None:
    """The third try is for the graphs' estimate only."""
    made = Made(Engine("kv-cache-too-small", "gpu-memory-exhausted", None), tmp_path)

    with pytest.raises(StudioError) as caught:
        await made.start()

    assert caught.value.code == "gpu-memory-exhausted"
    assert len(made.engine.started) == 2


@pytest.mark.parametrize(
    ("changes", "environment"),
    [
        ({"uses_cards": False}, {}),
        ({"settings": {"enforce_eager": True}}, {}),
        ({}, {ESTIMATE: "0"}),
    ],
    ids=["no cards", "no graphs", "it is off already"],
)
async def test_without_an_estimate_there_is_no_third_try(
    start: Callable[..., None],
    tmp_path: Path,
    changes: dict[str, Any],
    environment: dict[str, str],
) -> None:
    """It would be the second one again."""
    start(**changes)
    refused = "kv-cache-no-room"
    made = Made(Engine(refused, refused, None), tmp_path)

    with pytest.raises(StudioError):
        await made.start(**environment)

    assert len(made.engine.started) == 2


async def test_what_served_only_without_the_estimate_starts_so_the_next_time(
    start: Callable[..., None], tmp_path: Path
) -> None:
    """Refused by a warm boot it would not be tried again: what served must not fail tomorrow."""
    made = Made(Engine(None, None), tmp_path)
    history = BootHistoryFile(tmp_path / "boots.json")
    await history.add(boot(without_graph_estimate=True))

    await made.start()
    assert made.engine.started[0].environment[ESTIMATE] == "0"
    assert made.watch.announced[-1] == (BootTry.FIRST, 1)

    start(settings={"max_model_len": 8}, place=dataclasses.replace(PLACE, settings={"x": 1}))
    await made.start()
    assert ESTIMATE not in made.engine.started[1].environment


@pytest.mark.parametrize(
    ("kv_gib", "error_gib", "is_sure"),
    [(3.4, 0.5, True), (3.6, 0.5, False), (2.0, None, False), (None, 0.5, False)],
)
def test_it_is_certain_only_beyond_the_plans_error_bar(
    kv_gib: float | None, error_gib: float | None, is_sure: bool
) -> None:
    """4 GiB are needed; where nobody knows how far a plan is off, it refuses nothing."""
    planned = plan(kv_gib=kv_gib, error_gib=error_gib)

    assert is_certain(from_info(REFUSED), about(plan=planned)) is is_sure


def test_without_a_figure_of_what_is_needed_only_nothing_is_too_little() -> None:
    """`No available memory for the cache blocks` names none."""
    error = EngineFailed("kv-cache-no-room", "None.")

    assert is_certain(error, about(plan=plan(kv_gib=-2.0)))
    assert not is_certain(error, about(plan=plan(kv_gib=1.0)))
    assert not is_certain(error, about(plan=None))


async def test_a_plan_is_of_one_start(start: Callable[..., None], tmp_path: Path) -> None:
    """A restart after a change must not be judged by the plan before."""
    seen: list[object] = []
    made = Made(Engine(None, None), tmp_path)
    known = plan(kv_gib=1.0)

    def told(*arguments: object) -> About:
        seen.append(arguments[3])
        return about()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boot_tries, "about", told)
        made.tries.expect(known)
        await made.start()
        await made.start()

    assert seen == [known, None]
