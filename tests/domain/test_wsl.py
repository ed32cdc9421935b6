"""What is to do next, by what was found out."""

import pytest

from studio.domain.wsl import WslFacts, WslStep, next_step

NEW = (2, 6, 1, 0)


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        (WslFacts(is_windows=False), WslStep.NOT_WINDOWS),
        (WslFacts(is_windows=True, has_program=False), WslStep.INSTALL),
        (
            WslFacts(is_windows=True, has_program=False, is_waiting_for_restart=True),
            WslStep.RESTART,
        ),
        (WslFacts(is_windows=True, means="firmware"), WslStep.FIRMWARE),
        (WslFacts(is_windows=True, means="install"), WslStep.INSTALL),
        (WslFacts(is_windows=True, means="restart"), WslStep.RESTART),
        (WslFacts(is_windows=True, means="update", version=NEW), WslStep.UPDATE),
        (WslFacts(is_windows=True, means="refused", version=NEW), WslStep.REFUSED),
        (WslFacts(is_windows=True, means="retry", version=NEW), WslStep.REFUSED),
        (WslFacts(is_windows=True), WslStep.UPDATE),
        (WslFacts(is_windows=True, version=NEW), WslStep.IMPORT),
        (WslFacts(is_windows=True, version=NEW, is_imported=True), WslStep.START),
        (
            WslFacts(is_windows=True, version=NEW, is_imported=True, is_serving=True),
            WslStep.READY,
        ),
    ],
)
def test_each_state_has_one_next_step(facts: WslFacts, step: WslStep) -> None:
    """From a bare Windows to an answer."""
    assert next_step(facts) is step
