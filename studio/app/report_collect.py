"""What goes into a report: files of the home and answers of the service, each within its time."""

import asyncio
import dataclasses
import functools
import importlib.metadata
import re
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from studio import __version__
from studio.app import report_launch
from studio.app.report_boot import SeenBoot, comparison, last_boot, timeline
from studio.app.report_launch import LaunchRecord
from studio.app.settings import Settings
from studio.domain.control import Status
from studio.domain.doctor import DoctorReport
from studio.domain.errors import ErrorInfo, StudioError
from studio.domain.metrics import LogLine, Tick
from studio.domain.plans import Plan, PlanRequest
from studio.domain.presets import ArgvRequest, ArgvResult
from studio.domain.runtimes import RuntimeDetail
from studio.host import system_name
from studio.host.paths import Paths
from studio.serving import diagnose, log_pages
from studio.serving.log_file import stamp

if TYPE_CHECKING:
    from studio.app.doctor import Doctor
    from studio.app.network import Network
    from studio.app.plans import Plans
    from studio.app.presets import Presets
    from studio.app.runtimes import Runtimes

T = TypeVar("T")

_ANSWER_S = 2.0
"""How long one question may take; a driver that hangs must not hold up the report."""
_ENGINE_LINES = 4_000
_SERVICE_LINES = 1_500
_MOST_BYTES = 512 << 10
"""Of one file."""
_HISTORY_S = 600
_MOST_FILES = 20
_EVIDENCE = 3
"""Folders of evidence, the newest."""
_PACKAGES = ("msgspec", "httpx", "httptools", "psutil", "uv", "nvidia-ml-py", "PySide6-Essentials")
_HOST = re.compile(r"(https?://)(?!127\.)[^/\s\"]+")
"""Of proxies, mirrors and indexes: their names tell whose network this is."""
_UNREADABLE = (
    StudioError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError,
    msgspec.MsgspecError, sqlite3.Error,
)  # fmt: skip
"""What a half-broken home may lead to; a report says so and goes on."""


