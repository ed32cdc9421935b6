"""Compilers on the machine."""

import stat
from pathlib import Path

import pytest

from studio.host import programs

NVCC = """nvcc: NVIDIA (R) Cuda compiler driver
Cuda compilation tools, release 12.8, V12.8.93
Build cuda_12.8.r12.8/compiler.35583870_0"""


def program(folder: Path, name: str, body: str) -> Path:
    """Write an executable script."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def test_versions_are_read_from_what_they_print(tmp_path: Path) -> None:
    """The rules of runtimes are about versions."""
    nvcc = program(tmp_path, "nvcc", f"cat <<'END'\n{NVCC}\nEND")
    program(tmp_path, "gcc", "echo 'gcc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0'")
    program(tmp_path, "ninja", "echo 1.11.1")

    found = await programs.toolchain({"PATH": str(tmp_path)})

    assert found.nvcc is not None
    assert (found.nvcc.path, found.nvcc.version) == (str(nvcc), "12.8.93")
    assert found.compiler is not None
    assert found.compiler.version == "13.3.0"
    assert found.ninja is not None
    assert found.ninja.version == "1.11.1"
    assert found.cuda_home is None


async def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    """Looked for and not found, which is not the same as not looked for."""
    found = await programs.toolchain({"PATH": str(tmp_path)})

    assert (found.nvcc, found.compiler, found.ninja) == (None, None, None)


async def test_cuda_home_is_looked_into_when_the_path_has_no_nvcc(tmp_path: Path) -> None:
    """Toolkits are often installed and not on the PATH."""
    nvcc = program(tmp_path / "cuda" / "bin", "nvcc", "echo nothing")
    home = str(tmp_path / "cuda")

    found = await programs.toolchain({"PATH": str(tmp_path), "CUDA_HOME": home})

    assert found.cuda_home == home
    assert found.nvcc is not None
    assert (found.nvcc.path, found.nvcc.version) == (str(nvcc), None)


@pytest.mark.parametrize("body", ["exit 1", "echo 12.8; exit 1", "kill -9 $$"])
async def test_a_program_that_fails_has_no_version(body: str, tmp_path: Path) -> None:
    """A version in an error message is not its version."""
    program(tmp_path, "gcc", body)

    found = await programs.toolchain({"PATH": str(tmp_path)})

    assert found.compiler is not None
    assert found.compiler.version is None
