"""What failed last: kept until something goes well."""

from pathlib import Path

from studio.app.last_failure import LastFailure
from studio.domain.control import UpRequest
from studio.domain.errors import ErrorInfo
from studio.domain.server import EngineSnapshot, EngineState

ERROR = ErrorInfo(code="kv-cache-too-small", message="Too small.", exit_status=5)
FAILED = EngineSnapshot(
    state=EngineState.FAILED, preset="p", overrides={"max_model_len": "9"}, error=ERROR
)


def test_a_failure_outlives_its_service_with_all_that_was_asked_for(tmp_path: Path) -> None:
    """A service that a terminal started is gone when the person reads the error."""
    path = tmp_path / "service" / "last-failure.json"
    one = LastFailure(path)
    one.ask(UpRequest(preset="p", gpus=(1,), allow_spill=True))

    one.hear(FAILED)

    kept = LastFailure(path).read()
    assert kept is not None
    assert (kept.preset, kept.overrides, kept.error) == ("p", {"max_model_len": "9"}, ERROR)
    assert (kept.gpus, kept.allow_spill) == ((1,), True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_ready_engine_ends_it(tmp_path: Path) -> None:
    """What works needs no remedy."""
    one = LastFailure(tmp_path / "f.json")
    one.hear(FAILED)
    one.hear(EngineSnapshot(state=EngineState.STOPPED, preset="p"))
    assert one.read() is not None

    one.hear(EngineSnapshot(state=EngineState.READY, preset="p"))

    assert one.read() is None


def test_the_same_failure_is_written_once(tmp_path: Path) -> None:
    """The supervisor announces its state many times."""
    path = tmp_path / "f.json"
    one = LastFailure(path)
    one.hear(FAILED)
    path.unlink()

    one.hear(FAILED)

    assert not path.exists()


def test_a_damaged_record_or_folder_costs_nothing(tmp_path: Path) -> None:
    """It is a convenience; the failure itself must reach the person."""
    path = tmp_path / "f.json"
    path.write_text("{")
    assert LastFailure(path).read() is None

    (tmp_path / "file").write_text("")
    LastFailure(tmp_path / "file" / "f.json").hear(FAILED)
