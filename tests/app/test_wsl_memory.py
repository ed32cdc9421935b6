"""Memory for WSL: by the preset, with the person's own file as it was beside the new one."""

from pathlib import Path

import pytest

from studio.app.wsl_memory import BEFORE, Kept, Record, WslMemory
from studio.domain.errors import HostLacks
from studio.domain.wsl import WslConfigRequest

GIB = 1 << 30


def memory(folder: Path, total_gib: int = 32) -> WslMemory:
    """Return what one Windows user is proposed."""
    return WslMemory(Record(folder / "home"), {"USERPROFILE": str(folder)}, lambda: total_gib * GIB)


def test_nothing_is_proposed_before_something_is_to_be_served(tmp_path: Path) -> None:
    """A share of the machine would be a guess, and take memory from Windows for nothing."""
    assert memory(tmp_path).lines() == ()
    memory(tmp_path).take(WslConfigRequest())
    assert not (tmp_path / ".wslconfig").exists()


def test_a_preset_is_kept_and_written_only_when_asked(tmp_path: Path) -> None:
    """The question in between shows the figure; the next start of the program knows it still."""
    asked = WslConfigRequest(preset="v100-27b", needed_bytes=20 * GIB, write=False)
    memory(tmp_path).take(asked)
    assert memory(tmp_path).lines() == ("[wsl2]", "memory=22GB")
    assert memory(tmp_path).preset == "v100-27b"
    assert not (tmp_path / ".wslconfig").exists()

    (tmp_path / ".wslconfig").write_text("[wsl2]\nswap=0\n", encoding="utf-8")
    memory(tmp_path).take(WslConfigRequest())
    written = (tmp_path / ".wslconfig").read_text(encoding="utf-8")
    assert "memory=22GB" in written
    assert "swap=0" in written
    assert memory(tmp_path).lines() == ()
    assert (tmp_path / ".wslconfig.before-weir").is_file()


def test_the_copy_is_of_the_file_before_the_first_time(tmp_path: Path) -> None:
    """A later one would be of our own lines."""
    file = tmp_path / ".wslconfig"
    file.write_text("[wsl2]\nswap=0\n", encoding="utf-8")
    for gib in (20, 24):
        memory(tmp_path).take(WslConfigRequest(memory_bytes=gib * GIB))

    assert "memory=24GB" in file.read_text(encoding="utf-8")
    assert (tmp_path / BEFORE).read_text(encoding="utf-8") == "[wsl2]\nswap=0\n"


def test_a_file_that_cannot_be_read_is_not_written_over(tmp_path: Path) -> None:
    """It is no empty one: what a person wrote there would be gone."""
    (tmp_path / ".wslconfig").mkdir()

    with pytest.raises(HostLacks):
        memory(tmp_path).take(WslConfigRequest(memory_bytes=20 * GIB))

    assert [path.name for path in tmp_path.iterdir()] == [".wslconfig"]


def test_a_broken_record_proposes_nothing_and_is_replaced(tmp_path: Path) -> None:
    """It may have been cut off by an old program."""
    record = Record(tmp_path)
    record.path.write_text("{", encoding="utf-8")
    assert record.read() == Kept()
    record.write(Kept(installed_in_boot=5.0))
    assert record.read().installed_in_boot == 5.0
