"""What anyone may conclude from an engine's state."""

import pytest

from studio.domain.server import EngineSnapshot, EngineState


@pytest.mark.parametrize("state", list(EngineState))
def test_only_an_engine_that_answers_is_serving(state: EngineState) -> None:
    """Figures and addresses are shown by it, whoever started the engine."""
    expected = state in (EngineState.READY, EngineState.ADOPTED)

    assert EngineSnapshot(state=state).is_serving is expected
