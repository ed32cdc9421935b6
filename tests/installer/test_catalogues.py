"""Catalogues of words as files."""

from pathlib import Path

from installer.catalogues import fresh, write_catalogue, write_whole


def test_the_same_words_give_the_same_bytes(tmp_path: Path) -> None:
    """A diff shows words, never the day on which they were collected."""
    for name in ("one.po", "two.po"):
        catalogue = fresh(tmp_path / "zh_CN")
        catalogue.add("Serve", "运行")
        write_catalogue(tmp_path / name, catalogue)

    assert (tmp_path / "one.po").read_bytes() == (tmp_path / "two.po").read_bytes()
    assert "运行" in (tmp_path / "one.po").read_text(encoding="utf-8")


def test_nothing_is_left_beside_a_written_file(tmp_path: Path) -> None:
    """The part that was written first has become the file."""
    write_whole(tmp_path / "folder/words", b"x")

    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["words"]
