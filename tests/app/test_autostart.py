"""What starts with the service: what is tried again, what is not, and who has the last word."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.app import autostart
from studio.app.autostart import Autostart, heals
from studio.domain.control import UpRequest, UpResult
from studio.domain.errors import (
    BadInput,
    Busy,
    Damaged,
    EngineFailed,
    HostLacks,
    NeedsConsent,
    NetworkFailure,
    NotFound,
    PortTaken,
    StudioError,
)
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.service import AutostartRequest, AutostartState
from tests.fakes.waiting import until_async

CHOSEN = AutostartRequest(preset="cpu-demo", overrides={"max_model_len": "4096"})
NETWORK = NetworkFailure("packages-unreachable", "Nothing answers.", hint="Wait.")
DEATH = EngineFailed("engine-died", "It died.")
REFUSED = HostLacks("plan-does-not-fit", "It does not fit.", hint="Lower the context.")


class Machine:
    """What an autostart sees of the service; `outcomes` of the next tries, None for success."""

    def __init__(self, path: Path) -> None:
        self.outcomes: list[StudioError | None] = []
        self.requests: list[UpRequest] = []
        self.engine = EngineSnapshot()
        self.cards = 0
        self.fetch_bytes = 0
        self.is_connected = True
        self.hangs = asyncio.Event()
        self.hangs.set()
        self.states: list[AutostartState] = []
        self.path = path
        self.made = self.again()

    async def chosen(self) -> None:
        """Choose, and be the next service of the same home."""
        await self.made.choose(CHOSEN)
        self.made = self.again()

    def again(self) -> Autostart:
        """Return the autostart of another service of the same home."""
        return Autostart(
            self.path,
            up=self.up,
            check=self.check,
            engine=lambda: self.engine,
            host=self.host,
            fetch_bytes=lambda _preset: self.fetch_bytes,
            has_network=lambda: self.is_connected,
        )

    async def up(self, request: UpRequest) -> UpResult:
        """Fail or serve, as was laid down."""
        self.requests.append(request)
        self.states.append(self.made.info().state)
        await self.hangs.wait()
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        self.engine = EngineSnapshot(state=EngineState.READY, preset=request.preset)
        return UpResult(
            base_url="http://x/v1", preset="p", served_name="p", runtime="r", runtime_id="i"
        )

    def check(self, request: UpRequest) -> None:
        """Know one preset."""
        if request.preset != "cpu-demo":
            raise NotFound("preset-unknown", "There is no such preset.")

    async def host(self) -> HostSnapshot:
        """Return a machine with so many cards."""
        cards = tuple(Gpu(index=index, name="card") for index in range(self.cards))
        return HostSnapshot(system="linux", machine="x86_64", os_name="x", gpus=cards)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine that waits for next to nothing."""
    monkeypatch.setattr(autostart, "DELAYS_S", (0.01,))
    monkeypatch.setattr(autostart, "LOOK_S", 0.01)
    return Machine(tmp_path / "autostart.json")


@contextlib.asynccontextmanager
async def started(machine: Machine) -> AsyncIterator[None]:
    """Run the autostart while inside."""
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(machine.made.run())
        yield
        running.cancel()


async def reached(machine: Machine, *states: AutostartState) -> None:
    """Return as soon as it stands at one of `states`."""
    await until_async(lambda: machine.made.info().state in states, str(states))


async def test_what_was_chosen_is_served_with_its_settings(machine: Machine) -> None:
    """By the next service, which knows it from the file alone."""
    await machine.chosen()
    assert machine.made.info().state is AutostartState.NEXT

    await machine.made.run()

    (request,) = machine.requests
    assert request == UpRequest(preset="cpu-demo", overrides={"max_model_len": "4096"})
    assert machine.states == [AutostartState.TRYING]
    assert machine.made.info().state is AutostartState.SERVED
    assert machine.made.info().attempts == 1


async def test_nothing_chosen_starts_nothing(machine: Machine) -> None:
    """A service is no start of an engine."""
    await machine.made.run()

    assert machine.requests == []
    assert machine.made.info().state is AutostartState.OFF


async def test_what_time_heals_is_tried_again(machine: Machine) -> None:
    """No network at boot, a port that another program still holds."""
    machine.outcomes = [NETWORK, PortTaken("port-taken", "Taken."), None]
    await machine.chosen()

    await machine.made.run()

    info = machine.made.info()
    assert (info.state, info.attempts, info.error) == (AutostartState.SERVED, 3, None)


@pytest.mark.parametrize(
    "error",
    [
        REFUSED,
        BadInput("knob-value", "No."),
        NotFound("preset-unknown", "No."),
        NeedsConsent("large-download", "20 GB."),
        Damaged("runtime-damaged", "No."),
    ],
)
async def test_what_no_time_heals_is_given_up_with_its_reason(
    machine: Machine, error: StudioError
) -> None:
    """A card that is too small is too small in fifteen minutes; and nobody is there to say yes."""
    machine.outcomes = [error, None]
    await machine.chosen()

    await machine.made.run()

    info = machine.made.info()
    assert (info.state, info.attempts) == (AutostartState.GAVE_UP, 1)
    assert info.error is not None
    assert info.error.code == error.code
    assert not heals(error)


