"""Where compilers and headers are looked for, and which of several is taken."""

import asyncio
import sys
from pathlib import Path

import pytest

from studio.domain.runtimes import Tool
from studio.runtimes import toolchain
from studio.runtimes.toolchain import FoundTool, Where

NVCC = Tool(
    name="nvcc", programs=("nvcc",), min_version="13.0", below_version="13.1", purpose="Kernels."
)
PRINTED = "Copyright (c) 2005-2025 NVIDIA Corporation\nCuda compilation tools, release {}, V{}.88\n"


def make_nvcc(home: Path, version: str) -> Path:
    """Write a compiler that says its version as NVIDIA's does."""
    path = home / "bin" / "nvcc"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{PRINTED.format(version, version)}END\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The packages of a runtime."""
    folder = tmp_path / "rüntime x" / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    return folder


def found(site: Path, tool: Tool = NVCC, **environ: str) -> FoundTool:
    """Look for one tool; the PATH is empty unless a test gives one."""
    python = site.parents[2] / "bin" / "python3"
    where = Where(python=python, site=site, environ={"PATH": "/nowhere", **environ})
    return asyncio.run(toolchain.look([tool], where))[tool.name]


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine may have CUDA; the tests bring their own."""
    monkeypatch.setattr(toolchain, "_INSTALLED", tmp_path / "usr-local")


def test_the_compiler_of_the_packages_is_preferred(site: Path, tmp_path: Path) -> None:
    """It has the version of the headers beside it; the one on the PATH may be newer."""
    own = make_nvcc(site / "nvidia" / "cu13", "13.0")
    make_nvcc(tmp_path / "system", "13.0")

    one = found(site, PATH=str(tmp_path / "system" / "bin"))

    assert one.path == own
    assert one.version == "13.0.88"
    assert toolchain.cuda_home({"nvcc": one}) == site / "nvidia" / "cu13"


@pytest.mark.parametrize("version", ["12.4", "13.4"])
def test_a_compiler_that_does_not_go_with_the_headers_is_passed_over(
    site: Path, tmp_path: Path, version: str
) -> None:
    """Older ones reject an option, newer ones reject the headers."""
    make_nvcc(tmp_path / "system", version)
    good = make_nvcc(tmp_path / "usr-local" / "cuda-13.0", "13.0")

    one = found(site, PATH=str(tmp_path / "system" / "bin"))

    assert one.path == good


def test_a_wrong_one_alone_is_named_with_both_versions(site: Path, tmp_path: Path) -> None:
    """The person sees what is there and what it takes."""
    wrong = make_nvcc(tmp_path / "system", "12.4")

    one = found(site, PATH=str(tmp_path / "system" / "bin"))

    assert one.problem == f"{wrong} is 12.4.88, 13.0 or newer, but older than 13.1 is needed"
    assert toolchain.cuda_home({"nvcc": one}) is None


def test_what_the_person_has_set_always_wins(site: Path, tmp_path: Path) -> None:
    """Also when it is wrong: it is named then, and not silently replaced."""
    make_nvcc(site / "nvidia" / "cu13", "13.0")
    mine = make_nvcc(tmp_path / "mine", "13.0")
    old = make_nvcc(tmp_path / "old", "12.8")

    assert found(site, CUDA_HOME=str(tmp_path / "mine")).path == mine
    wrong = found(site, CUDA_HOME=str(tmp_path / "old"))
    assert wrong.path == old
    assert wrong.problem is not None


def test_nothing_there_is_said(site: Path) -> None:
    """The commonest case on a desktop."""
    assert found(site).problem == "nvcc was not found"


def test_a_folder_that_may_not_be_read_is_passed_over(site: Path, tmp_path: Path) -> None:
    """WSL brings Windows' folders onto the PATH, and protects some of them."""
    make_nvcc(tmp_path / "usr-local" / "cuda", "13.0")
    broken = tmp_path / "file"
    broken.write_text("no folder")

    assert found(site, PATH=f"{broken}:/proc/1/fd:{tmp_path / 'gone'}").problem is None


def test_any_compiler_of_several_names_will_do(site: Path, tmp_path: Path) -> None:
    """gcc here, clang there."""
    tool = Tool(name="compiler", programs=("gcc-of-the-test", "cc-of-the-test"), purpose="C.")
    program = tmp_path / "bin" / "cc-of-the-test"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    assert found(site, tool, PATH=str(program.parent)).path == program
    assert "gcc-of-the-test or cc-of-the-test" in (found(site, tool).problem or "")


def test_headers_are_those_of_the_runtimes_interpreter(site: Path) -> None:
    """Those of another Python compile, and crash later."""
    tool = Tool(name="headers", headers=("Python.h",), purpose="Triton includes them.")
    include = site.parents[2] / "include" / "python3.11"
    include.mkdir(parents=True)
    (include / "Python.h").write_text("")

    assert found(site, tool).path == include
    other = Tool(name="headers", headers=("Python.h", "no_such.h"), purpose="x")
    assert found(site, other).problem == "no_such.h was not found"


def test_a_program_that_says_nothing_of_use_is_not_taken(site: Path, tmp_path: Path) -> None:
    """A broken wrapper script; or one that does not run at all."""
    path = make_nvcc(tmp_path / "system", "13.0")
    path.write_text("#!/bin/sh\nexit 1\n")
    assert "does not tell" in (found(site, PATH=str(path.parent)).problem or "")
    path.write_text("#!/no/such/shell\n")
    assert "does not tell" in (found(site, PATH=str(path.parent)).problem or "")
    assert sys.platform == "linux"
