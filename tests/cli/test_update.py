"""`weir update` and the person in front of it."""

import asyncio
import io
import json
from collections.abc import Callable

import msgspec
import pytest

from studio.cli.console import Console
from studio.cli.main import run
from studio.domain.control import GatewayInfo, ServiceInfo, Status, UpRequest
from studio.domain.errors import Damaged, NotFound, ServiceUnreachable
from studio.domain.self_update import (
    Came,
    UpdateApplyRequest,
    UpdateCheckRequest,
    UpdateState,
    UpdateStatus,
)
from studio.domain.server import EngineSnapshot, EngineState

START = UpdateStatus(version="1.0.0", came=Came.RUN, state=UpdateState.STAGED, offered="1.1.0")
FAILED = Damaged("update-failed", "Version 1.1.0 did not come up.", hint="Look.").info


class Home:
    """A home whose service and updates do as they are told."""

    def __init__(self, *, running: bool = True, serving: bool = False, fails: bool = False) -> None:
        self.running = running
        self.engine = EngineSnapshot(
            state=EngineState.READY if serving else EngineState.STOPPED,
            preset="cpu-demo" if serving else None,
        )
        self.fails = fails
        self.now = START
        self.deeds: list[str] = []

    # as a connector

    async def connect(self, *, start: bool, hold: bool) -> "Home":
        """Return the service."""
        assert not hold
        if not self.running:
            if not start:
                raise ServiceUnreachable("service-not-running", "No service is running.")
            self._take_over()
            self.running = True
        return self

    def salvage(self) -> "Home":
        """Return what answers about updates."""
        return self

    # as a client

    async def status(self) -> Status:
        """Return the service."""
        info = ServiceInfo(version=self.now.version, pid=1, started_at=0.0, home="/h")
        return Status(service=info, engine=self.engine, gateway=GatewayInfo(), host=None, tick=None)

    async def close(self) -> None:
        """Nothing to close."""

    async def down(self) -> None:
        """End the service."""
        self.deeds.append("down")
        self.running = False

    async def up(self, request: UpRequest) -> None:
        """Serve."""
        self.deeds.append(f"up {request.preset}")

    async def update_status(self) -> UpdateStatus:
        """Return where it stands."""
        version = self.now.version if self.running else None
        return msgspec.structs.replace(self.now, service_version=version)

    async def update_check(self, request: UpdateCheckRequest) -> UpdateStatus:
        """Look."""
        self.deeds.append(f"check {request.source}")
        return self.now

    async def update_get(self, request: UpdateCheckRequest) -> UpdateStatus:
        """Fetch, slowly enough to be watched."""
        if request.source == "https://none.test":
            raise NotFound("update-none", "There is none.")
        self.now = msgspec.structs.replace(self.now, fetched_bytes=5 << 20)
        await asyncio.sleep(0)
        self.deeds.append(f"get {request.source}")
        return self.now

    async def update_apply(self, request: UpdateApplyRequest) -> UpdateStatus:
        """Want it, or not."""
        self.deeds.append(f"apply {request.wanted}")
        self.now = msgspec.structs.replace(
            self.now,
            state=UpdateState.WAITING if request.wanted else UpdateState.STAGED,
            waiting="1.1.0" if request.wanted else None,
        )
        return self.now

    async def update_rollback(self) -> UpdateStatus:
        """Want the one before."""
        return await self.update_apply(UpdateApplyRequest())

    def _take_over(self) -> None:
        if self.now.waiting is not None:
            self.now = msgspec.structs.replace(
                self.now,
                state=UpdateState.NEWEST,
                waiting=None,
                last_version="1.0.0" if self.fails else "1.1.0",
                failed=FAILED if self.fails else None,
            )


@pytest.fixture
def typed() -> Callable[..., tuple[int, str, str]]:
    """Return what types a command into a pipe."""

    def type_(home: Home, *words: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        status = run(["update", *words], home, Console(out, err, json="--json" in words))
        return status, out.getvalue(), err.getvalue()

    return type_


Typed = Callable[..., tuple[int, str, str]]


def test_alone_it_shows_where_things_stand_and_asks_nobody(typed: Typed) -> None:
    """As `weir update status` does."""
    home = Home()

    for words in ((), ("status",)):
        status, said, _errors = typed(home, *words)
        assert status == 0
        assert "1.1.0 lies beside this one" in said
    assert home.deeds == []
    assert json.loads(typed(home, "--json")[1])["state"] == "staged"


def test_a_folder_is_named_whole_and_an_address_as_it_is(typed: Typed) -> None:
    """The service stands in another folder."""
    home = Home()

    typed(home, "check", "--from", "stick")
    typed(home, "get", "--from", "https://files.test/weir")

    place = home.deeds[0].removeprefix("check ")
    assert place.startswith("/")
    assert place.endswith("/stick")
    assert home.deeds[1] == "get https://files.test/weir"
    assert typed(home, "get", "--from", "https://none.test")[0] == 3


def test_a_running_service_is_ended_with_a_yes_only(typed: Typed) -> None:
    """A script that forgot it changes nothing but the wish, and is told both ways on."""
    home = Home()

    status, _said, errors = typed(home, "apply")

    assert status == 4
    assert "--yes" in errors
    assert "--later" in errors
    assert "down" not in home.deeds

    status, _said, errors = typed(home, "apply", "--yes")
    assert status == 0
    assert home.deeds[-1] == "down"
    assert "Version 1.1.0 has taken over." in errors
    assert home.running


def test_what_was_served_is_served_again(typed: Typed) -> None:
    """The clients wait for it."""
    home = Home(serving=True)

    status, _said, errors = typed(home, "apply", "--yes")

    assert status == 0
    assert home.deeds[-1] == "up cpu-demo"
    assert "cpu-demo is served again" in errors


def test_where_nothing_ran_nothing_runs_afterwards(typed: Typed) -> None:
    """Nobody is asked, the trial's service is ended."""
    home = Home(running=False)

    assert typed(home, "apply")[0] == 0
    assert home.deeds == ["apply True", "down"]


def test_a_version_that_was_taken_back_is_an_error_with_its_reason(typed: Typed) -> None:
    """With the status of damaged things."""
    home = Home(fails=True)

    status, said, errors = typed(home, "apply", "--yes", "--json")

    assert status == 4
    assert json.loads(said)["code"] == "update-failed"
    assert "did not come up" in errors


def test_later_and_cancel_touch_no_service(typed: Typed) -> None:
    """They only write down what is wanted."""
    home = Home()

    assert "takes over when the service starts next" in typed(home, "apply", "--later")[1]
    assert "lies beside" in typed(home, "apply", "--cancel")[1]
    assert home.deeds == ["apply True", "apply False"]


def test_going_back_says_what_comes_back(typed: Typed) -> None:
    """Before anything ends."""
    home = Home()

    status, _said, errors = typed(home, "rollback", "--yes")

    assert status == 0
    assert errors.index("a copy of now") < errors.index("takes over")


@pytest.mark.parametrize("words", [("fetch",), ("check", "--yes"), ("apply", "--from", "x")])
def test_a_mistyped_word_is_named(typed: Typed, words: tuple[str, ...]) -> None:
    """With where to look."""
    status, _said, errors = typed(Home(), *words)

    assert status == 2
    assert "weir update" in errors
