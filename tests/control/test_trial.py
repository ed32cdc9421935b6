"""Becoming another version, and proving that one serves."""

import os
import threading
from pathlib import Path

import pytest

from studio import __version__
from studio.app.update_records import Records, Staged, Trial
from studio.app.update_trial import Trials
from studio.control import trial
from studio.domain.self_update import Came
from studio.host import files
from studio.host.own_program import Installed
from studio.host.paths import Paths, bundled_root


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return a home with two versions beside it."""
    for version in ("0.0.1", __version__):
        folder = tmp_path / "opt/weir-studio" / version
        folder.mkdir(parents=True)
        (folder / "weir").touch()
    (tmp_path / "opt/weir-studio/current").symlink_to("0.0.1")
    return Paths(home=tmp_path / "home", catalogue=bundled_root())


def trials(paths: Paths, version: str) -> Trials:
    """Return what a version does."""
    place = Installed(Came.RUN, paths.home.parent / "opt/weir-studio" / version)
    return Trials(paths, version=version, installed=lambda: place)


def on_trial(paths: Paths) -> None:
    """Put this very version on trial."""
    Records(paths).write(
        Trial(old="0.0.1", new=__version__, pid=os.getpid(), process_started_at=None, began_at=0)
    )


def test_a_service_becomes_the_version_that_is_to_take_over(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the words it was started with, in the same process."""
    Records(paths).write(Staged(version=__version__, wanted=True))
    became: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _program, words: became.append(words))

    trial.take_turn(trials(paths, "0.0.1"), until_released=True, autostart=True)

    program = str(paths.home.parent / "opt/weir-studio" / __version__ / "weir")
    assert became == [[program, "service", "run", "--until-released", "--autostart"]]


def test_a_program_that_cannot_be_started_leaves_the_old_one(paths: Paths) -> None:
    """The file is empty: the kernel refuses it."""
    Records(paths).write(Staged(version=__version__, wanted=True))

    trial.take_turn(trials(paths, "0.0.1"), until_released=False, autostart=False)

    failed = Records(paths).failed()
    assert failed is not None
    assert "cannot be started" in failed.error.message


async def test_on_trial_a_version_has_to_answer(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody listens it is not proven, and nothing is switched."""
    monkeypatch.setattr(trial, "BETWEEN_S", 0.0)
    on_trial(paths)
    own = trials(paths, __version__)

    assert not await trial.proven(own, 9, "token")

    assert Records(paths).trial() is not None
    Records(paths).forget(Trial)
    assert await trial.proven(own, 9, "token")
    ran = Records(paths).ran()
    assert ran is not None
    assert ran.version == __version__


def test_a_version_on_trial_waits_for_the_lock_of_the_one_before(paths: Paths) -> None:
    """Which lets go of it in the very moment of becoming another program."""
    on_trial(paths)
    lock = paths.home / "lock"
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with files.exclusive(lock):
            is_held.set()
            may_go.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait(20)
    with trial.locked(lock, trials(paths, "0.0.1")) as is_ours:
        assert not is_ours
    threading.Timer(0.1, may_go.set).start()
    with trial.locked(lock, trials(paths, __version__)) as is_ours:
        assert is_ours
    thread.join()
