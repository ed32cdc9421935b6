"""What a runtime takes along of the machine that it stands on."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.runtimes import carry, folder
from studio.runtimes.bundle_write import Content
from studio.runtimes.install import install
from tests.runtimes.bundles import export, take
from tests.runtimes.standin import StandIn


def run(*command: str | Path) -> str:
    """Return what a program prints; it must end well."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_runtime_over_this_machine_s_python_takes_it_along(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """On the other machine there is none: the imported one must not need ours for anything."""
    record = asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    there = stand_in.elsewhere(tmp_path / "the öther machine")

    out = asyncio.run(export(stand_in, tmp_path))
    done = asyncio.run(take(there, Path(out.path), out.fingerprint))

    assert done.runtime_id == record.runtime_id
    taken = folder.installed(there.paths, there.recipe)
    assert taken is not None
    assert taken.interpreter.endswith("of the machine that exported it")
    root = folder.folder_of(there.paths, taken)
    code = "import sys, os, ssl, weirtiny; print(sys.base_prefix, os.__file__, sep='\\n')"
    places = run(root / folder.PYTHON, "-I", "-c", code).splitlines()
    assert all(place.startswith(str(root / carry.BASE)) for place in places)
    maps = "print(open('/proc/self/maps').read())"
    loaded = {
        line[line.find("/") :]
        for line in run(root / folder.PYTHON, "-I", "-c", maps).splitlines()
        if "python" in line.lower() and "/" in line
    }
    assert loaded
    assert all(path.startswith(str(root)) for path in loaded), loaded
    again = asyncio.run(carry.carried(there.recipe, there.paths, root))
    assert again == {}


def answer(root: Path, **values: object) -> carry._Answer:
    """Return what carry.py would say of a made-up Python."""
    said = {
        "base": str(root),
        "executable": str(root / "bin/python3.11"),
        "stdlib": str(root / "lib/python3.11"),
        "platstdlib": str(root / "lib/python3.11"),
        "include": str(root / "include/python3.11"),
        "shared": str(root / "lib/libpython3.11.so.1.0"),
        "needs_shared": "libpython3.11.so.1.0",
        "libraries": {},
    }
    return carry._Answer(**{**said, **values})


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a made-up Python with all that a real one has lying about."""
    root = tmp_path / "usr-of-somebody"
    for name in (
        "bin/python3.11",
        "lib/libpython3.11.so.1.0",
        "lib/python3.11/os.py",
        "lib/python3.11/config/libpython3.11.a",
        "lib/python3.11/site-packages/torch/__init__.py",
        "lib/python3.11/dist-packages/apt/__init__.py",
        "lib/python3.11/test/test_os.py",
        "lib/python3.11/json/__init__.py",
        "include/python3.11/Python.h",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "lib/python3.11/sitecustomize.py").symlink_to("os.py")
    (root / "lib/python3.11/broken.py").symlink_to("nothing")
    runpath = b"\x7fELF..\0" + bytes(root / "lib") + b"\0.."
    (root / "bin/python3.11").write_bytes(runpath)
    return root


def test_packages_and_tests_of_that_python_stay_at_home(
    stand_in: StandIn, base: Path, tmp_path: Path
) -> None:
    """They are somebody's, and as large as the runtime; links arrive as what they lead to."""
    (tmp_path / "runtime/python").mkdir(parents=True)
    (tmp_path / "runtime/python/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11\n")

    found = carry._members(stand_in.recipe, tmp_path / "runtime", answer(base))

    assert sorted(found) == [
        "python/base/bin/python3.11",
        "python/base/include/python3.11/Python.h",
        "python/base/lib/libpython3.11.so.1.0",
        "python/base/lib/python3.11/json/__init__.py",
        "python/base/lib/python3.11/os.py",
        "python/base/lib/python3.11/sitecustomize.py",
        "python/pyvenv.cfg",
    ]
    assert found["python/base/lib/python3.11/sitecustomize.py"].place.name == "os.py"
    settings = found["python/pyvenv.cfg"].data
    assert settings == f"home = {tmp_path}/runtime/python/base/bin\nversion = 3.11\n".encode()


def test_the_program_is_told_to_look_beside_itself(stand_in: StandIn, base: Path) -> None:
    """In a copy: the machine's own program stays as it is."""
    before = (base / "bin/python3.11").read_bytes()

    made = carry._program(stand_in.recipe, base / "bin/python3.11", answer(base))

    assert made.data is not None
    assert len(made.data) == len(before)
    assert b"\0$ORIGIN/../lib\0" in made.data
    assert bytes(base) not in made.data
    assert (base / "bin/python3.11").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"no path at all", b"\0/usr\0"])
def test_a_program_that_cannot_be_told_is_refused(
    stand_in: StandIn, base: Path, content: bytes
) -> None:
    """It would run here, where its library is, and nowhere else."""
    program = base / "bin/python3.11"
    program.write_bytes(content)

    with pytest.raises(HostLacks) as caught:
        carry._program(stand_in.recipe, program, answer(base))

    assert caught.value.code == "interpreter-not-portable"
    assert "libpython3.11.so.1.0" in caught.value.message


def test_a_program_that_needs_no_library_or_looks_there_already_is_taken_as_it_is(
    stand_in: StandIn, base: Path
) -> None:
    """Debian's own, and those of the archives."""
    program = base / "bin/python3.11"
    alone = carry._program(stand_in.recipe, program, answer(base, needs_shared=None))
    program.write_bytes(b"\0$ORIGIN/../lib\0")
    beside = carry._program(stand_in.recipe, program, answer(base))

    assert alone == beside == Content(program)


def test_libraries_that_the_recipe_names_come_along(stand_in: StandIn, tmp_path: Path) -> None:
    """A minimal machine lacks them, and has no network to get them from."""
    inside = str(tmp_path / "python")
    said = answer(tmp_path, base=inside, libraries={"liba.so.1": "/lib/liba.so.1.2", "b.so": None})

    found = carry._members(stand_in.recipe, tmp_path, said)

    assert found == {"lib/liba.so.1": Content(Path("/lib/liba.so.1.2"))}


def test_an_interpreter_that_says_nothing_is_an_error_in_words(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """A runtime whose Python does not start cannot be exported."""
    program = tmp_path / folder.PYTHON
    program.parent.mkdir(parents=True)
    shutil.copy("/bin/true", program)

    with pytest.raises(HostLacks) as caught:
        asyncio.run(carry.carried(stand_in.recipe, stand_in.paths, tmp_path))

    assert caught.value.code == "interpreter-not-portable"
