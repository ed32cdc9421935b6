"""Where an export grows: what a kill leaves of it is known, and nothing else is touched."""

import subprocess
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host.files import exclusive
from studio.runtimes import bundle_part
from tests.fakes import small_disk


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the folder of a runtime."""
    made = tmp_path / "tiny-1.0"
    made.mkdir()
    return made


def cut_off(home: Path, target: Path) -> Path:
    """Leave what a killed export leaves; return its file."""
    part = bundle_part.of(target)
    part.write_bytes(b"half")
    (home / bundle_part.NOTE).write_text(str(part), "utf-8")
    return part


def test_nothing_is_left_of_one_that_ended(home: Path, tmp_path: Path) -> None:
    """The note is there as long as the file may be."""
    with bundle_part.noted(home, tmp_path / "b"):
        assert (home / bundle_part.NOTE).read_text("utf-8") == str(tmp_path / ".b.part")
        assert bundle_part.left(home) == (home / bundle_part.NOTE,)

    assert bundle_part.left(home) == ()
    assert list(home.iterdir()) == []


def test_what_a_kill_left_goes_with_the_next(home: Path, tmp_path: Path) -> None:
    """Also when that one writes elsewhere, and whatever the name."""
    part = cut_off(home, tmp_path / "ä b\n")
    assert bundle_part.left(home) == (part, home / bundle_part.NOTE)

    with bundle_part.noted(home, tmp_path / "c"):
        assert not part.exists()


def test_what_is_not_ours_stays(home: Path, tmp_path: Path) -> None:
    """A note is a file on somebody's disk: it must not remove anything but such a part."""
    other, link = tmp_path / "thesis", tmp_path / ".link.part"
    other.write_bytes(b"")
    link.symlink_to(other)
    note = home / bundle_part.NOTE
    for text in (str(other), str(link), ".b.part", str(tmp_path / ".gone.part"), "", "\0"):
        note.write_text(text, "utf-8")

        assert bundle_part.left(home) == (note,)


def test_one_that_grows_stays(home: Path, tmp_path: Path) -> None:
    """Another home may export to the very same place by now."""
    part = cut_off(home, tmp_path / "b")

    with exclusive(part):
        assert bundle_part.left(home) == (home / bundle_part.NOTE,)

    assert part.exists()


def test_a_stick_that_is_read_only_by_now_keeps_it_and_nobody_waits(
    home: Path, tmp_path: Path
) -> None:
    """The next export goes elsewhere, and clearing up has other things to do."""
    with small_disk.mounted(tmp_path / "stick", 1 << 20) as stick:
        part = cut_off(home, stick / "b")
        subprocess.run(["mount", "-o", "remount,ro", str(stick)], check=True)

        assert bundle_part.left(home) == (home / bundle_part.NOTE,)
        with bundle_part.noted(home, tmp_path / "c"):
            assert (home / bundle_part.NOTE).read_text("utf-8") == str(tmp_path / ".c.part")

        assert part.exists()


def test_a_home_without_room_can_be_exported_from(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That may be why it is: the note is left out."""

    def full(*_arguments: object) -> None:
        raise HostLacks("disk-full", "No room.")

    monkeypatch.setattr(bundle_part, "write_atomic", full)

    with bundle_part.noted(home, tmp_path / "b"):
        pass
