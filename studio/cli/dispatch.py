"""Finds the command that was typed; loads its module, and no other of its kind.

Python reads a module in half a millisecond, and there are a hundred of them: who asks how the
engine is has no use for those that import a bundle or set up WSL.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.cli.reach import Command

Table = Mapping[str, "Command"]


def command_of(name: str) -> "Command":
    """Return what runs a command, by its words as the parser gives them (`keys create`)."""
    return tables()[name.partition(" ")[0]]()[name]


def tables() -> Mapping[str, Callable[[], Table]]:
    """Return what loads the commands that begin with a word."""
    return {
        "adopt": _adopt,
        "alarms": _alarms,
        "argv": _presets,
        "bench": _bench,
        "boots": _boots,
        "cache": _cache,
        "connect": _connect,
        "diagnose": _diagnose,
        "disk": _disk,
        "doctor": _doctor,
        "down": _engine,
        "downloads": _downloads,
        "fix": _fix,
        "gateway": _gateway,
        "gpus": _gpus,
        "history": _history,
        "keys": _keys,
        "logs": _logs,
        "metrics": _metrics,
        "models": _models,
        "network": _network,
        "plan": _plan,
        "pool": _pool,
        "presets": _presets,
        "ps": _engine,
        "report": _report,
        "requests": _keys,
        "restart": _up,
        "runtime": _runtime,
        "service": _service,
        "settings": _settings,
        "speed": _speed,
        "status": _engine,
        "stop": _engine,
        "switch": _up,
        "top": _top,
        "try": _connect,
        "uninstall": _uninstall,
        "up": _up,
        "update": _update,
        "wsl": _wsl,
    }


def _adopt() -> Table:
    from studio.cli.adopt import ADOPT_COMMANDS

    return ADOPT_COMMANDS


def _alarms() -> Table:
    from studio.cli.alarms import ALARM_COMMANDS

    return ALARM_COMMANDS


def _bench() -> Table:
    from studio.cli.bench import BENCH_COMMANDS

    return BENCH_COMMANDS


def _boots() -> Table:
    from studio.cli.boots import BOOT_COMMANDS

    return BOOT_COMMANDS


def _cache() -> Table:
    from studio.cli.cache import CACHE_COMMANDS

    return CACHE_COMMANDS


def _connect() -> Table:
    from studio.cli.connect import CONNECT_COMMANDS

    return CONNECT_COMMANDS


def _diagnose() -> Table:
    from studio.cli.diagnose import DIAGNOSE_COMMANDS

    return DIAGNOSE_COMMANDS


def _disk() -> Table:
    from studio.cli.disk import DISK_COMMANDS

    return DISK_COMMANDS


def _doctor() -> Table:
    from studio.cli.doctor import DOCTOR_COMMANDS

    return DOCTOR_COMMANDS


def _downloads() -> Table:
    from studio.cli.hub import HUB_COMMANDS

    return HUB_COMMANDS


def _engine() -> Table:
    from studio.cli.commands import ENGINE_COMMANDS

    return ENGINE_COMMANDS


def _fix() -> Table:
    from studio.cli.fix import FIX_COMMANDS

    return FIX_COMMANDS


def _gateway() -> Table:
    from studio.cli.adjust import ADJUST_COMMANDS
    from studio.cli.gateway import GATEWAY_COMMANDS
    from studio.cli.on_demand import ON_DEMAND_COMMANDS
    from studio.cli.selftest import SELFTEST_COMMANDS

    return {**ADJUST_COMMANDS, **GATEWAY_COMMANDS, **ON_DEMAND_COMMANDS, **SELFTEST_COMMANDS}


def _gpus() -> Table:
    from studio.cli.gpus import GPU_COMMANDS

    return GPU_COMMANDS


def _history() -> Table:
    from studio.cli.history import HISTORY_COMMANDS

    return HISTORY_COMMANDS


def _keys() -> Table:
    from studio.cli.kept_keys import KEPT_KEY_COMMANDS
    from studio.cli.keys import KEY_COMMANDS
    from studio.cli.prompts import PROMPT_COMMANDS

    return {**KEPT_KEY_COMMANDS, **KEY_COMMANDS, **PROMPT_COMMANDS}


def _logs() -> Table:
    from studio.cli.logs import logs

    return {"logs": logs}


def _metrics() -> Table:
    from studio.cli.scrape import SCRAPE_COMMANDS

    return SCRAPE_COMMANDS


def _models() -> Table:
    from studio.cli.hub import HUB_COMMANDS
    from studio.cli.models import MODEL_COMMANDS
    from studio.cli.preparing import PREPARING_COMMANDS

    return {**HUB_COMMANDS, **MODEL_COMMANDS, **PREPARING_COMMANDS}


def _network() -> Table:
    from studio.cli.network import network

    return {"network": network}


def _plan() -> Table:
    from studio.cli.plan import PLAN_COMMANDS

    return PLAN_COMMANDS


def _pool() -> Table:
    from studio.cli.pool import POOL_COMMANDS

    return POOL_COMMANDS


def _presets() -> Table:
    from studio.cli.boots import BOOT_COMMANDS
    from studio.cli.plan import PLAN_COMMANDS
    from studio.cli.preset_changes import PRESET_CHANGE_COMMANDS
    from studio.cli.presets import PRESET_COMMANDS

    return {**BOOT_COMMANDS, **PLAN_COMMANDS, **PRESET_CHANGE_COMMANDS, **PRESET_COMMANDS}


def _report() -> Table:
    from studio.cli.report import report

    return {"report": report}


def _runtime() -> Table:
    from studio.cli.runtime import RUNTIME_COMMANDS
    from studio.cli.runtime_updates import UPDATE_COMMANDS

    return {**RUNTIME_COMMANDS, **UPDATE_COMMANDS}


def _service() -> Table:
    from studio.cli.service import SERVICE_COMMANDS

    return SERVICE_COMMANDS


def _settings() -> Table:
    from studio.cli.settings import SETTINGS_COMMANDS

    return SETTINGS_COMMANDS


def _speed() -> Table:
    from studio.cli.speed import SPEED_COMMANDS

    return SPEED_COMMANDS


def _top() -> Table:
    from studio.cli.top import TOP_COMMANDS

    return TOP_COMMANDS


def _uninstall() -> Table:
    from studio.cli.uninstall import UNINSTALL_COMMANDS

    return UNINSTALL_COMMANDS


def _up() -> Table:
    from studio.cli.up import restart, switch, up

    return {"restart": restart, "switch": switch, "up": up}


def _update() -> Table:
    from studio.cli.update import UPDATE_COMMANDS

    return UPDATE_COMMANDS


def _wsl() -> Table:
    from studio.cli.wsl import WSL_COMMANDS

    return WSL_COMMANDS
