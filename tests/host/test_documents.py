"""Documents: errors name the file, the place, and what was found."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound, StudioError
from studio.host.documents import read_json, read_toml, write_json

DEEP = 100_000


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document."""

    title: str
    count: int = 0


class Loose(msgspec.Struct, frozen=True, kw_only=True):
    """A document that ignores what it does not know."""

    title: str = ""


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Non-ASCII names and blanks are daily life."""
    path = tmp_path / "wéir home" / "nöte.json"

    write_json(path, Note(title="日本語 \u2028"))

    assert read_json(path, Note) == Note(title="日本語 \u2028")
    assert path.read_bytes().endswith(b"}\n")


def test_a_missing_json_is_none_and_a_missing_toml_is_an_error(tmp_path: Path) -> None:
    """State may not exist yet; a named file must."""
    assert read_json(tmp_path / "none.json", Note) is None
    assert read_json(tmp_path / "no" / "folder.json", Note) is None
    (tmp_path / "file").write_bytes(b"")
    assert read_json(tmp_path / "file" / "note.json", Note) is None
    with pytest.raises(NotFound) as caught:
        read_toml(tmp_path / "none.toml", Note)

    assert caught.value.code == "file-missing"
    assert "none.toml" in caught.value.message


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"title": 3}',
        b'{"title": "x", "cuont": 1}',
        b'{"title": "\xff\xfe"}',
        b"\x00" * 100,
        b'{"title": "x"} and more',
        b"[" * DEEP,
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_damaged_json_is_named(tmp_path: Path, raw: bytes) -> None:
    """After a power cut a file may be empty, zeros, or another file's end."""
    path = tmp_path / "note.json"
    path.write_bytes(raw)

    with pytest.raises(Damaged, match=r"note\.json") as caught:
        read_json(path, Note)

    assert caught.value.code == "document-damaged"


def test_what_is_ignored_may_still_be_nonsense(tmp_path: Path) -> None:
    """Brackets without end inside an unknown field must not end in a traceback."""
    path = tmp_path / "note.json"
    path.write_bytes(b'{"unknown": ' + b"[" * DEEP)

    with pytest.raises(Damaged):
        read_json(path, Loose)


@pytest.mark.parametrize(
    ("raw", "part"),
    [
        (b"title = ", "not valid TOML"),
        (b'title = "\xff"', "not valid TOML"),
        (b"title = 3", r"\$\.title"),
        (b'title = "x"\ncount = "3"', r"\$\.count"),
        (b'title = "x"\ncuont = 3', "cuont"),
        (b"", "title"),
        (b"title = " + b"[" * DEEP, "TOML"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_invalid_toml_names_the_place(tmp_path: Path, raw: bytes, part: str) -> None:
    """People write these files by hand."""
    path = tmp_path / "nöte.toml"
    path.write_bytes(raw)

    with pytest.raises(BadInput, match=part) as caught:
        read_toml(path, Note)

    assert caught.value.code == "document-invalid"
    assert "nöte.toml" in caught.value.message


def test_a_folder_in_the_place_of_a_file_is_an_error_of_ours(tmp_path: Path) -> None:
    """So is a file that this user may not read; neither may become a traceback."""
    (tmp_path / "note").mkdir()

    for read in (read_json, read_toml):
        with pytest.raises(StudioError, match="note") as caught:
            read(tmp_path / "note", Note)
        assert isinstance(caught.value, HostLacks)
        assert caught.value.code == "not-readable"
        assert caught.value.hint
