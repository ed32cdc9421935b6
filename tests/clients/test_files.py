"""A client's file is written whole, with a way back, whatever happens meanwhile."""

from pathlib import Path

import pytest

from studio.clients import files
from studio.domain.clients import ClientState
from studio.domain.errors import BadInput, Busy, Damaged, HostLacks, NotFound, StudioError
from tests.clients.samples import FILLING, spec


@pytest.fixture
def notes(tmp_path: Path) -> files.Notes:
    """Return a place for notes, in a folder with a blank."""
    return files.Notes(tmp_path / "the home" / "clients")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of a client, in a folder with a name that is not ASCII."""
    path = tmp_path / "hö me" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"a": 1} // mine\n', encoding="utf-8")
    path.chmod(0o640)
    return path


def put(notes: files.Notes, path: Path, data: bytes) -> files.Note:
    """Write a file as a client's."""
    return files.write(notes, "zed", files.look(path), data, key=("k1", "Zed"))


def test_writing_keeps_mode_and_backup_and_undo_restores_exactly(
    notes: files.Notes, file: Path
) -> None:
    """To the byte, mode included, and nothing of ours is left beside."""
    before = file.read_bytes()

    note = put(notes, file, b"{}")

    assert file.read_bytes() == b"{}"
    assert file.stat().st_mode & 0o777 == 0o640
    assert note.backup is not None
    assert Path(note.backup).read_bytes() == before
    assert files.state(notes.get("zed"), files.look(file)) is ClientState.CONNECTED

    put(notes, file, b"{ }")
    files.undo(notes, "zed", "Zed")

    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(file.parent.iterdir()) == [file]
    with pytest.raises(NotFound):
        files.undo(notes, "zed", "Zed")


def test_a_file_that_was_not_there_is_private_and_goes_away_again(
    notes: files.Notes, tmp_path: Path
) -> None:
    """It holds a key."""
    path = tmp_path / "new" / "config.toml"
    put(notes, path, b"a = 1\n")
    assert path.stat().st_mode & 0o777 == 0o600

    assert files.undo(notes, "zed", "Zed")[1]

    assert not path.exists()


def test_a_file_that_somebody_changed_since_is_not_put_back(notes: files.Notes, file: Path) -> None:
    """Their change would be lost."""
    put(notes, file, b"{}")
    file.write_bytes(b'{"theirs": 1}')

    with pytest.raises(BadInput) as caught:
        files.undo(notes, "zed", "Zed")

    assert caught.value.code == "client-file-changed"
    assert file.read_bytes() == b'{"theirs": 1}'
    assert files.state(notes.get("zed"), files.look(file)) is ClientState.CHANGED


def test_a_lost_or_changed_backup_is_said_and_nothing_is_written(
    notes: files.Notes, file: Path
) -> None:
    """The file as it is beats one that nobody knows."""
    note = put(notes, file, b"{}")
    Path(note.backup or "").write_bytes(b"other")

    with pytest.raises(Damaged):
        files.undo(notes, "zed", "Zed")

    assert file.read_bytes() == b"{}"


def test_a_kill_between_note_and_file_can_be_undone(notes: files.Notes, file: Path) -> None:
    """The note comes first, so the file is either of the two that it names."""
    before = file.read_bytes()
    put(notes, file, b"{}")
    file.write_bytes(before)  # as if the kill had come just before the file was replaced

    assert files.state(notes.get("zed"), files.look(file)) is ClientState.UNTOUCHED
    files.undo(notes, "zed", "Zed")

    assert file.read_bytes() == before


def test_a_file_that_changes_under_our_hands_is_not_overwritten(
    notes: files.Notes, file: Path
) -> None:
    """Editors save whenever they like."""
    seen = files.look(file)
    file.write_bytes(b'{"newer": 1}')

    with pytest.raises(BadInput) as caught:
        files.write(notes, "zed", seen, b"{}", key=None)

    assert caught.value.code == "client-file-changed"
    assert file.read_bytes() == b'{"newer": 1}'


def test_a_link_stays_a_link_and_its_target_is_written(
    notes: files.Notes, file: Path, tmp_path: Path
) -> None:
    """Dotfiles often lie in a repository."""
    link = tmp_path / ".settings.json"
    link.symlink_to(file)

    put(notes, link, b"{}")

    assert link.is_symlink()
    assert file.read_bytes() == b"{}"


def test_what_cannot_be_read_or_written_is_named(notes: files.Notes, file: Path) -> None:
    """A folder, a ring of links, a read-only file, bytes that are no text, too much."""
    file.chmod(0o440)
    with pytest.raises(HostLacks, match="read-only"):
        put(notes, file, b"{}")
    ring = file.parent / "ring"
    ring.symlink_to(ring)
    big = file.parent / "big"
    big.write_bytes(b" " * ((8 << 20) + 1))
    for path in (file.parent, ring, big, file / "below"):
        with pytest.raises(StudioError) as caught:
            files.look(path)
        assert str(path) in caught.value.message
    zed = spec("zed").file
    assert zed is not None
    with pytest.raises(BadInput, match="line 2"):
        files.rewritten(files.Seen(path=file, data=b"{\n\xff"), zed, FILLING)


def test_only_one_writes_at_a_time(notes: files.Notes) -> None:
    """Two windows, or a window and a terminal."""
    with notes.alone(), pytest.raises(Busy), notes.alone():
        pass


def test_a_byte_order_mark_stays(file: Path) -> None:
    """Windows' Notepad writes one."""
    zed = spec("zed").file
    assert zed is not None
    data = files.rewritten(files.Seen(path=file, data=b"\xef\xbb\xbf{}"), zed, FILLING)
    assert data.startswith(b"\xef\xbb\xbf{")
