"""The kernel's small text files, whole, cut short or missing."""

from pathlib import Path

import pytest

from studio.domain.readings import Pressure
from studio.host.pressure import number_of, read_pressure, text_of

STATUS = "Name:\tpython\nVmSwap:\t    1024 kB\nVmSwapX:\t7 kB\nRssShmem:\t 12 kB\n"


def test_pressure_is_a_share() -> None:
    """As the kernel prints it."""
    text = (
        "some avg10=12.50 avg60=3.00 avg300=1.00 total=123\n"
        "full avg10=4.00 avg60=1.00 avg300=0.10 total=45\n"
    )

    assert read_pressure(text) == Pressure(some=0.125, full=0.04)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("some avg10=x", None),
        ("full avg10=4.00 avg60=1", None),
        ("some avg10=100.00 avg60=1.00", Pressure(some=1.0)),
    ],
)
def test_half_a_file_is_not_known(text: str, found: Pressure | None) -> None:
    """Old kernels, and kernels with PSI switched off."""
    assert read_pressure(text) == found


@pytest.mark.parametrize(
    ("name", "value"),
    [("VmSwap:", 1024), ("RssShmem:", 12), ("Name:", None), ("Swap:", None), ("VmSwapX", None)],
)
def test_a_number_is_found_by_its_whole_name(name: str, value: int | None) -> None:
    """`VmSwapX` begins with `VmSwap`."""
    assert number_of(STATUS, name) == value


def test_the_first_line_counts_too() -> None:
    """`rchar` may be the first of a file."""
    assert number_of("pswpin 7\npswpout 9\n", "pswpin") == 7
    assert number_of("pswpin 7", "pswpin") == 7
    assert number_of("", "pswpin") is None
    assert number_of("oom_kill_disable 0\noom_kill 3\n", "oom_kill") == 3
    assert number_of("pswpin " + "9" * 30, "pswpin") is None


def test_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    """A process ends between two looks."""
    (tmp_path / "folder").mkdir()

    assert text_of(tmp_path / "gone") == ""
    assert text_of(tmp_path / "folder") == ""
    assert text_of(tmp_path / "a\0b") == ""