class Asked(Protocol):
    """Whom a report asks: the parts of a Studio that it is about."""

    doctor: "Doctor"
    network: "Network"
    plans: "Plans"
    presets: "Presets"
    runtimes: "Runtimes"

    def status(self) -> Status:
        """Return one instant of everything."""

    def chosen(self) -> Settings:
        """Return what the person chose."""

    def history(self, seconds: int) -> list[Tick]:
        """Return the ticks of the last `seconds`."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Collected:
    """All that was found, before it is redacted."""

    has_service: bool
    problem: ErrorInfo | None = None
    """Why the home cannot be opened, if it cannot."""
    status: Status | None = None
    doctor: DoctorReport | None = None
    plan: Plan | None = None
    runtime: RuntimeDetail | None = None
    argv: ArgvResult | None = None
    launch: LaunchRecord | None = None
    boot: SeenBoot = dataclasses.field(default_factory=SeenBoot)
    matches: list[ErrorInfo] = dataclasses.field(default_factory=list)
    missing: dict[str, str] = dataclasses.field(default_factory=dict)
    """What could not be had, and why."""
    texts: list[tuple[str, str]] = dataclasses.field(default_factory=list)


async def collect(
    paths: Paths,
    studio: Asked | None,
    *,
    has_service: bool,
    problem: ErrorInfo | None,
) -> Collected:
    """Return all that can be had."""
    found = Collected(has_service=has_service, problem=problem)
    await asyncio.to_thread(_read_logs, found, paths)
    history: list[Tick] = []
    if studio is not None:
        history = await _ask_all(found, studio)
    await asyncio.to_thread(_compose, found, paths, history)
    return found


def _read_logs(found: Collected, paths: Paths) -> None:
    found.launch = _tried(found, "the last command", lambda: report_launch.last(paths.logs))
    lines = _lines(found, paths, "engine", _ENGINE_LINES)
    found.boot = last_boot(lines)
    service = _lines(found, paths, "service", _SERVICE_LINES)
    found.texts += [
        ("logs/engine.log", _log_text(lines)),
        ("logs/service.log", _log_text(service)),
        ("logs/service-start.log", _file_text(paths.logs / "service-start.log")),
    ]
    said = [line.text for line in found.boot.lines if line.source == "engine"]
    known = _tried(found, "known failures", lambda: _failures(paths, said))
    found.matches = known or []


def _failures(paths: Paths, said: list[str]) -> list[ErrorInfo]:
    signatures = diagnose.load(paths.catalogue / "runtimes" / "failures.toml")
    return list(diagnose.matches(said, None, signatures))


def _lines(found: Collected, paths: Paths, source: str, count: int) -> list[LogLine]:
    page = _tried(
        found,
        f"the log of the {source}",
        lambda: log_pages.newest(paths.logs, source, lines=count),
    )
    return list(page.lines) if page is not None else []


async def _ask_all(found: Collected, studio: Asked) -> list[Tick]:
    status = _tried(found, "status", studio.status)
    found.status = status if found.has_service else None
    preset, runtime, overrides = _what(found, studio.chosen())
    async with asyncio.TaskGroup() as tasks:
        doctor = tasks.create_task(_asked(found, "this machine", studio.doctor.report()))
        network = tasks.create_task(_asked(found, "network", studio.network.report()))
        plan, argv, detail = None, None, None
        if preset is not None:
            wanted = PlanRequest(preset=preset, overrides=overrides)
            plan = tasks.create_task(_asked(found, "the plan", studio.plans.plan(wanted)))
            asked = ArgvRequest(preset=preset, overrides=overrides)
            argv = tasks.create_task(_asked(found, "the command", studio.presets.argv(asked)))
        if runtime is not None:
            detail = tasks.create_task(_asked(found, "the runtime", studio.runtimes.one(runtime)))
    found.doctor = doctor.result()
    found.plan = plan.result() if plan is not None else None
    found.argv = argv.result() if argv is not None else None
    found.runtime = detail.result() if detail is not None else None
    if network.result() is not None:
        found.texts.append(("network.json", _HOST.sub(r"\1HOST", _json(network.result()))))
    return (_tried(found, "metrics", lambda: studio.history(_HISTORY_S)) or []) if status else []


def _what(found: Collected, chosen: Settings) -> tuple[str | None, str | None, dict[str, str]]:
    """Return which preset and runtime the report is about, and what was set."""
    engine = found.status.engine if found.status is not None else None
    if engine is not None and engine.preset is not None:
        return engine.preset, engine.runtime, dict(engine.overrides)
    if found.launch is not None:
        return found.launch.preset, found.launch.runtime, dict(found.launch.overrides)
    return chosen.preset, None, dict(chosen.overrides)


async def _asked(found: Collected, what: str, answer: Awaitable[T]) -> T | None:
    try:
        async with asyncio.timeout(_ANSWER_S):
            return await answer
    except TimeoutError:
        found.missing[what] = f"no answer within {_ANSWER_S:.0f} s"
    except _UNREADABLE as error:
        found.missing[what] = _why(error)
    return None


def _tried(found: Collected, what: str, read: Callable[[], T]) -> T | None:
    try:
        return read()
    except _UNREADABLE as error:
        found.missing[what] = _why(error)
    return None


def _why(error: BaseException) -> str:
    return error.message if isinstance(error, StudioError) else f"{type(error).__name__}: {error}"


def _compose(found: Collected, paths: Paths, history: list[Tick]) -> None:
    facts = found.boot.facts
    made: list[tuple[str, str]] = [
        ("failures.json", _json(found.matches)),
        ("boot/timeline.txt", timeline(found.boot)),
        ("boot/forecast-and-printed.txt", comparison(found.plan, facts)),
    ]
    documents = (
        ("status.json", found.status),
        ("host.json", found.doctor),
        ("runtime.json", found.runtime),
        ("boot/plan.json", found.plan),
        ("boot/launch.json", found.launch),
        ("boot/command.json", found.argv),
    )
    made += [(name, _json(document)) for name, document in documents if document is not None]
    if history:
        made.append(("metrics.jsonl", "".join(_line(tick) for tick in history)))
    made += [("versions.json", _json(_versions()))]
    found.texts[:0] = made
    found.texts += _files(found, paths)


def _files(found: Collected, paths: Paths) -> list[tuple[str, str]]:
    """Return files of the home as they are: settings, what was learnt, presets of one's own."""
    home = paths.home
    kept = [paths.settings_file, paths.runtime_pins, home / "calibration.json", home / "boots.json"]
    texts = [(f"home/{one.name}", _file_text(one)) for one in kept if one.is_file()]
    presets = _tried(found, "presets of one's own", lambda: _below(paths.user_presets, "*.toml"))
    texts += [
        (f"home/presets/{number:02d}.toml", f"# {one.name}\n{_file_text(one)}")
        for number, one in enumerate(presets or [], 1)
    ]
    evidence = _tried(found, "evidence", lambda: _evidence(home / "logs" / "crashes"))
    for folder in evidence or []:
        inside = _tried(found, folder.name, functools.partial(_below, folder, "*"))
        texts += [(f"evidence/{folder.name}/{one.name}", _file_text(one)) for one in inside or []]
    return texts


def _evidence(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    inside = [one for one in folder.iterdir() if one.is_dir() and not one.is_symlink()]
    return sorted(inside, key=lambda one: one.stat().st_mtime, reverse=True)[:_EVIDENCE]


def _below(folder: Path, pattern: str) -> list[Path]:
    if not folder.is_dir():
        return []
    inside = [one for one in folder.glob(pattern) if one.is_file() and not one.is_symlink()]
    return sorted(inside)[:_MOST_FILES]


def _file_text(path: Path) -> str:
    """Return the end of a file as text; why not, if it cannot be read."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _MOST_BYTES))
            data = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"It cannot be read: {error.strerror or error}.\n"
    if b"\0" in data:
        return f"{size:,} bytes that are no text.\n"
    cut = f"(the first {size - _MOST_BYTES:,} bytes are left out)\n" if size > _MOST_BYTES else ""
    return cut + data.decode("utf-8", "replace")


def _log_text(lines: list[LogLine]) -> str:
    """Return lines with their times, the newest that have room."""
    texts: list[str] = []
    room = _MOST_BYTES
    for line in reversed(lines):
        ours = f"studio {line.level}: " if line.source == "studio" else ""
        text = f"{stamp(line.at)}{ours}{line.text}"
        room -= len(text) + 1
        if room < 0:
            break
        texts.append(text)
    return "".join(f"{text}\n" for text in reversed(texts))


def _json(document: object) -> str:
    return msgspec.json.format(msgspec.json.encode(document)).decode() + "\n"


def _line(document: object) -> str:
    return msgspec.json.encode(document).decode() + "\n"


def _versions() -> dict[str, str]:
    found = {
        "weir-studio": __version__,
        "python": sys.version.split()[0],
        "system": f"{system_name.system()} {system_name.release()}",
        "machine": system_name.machine(),
    }
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
