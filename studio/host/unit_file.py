"""The service's unit as text: written by systemd's rules, signed with a digest, read back. Pure.

The digest tells a file that we wrote, which may be written anew, from one that a person changed.
Sources of the rules: systemd.syntax(7), systemd.service(5) "Command lines", systemd.exec(5)
`Environment=`, systemd.unit(5) "Specifiers".
"""

import dataclasses
import difflib
import hashlib
import re
from collections.abc import Mapping, Sequence

NAME = "weir-studio.service"

_DIGEST = re.compile(r"^# digest: ([0-9a-f]{64})$", re.MULTILINE)
_HOME = re.compile(r'^Environment="WEIR_HOME=((?:[^"\\]|\\.)*)"$', re.MULTILINE)
_SAFE = re.compile(r"[^\x00-\x1f\x7f\"'\\]+")
"""What systemd takes as the name of a program (`string_is_safe` in its sources, 252)."""
_ENV = "/usr/bin/env"
"""Becomes the program it is given, whose name may hold anything."""
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)")
_LETTERS = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", '"': '\\"'}
_READ = {written[1]: character for character, written in _LETTERS.items()}

RESTART_S = 2
"""First pause before the service is started again; doubled up to `RESTART_MAX_S` where systemd can
do that."""
RESTART_MAX_S = 60
START_S = 60
STEPS_SINCE = 254
"""The systemd that knows `RestartSteps=` (its NEWS for 254)."""
_LIMIT = "StartLimitIntervalSec=900\nStartLimitBurst=8"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What goes into the unit."""

    command: Sequence[str]
    environment: Mapping[str, str]
    stop_s: int
    """How long the service may take to end; above what an engine takes to finish its answers."""
    systemd: int | None
    """Its version; None: not known, then only what old ones know is written."""
    version: str
    """Ours."""


def render(unit: Unit) -> str:
    """Return the whole file."""
    body = _body(unit)
    head = (
        f"# Made by `weir service install` of Weir Studio {unit.version}.\n"
        "# Changes of your own belong into a drop-in: systemctl --user edit weir-studio\n"
        f"# digest: {_digest(body)}\n"
    )
    return head + body


def _body(unit: Unit) -> str:
    program, *arguments = unit.command
    if not _SAFE.fullmatch(program):
        program, arguments = _ENV, [program, *arguments]
    command = " ".join([quoted(program), *(argument(word) for word in arguments)])
    variables = "\n".join(
        f"Environment={quoted(f'{name}={value}')}" for name, value in unit.environment.items()
    )
    back_off = f"RestartSec={RESTART_S}"
    if unit.systemd is not None and unit.systemd >= STEPS_SINCE:
        back_off += f"\nRestartSteps=5\nRestartMaxDelaySec={RESTART_MAX_S}"
    return f"""\
[Unit]
Description=Weir Studio: serves a large model to chat clients on this machine
{_LIMIT}

[Service]
Type=notify
NotifyAccess=main
ExecStart={command}
{variables}
Restart=on-failure
{back_off}
# The service ends its engine itself; what is left after it is killed.
KillMode=mixed
TimeoutStartSec={START_S}
TimeoutStopSec={unit.stop_s}
# An engine that runs out of memory is the service's to start again, not a reason to end it.
OOMPolicy=continue
SyslogIdentifier=weir-studio

[Install]
WantedBy=default.target
"""


def quoted(text: str) -> str:
    """Return `text` as one quoted word of a unit's line; specifiers are taken literally."""
    written = "".join(
        _LETTERS.get(one, one if one >= " " else f"\\x{ord(one):02x}") for one in text
    )
    return f'"{written.replace("%", "%%")}"'


def argument(text: str) -> str:
    """Return `text` as one word of a command line, where `$` would begin a variable."""
    return quoted(text).replace("$", "$$")


def is_ours(text: str) -> bool:
    """Tell whether we wrote the file and nobody changed it since."""
    match = _DIGEST.search(text)
    return match is not None and _digest(text[match.end() + 1 :]) == match[1]


def home_of(text: str) -> str | None:
    """Return the Studio's folder that the unit serves."""
    match = _HOME.search(text)
    if match is None:
        return None

    def read(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) == 3 else _READ.get(code, code)

    return _ESCAPE.sub(read, match[1]).replace("%%", "%")


def difference(before: str, after: str) -> tuple[str, ...]:
    """Return the lines by which the file that lies there differs from what would be written."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "as it is", "as it would be", lineterm="", n=1
    )
    return tuple(lines)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogateescape")).hexdigest()
