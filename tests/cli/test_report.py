"""`weir report`: from a terminal, with a service, without one, and with one that hangs."""

import json
import os
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.typed import Typed
from tests.fakes.waiting import until
from tests.fakes.weir import Weir, fake_weir


@pytest.fixture
def weir(tmp_path: Path) -> Iterator[Weir]:
    """Return the real command line in a home where nothing runs."""
    with fake_weir(tmp_path, boot_s=0.05) as made:
        yield made


@pytest.fixture
def typed(weir: Weir) -> Typed:
    """Return a terminal in that home's folder."""
    catalogue = {"WEIR_CATALOGUE": str(weir.paths.catalogue)}
    return Typed(weir.paths.home, catalogue, folder=weir.paths.home)


def _summary(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read("summary.txt").decode()


def test_a_report_of_nothing_that_runs(typed: Typed) -> None:
    """The file lies where the person stands, not where the service does."""
    done = typed("report")

    [path] = typed.home.glob("weir-report-*.zip")
    assert str(path) in done.stdout
    assert "No service runs." in _summary(path)
    assert "No service runs." in done.stderr


def test_a_report_of_what_runs(weir: Weir, tmp_path: Path) -> None:
    """Made by the service, which knows."""
    weir.run("up", "--detach")
    # What is measured comes once a second; this engine boots in less, a real one never does.
    until(lambda: bool(weir.told("history?seconds=600")), "the first tick")

    document = weir.json("report", str(tmp_path / "bericht ü.zip"))

    assert document["path"] == str(tmp_path / "bericht ü.zip")
    assert document["entries"][0]["name"] == "summary.txt"
    assert "metrics.jsonl" in [one["name"] for one in document["entries"]]
    assert "The engine is ready." in _summary(tmp_path / "bericht ü.zip")


def test_a_service_that_hangs_is_reported_about_without_its_help(
    weir: Weir, tmp_path: Path
) -> None:
    """A service that was stopped in its tracks answers nobody."""
    weir.begin_service()
    pid = weir.service_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        done = weir.run("report", str(tmp_path / "x.zip"))
    finally:
        os.kill(pid, signal.SIGCONT)

    assert done.returncode == 0, done.stderr
    assert "Weir Studio report" in _summary(tmp_path / "x.zip")


def test_a_file_that_is_there_is_kept(typed: Typed, tmp_path: Path) -> None:
    """Unless one says `--replace`."""
    path = tmp_path / "x.zip"
    path.write_text("precious")

    refused = typed("report", str(path), status=3)
    assert "code: report-exists" in refused.stderr
    assert path.read_text() == "precious"

    typed("report", str(path), "--replace")
    assert zipfile.is_zipfile(path)


def test_the_text_can_be_read_before_a_file_is_made(typed: Typed) -> None:
    """As text for people, as a document for programs."""
    shown = typed("report", "--show")
    document = json.loads(typed("report", "--show", "--json").stdout)

    assert shown.stdout.startswith("===== summary.txt =====\nWeir Studio report\n")
    assert "===== logs/engine.log =====" in shown.stdout
    assert document["entries"][0]["name"] == "summary.txt"
    assert list(typed.home.glob("*.zip")) == []


def test_a_broken_home_is_reported_about(weir: Weir, typed: Typed, tmp_path: Path) -> None:
    """That is when it is wanted most."""
    weir.paths.settings_file.write_text("{")

    typed("report", str(tmp_path / "x.zip"))

    assert "cannot be opened" in _summary(tmp_path / "x.zip")
