"""Starting what outlives us."""

import os
import sys
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host import detach
from tests.fakes.waiting import until


def test_a_detached_process_leads_a_session_of_its_own(tmp_path: Path) -> None:
    """Ctrl+C in the terminal, and its closing, must not reach the service."""
    log = tmp_path / "löög folder" / "out.log"
    code = "import os; print(os.getsid(0) == os.getpid(), os.isatty(0))"

    started = detach.spawn([sys.executable, "-c", code], dict(os.environ), log)
    until(lambda: started.poll() is not None, "its end")

    assert started.poll() == 0
    assert log.read_text().split() == ["True", "False"]


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    """A home on a read-only disk must say so."""
    (tmp_path / "file").write_text("")

    with pytest.raises(HostLacks) as caught:
        detach.spawn([sys.executable], {}, tmp_path / "file" / "out.log")

    assert "WEIR_HOME" in (caught.value.hint or "")


@pytest.mark.parametrize("is_frozen", [True, False])
def test_the_program_is_started_again_as_it_was(
    monkeypatch: pytest.MonkeyPatch, is_frozen: bool
) -> None:
    """A module of the folder that the person stands in must not take its place."""
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)

    command = detach.own_command()

    assert command[0] == sys.executable
    assert command[1:] == ([] if is_frozen else ["-P", "-m", "studio"])
