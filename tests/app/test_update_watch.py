"""The first starts of a newer version are counted."""

from pathlib import Path

import msgspec
import pytest

from studio.app import update_watch
from studio.app.update_watch import MOST_STARTS, Watch, Watched


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    """Return a watch over 1.1.0, which took over from 1.0.0 and runs."""
    made = Watch(tmp_path)
    made.begin("1.1.0", "1.0.0")
    return made


def ends(watch: Watch) -> int:
    """Return what another start of 1.1.0 hears."""
    known = watch.started("1.1.0")
    assert known is not None
    return known.ends


def test_only_an_end_without_a_goodbye_counts(watch: Watch) -> None:
    """`weir down` and a log-out are no crash."""
    assert ends(watch) == 1
    watch.ended("1.1.0")
    assert ends(watch) == 1
    assert ends(watch) == 2


def test_a_power_cut_is_nobodys_fault(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine was started anew meanwhile; where that is not known, nothing is counted."""
    monkeypatch.setattr(update_watch, "boot_id", lambda: "another")
    assert ends(watch) == 0
    monkeypatch.setattr(update_watch, "boot_id", lambda: None)
    assert ends(watch) == 0
    assert ends(watch) == 0


def test_after_so_many_starts_it_is_as_good_as_any_version(watch: Watch) -> None:
    """A crash a month later says nothing about the update."""
    for _ in range(MOST_STARTS - 1):
        ends(watch)
        watch.ended("1.1.0")

    assert watch.started("1.1.0") is None
    assert watch.now() is None


def test_another_version_ends_the_watch(watch: Watch) -> None:
    """Whoever went back, or on to a third one."""
    assert watch.started("1.0.0") is None
    assert watch.now() is None


def test_what_another_home_counted_is_told_here_while_it_is_watched(tmp_path: Path) -> None:
    """On Windows the service counts inside its Linux."""
    here = Watch(tmp_path)
    counted = Watched(version="1.1.0", previous="1.0.0", ends=2, is_running=False)
    here.copy(counted)
    assert here.now() == counted
    here.copy(None)
    assert here.now() is None


def test_a_damaged_record_watches_nothing(watch: Watch, tmp_path: Path) -> None:
    """And an end can still be said."""
    (tmp_path / "watched.json").write_bytes(b"\xff{")

    assert watch.started("1.1.0") is None
    watch.ended("1.1.0")
    (tmp_path / "watched.json").write_bytes(msgspec.json.encode(Watched(version="2", previous="1")))
    watch.ended("1.1.0")
    known = watch.now()
    assert known is not None
    assert known.is_running
