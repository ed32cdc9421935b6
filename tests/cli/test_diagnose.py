"""`weir diagnose`: what is read, what is shown, and the exit status."""

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from studio.domain.diagnosis import DiagnoseRequest, Diagnosis, KnownDeath
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.remedy_samples import DIAGNOSIS
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_a_file_is_diagnosed_where_it_was_typed(
    weir: Weir, service: FakeService, connector: FakeConnector, tmp_path: Path
) -> None:
    """Without a service, and by its whole path."""
    log = tmp_path / "ä log"
    log.write_text("x")

    ran = weir("diagnose", str(log), "--exit-code", "-9")

    assert ran.status == 0
    assert "needs 0.12 GiB of KV cache" in ran.out
    assert service.diagnosed == [DiagnoseRequest(path=str(log), exit_code=-9)]
    assert connector.diagnosed_in_files == 1
    assert connector.started == []


def test_a_relative_path_means_here(
    weir: Weir, service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service's folder is another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vllm.log").write_text("x")

    weir("diagnose", "vllm.log")

    assert service.diagnosed[0].path == str(tmp_path / "vllm.log")


def test_standard_input_is_read_to_its_end(
    weir: Weir, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`docker logs vllm 2>&1 | weir diagnose -`; no trace of it stays."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"OSError: x\n" * 1000)))

    ran = weir("diagnose", "-", "--json")

    assert ran.status == 0
    assert service.read_logs == [b"OSError: x\n" * 1000]
    assert ran.document()["source"] == "-"
    path = service.diagnosed[0].path
    assert path is not None
    assert not Path(path).exists()


def test_without_a_file_the_last_engines_log_is_meant(weir: Weir, service: FakeService) -> None:
    """After a failure nobody wants to look for a path."""
    assert weir("diagnose").status == 0
    assert service.diagnosed == [DiagnoseRequest()]


def test_programs_get_the_matches_with_the_promised_keys(weir: Weir) -> None:
    """Scripts rely on them."""
    ran = weir("diagnose", "--json")

    assert msgspec.json.decode(ran.out, type=Diagnosis) == DIAGNOSIS
    first = msgspec.json.decode(ran.out)["matches"][0]
    assert {"code", "cause", "evidence", "remedy"} <= first.keys()


def test_nothing_recognised_is_status_1_and_says_what_helps(
    weir: Weir, service: FakeService
) -> None:
    """So that a script can ask a person."""
    service.diagnosis = Diagnosis(matches=(), source="/srv/x.log", lines=7)

    ran = weir("diagnose")
    as_document = weir("diagnose", "--json")

    assert (ran.status, as_document.status) == (1, 1)
    assert "Nothing in /srv/x.log (7 lines)" in ran.out
    assert "--exit-code" in ran.err
    assert as_document.document()["matches"] == []


def test_a_death_that_was_healed_is_named(weir: Weir, service: FakeService) -> None:
    """With the folder that holds its last lines."""
    death = KnownDeath(at="2026-11-29T12:00:00Z", cause="It was killed.", folder="/srv/crashes/x")
    service.diagnosis = Diagnosis(matches=(), source="/srv/x.log", lines=7, death=death)

    ran = weir("diagnose")

    assert ran.status == 1
    assert "died at 2026-11-29T12:00:00Z: It was killed." in ran.out
    assert "/srv/crashes/x" in ran.out


@pytest.mark.parametrize(
    ("source", "lines", "said"),
    [
        ("-", 0, "There is nothing to look at: standard input is empty."),
        ("-", 1, "Nothing in standard input (1 line) is known"),
        ("/srv/x.log", 0, "/srv/x.log is empty."),
    ],
)
def test_an_empty_log_is_called_empty(
    weir: Weir, service: FakeService, source: str, lines: int, said: str
) -> None:
    """`Nothing in - (0 lines)` would make people look for what they did wrong."""
    service.diagnosis = Diagnosis(matches=(), source=source, lines=lines)

    assert said in weir("diagnose").out


@pytest.mark.parametrize(
    "words", [["a", "b"], ["--exit-code"], ["--exit-code", "nine"], ["--exit-code", "1.5"]]
)
def test_a_line_that_cannot_be_meant_is_a_usage_error(weir: Weir, words: list[str]) -> None:
    """Before anything is read."""
    assert weir("diagnose", *words).status == 2
