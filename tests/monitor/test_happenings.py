"""What of an engine's life is worth keeping."""

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.history import HistoryEventKind as Kind
from studio.domain.remedies import Badge
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.monitor.happenings import Happening, Happenings

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


EAGER = Badge(code="eager", title="Eager mode", cost="decode is slower", evidence="enforce_eager")


def test_a_slow_path_is_told_once_in_each_boot() -> None:
    """Also when it shows only after an hour of serving."""
    happenings = Happenings()
    happenings.hear(READY)
    slow = msgspec.structs.replace(READY, badges=(EAGER,))

    (badge,) = happenings.hear(slow)

    assert badge == (Kind.BADGE, "eager", "Eager mode: decode is slower (enforce_eager)")
    assert happenings.hear(slow) == []
    assert happenings.hear(only(State.STOPPING)) == []
    assert [one.kind for one in happenings.hear(slow)] == [Kind.BADGE, Kind.BOOT]


def test_other_settings_than_last_time_are_told_with_what_they_are() -> None:
    """So that a bend in a chart has its reason beside it; the first boot has no last time."""
    happenings = Happenings()

    def boot(**overrides: str) -> list[Happening]:
        happenings.hear(only(State.STARTING))
        return happenings.hear(msgspec.structs.replace(READY, overrides=overrides))

    assert [one.kind for one in boot(max_num_seqs="4")] == [Kind.BOOT]
    assert [one.kind for one in boot(max_num_seqs="4")] == [Kind.BOOT]
    assert boot(max_model_len="1024")[1] == (
        Kind.SETTINGS,
        "27b-mtp",
        "max_model_len=1024, max_num_seqs as the preset has it.",
    )
