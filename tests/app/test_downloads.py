"""The one queue: what a person chose survives the service, and nothing is fetched twice."""

import asyncio
from pathlib import Path

import pytest

from studio.app.downloads import Downloads
from studio.domain.downloads import (
    DownloadDeed,
    DownloadState,
    HubName,
    LimitRequest,
    LoginRequest,
)
from studio.domain.errors import BadInput, NotFound, StudioError
from studio.domain.events import Event, Stage, StageProgress, StageState
from studio.host.paths import Paths
from tests.fakes import hub as fake
from tests.fakes.hub import NAME, Hub
from tests.fakes.waiting import until_async
from tests.hub.test_get import WEIGHTS, a_hub, request


def queue(hub: Hub, folder: Path, events: list[Event]) -> Downloads:
    """Return a queue of a home of the test's own."""
    environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "hf")}
    return Downloads(Paths(folder / "home", folder / "catalogue"), events.append, environ)


async def ended(task: "asyncio.Task[None]") -> None:
    """End a queue as the service does."""
    task.cancel()
    await asyncio.wait({task})


async def test_a_running_download_goes_on_after_a_restart_and_a_paused_one_stays(
    tmp_path: Path,
) -> None:
    """The person's choice is kept over the death of the service."""
    events: list[Event] = []
    with fake.running(a_hub()) as hub:
        first = queue(hub, tmp_path, events)
        running = asyncio.ensure_future(first.run())
        await asyncio.sleep(0)
        await first.limit(LimitRequest(bytes_per_s=1_000_000))
        asking = asyncio.ensure_future(first.get(request()))
        other = asyncio.ensure_future(first.get(request(include=("config.json",))))
        await until_async(lambda: len(first.listed().downloads) == 2, "both in the queue")
        await first.change(first.listed().downloads[1].id, DownloadDeed.PAUSE)
        await until_async(lambda: bool(first.listed().downloads[0].done_bytes), "some bytes")
        await ended(running)
        here, sent = first.listed().downloads[0].done_bytes or 0, hub.sent_bytes
        asking.cancel()
        other.cancel()

        second = queue(hub, tmp_path, events)
        running = asyncio.ensure_future(second.run())
        await until_async(lambda: len(second.listed().downloads) == 2, "both taken up")
        limit = second.listed().limit_bytes_per_s
        await second.limit(LimitRequest())
        await until_async(
            lambda: second.listed().downloads[0].state is DownloadState.DONE, "its end"
        )
        states = [one.state for one in second.listed().downloads]
        await ended(running)

    assert limit == 1_000_000
    assert states == [DownloadState.DONE, DownloadState.PAUSED]
    # What waited in the buffers of a connection that is held back is not ours yet, and comes again.
    assert here > 0
    assert hub.sent_bytes - sent <= len(WEIGHTS) - here + (1 << 20)
    assert events


async def test_models_wait_while_a_runtime_is_fetched(tmp_path: Path) -> None:
    """Somebody sits in front of the runtime."""
    with fake.running(a_hub()) as hub:
        downloads = queue(hub, tmp_path, [])
        stage = StageProgress(
            stage=Stage.RUNTIME,
            state=StageState.RUNNING,
            title="A runtime",
            note="Fetching CPython",
        )
        downloads.heard(stage)
        asking = asyncio.ensure_future(downloads.get(request()))
        await until_async(lambda: bool(downloads.listed().downloads[1:]), "the model in the queue")
        await until_async(
            lambda: "urgent" in (downloads.listed().downloads[1].note or ""), "a note"
        )
        held = downloads.listed()
        is_waiting = not asking.done() and not hub.sent_bytes
        downloads.heard(StageProgress(stage=Stage.RUNTIME, state=StageState.DONE, title="A"))
        await asking

    assert held.is_held
    assert [one.title for one in held.downloads] == ["A runtime", NAME]
    assert is_waiting


