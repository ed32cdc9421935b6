"""Who has files open or mapped."""

import mmap
import os
from pathlib import Path

import pytest

from studio.host.open_files import holders

if not Path("/proc/self/maps").exists():
    pytest.skip("needs /proc", allow_module_level=True)


def test_a_process_that_has_a_file_open_is_named(tmp_path: Path) -> None:
    """This one, which is only left out when it asks for itself."""
    path = tmp_path / "a b"
    path.write_bytes(b"x")
    with path.open("rb"):
        found = holders({str(path)}, own=0)

    assert os.getpid() in {one.pid for one in found}
    assert os.getpid() not in {one.pid for one in holders({str(path)}, own=0)}


def test_a_file_that_is_only_mapped_counts_too(tmp_path: Path) -> None:
    """Weights are mapped, and their file is closed then."""
    path = tmp_path / "mödel w.safetensors"
    path.write_bytes(b"x" * 8192)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with mapped:
        # The mapping keeps a descriptor of its own in Python; what maps say has to do alone.
        found = holders({str(path)}, own=0)

    assert os.getpid() in {one.pid for one in found}
    assert holders({str(path)}, own=os.getpid()) == []


def test_a_folder_of_processes_that_vanish_is_no_error(tmp_path: Path) -> None:
    """They come and go while we look."""
    for name, maps in (("12", "7f-80 r--p 0 fd:00 7 /m/w\n"), ("13", ""), ("self", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "maps").write_text(maps)
    (tmp_path / "12" / "comm").write_text("vllm\n")

    assert holders({"/m/w"}, proc=tmp_path) == [(12, "vllm")]
    assert holders({"/m/w"}, proc=tmp_path / "none") == []
