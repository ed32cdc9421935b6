"""Preset + overrides + runtime + places → the engine's argv and environment. Pure.

Knob names are vLLM's argument names with underscores. Secrets never enter an argv: the engine's
key is added to the environment by the supervisor, at the last moment.
"""

import dataclasses
import difflib
import re
from collections.abc import Mapping
from pathlib import PurePath

from studio.domain.errors import BadInput
from studio.domain.manifests import Knob, KnobKind, KnobValue, Preset, RuntimeRecipe

INHERITED = (
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "TZ",
    "USER", "XDG_RUNTIME_DIR",
    "SSL_CERT_DIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)  # fmt: skip
"""What an engine may see of the person's environment. A Conda, a PYTHONPATH or an LD_PRELOAD of
theirs must not reach it: engines that worked yesterday break on those."""

_TEXT_LIMIT_BYTES = 120_000
"""Linux takes 131,071 bytes for one argument or variable."""
_SHOWN_LENGTH = 100
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_YES = {"1": True, "true": True, "yes": True, "on": True}
_NO = {"0": False, "false": False, "no": False, "off": False}
_SUFFIX = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_INT = re.compile(r"(-?\d[\d_]*)\s*([kmg])?(?:i?b)?", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where this host keeps what the command names."""

    python: str
    runtime: str
    runtime_id: str
    model: str
    socket: str
    cache: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that is needed to start an engine, but its key."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    preset: str
    served_name: str
    runtime: str
    runtime_id: str
    knobs: Mapping[str, KnobValue]
    overrides: Mapping[str, str]
    python: str
    """Runs the guard."""
    socket: str
    ready_within_s: float
    drain_s: float

    def at_socket(self, socket: str) -> "Launch":
        """Return the same launch on another socket."""
        return dataclasses.replace(
            self,
            argv=tuple(part.replace(self.socket, socket) for part in self.argv),
            environment={
                name: value.replace(self.socket, socket) for name, value in self.environment.items()
            },
            socket=socket,
        )


def read_overrides(preset: Preset, overrides: Mapping[str, str]) -> dict[str, KnobValue]:
    """Return every knob's value: the preset's default or the override, checked.

    Raises: BadInput (`knob-unknown`, `knob-value`).
    """
    for name in overrides:
        if name not in preset.knobs:
            raise _unknown_knob(preset, name)
    values: dict[str, KnobValue] = {}
    for name, knob in preset.knobs.items():
        if name in overrides:
            values[name] = _read(preset, name, knob, overrides[name])
        elif knob.default is not None:
            values[name] = knob.default
    return values


def render(
    preset: Preset,
    recipe: RuntimeRecipe,
    *,
    overrides: Mapping[str, str],
    places: Places,
    inherited: Mapping[str, str],
    gpus: tuple[int, ...] | None = None,
) -> Launch:
    """Return the command for `preset` on `recipe`.

    Order in the environment: inherited < recipe < preset < knobs. `gpus` are NVML indices.
    Raises: BadInput (`knob-unknown`, `knob-value`, `placeholder-unknown`).
    """
    knobs = read_overrides(preset, overrides)
    known = dataclasses.asdict(places)
    known["sockets"] = str(PurePath(places.socket).parent)
    argv = [_fill(part, known, recipe.name) for part in recipe.serve.command]
    argv += [places.model, "--uds", places.socket, "--served-model-name", preset.served_name]
    environment = {name: inherited[name] for name in INHERITED if name in inherited}
    for name, value in (*recipe.serve.environment.items(), *preset.environment.items()):
        environment[name] = _fill(value, known, preset.id)
    for name, setting in knobs.items():
        variable = preset.knobs[name].environment
        if variable is None:
            argv += _flag(name, setting)
        else:
            environment[variable] = _text(setting)
    argv += [_fill(part, known, preset.id) for part in preset.arguments]
    if gpus is not None:
        environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # NVML counts in bus order, CUDA does not
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(index) for index in gpus)
    return Launch(
        argv=tuple(argv),
        environment=environment,
        preset=preset.id,
        served_name=preset.served_name,
        runtime=recipe.name,
        runtime_id=places.runtime_id,
        knobs=knobs,
        overrides=dict(overrides),
        python=places.python,
        socket=places.socket,
        ready_within_s=preset.ready_within_s,
        drain_s=preset.drain_s,
    )


def _unknown_knob(preset: Preset, name: str) -> BadInput:
    close = difflib.get_close_matches(name.replace("-", "_"), preset.knobs, n=1)
    known = ", ".join(sorted(preset.knobs)) or "none"
    return BadInput(
        "knob-unknown",
        f"The preset `{preset.id}` has no knob `{name}`.",
        hint=f"Did you mean `{close[0]}`?" if close else f"Its knobs: {known}.",
    )


def _read(preset: Preset, name: str, knob: Knob, text: str) -> KnobValue:
    value, expected = _parse(knob, text)
    if value is not None and not isinstance(value, bool | str):
        if knob.minimum is not None and value < knob.minimum:
            value, expected = None, f"at least {knob.minimum:,.12g}"
        elif knob.maximum is not None and value > knob.maximum:
            value, expected = None, f"at most {knob.maximum:,.12g}"
    if value is None:
        raise BadInput(
            "knob-value",
            f"`{name}` of the preset `{preset.id}` should be {expected}, found `{_shown(text)}`.",
            hint=knob.meaning,
        )
    return value


def _shown(text: str) -> str:
    """Return `text`, cut where nobody reads on."""
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}…"


def _parse(knob: Knob, text: str) -> tuple[KnobValue | None, str]:
    """Return the value, or None, and what was expected."""
    if knob.choices and text not in knob.choices:
        return None, "one of " + ", ".join(knob.choices)
    match knob.kind:
        case KnobKind.STR:
            is_fit = "\0" not in text and len(text.encode()) <= _TEXT_LIMIT_BYTES
            return (text if is_fit else None), "text that fits a command line"
        case KnobKind.BOOL:
            return {**_YES, **_NO}.get(text.lower()), "`true` or `false`"
        case KnobKind.INT:
            return _whole(text), "a whole number"
        case KnobKind.FLOAT:
            return _number(text), "a number"


def _whole(text: str) -> int | None:
    """Read `4096`, `4_096`, `1g`, `512MiB` (powers of 1,024)."""
    match = _INT.fullmatch(text.strip())
    if match is None:
        return None
    return int(match[1]) * _SUFFIX.get((match[2] or "").lower(), 1)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _fill(text: str, known: Mapping[str, str], where: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise BadInput(
                "placeholder-unknown",
                f"`{where}` uses the placeholder {{{match[1]}}}, which does not exist.",
                hint="Known: " + ", ".join(f"{{{name}}}" for name in known) + ".",
            )
        return known[match[1]]

    return _PLACEHOLDER.sub(replace, text)


def _flag(name: str, value: KnobValue) -> list[str]:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", _text(value)]


def _text(value: KnobValue) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)
