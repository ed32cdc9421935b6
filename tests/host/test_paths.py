"""Where things lie: one override moves everything, and a socket's path always fits."""

import os
import socket
from pathlib import Path

import pytest

from studio.domain.errors import BadInput
from studio.host import files, paths
from studio.host.paths import Paths, bundled_root, from_environment

KERNEL_LIMIT = 107
LONG = "/".join(["a-folder-with-a-long-name-and-ünïcödé"] * 6)


def home_of(folder: Path) -> Paths:
    """Return the paths of a home in `folder`."""
    return Paths(home=folder, catalogue=bundled_root())


def test_the_bundled_root_holds_the_data() -> None:
    """The wrong folder would mean: no preset, no runtime."""
    for name in ("presets", "runtimes"):
        assert (bundled_root() / name).is_dir()


def test_weir_home_moves_everything_that_is_written() -> None:
    """People put models on another disk; tests must never touch the person's own home."""
    home = Path("/data/wéir")
    found = from_environment({"WEIR_HOME": str(home)})

    places = [
        getattr(found, name) for name, kind in vars(Paths).items() if isinstance(kind, property)
    ]
    assert len(places) >= 9
    for place in places:
        assert place.is_relative_to(home), place


def test_without_weir_home_it_is_the_user_s_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform's convention, not a dot folder of ours; an empty variable counts as unset."""
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere/data")

    for environ in ({}, {"WEIR_HOME": ""}):
        assert from_environment(environ).home == Path("/somewhere/data/weir-studio")
        assert from_environment(environ).catalogue == bundled_root()


def test_a_relative_home_does_not_move_with_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service is started from wherever the person stands."""
    monkeypatch.chdir(tmp_path)
    found = from_environment({"WEIR_HOME": "mine", "WEIR_CATALOGUE": "own"})
    monkeypatch.chdir("/")

    assert found.home == tmp_path / "mine"
    assert found.catalogue == tmp_path / "own"


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables set in files that no shell reads keep their tilde."""
    monkeypatch.setenv("HOME", "/people/jo")

    assert from_environment({"WEIR_HOME": "~/weir"}).home == Path("/people/jo/weir")


def test_a_home_that_is_no_text_is_refused() -> None:
    """Its name goes into JSON, TOML and logs; bytes that are no UTF-8 cannot."""
    environ = {"WEIR_HOME": os.fsdecode(b"/data/\xff\xfe")}

    with pytest.raises(BadInput) as caught:
        from_environment(environ)

    assert caught.value.code == "home-not-text"
    caught.value.message.encode()


def test_a_short_home_keeps_its_sockets_inside() -> None:
    """What lies in the home goes with the home."""
    short = home_of(Path("/data/wéir"))

    assert short.sockets == short.service


def test_a_home_with_a_blank_has_its_sockets_elsewhere() -> None:
    """Engines write there for compilers, whose calls fall apart at a blank."""
    found = home_of(Path("/data/wéir home")).sockets

    assert not any(letter.isspace() for letter in str(found))


def test_the_socket_s_path_fits_whatever_the_home_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux takes 107 bytes; a home in a deep folder must still work, and really listen."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    found = home_of(tmp_path / LONG)
    path = found.sockets / "engine-01234567.sock"
    assert not found.sockets.is_relative_to(found.home)
    assert len(os.fsencode(path)) <= KERNEL_LIMIT

    files.make_private(found.sockets)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    finally:
        path.unlink(missing_ok=True)
        found.sockets.rmdir()


def test_the_longest_name_of_a_socket_fits_too() -> None:
    """The engine's own sockets lie beside ours and have names of 36 letters."""
    for length in range(1, KERNEL_LIMIT):
        found = home_of(Path("/" + "h" * length)).sockets

        assert len(os.fsencode(found / ("0" * 36))) <= KERNEL_LIMIT


def test_two_long_homes_do_not_share_a_folder(tmp_path: Path) -> None:
    """Two services of one user must not see each other's sockets."""
    assert home_of(tmp_path / LONG / "a").sockets != home_of(tmp_path / LONG / "b").sockets


def test_a_runtime_folder_that_is_not_there_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After `su` the variable names another user's folder, in a container one that is missing."""
    present = Path("/tmp") / f"weir-test-{os.getpid()}"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(present))
    found = home_of(tmp_path / LONG)
    assert not found.sockets.is_relative_to(present)

    present.mkdir()
    try:
        assert found.sockets.is_relative_to(present)
    finally:
        present.rmdir()


@pytest.mark.parametrize("variable", ["XDG_RUNTIME_DIR", "TMPDIR"])
def test_a_long_folder_for_short_lived_files_is_not_used_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Build systems set TMPDIR to folders as deep as the home."""
    deep = tmp_path / LONG
    deep.mkdir(parents=True)
    monkeypatch.setenv(variable, str(deep))
    monkeypatch.setattr(paths.tempfile, "tempdir", None)

    path = home_of(deep / "home").sockets / "engine-01234567.sock"

    assert len(os.fsencode(path)) <= KERNEL_LIMIT
