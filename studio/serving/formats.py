"""An engine's command as people write it down who run units or containers of their own. Pure.

The engine listens on a port, since the Studio's socket is no place of theirs; its key is named and
never written. Values are quoted for the reader of each format.
"""

import ipaddress
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from studio.domain.presets import CommandFormat
from studio.serving.command import Launch

PORT = 8000
KEY_VARIABLE = "VLLM_API_KEY"
_EVERYWHERE = str(ipaddress.IPv4Address(0))
"""Inside a container: its port is published on loopback only."""
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_CARDS = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
"""A container sees the cards it was given only, and numbers them from 0."""


def listening(launch: Launch, address: str) -> tuple[str, ...]:
    """Return the command with an address and a port instead of the Studio's socket."""
    argv = list(launch.argv)
    at = argv.index("--uds")
    argv[at : at + 2] = ["--host", address, "--port", str(PORT)]
    return tuple(argv)


def written(
    launch: Launch,
    form: CommandFormat,
    *,
    gpus: Sequence[int],
    folders: Sequence[str],
    card_count: int = 0,
) -> str:
    """Return `launch` in a format. `folders` are those that a container needs to see.

    Where no cards are named, a container asks for `card_count` of them.
    """
    match form:
        case CommandFormat.SHELL:
            return shell(launch)
        case CommandFormat.SYSTEMD:
            return systemd(launch)
        case CommandFormat.COMPOSE:
            return compose(launch, gpus=gpus, folders=folders, card_count=card_count)


def shell(launch: Launch) -> str:
    """Return a script for `sh`. The key comes from the caller's environment."""
    lines = [
        "#!/bin/sh",
        f"# {launch.preset} on {launch.runtime}",
        f': "${{{KEY_VARIABLE}:?set it to the key that clients send}}"',
        f"export {KEY_VARIABLE}",
    ]
    lines += [f"export {name}={shlex.quote(text)}" for name, text in _sorted(launch.environment)]
    words = [shlex.quote(word) for word in listening(launch, "127.0.0.1")]
    lines.append("exec " + _joined(words, " \\\n  "))
    return "\n".join(lines)


def systemd(launch: Launch) -> str:
    """Return a user unit. `%` and `$` are systemd's own signs, so they are doubled."""
    words = [_unit_word(word) for word in listening(launch, "127.0.0.1")]
    lines = [
        "[Unit]",
        f"Description=vLLM, {launch.preset} on {launch.runtime}",
        "After=network.target",
        "",
        "[Service]",
        f"# Holds {KEY_VARIABLE}=…, mode 0600",
        "EnvironmentFile=%h/.config/weir-studio/engine.env",
    ]
    lines += [
        f"Environment={_unit_text(f'{name}={text}')}" for name, text in _sorted(launch.environment)
    ]
    lines += [
        "ExecStart=" + _joined(words, " \\\n  "),
        f"TimeoutStartSec={round(launch.ready_within_s)}",
        f"TimeoutStopSec={round(launch.drain_s) + 10}",
        "KillSignal=SIGINT",
        "LimitMEMLOCK=infinity",
        "Restart=on-failure",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines)


def compose(
    launch: Launch, *, gpus: Sequence[int], folders: Sequence[str], card_count: int = 0
) -> str:
    """Return a Compose file: the installed runtime and the models are mounted where they lie."""
    environment = {
        name: text for name, text in launch.environment.items() if name not in _CARDS or not gpus
    }
    lines = [
        f"# {launch.preset} on {launch.runtime}. The runtime is a folder of its own, so that any",
        "# image with glibc and a C compiler will do.",
        "services:",
        f"  {re.sub('[^a-z0-9_-]', '-', launch.preset)}:",
        "    image: ${IMAGE:-buildpack-deps:trixie}",
        "    command:",
    ]
    lines += [f"      - {_yaml(word)}" for word in listening(launch, _EVERYWHERE)]
    lines += [
        "    environment:",
        f'      {KEY_VARIABLE}: "${{{KEY_VARIABLE}:?set it to the key that clients send}}"',
    ]
    lines += [f"      {name}: {_yaml(text)}" for name, text in _sorted(environment)]
    lines.append("    volumes:")
    lines += [line for folder in folders for line in _mounted(folder)]
    sockets = str(PurePosixPath(launch.socket).parent)
    if sockets in environment.values():
        # An image need not have the folder, nor let its user write there.
        lines += ["    tmpfs:", f"      - {_yaml(f'{sockets}:mode=1777')}"]
    lines += [
        "    ports:",
        f'      - "127.0.0.1:{PORT}:{PORT}"',
        "    # Workers share memory; the 64 MB of a container are not enough.",
        "    ipc: host",
        "    ulimits:",
        "      memlock: -1",
        "    stop_signal: SIGINT",
        f"    stop_grace_period: {round(launch.drain_s) + 10}s",
        "    restart: unless-stopped",
    ]
    if gpus or card_count:
        numbers = ", ".join(json.dumps(str(one)) for one in gpus)
        which = f"device_ids: [{numbers}]" if gpus else f"count: {card_count}"
        lines += [
            "    deploy:",
            "      resources:",
            "        reservations:",
            "          devices:",
            "            - driver: nvidia",
            f"              {which}",
            "              capabilities: [gpu]",
        ]
    return "\n".join(lines)


def _mounted(folder: str) -> list[str]:
    """Return a folder that is seen where it lies; the short form ends a path at its first colon."""
    if ":" not in folder:
        return [f"      - {_yaml(f'{folder}:{folder}')}"]
    quoted = _yaml(folder)
    return ["      - type: bind", f"        source: {quoted}", f"        target: {quoted}"]


def _sorted(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(environment.items())


def _joined(words: Sequence[str], between: str) -> str:
    """Return the words, a new line before each argument that begins with dashes."""
    text = words[0]
    for word in words[1:]:
        is_option = word.startswith(("--", '"--', "'--"))
        text += (between if is_option else " ") + word
    return text


def _unit_word(word: str) -> str:
    return _unit_text(word).replace("$", "$$")


def _unit_text(text: str) -> str:
    doubled = text.replace("%", "%%")
    if _PLAIN.fullmatch(text):
        return doubled
    escaped = doubled.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _yaml(text: str) -> str:
    """Return a YAML string; JSON is YAML. Compose reads `$` itself, so it is doubled."""
    return json.dumps(text, ensure_ascii=False).replace("$", "$$")
