"""Who is asked about the cards, and in which order."""

import threading
from pathlib import Path

import pytest

from studio.host import gpus, smi
from studio.host.bounded import Bounded
from studio.host.gpu_report import GpuReport
from tests.host.test_smi import recorded_program

MISSING = GpuReport(note="No NVIDIA driver was found on this machine.", fault="no-driver")


async def test_nvidia_smi_is_asked_when_the_library_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers and WSL may have the one without the other."""
    recorded_program(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(smi, "WSL_PROGRAM", tmp_path / "none")

    report = await gpus.from_program(MISSING)

    assert [card.name for card in report.cards] == ["NVIDIA H200", "NVIDIA H200"]


@pytest.mark.parametrize("fault", ["not-loaded", "version-mismatch", "no-answer", None])
async def test_nvidia_smi_is_not_asked_after_the_library_answered(fault: str | None) -> None:
    """It would say the same, later: where the library hangs, so does the program."""
    told = GpuReport(fault=fault)

    assert await gpus.from_program(told) is told


async def test_without_either_the_librarys_reason_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`No driver` is what is true; `no nvidia-smi` would send people the wrong way."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert await gpus.from_program(MISSING) is MISSING


def test_a_library_that_does_not_answer_becomes_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exception: all else about the machine is still told."""
    release = threading.Event()

    def stuck() -> GpuReport:
        release.wait(30.0)
        return MISSING

    monkeypatch.setattr(gpus, "_nvml", Bounded(stuck, name="stuck", within_s=0.05))

    report = gpus.from_library()
    release.set()

    assert report.fault == "no-answer"
    assert report.note is not None
    assert "did not answer" in report.note
