"""`weir bench`: measure the engine, keep the run, compare.

The service measures (see `studio/app/bench.py`); this command starts what is to be measured where
nothing serves, shows how far it is, and leaves things as it found them. Ctrl+C ends the run with
what it has; a kill of this command does so too, some seconds later.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import bench_text
from studio.cli import bench_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.cli.reach import Command, running_or_none, running_or_offline
from studio.cli.up import served
from studio.cli.watch import Watch, watching
from studio.domain.bench import BenchAgainst, BenchComparison, BenchKind, BenchReport, BenchRequest
from studio.domain.errors import NotFound, StudioError

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient

_OK = 0
_INTERRUPTED = 130
_LOOK_S = 0.5
_LAST = "last"


async def run(call: Invocation, connector: "Connector", console: Console) -> int:
    """Measure; what is started for it is stopped again."""
    client = await running_or_none(connector)
    if client is None:
        client = await connector.connect(start=True, hold=True)
    try:
        watch = Watch(console)
        async with watching(client, watch, hold=True):
            started = await _ensured(call, client, watch, console)
            try:
                return await _measured(call, client, console)
            finally:
                if started is not None:
                    await _stopped(client, started, console)
    finally:
        await client.close()


async def _ensured(
    call: Invocation, client: "ControlClient", watch: Watch, console: Console
) -> str | None:
    """Let something serve; return the preset that had to be started for it."""
    before = await client.status()
    if before.engine.is_serving and call.preset is None and not call.overrides and not call.gpus:
        return None
    result = await served(client, call, watch, console)
    if result.already_running:
        return None
    await watch.last_stages()
    watch.pause()
    console.note(words.STARTED.format(preset=result.preset))
    if result.api_key is not None:
        console.note(words.KEY_MADE.format(key=result.api_key))
    return result.preset


async def _stopped(client: "ControlClient", preset: str, console: Console) -> None:
    with contextlib.suppress(StudioError):  # gone by itself, which is told already
        await client.stop()
        console.note(words.STOPPED_AGAIN.format(preset=preset))


async def _measured(call: Invocation, client: "ControlClient", console: Console) -> int:
    request = BenchRequest(
        quick=call.quick, only=tuple(BenchKind(kind) for kind in call.kinds), is_watched=True
    )
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(_outcome(client, request))
        shown = tasks.create_task(_follow(client, console))
        status = _OK
        try:
            await asyncio.wait([asked])
        except asyncio.CancelledError:
            _forget_cancelling()
            status = _INTERRUPTED
            console.note(words.INTERRUPTED)
            await client.stop_bench()
            await asyncio.wait([asked])
        shown.cancel()
    found = asked.result()
    if isinstance(found, StudioError):
        raise found
    _show(found, console)
    return status


async def _outcome(client: "ControlClient", request: BenchRequest) -> BenchReport | StudioError:
    """Return how a run ended; an error is handed on, so that it comes out alone."""
    try:
        return await client.bench(request)
    except StudioError as error:
        return error


async def _follow(client: "ControlClient", console: Console) -> None:
    """Show how far the run is: on a terminal in place, elsewhere a line for each part."""
    told = ""
    while True:
        with contextlib.suppress(StudioError):  # its end is told by the run itself
            progress = (await client.bench_state()).progress
            if progress is not None and console.err_is_terminal:
                console.live(bench_text.progress_text(progress))
            elif progress is not None and progress.part != told:
                told = progress.part
                console.note(bench_text.progress_text(progress))
        await asyncio.sleep(_LOOK_S)


def _forget_cancelling() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()


def _show(report: BenchReport, console: Console) -> None:
    if console.json:
        console.document(report)
    else:
        console.say(bench_text.report_text(report, console.width))


async def stop(call: Invocation, connector: "Connector", console: Console) -> int:
    """End a run under way; none is no error."""
    client = await running_or_none(connector)
    was_running = False
    if client is not None:
        try:
            was_running = (await client.stop_bench()).was_running
        finally:
            await client.close()
    if call.json:
        console.document({"was_running": was_running})
    else:
        console.say(words.STOPPED if was_running else words.NOTHING_RUNS)
    return _OK


async def list_all(call: Invocation, connector: "Connector", console: Console) -> int:
    """List the kept runs."""
    client = await running_or_offline(connector)
    try:
        runs = await client.bench_runs(call.preset)
    finally:
        await client.close()
    if call.json:
        console.document(runs)
    else:
        console.say(bench_text.runs_text(runs, call.preset))
    return _OK


async def show(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show a kept run."""
    client = await running_or_offline(connector)
    try:
        report = await client.bench_run(call.name or _LAST)
    finally:
        await client.close()
    _show(report, console)
    return _OK


async def compare(call: Invocation, connector: "Connector", console: Console) -> int:
    """Compare two kept runs; without a second one, with the one before of the same kind."""
    client = await running_or_offline(connector)
    try:
        name = call.name or _LAST
        if call.other is not None:
            comparison = await client.compare_bench(name, call.other)
        else:
            comparison = _earlier(await client.bench_run(name), name)
    finally:
        await client.close()
    if call.json:
        console.document(comparison)
    else:
        console.say(bench_text.comparison_text(comparison, console.width))
    return _OK


def _earlier(report: BenchReport, name: str) -> BenchComparison:
    for comparison in report.comparisons:
        if comparison.against is BenchAgainst.EARLIER:
            return comparison
    raise NotFound(
        "bench-none-before", words.NOT_BEFORE.format(run=name), hint=words.HINT_NOT_BEFORE
    )


async def remove(call: Invocation, connector: "Connector", console: Console) -> int:
    """Remove kept runs; the first that is not there ends it."""
    client = await running_or_offline(connector)
    removed: list[str] = []
    try:
        for reference in call.runs:
            removed += (await client.remove_bench(reference)).ids
    finally:
        await client.close()
    if call.json:
        console.document({"ids": removed})
    else:
        console.say(words.REMOVED.format(ids=", ".join(removed)))
    return _OK


BENCH_COMMANDS: Mapping[str, Command] = {
    "bench run": run,
    "bench stop": stop,
    "bench list": list_all,
    "bench show": show,
    "bench compare": compare,
    "bench rm": remove,
}
