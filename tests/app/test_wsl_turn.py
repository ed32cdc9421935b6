"""Versions take turns where Windows starts the service inside its Linux."""

from pathlib import Path

import pytest

from studio.app.self_update import SelfUpdate
from studio.app.update_records import Failed, Ran, Records, Staged
from studio.app.update_watch import Watched
from studio.app.wsl_turn import WslTurn
from studio.domain.errors import NotFound, StudioError
from studio.domain.self_update import UpdateApplyRequest, UpdateState
from studio.host import own_windows
from studio.host.paths import Paths, bundled_root
from tests.fakes import windows_versions
from tests.fakes.registry import FakeRegistry

APPS = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\WeirStudio"
SILENT = "did not come up within 90 s"


class User:
    """Somebody on whose Windows 1.1.0 took over from 1.0.0."""

    def __init__(self, folder: Path) -> None:
        self.paths = Paths(home=folder / "wéir home", catalogue=bundled_root())
        self.place = folder / "Programs/Weir Studio"
        self.installed = windows_versions.made(self.place, "app-1.0.0", "app-1.1.0")
        self.registry = FakeRegistry()
        self.registry.write(APPS, "DisplayVersion", "1.1.0")
        self.records = Records(self.paths)
        self.turn = WslTurn(
            self.paths, version="1.1.0", installed=lambda: self.installed, registry=self.registry
        )
        self.updates = SelfUpdate(
            self.paths, version="1.1.0", installed=lambda: self.installed, release=_no_release
        )

    @property
    def failure(self) -> str:
        """Return the code of why a version was taken back."""
        failed = self.records.failed()
        return failed.error.code if failed is not None else "none"


def _no_release() -> object:
    raise NotFound("none", "None.")


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Return that person."""
    return User(tmp_path)


async def test_the_way_back_is_taken_at_the_next_start(user: User) -> None:
    """And forth again; the version and its size are told before."""
    before = await user.updates.status()
    assert (before.previous, before.previous_bytes) == ("1.0.0", 1131)

    chosen = await user.updates.rollback()
    assert (chosen.state, chosen.waiting) == (UpdateState.WAITING, "1.0.0")
    assert user.turn.used == "1.1.0"
    user.turn.take(None)

    assert user.turn.used == "1.0.0"
    assert user.turn.left == {"1.1.0"}
    assert user.turn.inside == user.place / "app-1.0.0/_internal"
    assert user.registry.text(APPS, "DisplayVersion") == "1.0.0"
    user.turn.came_up("1.0.0")
    assert user.records.ran() == Ran(version="1.0.0", previous="1.1.0")
    after = await user.updates.status()
    assert (after.last_version, after.failed, after.previous) == ("1.0.0", None, "1.1.0")
    assert user.records.staged() is None


async def test_a_way_back_that_is_taken_back_changes_nothing(user: User) -> None:
    """The question was answered with no."""
    await user.updates.rollback()
    await user.updates.apply(UpdateApplyRequest(wanted=False))

    user.turn.take(None)

    assert user.turn.used == "1.1.0"


async def test_a_kill_after_the_switch_is_finished_by_the_next_start(user: User) -> None:
    """The file names the old version, and nothing says yet that it came up."""
    await user.updates.rollback()
    user.turn.take(None)

    user.turn.take(None)
    assert user.turn.left == {"1.1.0"}
    user.turn.came_up("1.0.0")

    assert user.records.staged() is None
    assert own_windows.before(user.place, "1.0.0") == "1.1.0"


async def test_without_a_version_before_there_is_no_way_back(user: User) -> None:
    """A person removed its folder; or removes it after they asked for it."""
    await user.updates.rollback()
    (user.place / "app-1.0.0/complete").unlink()

    user.turn.take(None)

    assert (user.turn.used, user.failure) == ("1.1.0", "update-missing")
    assert user.records.staged() == Staged(version="1.0.0", is_rollback=True)
    with pytest.raises(StudioError) as caught:
        await user.updates.rollback()
    assert caught.value.code == "update-no-previous"


def test_the_third_crash_brings_the_version_before_back(user: User) -> None:
    """Two are told only; one of another version says nothing about this one."""
    watched = Watched(version="1.1.0", previous="1.0.0", ends=2, is_running=False)
    user.turn.take(watched)
    assert user.turn.used == "1.1.0"
    user.turn.take(Watched(version="1.2.0", previous="1.0.0", ends=3))
    assert user.turn.used == "1.1.0"

    user.turn.take(Watched(version="1.1.0", previous="1.0.0", ends=3))
    user.turn.came_up("1.0.0")

    assert (user.turn.used, user.failure) == ("1.0.0", "update-unsteady")


async def test_crashes_are_told_on_windows(user: User) -> None:
    """The service counts them inside, and `weir update` is asked outside."""
    user.turn.take(Watched(version="1.1.0", previous="1.0.0", ends=1))
    assert (await user.updates.status()).ends == 1

    user.turn.take(None)
    assert (await user.updates.status()).ends is None


def test_a_new_version_that_does_not_come_up_is_taken_back(user: User) -> None:
    """Where the one before had come up; one that has come up itself is not to blame."""
    assert not user.turn.take_back(SILENT)
    user.records.write(Ran(version="1.0.0"))

    assert user.turn.take_back(SILENT)

    assert (user.turn.used, user.failure) == ("1.0.0", "update-failed")
    assert user.turn.left == {"1.1.0"}
    assert not user.turn.take_back(SILENT)
    user.turn.came_up("1.0.0")
    assert user.failure == "update-failed"


async def test_a_linux_that_keeps_the_newer_version_is_told(user: User) -> None:
    """Both are not the same then; the next start tries it again."""
    await user.updates.rollback()
    user.turn.take(None)
    user.turn.came_up("1.1.0")

    assert user.failure == "wsl-not-renewed"
    assert user.turn.left == {"1.1.0"}
    user.turn.came_up("1.0.0")
    assert user.records.ran() == Ran(version="1.0.0", previous="1.1.0")


async def test_without_a_linux_the_program_alone_goes_back(user: User) -> None:
    """And a newer version that comes up forgets what failed."""
    await user.updates.rollback()
    user.turn.take(None)
    user.turn.came_up(None)
    assert user.records.ran() == Ran(version="1.0.0", previous="1.1.0")

    user.records.write(Failed(version="1.2.0", error=NotFound("x", "X.").info))
    windows_versions.finish(user.place, "app-1.2.0")
    own_windows.switch(user.place, "1.2.0")
    user.turn.came_up("1.2.0")
    assert user.failure == "none"
    assert user.turn.left == frozenset()


def test_a_rule_that_forbids_the_registry_does_not_stop_the_way_back(tmp_path: Path) -> None:
    """What Windows shows under Apps is only shown."""
    user = User(tmp_path)
    user.records.write(Staged(version="1.0.0", wanted=True))
    refusing = FakeRegistry(refuses=True)
    refusing.values[APPS, "DisplayVersion"] = "1.1.0"
    turn = WslTurn(user.paths, version="1.1.0", installed=lambda: user.installed, registry=refusing)

    turn.take(None)

    assert turn.used == "1.0.0"


def test_a_checkout_takes_no_turns(tmp_path: Path) -> None:
    """Its version is its own, and the root file system lies with it."""
    turn = WslTurn(Paths(home=tmp_path, catalogue=bundled_root()), version="1.1.0")
    turn.take(None)
    turn.came_up("1.0.0")

    assert (turn.used, turn.inside, turn.left) == ("1.1.0", bundled_root(), frozenset())
    assert not turn.take_back(SILENT)
    assert not list(tmp_path.iterdir())
