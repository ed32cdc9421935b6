"""Every command that asks the service one thing and shows the answer."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import on_demand_words, render, words
from studio.cli.adjust import ADJUST_COMMANDS
from studio.cli.adopt import ADOPT_COMMANDS
from studio.cli.alarms import ALARM_COMMANDS
from studio.cli.arguments import Invocation
from studio.cli.bench import BENCH_COMMANDS
from studio.cli.boots import BOOT_COMMANDS
from studio.cli.cache import CACHE_COMMANDS
from studio.cli.connect import CONNECT_COMMANDS
from studio.cli.console import Console
from studio.cli.diagnose import DIAGNOSE_COMMANDS
from studio.cli.doctor import DOCTOR_COMMANDS
from studio.cli.fix import FIX_COMMANDS
from studio.cli.gateway import GATEWAY_COMMANDS
from studio.cli.gpus import GPU_COMMANDS
from studio.cli.history import HISTORY_COMMANDS
from studio.cli.hub import HUB_COMMANDS
from studio.cli.kept_keys import KEPT_KEY_COMMANDS
from studio.cli.keys import KEY_COMMANDS
from studio.cli.logs import logs
from studio.cli.network import network
from studio.cli.on_demand import ON_DEMAND_COMMANDS
from studio.cli.on_demand_text import queue_pairs
from studio.cli.plan import PLAN_COMMANDS
from studio.cli.pool import POOL_COMMANDS
from studio.cli.presets import PRESET_COMMANDS
from studio.cli.prompts import PROMPT_COMMANDS, warn
from studio.cli.reach import Command, running, running_or_none
from studio.cli.report import report
from studio.cli.runtime import RUNTIME_COMMANDS
from studio.cli.runtime_updates import UPDATE_COMMANDS
from studio.cli.scrape import SCRAPE_COMMANDS
from studio.cli.selftest import SELFTEST_COMMANDS
from studio.cli.service import SERVICE_COMMANDS
from studio.cli.settings import SETTINGS_COMMANDS
from studio.cli.speed import SPEED_COMMANDS
from studio.cli.top import TOP_COMMANDS
from studio.cli.uninstall import UNINSTALL_COMMANDS
from studio.cli.up import IDLE, restart, switch, up
from studio.domain.control import ProcessInfo
from studio.domain.errors import ServiceUnreachable

if TYPE_CHECKING:
    from studio.cli.reach import Connector

_OK = 0


async def stop(call: Invocation, connector: "Connector", console: Console) -> int:
    """Stop the engine; nothing running is no error."""
    client = await running_or_none(connector)
    was_running = is_held = False
    if client is not None:
        try:
            before = await client.status()
            was_running = before.engine.state not in IDLE
            is_held = (await client.stop()).queue.held_since is not None
        finally:
            await client.close()
    if call.json:
        _stopped(console, was_running=was_running, service_running=client is not None)
    else:
        console.say(words.NOTHING_RUNS if client is None else words.ENGINE_STOPPED)
        if is_held:
            console.say(on_demand_words.HELD_AFTER_STOP)
    return _OK


async def down(call: Invocation, connector: "Connector", console: Console) -> int:
    """End engine and service; nothing running is no error."""
    client = await running_or_none(connector)
    if client is not None:
        try:
            await client.down()
        except ServiceUnreachable:
            # The service may be gone before its answer has left; what counts is that it is gone.
            still_there = await running_or_none(connector)
            if still_there is not None:
                await still_there.close()
                raise
        finally:
            await client.close()
    if call.json:
        _stopped(console, was_running=client is not None, service_running=False)
    else:
        console.say(words.NOTHING_RUNS if client is None else words.DOWN_DONE)
    return _OK


def _stopped(console: Console, *, was_running: bool, service_running: bool) -> None:
    console.document({"was_running": was_running, "service_running": service_running})


async def status(call: Invocation, connector: "Connector", console: Console) -> int:
    """Show one instant of everything."""
    client = await running(connector)
    try:
        now = await client.status()
    finally:
        await client.close()
    if call.json:
        console.document(now)
    else:
        at = time.time()
        console.say(render.status_text(now, at, queue_pairs(now.queue, at)))
        warn(now.prompt_logs, console)
    return _OK


async def ps(call: Invocation, connector: "Connector", console: Console) -> int:
    """List our processes; none when nothing runs."""
    client = await running_or_none(connector)
    processes: list[ProcessInfo] = []
    if client is not None:
        try:
            processes = await client.ps()
        finally:
            await client.close()
    if call.json:
        console.document(processes)
    elif not processes:
        console.say(words.NOTHING_RUNS)
    else:
        width = console.width if console.out_is_terminal else None
        console.say(render.processes_text(processes, time.time(), width))
    return _OK


COMMANDS: Mapping[str, Command] = {
    "up": up,
    "stop": stop,
    "restart": restart,
    "switch": switch,
    "down": down,
    "status": status,
    "ps": ps,
    "logs": logs,
    "report": report,
    "network": network,
    **GATEWAY_COMMANDS,
    **ADJUST_COMMANDS,
    **CACHE_COMMANDS,
    **PROMPT_COMMANDS,
    **ON_DEMAND_COMMANDS,
    **SELFTEST_COMMANDS,
    **KEY_COMMANDS,
    **KEPT_KEY_COMMANDS,
    **CONNECT_COMMANDS,
    **PRESET_COMMANDS,
    **RUNTIME_COMMANDS,
    **PLAN_COMMANDS,
    **DOCTOR_COMMANDS,
    **BOOT_COMMANDS,
    **BENCH_COMMANDS,
    **TOP_COMMANDS,
    **DIAGNOSE_COMMANDS,
    **FIX_COMMANDS,
    **UPDATE_COMMANDS,
    **SERVICE_COMMANDS,
    **ADOPT_COMMANDS,
    **ALARM_COMMANDS,
    **SETTINGS_COMMANDS,
    **GPU_COMMANDS,
    **HISTORY_COMMANDS,
    **POOL_COMMANDS,
    **SPEED_COMMANDS,
    **SCRAPE_COMMANDS,
    **UNINSTALL_COMMANDS,
    **HUB_COMMANDS,
}
