"""Models that presets need and that somebody else took away."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.library import RootInfo, RootKind, RootState
from studio.domain.manifests import ModelSpec
from studio.models import lost
from studio.models.lost import Lost, Served

DAY_S = 86_400.0
USES = {"m": ("p", "q"), "n": ("r",)}
ROOT = (RootInfo(path="/disk", kind=RootKind.FOLDER),)


def served(path: str = "/disk/a", models: tuple[str, ...] = ("m",), **changes: object) -> Served:
    """Return a model that presets serve."""
    one = Served(
        name="a", path=path, root="/disk", models=models, size_bytes=7, seen_at_s=1_000_000.0
    )
    return msgspec.structs.replace(one, **changes)


def test_what_was_served_and_is_gone_is_named_with_who_needs_it(tmp_path: Path) -> None:
    """Also by the next service, which never saw it."""
    Lost(tmp_path).after([served()], ROOT, USES)

    (gone,) = Lost(tmp_path).after([], ROOT, USES)

    assert (gone.name, gone.path, gone.uses, gone.size_bytes) == ("a", "/disk/a", ("p", "q"), 7)
    assert not gone.is_folder_gone
    (again,) = Lost(tmp_path).after([], ROOT, USES)
    assert again == gone


def test_what_came_back_is_not_missed(tmp_path: Path) -> None:
    """A disk that is mounted again, or a folder moved back."""
    book = Lost(tmp_path)
    book.after([served()], ROOT, USES)
    assert book.after([], ROOT, USES)

    assert book.after([served()], ROOT, USES) == ()


@pytest.mark.parametrize(
    ("here", "uses"),
    [
        ([served("/elsewhere/b")], USES),
        ([], {"n": ("r",)}),
    ],
)
def test_what_nobody_needs_any_more_is_not_missed(
    here: list[Served], uses: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    """Served from another place, or of a preset that was removed."""
    book = Lost(tmp_path)
    book.after([served()], ROOT, USES)

    assert book.after(here, ROOT, uses) == ()
    assert Lost(tmp_path).after(here, ROOT, USES) == ()


def test_a_disk_that_is_not_mounted_is_told_from_a_hand(tmp_path: Path) -> None:
    """Nobody removed anything; fetching 20 GB again would be the wrong advice."""
    book = Lost(tmp_path)
    book.after([served()], ROOT, USES)
    away = msgspec.structs.replace(ROOT[0], state=RootState.MISSING)

    (gone,) = book.after([], [away], USES)

    assert gone.is_folder_gone


def test_a_folder_that_is_not_searched_any_more_took_nothing_away(tmp_path: Path) -> None:
    """`weir models roots remove`, or another HF_HOME in this terminal: the files are there."""
    place = tmp_path / "a"
    place.mkdir()
    book = Lost(tmp_path)
    book.after([served(str(place))], ROOT, USES)

    assert book.after([], (), USES) == ()
    place.rmdir()
    assert [one.path for one in book.after([], (), USES)] == [str(place)]


def test_what_the_studio_removes_is_not_missed(tmp_path: Path) -> None:
    """Whoever says `weir models rm` knows it."""
    book = Lost(tmp_path)
    book.after([served(), served("/disk/b", ("n",))], ROOT, USES)

    book.forget("/disk/a")

    assert [one.path for one in book.after([], ROOT, USES)] == ["/disk/b"]


def test_a_download_that_was_given_up_is_not_missed(tmp_path: Path) -> None:
    """It never was whole; one that was, and lost a file meanwhile, is."""
    book = Lost(tmp_path)
    book.after([served(is_whole=False)], ROOT, USES)
    assert book.after([], ROOT, USES) == ()

    book.after([served()], ROOT, USES)
    book.after([served(is_whole=False)], ROOT, USES)

    assert [one.path for one in book.after([], ROOT, USES)] == ["/disk/a"]


def test_a_scan_that_finds_the_same_writes_nothing(tmp_path: Path) -> None:
    """Scans come every few seconds; the day of the last look is enough."""
    book = Lost(tmp_path)
    book.after([served()], ROOT, USES)
    before = (tmp_path / lost.FILE).stat().st_mtime_ns

    book.after([served(seen_at_s=1_000_000.0 + DAY_S / 2)], ROOT, USES)
    same = (tmp_path / lost.FILE).stat().st_mtime_ns
    book.after([served(seen_at_s=1_000_000.0 + DAY_S)], ROOT, USES)

    assert same == before
    assert lost._read(tmp_path / lost.FILE)[0].seen_at_s == 1_000_000.0 + DAY_S


@pytest.mark.parametrize("content", [b"", b"{", b'{"served": 3}', b"\xff"])
def test_a_book_that_cannot_be_read_is_written_anew(content: bytes, tmp_path: Path) -> None:
    """It must not keep the list of models from coming."""
    (tmp_path / lost.FILE).write_bytes(content)
    book = Lost(tmp_path)

    assert book.after([served()], ROOT, USES) == ()
    assert len(book.after([], ROOT, USES)) == 1


def test_where_it_lay_is_known_as_long_as_nothing_is_there(tmp_path: Path) -> None:
    """What a preset still needs is more than a download: somebody took it away."""
    place = tmp_path / "a"
    Lost(tmp_path).after([served(str(place))], ROOT, USES)

    assert lost.was_at(tmp_path, "m") == place
    assert lost.was_at(tmp_path, "n") is None
    place.mkdir()
    assert lost.was_at(tmp_path, "m") is None


def test_what_was_served_is_known_without_a_look_at_the_library(tmp_path: Path) -> None:
    """`weir up` every day, and never the list of models."""
    spec = ModelSpec(
        id="m", title="M", licence="none", origin="here", disk_bytes=1, files=("config.json",)
    )
    place = tmp_path / "a"
    lost.remember(tmp_path, spec, place)
    before = (tmp_path / lost.FILE).stat().st_mtime_ns
    lost.remember(tmp_path, spec, place)

    assert (tmp_path / lost.FILE).stat().st_mtime_ns == before
    assert lost.was_at(tmp_path, "m") == place
    (gone,) = Lost(tmp_path).after([], (), USES)
    assert (gone.name, gone.uses, gone.size_bytes) == ("M", ("p", "q"), None)
