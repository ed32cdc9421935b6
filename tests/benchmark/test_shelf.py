"""Runs on the disk."""

import datetime
import stat
from pathlib import Path

import pytest

from studio.benchmark.shelf import Shelf
from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from tests.benchmark.samples import part, result, write

NOW = datetime.datetime(2026, 11, 29, 10, 0, 0, tzinfo=datetime.UTC)


def test_a_run_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    """And nobody else may read it."""
    shelf = Shelf(tmp_path / "bench")
    kept = result(part(), part("decode-4"))

    path = shelf.put(kept)

    assert shelf.get(kept.id) == kept
    assert shelf.get("last") == kept
    assert shelf.get("20261129-1") == kept
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_runs_of_one_second_have_two_ids(tmp_path: Path) -> None:
    """The second must not take the first one's place."""
    shelf = Shelf(tmp_path)
    first = shelf.new_id(NOW)
    shelf.put(result(id=first))
    second = shelf.new_id(NOW)
    shelf.put(result(id=second))

    assert (first, second) == ("20261129-100000", "20261129-100000-2")
    assert shelf.ids() == [first, second]
    assert shelf.find(first) == first


def test_a_whole_id_means_no_other_run(tmp_path: Path) -> None:
    """The second of one second begins with the id of the first, which is gone."""
    shelf = Shelf(tmp_path)
    shelf.put(result(id="20261129-100000-2"))

    with pytest.raises(NotFound):
        shelf.find("20261129-100000")


def test_ten_of_one_second_stay_in_order(tmp_path: Path) -> None:
    """`last` is the newest and not the one with the largest letter."""
    shelf = Shelf(tmp_path)
    made = []
    for _ in range(11):
        made.append(shelf.new_id(NOW))
        shelf.put(result(id=made[-1]))

    assert shelf.ids() == made
    assert shelf.get("last").id == made[-1]


@pytest.mark.parametrize("name", ["nothing", "", "../settings", "last"])
def test_what_is_not_there_is_said(tmp_path: Path, name: str) -> None:
    """Also where a name tries to lead out of the folder."""
    write(tmp_path / "settings.json", "{}")

    with pytest.raises(NotFound) as caught:
        Shelf(tmp_path / "bench").get(name)

    assert caught.value.code == "bench-unknown"
    assert (caught.value.hint == "`weir bench` makes one.") is (name == "last")


def test_a_beginning_that_several_have_is_refused(tmp_path: Path) -> None:
    """Removing the wrong one cannot be taken back."""
    shelf = Shelf(tmp_path)
    shelf.put(result(id="20261129-100000"))
    shelf.put(result(id="20261129-110000"))

    with pytest.raises(BadInput) as caught:
        shelf.find("20261129")

    assert caught.value.code == "bench-ambiguous"


def test_a_damaged_file_hides_no_other(tmp_path: Path) -> None:
    """A list that fails as a whole would lose all runs for one."""
    shelf = Shelf(tmp_path)
    shelf.put(result(id="20261129-100000"))
    write(tmp_path / "20261129-110000.json", '{"id": 7')
    write(tmp_path / "notes.json", "mine")

    found, damaged = shelf.all()

    assert [one.id for one in found] == ["20261129-100000"]
    assert len(damaged) == 1
    assert "20261129-110000.json" in damaged[0]
    with pytest.raises(Damaged):
        shelf.get("20261129-110000")


def test_a_removed_run_is_gone_and_removing_it_again_is_said(tmp_path: Path) -> None:
    """Without a trace in the list."""
    shelf = Shelf(tmp_path)
    shelf.put(result())

    shelf.remove(shelf.find("last"))

    assert shelf.ids() == []
    with pytest.raises(NotFound):
        shelf.find("20261129-100000")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A run that took ten minutes must not end in a traceback."""
    write(tmp_path / "bench", "a file")

    with pytest.raises(HostLacks):
        Shelf(tmp_path / "bench").put(result())
