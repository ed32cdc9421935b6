"""`weir wsl` and the person in front of it."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from studio.app.wsl import WslSetup
from studio.app.wsl_memory import Record
from studio.cli.console import Console
from studio.cli.main import run
from studio.control.calls import answered
from studio.control.launcher import in_process
from studio.control.wsl import WslRoutes
from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlanRequest, PlanVerdict
from studio.domain.wsl import DISTRIBUTION
from studio.host.paths import Paths, bundled_root
from tests.fakes.wsl import FakeWsl


class Planner:
    """Says that everything takes 20 GiB, half of it in `/dev/shm`."""

    async def plan(self, request: PlanRequest) -> Plan:
        """Return a plan."""
        ledger = tuple(
            LedgerItem(name=place.value, title="", bytes=10 << 30, place=place, source="a test")
            for place in (LedgerPlace.MEMORY, LedgerPlace.SHM)
        )
        return Plan(
            model="", engine="", host="", verdict=PlanVerdict.FITS, ledger=ledger,
            preset=request.preset,
        )  # fmt: skip

    async def close(self) -> None:
        """Nothing is open."""


class OnWindows:
    """Reaches the setup of one Windows user."""

    def __init__(self, folder: Path, fake: FakeWsl) -> None:
        paths = Paths(home=folder / "home", catalogue=bundled_root())
        self._routes = WslRoutes(
            WslSetup(paths, environ=fake.environ, is_windows=True, total_bytes=lambda: 32 << 30)
        )

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Answer a call."""
        return await answered(self._routes.routes(), method, path, query, body)

    def offline(self) -> object:
        """Return a client of a planner that says what a preset takes."""
        return Planner()

    def salvage(self) -> object:
        """Return a client of it."""

        async def nothing() -> None:
            return

        return in_process(self, nothing)


@pytest.fixture
def fake(tmp_path: Path) -> FakeWsl:
    """Return a WSL that is too old."""
    return FakeWsl.made(tmp_path / "windows", version=None)


def typed(tmp_path: Path, fake: FakeWsl, *words: str) -> tuple[int, str, str]:
    """Type a command into a pipe."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, json="--json" in words)
    status = run(["wsl", *words], OnWindows(tmp_path, fake), console)
    return status, out.getvalue(), err.getvalue()


def test_setup_goes_as_far_as_it_can_by_itself(tmp_path: Path, fake: FakeWsl) -> None:
    """Updated and imported in one go; then the service is the window's matter."""
    rootfs = tmp_path / "rootfs.tar.gz"
    rootfs.touch()
    assert "too old" in typed(tmp_path, fake)[1]

    status, said, _errors = typed(tmp_path, fake, "setup", "--rootfs", str(rootfs))

    assert status == 0
    assert "the service starts with" in said
    assert "4.0 KiB in" in said
    assert json.loads(typed(tmp_path, fake, "--json")[1])["step"] == "start"


def test_what_cannot_go_on_is_told_with_a_status(tmp_path: Path, fake: FakeWsl) -> None:
    """A rule of the machine's administrator."""
    fake.know(error="0x800704ec")

    status, said, _errors = typed(tmp_path, fake, "setup")

    assert status == 4
    assert "administrator" in said


def test_memory_and_removal_want_a_yes(tmp_path: Path, fake: FakeWsl) -> None:
    """And say before what they change."""
    fake.know(version="2.6.1.0", names=[DISTRIBUTION], inside={"du": "3G\t/models\n"})

    assert "--preset" in typed(tmp_path, fake, "memory")[1]
    status, said, errors = typed(tmp_path, fake, "memory", "--preset", "cpu-demo")
    assert (status, "--yes" in errors) == (4, True)
    assert "+memory=22GB" in said
    assert not (tmp_path / "windows/.wslconfig").exists()
    assert typed(tmp_path, fake, "memory", "--gib", "20", "--yes")[0] == 0
    assert "20GB" in (tmp_path / "windows/.wslconfig").read_text(encoding="utf-8")

    status, said, errors = typed(tmp_path, fake, "remove")
    assert (status, "3G" in said) == (4, True)
    assert "--yes" in errors
    fake.know(inside={})
    assert "cannot be looked at" in typed(tmp_path, fake, "remove")[1]
    assert "It was removed." in typed(tmp_path, fake, "remove", "--yes")[1]
    assert typed(tmp_path, fake, "compact")[0] == 0


@pytest.mark.parametrize("is_compacting", [False, True])
def test_memory_is_proposed_whatever_the_linux_does(
    tmp_path: Path, fake: FakeWsl, is_compacting: bool
) -> None:
    """The file is Windows' own: there is one before the import, and while the image shrinks."""
    fake.know(version="2.6.1.0", names=[DISTRIBUTION] if is_compacting else [])
    record = Record(tmp_path / "home")
    with record.compacting() if is_compacting else contextlib.nullcontext():
        for words in (("--preset", "cpu-demo"), ("--gib", "22")):
            said = typed(tmp_path, fake, "memory", *words)[1]

            assert f"{tmp_path / 'windows/.wslconfig'}:" in said
            assert "+memory=22GB" in said
