"""Which interpreter is taken: the archive where it can be had, else the machine's own."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from studio.domain.errors import NetworkFailure
from studio.domain.events import Stage
from studio.domain.manifests import Archive
from studio.domain.network import Mirror, NetworkSettings
from studio.host.documents import write_json
from studio.host.meter import Meter
from studio.host.transfer import session
from studio.runtimes import interpreter
from studio.runtimes.interpreter import Chosen
from tests.fakes import hostile
from tests.runtimes import standin
from tests.runtimes.standin import SERIES, StandIn

URL = (
    "https://github.com/astral-sh/python-build-standalone/releases/download/20261021/"
    "cpython-3.11.17%2B20261021-x86_64-unknown-linux-gnu-install_only_stripped.tar.gz"
)
NAME = "cpython-3.11.17+20261021-x86_64-unknown-linux-gnu-install_only_stripped.tar.gz"
ARCHIVE = Archive(
    platform="linux-x86_64", version="3.11.17", release="20261021", url=URL, sha256="0" * 64
)


def choose(stand_in: StandIn) -> Chosen:
    """Choose for the stand-in's recipe as it stands."""
    meter = Meter(Stage.RUNTIME, "Tiny", stand_in.reports.append)
    return asyncio.run(interpreter.choose(stand_in.recipe, stand_in.paths, meter))


@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        ("", [URL]),
        (
            "http://mirror/pbs/",
            [
                f"http://mirror/pbs/20261021/{NAME.replace('+', '%2B')}",
                f"http://mirror/pbs/{NAME.replace('+', '%2B')}",
            ],
        ),
        ("/stick", [f"/stick/20261021/{NAME}", f"/stick/{NAME}"]),
        (
            "file:///stick",
            [
                f"file:///stick/20261021/{NAME.replace('+', '%2B')}",
                f"file:///stick/{NAME.replace('+', '%2B')}",
            ],
        ),
    ],
)
def test_a_mirror_replaces_the_projects_address(mirror: str, expected: list[str]) -> None:
    """As tree of releases or as a plain folder, over the network or from a disk."""
    assert interpreter.addresses(ARCHIVE, {"WEIR_PYTHON_MIRROR": mirror}) == expected