async def test_a_download_nobody_knows_and_a_limit_of_nothing_are_refused(tmp_path: Path) -> None:
    """A limit of zero would be a pause that nobody sees."""
    with fake.running(a_hub()) as hub:
        downloads = queue(hub, tmp_path, [])
        with pytest.raises(NotFound):
            await downloads.change("none", DownloadDeed.PAUSE)
        with pytest.raises(BadInput):
            await downloads.limit(LimitRequest(bytes_per_s=0))
        with pytest.raises(BadInput):
            await downloads.limit(LimitRequest(bytes_per_s=10**60))


async def test_what_somebody_waits_for_takes_the_place_of_what_runs(tmp_path: Path) -> None:
    """A start of a model in front of a screen, while hundred gigabytes come in the background."""
    with fake.running(a_hub()) as hub:
        downloads = queue(hub, tmp_path, [])
        running = asyncio.ensure_future(downloads.run())
        await asyncio.sleep(0)
        await downloads.limit(LimitRequest(bytes_per_s=1_000_000))
        background = asyncio.ensure_future(downloads.get(request()))
        await until_async(lambda: bool(downloads.listed().downloads), "the first in the queue")
        await until_async(lambda: bool(downloads.listed().downloads[0].done_bytes), "some bytes")
        found = await downloads.get(request(include=("config.json",)), first=True)
        states = [(one.is_first, one.state) for one in downloads.listed().downloads]
        await downloads.limit(LimitRequest())
        await background
        await ended(running)

    assert [file.path for file in found.files] == ["config.json"]
    assert states[0] == (True, DownloadState.DONE)
    assert states[1] in ((False, DownloadState.QUEUED), (False, DownloadState.RUNNING))


async def test_a_download_that_failed_says_why_after_a_restart_and_can_be_tried_again(
    tmp_path: Path,
) -> None:
    """Whoever comes back in the morning wants to know."""
    with fake.running(a_hub(gated_token="other")) as hub:
        first = queue(hub, tmp_path, [])
        running = asyncio.ensure_future(first.run())
        with pytest.raises(StudioError):
            await first.get(request())
        await ended(running)
        second = queue(hub, tmp_path, [])
        (left,) = (await second.list()).downloads
        running = asyncio.ensure_future(second.run())
        hub.gated_token = None
        await second.change(left.id, DownloadDeed.RESUME)
        await until_async(
            lambda: second.listed().downloads[0].state is DownloadState.DONE, "its end"
        )
        await ended(running)

    assert left.error is not None
    assert left.error.code == "model-gated"


async def test_a_list_that_cannot_be_read_does_not_end_the_service(tmp_path: Path) -> None:
    """It did: one bad byte, and nothing was served any more."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/downloads.json").write_bytes(b"[")
    with fake.running(a_hub()) as hub:
        downloads = queue(hub, tmp_path, [])
        running = asyncio.ensure_future(downloads.run())
        found = await downloads.get(request(include=("config.json",)))
        await ended(running)

    assert running.cancelled()
    assert found.files


async def test_a_token_is_proven_before_it_is_kept(tmp_path: Path) -> None:
    """A mistyped one would only be found at the next gated model."""
    with fake.running(a_hub(token_names={"hf_right": "mia"})) as hub:
        downloads = queue(hub, tmp_path, [])
        with pytest.raises(BadInput):
            await downloads.login(LoginRequest(token="hf_wrong"))
        before = await downloads.login_state(HubName.HUGGING_FACE)
        kept = await downloads.login(LoginRequest(token="hf_right"))
        after = await downloads.login_state(HubName.HUGGING_FACE)

    assert before.source is None
    assert (kept.account, kept.role, after.account) == ("mia", "read", "mia")


async def test_a_variable_that_goes_before_a_kept_token_is_named(tmp_path: Path) -> None:
    """Else the new token seems to do nothing."""
    with fake.running(a_hub(token_names={"hf_right": "mia"})) as hub:
        environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path), "HF_TOKEN": "hf_old"}
        downloads = Downloads(Paths(tmp_path / "home", tmp_path), lambda _event: None, environ)
        kept = await downloads.login(LoginRequest(token="hf_right"))

    assert kept.source == "HF_TOKEN"
    assert "HF_TOKEN is set too" in str(kept.note)
