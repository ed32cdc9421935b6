"""Compilers: whose rules they meet."""

import pytest

from studio.domain.doctor import Level
from studio.domain.hardware import Program, Toolchain, WslFacts
from tests.doctor.cases import CU13, SM70, all_said, host, said

GCC = Program(path="/usr/bin/gcc", version="13.3.0")


def nvcc(version: str | None) -> Program:
    """Return a CUDA compiler of that version."""
    return Program(path="/usr/local/cuda/bin/nvcc", version=version)


@pytest.mark.parametrize(
    ("found", "level"),
    [
        (nvcc("12.8.93"), Level.GOOD),
        (nvcc("12.4.131"), Level.GOOD),
        (nvcc(None), Level.GOOD),
        (nvcc("13.0.88"), Level.LOOK),
        (None, Level.LOOK),
    ],
)
def test_the_v100_wants_a_cuda_compiler_that_still_knows_it(
    found: Program | None, level: Level
) -> None:
    """CUDA 13 dropped Volta; without one the prebuilt prefill is used and V4.1 cannot be built."""
    chain = Toolchain(nvcc=found, compiler=GCC)

    check = said(host("v100-16x4-linux", toolchain=chain), "tool-nvcc")

    assert check.level is level
    assert all(name in check.found for name in SM70)
    if level is Level.LOOK:
        assert "prebuilt prefill" in check.found


@pytest.mark.parametrize(
    ("found", "home", "level"),
    [
        (None, None, Level.GOOD),
        (nvcc("13.0.88"), None, Level.GOOD),
        (nvcc("12.8.93"), None, Level.GOOD),
        (nvcc("13.4.20"), None, Level.GOOD),
        (nvcc("13.4.20"), "/usr/local/cuda", Level.LOOK),
        (nvcc("12.8.93"), "/usr/local/cuda", Level.LOOK),
        (nvcc("13.0.88"), "/usr/local/cuda", Level.GOOD),
    ],
)
def test_a_runtime_that_brings_its_own_minds_only_cuda_home(
    found: Program | None, home: str | None, level: Level
) -> None:
    """An explicit CUDA_HOME wins over it, and a newer compiler fails just as an older does."""
    chain = Toolchain(nvcc=found, compiler=GCC, cuda_home=home)

    check = said(host(toolchain=chain), "tool-nvcc")

    assert check.level is level
    if level is Level.LOOK:
        assert "CUDA_HOME" in (check.advice or "")


@pytest.mark.parametrize(("name", "names"), [("rtx3090-linux", CU13), ("v100-16x4-linux", SM70)])
def test_without_a_c_compiler_no_engine_on_a_card_starts(name: str, names: tuple[str, ...]) -> None:
    """Triton builds its launcher at the first start, minutes after the install."""
    checks = all_said(host(name, toolchain=Toolchain()), "tool-compiler")

    assert {check.level for check in checks} == {Level.STOPS}
    assert {one for check in checks for one in check.stops} == set(names)
    assert all("apt install" in (check.advice or "") for check in checks)


def test_in_the_studios_own_linux_the_compiler_comes_from_windows() -> None:
    """There is no `sudo` in it, and nobody who could become root by it."""
    for name, words in (("weir-studio", "wsl -d weir-studio -u root apt"), ("Ubuntu", "sudo apt")):
        chain, facts = Toolchain(), WslFacts(version=2, distribution=name)
        checks = all_said(host("rtx4090-wsl2", toolchain=chain, wsl=facts), "tool-compiler")

        assert checks
        assert all(words in (check.advice or "") for check in checks)
        assert all(("sudo" in (check.advice or "")) == (name == "Ubuntu") for check in checks)


def test_on_the_processor_nothing_is_compiled() -> None:
    """Its runtime brings all."""
    assert all_said(host("none-linux", toolchain=Toolchain()), "tool-compiler") == []


def test_compilers_that_were_not_looked_for_are_unknown() -> None:
    """A bare snapshot says nothing about them."""
    assert said(host(toolchain=None), "tools").level is Level.UNKNOWN
