"""`summary.txt` of a report: what runs or failed, in words. Pure."""

from studio.app.report_boot import clock
from studio.app.report_collect import Collected
from studio.domain.doctor import Level
from studio.domain.errors import ErrorInfo
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import duration_text, tokens_text

_EVIDENCE_LINES = 6
_TAKEN_OUT = (
    "Keys, prompts, names of users and machines, home folders, public addresses and e-mail"
    " addresses were taken out of every file."
)
_FILES = {
    "failures.json": "known failures that the last boot's log shows",
    "boot/timeline.txt": "when the last boot was in which phase",
    "boot/forecast-and-printed.txt": "what was forecast beside what the engine printed",
    "status.json": "one instant of the service and the engine",
    "host.json": "this machine, and what is in the way on it",
    "runtime.json": "the runtime: id, packages, patches",
    "boot/plan.json": "the plan of what ran",
    "boot/launch.json": "the command and environment of the last start",
    "boot/command.json": "the command that a start would use now",
    "metrics.jsonl": "the last ten minutes, one second a line",
    "logs/engine.log": "the newest lines of the engine",
    "logs/service.log": "the newest lines of the service",
    "logs/service-start.log": "what the service said before it could keep a log",
    "network.json": "proxies and mirrors, without names and passwords",
    "versions.json": "versions of the Studio, of Python and of what they stand on",
    "home/settings.json": "the settings",
    "home/runtime-pins.json": "what was supplied for runtimes",
    "home/calibration.json": "what earlier starts were seen to hold",
    "home/boots.json": "earlier starts with their phases",
}
_KINDS = {
    "home/presets/": "a preset of one's own",
    "evidence/": "what was kept of an engine that died",
}
"""What other files are, by how their names begin."""


def summary(found: Collected, made_at: float) -> str:
    """Return the first thing that somebody reads who knows nothing yet."""
    parts = [
        ["Weir Studio report", f"Made {clock(made_at)} UTC."],
        _engine(found),
        _failures(found),
        _machine(found),
        _missing(found),
        ["Files", *(_file(name) for name, _ in found.texts)],
        [_TAKEN_OUT],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _file(name: str) -> str:
    kinds = (what for begin, what in _KINDS.items() if name.startswith(begin))
    what = _FILES.get(name) or next(kinds, None)
    return f"  {name}: {what}" if what is not None else f"  {name}"


def _engine(found: Collected) -> list[str]:
    if found.status is not None:
        lines = ["What runs", *_state(found.status.engine)]
    elif found.has_service:
        lines = ["What runs", "  The service did not say."]
    else:
        lines = ["What runs", "  No service runs."]
    if found.problem is not None:
        lines.append(f"  The Studio's folder cannot be opened: {found.problem.message}")
    launch = found.launch
    if launch is not None:
        lines.append(
            f"  Last start: {launch.preset} on {launch.runtime} ({launch.runtime_id[:12]}),"
            f" {clock(launch.at)} UTC."
        )
        if launch.overrides:
            changed = ", ".join(f"{name}={value}" for name, value in launch.overrides.items())
            lines.append(f"  Settings on top of the preset: {changed}.")
    if found.boot.phases:
        reached = found.boot.phases[-1]
        lines.append(
            "  Its log says that it served."
            if found.boot.serves
            else f"  By its log it came as far as: {reached.phase.value}, {clock(reached.at)} UTC."
        )
    return lines


def _state(engine: EngineSnapshot) -> list[str]:
    what = f" {engine.preset}" if engine.preset is not None else ""
    is_failed = engine.state is EngineState.FAILED
    stands = "has failed" if is_failed else f"is {engine.state.value}"
    lines = [f"  The engine {stands}.{what and f' Preset:{what}.'}"]
    if engine.state is EngineState.READY:
        lines.append(
            f"  Pool {tokens_text(engine.pool_tokens)}, boot {duration_text(engine.boot_s)},"
            f" restarted {engine.restarts} times."
        )
    if engine.error is not None:
        lines += _error(engine.error)
    lines += [f"  {badge.title}: {badge.cost}" for badge in engine.badges]
    return lines


def _failures(found: Collected) -> list[str]:
    if not found.matches:
        return ["Known failures", "  The log of the last boot shows none."]
    lines = ["Known failures in the log of the last boot, the most likely first"]
    for one in found.matches:
        lines += _error(one)
    return lines


def _error(error: ErrorInfo) -> list[str]:
    lines = [f"  {error.code}: {error.message}"]
    if error.hint:
        lines.append(f"    What to do: {error.hint}")
    lines += [f"    | {text}" for text in error.evidence[-_EVIDENCE_LINES:]]
    return lines


def _machine(found: Collected) -> list[str]:
    if found.doctor is None:
        return []
    graver = (check for check in found.doctor.checks if check.level in (Level.LOOK, Level.STOPS))
    return [
        "This machine",
        f"  {found.doctor.title}",
        *(f"  {check.level.value}: {check.title}: {check.found}" for check in graver),
    ]


def _missing(found: Collected) -> list[str]:
    if not found.missing:
        return []
    return ["What could not be had", *(f"  {what}: {why}" for what, why in found.missing.items())]
