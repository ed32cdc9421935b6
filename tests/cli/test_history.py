"""`weir history`: charts, lists, and files that are whole or absent."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.monitor_samples import ANSWER, SINCE, STATE
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_charts_and_events_are_shown(weir: Weir, service: FakeService) -> None:
    """The three numbers in front of the last two hours, in as many points as the terminal has."""
    shown = weir("history")

    assert shown.status == 0
    assert "decode_tokens_per_s, tok/s" in shown.out
    assert "min 0.0 tok/s · mean 38.6 tok/s · max 60.0 tok/s · last 10.0 tok/s" in shown.out
    assert "30 % of the span is not known" in shown.out
    assert "spill_bytes: nothing is kept of that span" in shown.out
    assert "ready: 27b-mtp · Ready after 81 s." in shown.out
    (asked,) = service.monitor_asked
    assert float(asked["until"]) - float(asked["since"]) == pytest.approx(7_200)
    assert int(asked["points"]) < 100


def test_json_is_the_whole_answer(weir: Weir, service: FakeService) -> None:
    """With all points."""
    ran = weir("history", "--json", "--since", "30m", "--series", "pool, tok/s", "--until", "10m")

    assert json.loads(ran.out)["known"] == list(ANSWER.known)
    (asked,) = service.monitor_asked
    assert asked["series"] == "pool,tok/s"
    assert asked["points"] == "2000"
    assert float(asked["until"]) - float(asked["since"]) == pytest.approx(1_200)


def test_what_is_kept_is_listed(weir: Weir) -> None:
    """With what is wrong with it."""
    out = weir("history", "--list").out

    assert "12.0 MiB, at most 256.0 MiB" in out
    assert "spill_bytes" in out
    assert STATE.note is not None
    assert STATE.note in out
    assert json.loads(weir("history", "--list", "--json").out)["series"] == 3


def test_csv_is_written_part_by_part_and_unknown_is_empty(weir: Weir, tmp_path: Path) -> None:
    """All parts in one file with one heading."""
    file = tmp_path / "größe 1.csv"
    ran = weir("history", "--csv", str(file))

    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 3
    assert rows[0]["decode_tokens_per_s.mean"] == "2.5"
    assert rows[1]["decode_tokens_per_s.mean"] == ""
    assert (rows[2]["spill_bytes.max"], rows[2]["decode_tokens_per_s.max"]) == ("0", "")
    assert rows[0]["epoch_s"] == f"{SINCE:.0f}"
    assert ran.out.startswith("three rows from")
    assert _names(tmp_path) == [file.name]


def test_csv_goes_to_standard_output_too(weir: Weir, service: FakeService) -> None:
    """For a pipe; a span and a step are passed on, and the step stays the same for all parts."""
    out = weir("history", "--csv", "-", "--step", "60", "--series", "spill").out

    assert out.splitlines()[0] == "at,epoch_s,spill_bytes.min,spill_bytes.mean,spill_bytes.max"
    assert len(out.splitlines()) == 4
    assert {asked["step"] for asked in service.monitor_asked} == {"60.000"}


def test_a_file_that_is_there_is_not_overwritten_unasked(weir: Weir, tmp_path: Path) -> None:
    """Last month's export is not to be had again."""
    file = tmp_path / "kept.csv"
    file.write_text("mine")

    assert weir("history", "--csv", str(file)).status != 0
    assert file.read_text() == "mine"
    assert weir("history", "--csv", str(file), "--replace", "--json").document()["rows"] == 3
    assert file.read_text() != "mine"


def test_a_folder_that_is_not_there_is_said(weir: Weir, tmp_path: Path) -> None:
    """And nothing is left behind."""
    ran = weir("history", "--csv", str(tmp_path / "none" / "x.csv"))

    assert ran.status != 0
    assert "cannot be written" in " ".join(ran.err.split())
    assert _names(tmp_path) == []


def test_an_export_that_breaks_off_leaves_the_old_file(
    weir: Weir, tmp_path: Path, service: FakeService
) -> None:
    """Half an export would look like a whole one."""
    file = tmp_path / "kept.csv"
    file.write_text("mine")
    service.monitor_asked = _EndsAfter(service, 1)

    ran = weir("history", "--csv", str(file), "--replace")

    assert ran.status != 0
    assert len(service.monitor_asked) == 1
    assert file.read_text() == "mine"
    assert _names(tmp_path) == ["kept.csv"]


class _EndsAfter(list[dict[str, str]]):
    """Lets the service go after so many questions."""

    def __init__(self, service: FakeService, questions: int) -> None:
        super().__init__()
        self._service, self._questions = service, questions

    def append(self, one: dict[str, str]) -> None:
        """Note a question."""
        super().append(one)
        self._service.is_running = len(self) < self._questions


def test_it_needs_no_service(weir: Weir, connector: FakeConnector) -> None:
    """The file lies on the disk."""
    connector.is_running = False

    assert weir("history").status == 0
    assert weir("history", "--list").status == 0
    assert connector.offline_used == 2
    assert connector.started == []


@pytest.mark.parametrize(
    "line",
    [
        ["--step", "0"],
        ["--step", "x"],
        ["extra"],
    ],
)
def test_a_wrong_line_is_a_usage_error(weir: Weir, line: list[str]) -> None:
    """Before anything is asked."""
    assert weir("history", *line).status == 2


@pytest.mark.parametrize(
    "line", [["--since", "sometime"], ["--since", "1h", "--until", "2h"], ["--until", "nan"]]
)
def test_a_time_that_makes_no_sense_is_told(
    weir: Weir, service: FakeService, line: list[str]
) -> None:
    """With what would."""
    ran = weir("history", *line)

    assert ran.status != 0
    assert "hint:" in ran.err.lower()
    assert service.monitor_asked == []


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())
