"""One engine in the place of another: what cannot start pushes nobody out, persons come first."""

from pathlib import Path

import pytest

from studio.domain.control import UpRequest
from studio.domain.errors import Busy, StudioError
from studio.domain.server import EngineState
from tests.app.demand_support import OTHER, demanding
from tests.fakes.catalogue import PRESET


async def test_what_cannot_be_started_pushes_nobody_out(tmp_path: Path) -> None:
    """A request for a model that does not fit must not cost the one that serves."""
    async with demanding(tmp_path, tokens_per_s=0.0) as made:
        await made.change(residence="0")
        await made.client.ask(PRESET)
        pid = made.run.studio.engine().pid
        await made.change(preset=OTHER, overrides={"max_num_seqs": "3"})
        (made.run.paths.models / "fake-model" / "tokenizer.json").unlink()

        refused = await made.client.ask(OTHER)

        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "start-failed"
        assert made.state is EngineState.READY
        assert made.run.studio.engine().pid == pid


async def test_a_person_who_was_quicker_is_not_overruled(tmp_path: Path) -> None:
    """Between the decision and the stop somebody may have typed something else."""
    async with demanding(tmp_path, tokens_per_s=0.0) as made:
        await made.run.studio.up(UpRequest(preset=PRESET))
        serve = made.run.studio.on_demand._surroundings.serve

        with pytest.raises(StudioError) as caught:
            await serve(UpRequest(preset=OTHER), lambda: False)

        assert isinstance(caught.value, Busy)
        assert made.state is EngineState.READY
        assert made.preset == PRESET