class _NoPause:
    """Chance that always lands on none."""

    def uniform(self, _least: float, _most: float) -> float:
        return 0.0


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the pauses between tries out: ten seconds until an address counts as out of reach."""
    monkeypatch.setattr(session, "_JITTER", _NoPause())


@pytest.mark.usefixtures("impatient")
def test_an_archive_out_of_reach_falls_back_to_this_machine(stand_in: StandIn) -> None:
    """And the Studio says which interpreter it used."""
    table = standin.archive_table("http://127.0.0.1:1/20990101/x+1-y-install_only.tar.gz", "0" * 64)
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")

    chosen = choose(stand_in)

    assert chosen.archive is None
    assert chosen.executable is not None
    assert str(chosen.executable) in chosen.words
    assert chosen.build.startswith("host cpython")
    assert stand_in.reports[-1].note == f"Looking for Python {SERIES} on this machine"


def test_an_archive_put_into_the_download_folder_is_used(stand_in: StandIn) -> None:
    """The way without any network and without a setting."""
    downloads = stand_in.paths.cache / "downloads"
    downloads.mkdir(parents=True)
    sha256 = standin.make_interpreter_archive(downloads / "x+1-y-install_only.tar.gz")
    table = standin.archive_table("http://127.0.0.1:1/20990101/x%2B1-y-install_only.tar.gz", sha256)
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")

    chosen = choose(stand_in)

    assert chosen.archive == downloads / "x+1-y-install_only.tar.gz"
    assert chosen.build == f"cpython-{SERIES}.99+20990101-y"


def test_mirrors_of_the_network_settings_are_asked_first(stand_in: StandIn, tmp_path: Path) -> None:
    """The first one lies and is named in the progress; the second has it; the project is far."""
    name = "x+1-y-install_only.tar.gz"
    sha256 = standin.make_interpreter_archive(tmp_path / name)
    target = f"/20990101/{name.replace('+', '%2B')}"
    url = f"{interpreter.PROJECT_ROOT}{target}"
    text = standin.recipe_text(standin.archive_table(url, sha256))
    stand_in.recipe_file.write_text(text, "utf-8")
    data = (tmp_path / name).read_bytes()
    with hostile.serving({target: data[::-1]}) as liar, hostile.serving({target: data}) as good:
        mirrors = tuple(Mirror(of=interpreter.PROJECT_ROOT, at=one.url("")) for one in (liar, good))
        write_json(stand_in.paths.network_settings, NetworkSettings(mirrors=mirrors))

        chosen = choose(stand_in)

    assert chosen.archive == stand_in.paths.downloads / name
    assert chosen.archive.read_bytes() == data
    assert len(liar.requests) == len(good.requests) == 1


@pytest.mark.usefixtures("impatient")
def test_without_any_interpreter_the_file_is_named(stand_in: StandIn) -> None:
    """Which file, where to put it, or what to install instead."""
    table = standin.archive_table("http://127.0.0.1:1/20990101/x+1-y-install_only.tar.gz", "a" * 64)
    text = standin.recipe_text(table).replace(f'series = "{SERIES}"', 'series = "3.99"')
    stand_in.recipe_file.write_text(text, "utf-8")

    with pytest.raises(NetworkFailure) as caught:
        choose(stand_in)

    assert caught.value.code == "interpreter-unreachable"
    assert "x+1-y-install_only.tar.gz" in (caught.value.hint or "")
    assert str(stand_in.paths.cache / "downloads") in (caught.value.hint or "")
    assert caught.value.data["sha256"] == "a" * 64


def test_programs_are_looked_at_once_each(tmp_path: Path) -> None:
    """The same interpreter stands on PATH under three names."""
    real = tmp_path / "real" / f"python{SERIES}"
    real.parent.mkdir()
    real.symlink_to(sys.executable)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / real.name).symlink_to(real)
    environ = {"PATH": f"{tmp_path}/one:{tmp_path}/two:/no/such", "HOME": str(tmp_path)}

    found = [path.resolve() for path in interpreter.candidates(SERIES, environ)]

    assert len(found) == len(set(found))
    assert Path(sys.executable).resolve() in found


def test_things_that_only_look_like_python_are_passed_over(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrappers that fail, print nonsense, or are another version behind the name."""
    for number, text in enumerate(("exit 1", "echo hello", "echo '{}'", "kill -9 $$")):
        fake = tmp_path / f"bin{number}" / f"python{SERIES}"
        fake.parent.mkdir()
        fake.write_text(f"#!/bin/sh\n{text}\n")
        fake.chmod(0o755)
    folders = [str(tmp_path / f"bin{number}") for number in range(4)]
    monkeypatch.setenv("PATH", os.pathsep.join([*folders, os.environ["PATH"]]))

    found = asyncio.run(interpreter.find_on_host(SERIES, stand_in.paths))

    assert found is not None
    assert found.version.startswith(SERIES)
    assert str(tmp_path) not in found.executable


def test_a_program_that_waits_holds_up_no_other(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version manager's launcher takes longer than all interpreters: they are asked beside it."""
    first, second = (tmp_path / name / f"python{SERIES}" for name in ("one", "two"))
    for program, mine, other in ((first, "a", "b"), (second, "b", "a")):
        program.parent.mkdir()
        program.write_text(
            f"#!/bin/sh\nmkdir '{tmp_path}/{mine}'\n"
            f"while [ ! -d '{tmp_path}/{other}' ]; do sleep 0.05; done\n"
            f"mkdir '{tmp_path}/{mine} met'\nexit 1\n"
        )
        program.chmod(0o755)
    folders = [str(first.parent), str(second.parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))

    found = asyncio.run(interpreter.find_on_host(SERIES, stand_in.paths))

    assert found is not None
    assert sorted(path.name for path in tmp_path.glob("* met")) == ["a met", "b met"]
