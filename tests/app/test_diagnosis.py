"""Diagnoses of files: anybody's log, or the Studio's own last one."""

import shutil
import zipfile
from pathlib import Path

import msgspec
import pytest

from studio.app.diagnosis import Diagnoses
from studio.domain.diagnosis import DiagnoseRequest, KnownDeath
from studio.domain.errors import BadInput, ErrorInfo, NotFound
from studio.domain.remedies import RemedyKind
from studio.domain.server import EngineSnapshot
from studio.host.paths import Paths
from studio.serving import diagnose, evidence
from studio.serving.evidence import Death
from tests.fakes import recordings

SIGNATURES = diagnose.load(Path(__file__).resolve().parents[2] / "runtimes" / "failures.toml")
BOOT = recordings.ENGINE / "boot" / "smollm2-f32-eager.log"
REFUSAL = recordings.ENGINE / "failures" / "maxlen-too-large-kv.log"


def diagnoses(home: Path) -> Diagnoses:
    """Return the diagnoses of a home."""
    return Diagnoses(Paths(home=home, catalogue=home), lambda: SIGNATURES)


async def test_a_file_is_diagnosed(tmp_path: Path) -> None:
    """With all that a program needs: code, cause, evidence, remedy."""
    found = await diagnoses(tmp_path).diagnose(DiagnoseRequest(path=str(REFUSAL)))

    first = found.matches[0]
    assert first.code == "kv-cache-too-small"
    assert first.evidence
    assert first.remedy == first.remedies[0].text
    assert first.remedies[0].settings == {"max_model_len": "16256"}
    assert found.source == str(REFUSAL)
    assert found.lines > 100


async def test_what_depends_on_a_preset_is_words_where_there_is_none(tmp_path: Path) -> None:
    """`*0.5` of an unknown value is no value."""
    found = await diagnoses(tmp_path).diagnose(DiagnoseRequest(path=str(REFUSAL)))

    for match in found.matches:
        for one in match.remedies:
            assert not any(value[0] in "*+-" for value in one.settings.values())
    assert any(one.kind is RemedyKind.ADVICE for one in found.matches[0].remedies)


async def test_without_a_file_the_studios_own_log_is_read(tmp_path: Path) -> None:
    """What a person types after a failure."""
    own = diagnoses(tmp_path)
    with pytest.raises(NotFound) as caught:
        await own.diagnose(DiagnoseRequest())
    assert caught.value.code == "log-missing"

    (tmp_path / "logs").mkdir()
    shutil.copy(REFUSAL, tmp_path / "logs" / "engine.log")
    found = await own.diagnose(DiagnoseRequest())

    assert found.matches[0].code == "kv-cache-too-small"


async def test_a_death_that_was_healed_is_pointed_to_where_the_log_says_nothing(
    tmp_path: Path,
) -> None:
    """The log's last boot is the one that serves; what died before it lies elsewhere."""
    (tmp_path / "logs").mkdir()
    shutil.copy(BOOT, tmp_path / "logs" / "engine.log")
    own = diagnoses(tmp_path)
    assert (await own.diagnose(DiagnoseRequest())).death is None
    died = Death(
        at="2020-01-01T00:00:00Z",
        deaths=1,
        error=ErrorInfo(code="engine-died", message="It was killed."),
        engine=EngineSnapshot(),
    )
    evidence.keep(tmp_path / "logs" / "crashes", died, ())
    assert (await own.diagnose(DiagnoseRequest())).death is None

    lately = msgspec.structs.replace(died, at=evidence.now_text())
    kept = evidence.keep(tmp_path / "logs" / "crashes", lately, ())
    found = await own.diagnose(DiagnoseRequest())

    assert found.death == KnownDeath(at=lately.at, cause="It was killed.", folder=str(kept))
    assert (await own.diagnose(DiagnoseRequest(path=str(BOOT)))).death is None
    assert kept is not None
    (kept / "death.json").write_text("{ broken")
    assert (await own.diagnose(DiagnoseRequest())).death is None


async def test_a_report_is_opened_and_its_logs_are_read(tmp_path: Path) -> None:
    """What somebody sends is the report, and whoever gets it wants to know why."""
    report = tmp_path / "weir-report.zip"
    with zipfile.ZipFile(report, "w") as archive:
        archive.writestr("summary.txt", "torch.OutOfMemoryError: no log\n")
        archive.write(BOOT, "logs/engine.log")
        archive.write(REFUSAL, "evidence/20261130T010203Z-ab/engine.log")

    found = await diagnoses(tmp_path).diagnose(DiagnoseRequest(path=str(report)))

    assert found.matches[0].code == "kv-cache-too-small"
    assert found.inside == "evidence/20261130T010203Z-ab/engine.log"
    assert found.source == str(report)


async def test_a_report_of_what_was_killed_says_so(tmp_path: Path) -> None:
    """Its log has no word of that; the record beside it has."""
    report = tmp_path / "weir-report.zip"
    with zipfile.ZipFile(report, "w") as archive:
        archive.write(BOOT, "logs/engine.log")
        archive.write(BOOT, "evidence/a/engine.log")
        archive.writestr("evidence/a/death.json", '{"exit_code": -9}')

    found = await diagnoses(tmp_path).diagnose(DiagnoseRequest(path=str(report)))

    assert [one.code for one in found.matches] == ["engine-killed"]
    fine = await diagnoses(tmp_path).diagnose(DiagnoseRequest(path=str(report), exit_code=0))
    assert fine.matches == ()
    assert fine.lines > 200


async def test_the_exit_status_says_what_the_log_does_not(tmp_path: Path) -> None:
    """A killed engine leaves no word."""
    own = diagnoses(tmp_path)

    assert (await own.diagnose(DiagnoseRequest(path=str(BOOT)))).matches == ()
    found = await own.diagnose(DiagnoseRequest(path=str(BOOT), exit_code=137))
    assert [one.code for one in found.matches] == ["engine-killed"]


async def test_a_path_must_be_whole(tmp_path: Path) -> None:
    """The service's folder is not the caller's."""
    with pytest.raises(BadInput) as caught:
        await diagnoses(tmp_path).diagnose(DiagnoseRequest(path="engine.log"))

    assert caught.value.code == "path-not-absolute"
