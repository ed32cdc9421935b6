"""`summary.txt`: what somebody reads who knows nothing yet."""

from studio.app.report_collect import Collected
from studio.app.report_words import summary
from studio.domain.control import GatewayInfo, ServiceInfo, Status
from studio.domain.errors import ErrorInfo
from studio.domain.remedies import Badge
from studio.domain.server import EngineSnapshot, EngineState

ERROR = ErrorInfo(code="gpu-memory-taken", message="No room.", hint="End it.", evidence=("line",))


def _status(engine: EngineSnapshot) -> Status:
    return Status(
        service=ServiceInfo(version="0", pid=1, started_at=0.0, home="/x"),
        engine=engine,
        gateway=GatewayInfo(),
    )


def test_a_failed_engine_comes_with_its_reason() -> None:
    """Code, sentence, what to do, and the line that shows it."""
    engine = EngineSnapshot(state=EngineState.FAILED, preset="x", error=ERROR)

    text = summary(Collected(has_service=True, status=_status(engine)), 0.0)

    assert text.startswith("Weir Studio report\nMade 1970-01-01 00:00:00 UTC.\n")
    assert "  The engine has failed. Preset: x.\n  gpu-memory-taken: No room.\n" in text
    assert "    What to do: End it.\n    | line\n" in text


def test_an_engine_that_serves_comes_with_its_figures_and_badges() -> None:
    """What is slow is as good a reason to ask as what is broken."""
    badge = Badge(code="eager", title="Eager mode", cost="half the speed", evidence="x")
    engine = EngineSnapshot(
        state=EngineState.READY, pool_tokens=23_296, boot_s=4.0, badges=(badge,)
    )

    text = summary(Collected(has_service=True, status=_status(engine)), 0.0)

    assert "Pool 23,296 tokens, boot 4.0 s, restarted 0 times." in text
    assert "Eager mode: half the speed" in text


def test_what_is_missing_is_said() -> None:
    """Silence would be read as health."""
    found = Collected(has_service=False, problem=ERROR, missing={"the plan": "no answer"})

    text = summary(found, 0.0)

    assert "No service runs." in text
    assert "cannot be opened: No room." in text
    assert "What could not be had\n  the plan: no answer" in text


def test_failures_are_listed_in_their_order() -> None:
    """The most likely first."""
    other = ErrorInfo(code="second", message="Later.")

    text = summary(Collected(has_service=False, matches=[ERROR, other]), 0.0)

    assert text.index("gpu-memory-taken") < text.index("second: Later.")
