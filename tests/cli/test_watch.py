"""Which of the service's events are shown, and when."""

import io

import pytest

from studio.cli.console import Console
from studio.cli.watch import Watch, watching
from studio.domain.errors import BadInput, EngineFailed
from studio.domain.events import EngineChanged
from studio.domain.server import EngineSnapshot, EngineState
from tests.cli.fake_service import FakeService, ticked
from tests.cli.serving_samples import STAGES, ready


def _watch() -> tuple[io.StringIO, dict[str, float], Watch]:
    err, now = io.StringIO(), {"s": 0.0}
    console = Console(io.StringIO(), err, environ={})
    return err, now, Watch(console, clock=lambda: now["s"])


def test_stages_of_an_up_that_is_over_are_not_shown() -> None:
    """The stream begins with yesterday's stages; they are not news."""
    err, _, watch = _watch()

    for stage in (STAGES[0], STAGES[2]):
        watch.take(stage)
    watch.take(EngineChanged(engine=EngineSnapshot()))

    assert watch.opened.is_set()
    assert err.getvalue() == ""


def test_stages_of_an_up_under_way_are_shown() -> None:
    """Who joins a start that somebody else began wants to see how far it is."""
    err, _, watch = _watch()

    for stage in STAGES[:2]:
        watch.take(stage)
    watch.take(EngineChanged(engine=EngineSnapshot(state=EngineState.PREPARING)))

    assert "Install the runtime: 93.4 MiB of 585.0 MiB" in err.getvalue()


def test_the_live_line_in_a_pipe_comes_every_ten_seconds_at_most() -> None:
    """A log of a day must stay readable."""
    err, now, watch = _watch()
    watch.take(EngineChanged(engine=ready()))
    watch.go_live()

    for second in range(30):
        now["s"] = float(second)
        watch.take(ticked(decode_tokens_per_s=float(100 + second)))

    assert len(err.getvalue().splitlines()) == 3


def test_an_engine_that_was_given_up_is_an_error_only_while_live() -> None:
    """During a start the answer to the request tells; afterwards nobody else does."""
    _, _, watch = _watch()
    failed = EngineChanged(engine=EngineSnapshot(state=EngineState.FAILED))
    watch.take(failed)
    watch.go_live()

    with pytest.raises(EngineFailed) as caught:
        watch.take(failed)

    assert caught.value.code == "engine-failed"


async def test_an_error_inside_comes_out_by_itself() -> None:
    """The person sees the error, not the group of tasks that it travelled in."""
    service, (_, _, watch) = FakeService(), _watch()
    client = service.client()

    async def fail_while_watching() -> None:
        async with watching(client, watch, hold=True):
            assert service.holders == 1
            raise BadInput("some-code", "Some sentence.")

    with pytest.raises(BadInput):
        await fail_while_watching()
    await client.close()

    assert service.holders == 0


async def test_leaving_drops_the_hold() -> None:
    """A service that was started for this terminal ends by that."""
    service, (_, _, watch) = FakeService(), _watch()
    client = service.client()

    async with watching(client, watch, hold=True) as stream:
        assert service.holders == 1
    await client.close()

    assert stream.cancelled()
    assert service.holders == 0
