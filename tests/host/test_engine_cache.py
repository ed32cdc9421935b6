"""The folder for what engines compile: by a name that a compiler takes, whatever the home is."""

from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host import engine_cache
from studio.host.paths import Paths


def paths_of(home: Path) -> Paths:
    """Return the paths of a home."""
    return Paths(home=home, catalogue=home)


def test_a_home_without_blanks_is_named_as_it_is(tmp_path: Path) -> None:
    """A link where none is needed would only hide where things lie."""
    paths = paths_of(tmp_path / "wéir")

    name = engine_cache.make(paths)

    assert name == paths.cache / "engine"
    assert name.is_dir()
    assert not name.is_symlink()


def test_a_home_with_blanks_gets_a_name_without(tmp_path: Path) -> None:
    """torch's calls of the compiler fall apart at a blank, and the engine with them."""
    paths = paths_of(tmp_path / "wéir  home\tof mine")

    try:
        name = engine_cache.make(paths)
        again = engine_cache.make(paths)

        assert name == again
        assert not any(letter.isspace() for letter in str(name))
        (name / "made").write_text("x", encoding="utf-8")
        assert (paths.cache / "engine" / "made").is_file()
    finally:
        engine_cache.forget(paths)
        paths.sockets.rmdir()
    assert (paths.cache / "engine" / "made").is_file()


def test_a_link_that_leads_elsewhere_is_mended(tmp_path: Path) -> None:
    """A home that was moved leaves its link behind."""
    paths = paths_of(tmp_path / "a home")
    engine_cache.make(paths)
    try:
        name = paths.engine_cache_name
        name.unlink()
        name.symlink_to(tmp_path / "gone")

        assert engine_cache.make(paths).resolve() == (paths.cache / "engine").resolve()
        assert list(name.parent.iterdir()) == [name]
    finally:
        engine_cache.forget(paths)
        paths.sockets.rmdir()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The person has to know which folder to mend."""
    (tmp_path / "home").write_text("no folder", encoding="utf-8")

    with pytest.raises(HostLacks, match="home"):
        engine_cache.make(paths_of(tmp_path / "home"))
