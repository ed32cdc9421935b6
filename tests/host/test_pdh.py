"""Windows' counters as calls: names in UTF-16, room that grows, statuses that are told."""

import ctypes
from pathlib import Path

import pytest

from studio.host.pdh import PdhError, Query
from tests.fakes import counters


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return the stand-in."""
    return counters.built(tmp_path_factory.mktemp("pdh"))


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of what Windows counts."""
    file = tmp_path / "counters.txt"
    monkeypatch.setenv("FAKE_PDH", str(file))
    return file


def test_many_instances_are_read_with_large_values(library: ctypes.CDLL, known: Path) -> None:
    """A machine has a line for each process and card; bytes have 64 bits."""
    lines = [rf"\A(*)\B|instance_{n}|{n << 40}" for n in range(300)]
    known.write_text("\n".join([*lines, r"\C(*)\D|twice|1", r"\C(*)\D|twice|2", ""]))
    query = Query([r"\A(*)\B", r"\C(*)\D"], library)

    many, linked = query.read()
    query.close()
    query.close()

    assert many == {f"instance_{n}": n << 40 for n in range(300)}
    assert linked == {"twice": 3}


def test_what_windows_does_not_count_is_told_by_its_number(
    library: ctypes.CDLL, known: Path
) -> None:
    """The number is what a person can look up."""
    known.write_text("")
    with pytest.raises(PdhError) as caught:
        Query([r"\A(*)\B"], library)
    assert caught.value.status == 0xC0000BB9
    assert str(caught.value) == "PDH 0xc0000bb9"
