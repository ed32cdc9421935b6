"""The home by a name that a compiler takes, whatever it is called."""

from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host import plain_home
from studio.host.paths import Paths


def paths_of(home: Path) -> Paths:
    """Return the paths of a home."""
    return Paths(home=home, catalogue=home)


def test_a_home_without_blanks_is_named_as_it_is(tmp_path: Path) -> None:
    """A link where none is needed would only hide where things lie."""
    paths = paths_of(tmp_path / "wéir")

    plain_home.make(paths)

    assert plain_home.name_of(paths, paths.engine_cache) == str(paths.engine_cache)
    assert paths.engine_cache.is_dir()
    assert not paths.home.is_symlink()


def test_a_home_with_blanks_gets_a_name_without(tmp_path: Path) -> None:
    """torch's calls of the compiler fall apart at a blank, and the engine with them."""
    paths = paths_of(tmp_path / "wéir  home\tof mine")

    try:
        plain_home.make(paths)
        plain_home.make(paths)
        name = plain_home.name_of(paths, paths.engine_cache)

        assert not any(letter.isspace() for letter in name)
        Path(name, "made").write_text("x", encoding="utf-8")
        assert (paths.engine_cache / "made").is_file()
        assert plain_home.name_of(paths, Path("/srv/my models")) == "/srv/my models"
    finally:
        plain_home.forget(paths)
        paths.sockets.rmdir()
    assert (paths.engine_cache / "made").is_file()


def test_a_link_that_leads_elsewhere_is_mended(tmp_path: Path) -> None:
    """A home that was moved leaves its link behind."""
    paths = paths_of(tmp_path / "a home")
    plain_home.make(paths)
    try:
        paths.plain_home.unlink()
        paths.plain_home.symlink_to(tmp_path / "gone")

        plain_home.make(paths)

        assert paths.plain_home.resolve() == paths.home.resolve()
        assert list(paths.sockets.iterdir()) == [paths.plain_home]
    finally:
        plain_home.forget(paths)
        paths.sockets.rmdir()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The person has to know which folder to mend."""
    (tmp_path / "home").write_text("no folder", encoding="utf-8")

    with pytest.raises(HostLacks, match="home"):
        plain_home.make(paths_of(tmp_path / "home"))
