"""What of an engine's life is worth keeping."""

from studio.domain.errors import ErrorInfo
from studio.domain.history import HistoryEventKind as Kind
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.monitor.happenings import Happenings

State = EngineState
READY = EngineSnapshot(
    state=State.READY, preset="27b-mtp", boot_s=81.2, is_cold=False, pool_tokens=57_669
)
ERROR = ErrorInfo(code="engine-killed", message="The engine was killed.", exit_status=4)


def kinds(*snapshots: EngineSnapshot) -> list[tuple[str, str]]:
    """Return kinds and names of what happens over some snapshots."""
    happenings = Happenings()
    return [(one.kind.value, one.name) for snap in snapshots for one in happenings.hear(snap)]


def only(state: EngineState, **more: object) -> EngineSnapshot:
    """Return a snapshot of the preset in a state."""
    return EngineSnapshot(state=state, preset="27b-mtp", **more)


def test_a_boot_is_told_once_with_its_figures() -> None:
    """However often the engine is heard of while it serves."""
    happenings = Happenings()
    happenings.hear(only(State.STARTING))

    (boot,) = happenings.hear(READY)

    assert boot == (Kind.BOOT, "27b-mtp", "Ready after 1 min 21 s, warm; pool 57,669 tokens.")
    assert happenings.hear(READY) == []


def test_a_death_a_restart_and_a_failure() -> None:
    """Each with its cause."""
    assert kinds(
        READY, only(State.BACKING_OFF), only(State.STARTING), READY, only(State.FAILED, error=ERROR)
    ) == [("boot", "27b-mtp"), ("death", "27b-mtp"), ("boot", "27b-mtp"), ("death", "27b-mtp")]
    assert kinds(only(State.STARTING), only(State.FAILED)) == [("failed", "27b-mtp")]
    happenings = Happenings()
    (failed,) = happenings.hear(only(State.FAILED, error=ERROR))
    assert failed.detail == "The engine was killed. (engine-killed)"


def test_another_preset_is_a_switch() -> None:
    """Also when the engine was stopped in between."""
    other = EngineSnapshot(state=State.READY, preset="27b-long")

    assert kinds(READY, only(State.STOPPING), EngineSnapshot(), other) == [
        ("boot", "27b-mtp"),
        ("stopped", "27b-mtp"),
        ("switch", "27b-long"),
        ("boot", "27b-long"),
    ]


def test_an_adopted_server_comes_and_goes() -> None:
    """Somebody else's is no boot of ours, but serves."""
    adopted = AdoptedInfo(name="lab", url="http://lab:8000")

    assert kinds(
        EngineSnapshot(state=State.ADOPTED, adopted=adopted),
        EngineSnapshot(state=State.GONE, adopted=adopted),
    ) == [("boot", "lab"), ("death", "lab")]


def test_nothing_is_told_of_what_does_not_change() -> None:
    """A service without an engine fills no history."""
    assert kinds(EngineSnapshot(), EngineSnapshot(), only(State.PREPARING)) == []
