"""`weir bench` over the real service and the fake engine; kept runs without a service."""

import functools
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.__main__ import LocalConnector
from studio.benchmark.shelf import Shelf
from tests.app.bench_samples import small_load
from tests.benchmark.samples import part, result
from tests.cli.typed import Ran, through
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until
from tests.fakes.weir import Weir, fake_weir


@pytest.fixture
def weir(tmp_path: Path) -> Iterator[Weir]:
    """A `weir` whose engine is fast and whose load is small."""
    with fake_weir(tmp_path, boot_s=0.05, tokens_per_s=0.0) as made:
        small_load(made.paths.catalogue)
        yield made


Kept = Callable[..., Ran]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Type a command in a home with two kept runs and nothing that runs; in this process."""
    home = tmp_path / "höme"
    monkeypatch.setenv("WEIR_HOME", str(home))
    shelf = Shelf(home / "bench")
    shelf.put(result(part(), id="20261129-100000"))
    shelf.put(result(part(), id="20261129-110000", at="2026-11-29T11:00:00+00:00"))

    return functools.partial(through, LocalConnector(), "bench")


def _progress(weir: Weir) -> list[str]:
    """Return the files of runs that were begun."""
    return [path.name for path in weir.paths.bench.glob("*.json")]


def test_where_nothing_runs_a_preset_is_started_measured_and_everything_ended(weir: Weir) -> None:
    """One command on a machine at rest leaves it at rest."""
    done = weir.run("bench", PRESET, "--quick", "--json")

    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert len(report["result"]["parts"]) == 6
    assert report["result"]["is_quick"] is True
    assert f"Stopped {PRESET} again." in done.stderr
    assert "shown only now: sk-weir-" in done.stderr
    until(lambda: not weir.engine_pids(), "the end of the engine")
    until(lambda: not (weir.paths.service / "service.json").exists(), "the end of the service")


def test_what_serves_is_measured_and_goes_on_serving(weir: Weir) -> None:
    """Nobody wants to boot for three minutes again."""
    weir.json("up", PRESET, "--detach")

    first = weir.run("bench", "--only", "decode")
    same = weir.run("bench", PRESET, "--only", "decode")
    other = weir.run("bench", PRESET, "--set", "max_num_seqs=1", "--only", "decode")

    assert first.returncode == 0, first.stderr
    assert "decode-2" in first.stdout
    assert "Compared with the run of" in same.stdout
    assert other.returncode == 5
    assert "weir switch" in other.stderr
    assert weir.engine_state() == "ready"


def test_ctrl_c_shows_and_keeps_what_was_measured(weir: Weir) -> None:
    """A bench that ran nine minutes of ten is not lost."""
    weir.json("up", PRESET, "--set", "fault=stall-after=5", "--detach")
    process = weir.start("bench", "--only", "decode", "--json")
    until(lambda: bool(_progress(weir)), "the first part")

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert process.returncode == 130, err
    report = json.loads(out)
    assert report["result"]["partial"] == "It was stopped."
    assert [one["name"] for one in report["result"]["parts"]] == ["decode-1"]
    assert weir.engine_state() == "ready"


def test_a_second_bench_is_refused_and_stop_ends_the_first(weir: Weir) -> None:
    """From another terminal."""
    weir.json("up", PRESET, "--set", "fault=stall-after=5", "--detach")
    process = weir.start("bench", "--only", "decode")
    until(lambda: bool(_progress(weir)), "the first part")

    second = weir.run("bench")
    stopped = weir.json("bench", "stop")
    out, _ = process.communicate(timeout=30)

    assert second.returncode == 5
    assert "bench-running" in second.stderr
    assert stopped == {"was_running": True}
    assert "Partial     It was stopped." in out
    assert weir.json("bench", "stop") == {"was_running": False}


def test_an_engine_that_dies_is_an_error_with_its_cause(weir: Weir) -> None:
    """The exit status tells a script, the sentence a person."""
    weir.json("up", PRESET, "--set", "fault=stall-after=5", "--detach")
    process = weir.start("bench", "--only", "decode")
    until(lambda: bool(_progress(weir)), "the first part")

    os.kill(int(weir.told()["engine"]["pid"]), signal.SIGKILL)
    _, err = process.communicate(timeout=40)

    assert process.returncode == 5
    assert "bench-engine-lost" in err
    assert "weir bench show last" in err


def test_kept_runs_need_no_service(kept: Kept) -> None:
    """They lie on the disk."""
    runs = kept("list", "--json").document()["runs"]
    assert isinstance(runs, list)
    assert [one["id"] for one in runs] == ["20261129-100000", "20261129-110000"]
    assert "27b-dflash2" in kept("list").out
    assert '"id":"20261129-110000"' in kept("show", "--json").out
    assert kept("compare", "--json").document()["other"] == "20261129-100000"
    assert "No figure differs" in kept("compare", "20261129-11", "20261129-10").out
    assert kept("rm", "20261129-11", "last", "--json").document() == {
        "ids": ["20261129-110000", "20261129-100000"]
    }
    assert kept("list").out.startswith("No run is kept.")


def test_what_is_not_there_is_said(kept: Kept) -> None:
    """With the way to what is."""
    unknown = kept("show", "nothing")
    alone = kept("compare", "20261129-10")

    assert (unknown.status, alone.status) == (3, 3)
    assert "weir bench list" in unknown.err
    assert "no run before `20261129-10`" in " ".join(alone.err.split())
    assert kept("stop").out == "No run is under way.\n"
    assert kept("stop", "--json").document() == {"was_running": False}