async def test_an_engine_that_dies_the_same_death_three_times_is_left_alone(
    machine: Machine,
) -> None:
    """It would die a fourth time, and keep the card busy all night."""
    machine.outcomes = [DEATH] * 9
    await machine.chosen()

    await machine.made.run()

    assert machine.made.info().state is AutostartState.GAVE_UP
    assert len(machine.requests) == autostart.SAME_FAILURES


async def test_the_pauses_grow_and_then_stay(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1, 2, 5, 15 minutes, and 15 from then on."""
    monkeypatch.setattr(autostart, "DELAYS_S", (60.0, 120.0, 300.0, 900.0))
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    machine.outcomes = [NETWORK] * 6
    await machine.chosen()
    monkeypatch.setattr(machine.made, "_pause", pause)

    await machine.made.run()

    assert pauses == [60.0, 120.0, 300.0, 900.0, 900.0, 900.0]


async def test_a_person_who_acts_meanwhile_has_the_last_word(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`weir stop` while it waits for its next try must not be undone a minute later."""
    monkeypatch.setattr(autostart, "DELAYS_S", (600.0,))
    machine.outcomes = [NETWORK]
    await machine.chosen()
    async with started(machine):
        await reached(machine, AutostartState.BACKING_OFF)
        assert machine.made.info().next_at is not None

        machine.made.stand_down()

        await reached(machine, AutostartState.STOOD_DOWN)
    assert len(machine.requests) == 1


async def test_a_start_that_a_person_stops_is_not_tried_again(machine: Machine) -> None:
    """The stop ends the try under way; the failure is theirs."""
    machine.hangs.clear()
    machine.outcomes = [Busy("up-stopped", "Stopped.")]
    await machine.chosen()
    async with started(machine):
        await reached(machine, AutostartState.TRYING)

        machine.made.stand_down()
        machine.hangs.set()

        await reached(machine, AutostartState.STOOD_DOWN)
    assert len(machine.requests) == 1


async def test_an_engine_that_serves_already_is_left_alone(machine: Machine) -> None:
    """Also one that was adopted, gone or not."""
    machine.engine = EngineSnapshot(state=EngineState.GONE)
    await machine.chosen()

    await machine.made.run()

    assert machine.requests == []
    assert machine.made.info().state is AutostartState.STOOD_DOWN


async def test_the_cards_that_were_there_are_waited_for(machine: Machine) -> None:
    """The driver may be later than the login; without it the preset would not fit."""
    machine.cards = 2
    await machine.chosen()
    machine.cards = 0
    async with started(machine):
        await reached(machine, AutostartState.CARDS)
        assert machine.requests == []

        machine.cards = 2

        await reached(machine, AutostartState.SERVED)


async def test_cards_that_never_come_are_not_waited_for_for_ever(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the start itself says what is missing."""
    monkeypatch.setattr(autostart, "PATIENCE_S", 0.02)
    machine.cards = 1
    await machine.chosen()
    machine.cards = 0
    machine.outcomes = [REFUSED]

    await machine.made.run()

    assert machine.made.info().state is AutostartState.GAVE_UP


@pytest.mark.parametrize("fetch_bytes", [0, 1])
async def test_a_network_is_waited_for_only_when_something_is_fetched(
    machine: Machine, fetch_bytes: int
) -> None:
    """A machine without one serves what it has."""
    machine.is_connected, machine.fetch_bytes = False, fetch_bytes
    await machine.chosen()
    async with started(machine):
        expected = AutostartState.NETWORK if fetch_bytes else AutostartState.SERVED
        await reached(machine, expected)
        machine.is_connected = True
        await reached(machine, AutostartState.SERVED)


async def test_it_is_switched_off_at_any_time(machine: Machine, tmp_path: Path) -> None:
    """Also while it waits; nothing is left in the folder."""
    machine.cards = 1
    await machine.chosen()
    machine.cards = 0
    async with started(machine):
        await reached(machine, AutostartState.CARDS)

        await machine.made.choose(AutostartRequest())

        assert machine.made.info().state is AutostartState.OFF
    assert machine.made.info().state is AutostartState.OFF
    assert not (tmp_path / "autostart.json").exists()
    assert machine.requests == []


async def test_a_preset_that_does_not_exist_cannot_be_chosen(
    machine: Machine, tmp_path: Path
) -> None:
    """A slip should be seen today, not at the next start of the machine."""
    with pytest.raises(NotFound):
        await machine.made.choose(AutostartRequest(preset="cpu-dmeo"))

    assert not (tmp_path / "autostart.json").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"preset": 3}', "\xff"])
async def test_a_damaged_file_is_said_and_starts_nothing(
    machine: Machine, tmp_path: Path, text: str
) -> None:
    """The service itself has to come up all the same."""
    (tmp_path / "autostart.json").write_text(text, encoding="latin-1")

    await machine.made.run()

    info = machine.made.info()
    assert info.state is AutostartState.GAVE_UP
    assert info.error is not None
    assert info.error.code == "autostart-damaged"
    assert machine.requests == []


async def test_another_choice_meanwhile_is_what_is_shown(machine: Machine) -> None:
    """What still ran for the last one has nothing more to say."""
    machine.hangs.clear()
    await machine.chosen()
    async with started(machine):
        await reached(machine, AutostartState.TRYING)

        await machine.made.choose(AutostartRequest(preset="cpu-demo"))
        machine.hangs.set()
        await until_async(lambda: machine.engine.state is EngineState.READY, "its end")

        assert machine.made.info().state is AutostartState.NEXT
        assert machine.made.info().overrides == {}
