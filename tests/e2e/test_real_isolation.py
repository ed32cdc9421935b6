"""Installed and served, the real engine has written nothing outside of the Studio's folder."""

import os
from pathlib import Path

import psutil
import pytest

from tests.conftest import Serving

pytestmark = [pytest.mark.real, pytest.mark.timeout(2400)]


def test_the_person_s_own_folder_is_as_it_was_before(serving: Serving) -> None:
    """Before/after listing of $HOME: no ~/.config/vllm, no ~/.triton, no ~/.cache of anybody.

    It was empty before the installation; the end of the session looks again, when all has ended.
    """
    person = Path(serving.weir.environment["HOME"])

    assert person.is_dir()
    assert [path.relative_to(person).as_posix() for path in person.rglob("*")] == []


def test_what_the_engine_has_open_for_writing_lies_in_the_studio_s_folder(
    serving: Serving,
) -> None:
    """Sockets and files in other places would stay behind, or be seen by other users."""
    inside = (str(serving.weir.paths.home), str(serving.weir.paths.sockets), "/dev/", "/proc/")
    outside = {
        opened.path
        for pid in serving.weir.engine_pids()
        for opened in psutil.Process(pid).open_files()
        if opened.mode != "r" and not opened.path.startswith(inside)
    }

    assert outside == set()


def test_the_engine_knows_no_setting_of_another_python(serving: Serving) -> None:
    """PYTHONPATH, VIRTUAL_ENV and friends of the person; what it sets by itself is its own."""
    pids = serving.weir.engine_pids()
    assert pids
    for pid in pids:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
        names = {os.fsdecode(one.partition(b"=")[0]) for one in raw.split(b"\0")}
        kept = {name for name in names if name.startswith(("PYTHON", "CONDA", "VIRTUAL_ENV"))}
        assert kept <= {"PYTHONUNBUFFERED", "PYTHONHASHSEED", "PYTHONFAULTHANDLER"}, kept
