"""`weir uninstall` and the person in front of it."""

import io
import os
from pathlib import Path

import pytest

from studio.cli.console import Console
from studio.cli.main import run
from studio.control.launcher import in_process
from studio.control.salvage import Salvage
from studio.domain.errors import ServiceUnreachable
from studio.host.paths import Paths, bundled_root


class Terminal(io.StringIO):
    """Standard output and error of a person."""

    def isatty(self) -> bool:
        """Return that somebody is there."""
        return True


class Typist(Terminal):
    """Standard input of one who typed ahead."""

    def __init__(self, answers: str) -> None:
        super().__init__()
        self._keyboard, self._read = os.openpty()  # gives one line at a time, as a terminal does
        os.write(self._keyboard, answers.encode())

    def fileno(self) -> int:
        """Return the end to read from."""
        return self._read

    def close(self) -> None:
        """Let go of both ends."""
        if not self.closed:
            os.close(self._keyboard)
            os.close(self._read)
        super().close()


class NoService:
    """Reaches a home in which nothing runs."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    async def connect(self, **_how: bool) -> object:
        """Return nothing."""
        raise ServiceUnreachable("service-not-running", "No service runs.")

    def salvage(self) -> object:
        """Return a client of the files."""

        async def nothing() -> None:
            return

        return in_process(Salvage(self._paths), nothing)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return a home with models, keys and a history."""
    made = Paths(home=tmp_path / "my höme", catalogue=bundled_root())
    for name in ("models/a/weights", "studio.db", "history.db", "cache/x"):
        path = made.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 2_048)
    return made


def asked(paths: Paths, answers: str, *words: str) -> tuple[int, str]:
    """Return status and everything that was shown to a person who answers."""
    out = Terminal()
    with Typist(answers) as typist:
        console = Console(out=out, err=out, source=typist, json=False)
        return run(["uninstall", *words], NoService(paths), console), out.getvalue()


def test_models_are_asked_for_and_stay_without_an_answer(paths: Paths) -> None:
    """Enter, enter, enter, yes."""
    status, said = asked(paths, "\n\n\ny\n")

    assert status == 0
    assert "Remove the models too (2.0 KiB)? [y/N]" in said
    assert "Remove cache, history, keys: 6.0 KiB in all?" in said
    assert "Kept: models" in said
    assert [path.name for path in paths.home.iterdir()] == ["models"]


def test_who_says_no_in_the_end_keeps_everything(paths: Paths) -> None:
    """Enter at the last question is a no."""
    status, said = asked(paths, "y\ny\ny\n\n")

    assert status == 0
    assert "Nothing was removed." in said
    assert len(list(paths.home.iterdir())) == 4


def test_a_group_that_is_kept_is_not_asked_for(paths: Paths) -> None:
    """The line said it."""
    status, said = asked(paths, "\ny\n", "--keep", "keys", "--keep", "models")

    assert status == 0
    assert "locked out" not in said
    assert {path.name for path in paths.home.iterdir()} == {"models", "studio.db"}


def test_a_dry_run_lists_and_removes_nothing(paths: Paths) -> None:
    """Also with what would be chosen."""
    status, said = asked(paths, "", "--dry-run", "--remove", "models")

    assert status == 0
    assert "Models (models, to remove)" in said
    assert "Keys of clients and their use (keys, kept)" in said
    assert str(paths.home / "models") in said
    assert len(list(paths.home.iterdir())) == 4


def test_an_empty_machine_says_so(tmp_path: Path) -> None:
    """Nothing to ask."""
    status, said = asked(Paths(home=tmp_path / "none", catalogue=bundled_root()), "")

    assert status == 0
    assert "There is nothing of the Studio" in said
