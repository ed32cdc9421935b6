"""Text that may leave this machine: no key, user, folder, host, public address or e-mail in it.

Two nets. What is known of this machine is looked for as it stands and in every form in which it
may be written: percent-encoded, escaped for JSON, in base64. What only looks like a secret is
looked for by its shape. Better one word too many masked than one too few.
"""

import base64
import contextlib
import dataclasses
import getpass
import ipaddress
import json
import os
import re
import socket
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.domain.redaction import MASK, redact
from studio.host.paths import Paths

USER = "USER"
HOST = "HOST"
_SHORTEST = 3
_SHORTEST_SECRET = 6
_MOST_BYTES = 1 << 20
_SECRET_NAME = re.compile(
    r"key|token|secret|passw|credential|cookie|authorization|_auth\b", re.IGNORECASE
)
_LOGIN = re.compile(r"://([^\s/?#'\"<>@:]*)(?::([^\s'\"<>]*))?@")
_COMMON = frozenset((
    "admin", "administrator", "ai", "app", "cuda", "debian", "default", "docker", "engine", "gpu",
    "guest", "host", "kernel", "linux", "local", "localhost", "main", "model", "models", "nobody",
    "node", "nvidia", "operator", "python", "root", "runner", "server", "service", "studio",
    "system", "test", "ubuntu", "user", "users", "vllm", "weir", "windows", "work", "worker",
))  # fmt: skip
"""Names of users and hosts that are words of every log; as part of a path they go all the same."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_UUID = re.compile(r"\b((?:GPU|MIG)-[0-9a-f]{4})[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f-]{14,30}")

Replace = str | Callable[["re.Match[str]"], str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What is known of this machine and its user that is nobody else's business."""

    users: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    folders: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Path to what stands in its place."""
    secrets: frozenset[str] = frozenset()


def identity(paths: Paths, environ: Mapping[str, str]) -> Identity:
    """Return what is known; whatever cannot be read is left out."""
    homes = {str(Path.home()), environ.get("HOME", ""), environ.get("USERPROFILE", "")}
    folders = {home: "~" for home in homes if len(home) > _SHORTEST}
    folders |= {os.path.realpath(home): "~" for home in folders}
    for home in (str(paths.home), os.path.realpath(paths.home)):
        folders[home] = "WEIR_HOME"
    names = {environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")}
    with contextlib.suppress(OSError, KeyError, ImportError):
        names.add(getpass.getuser())
    names |= {Path(home).name for home, shown in folders.items() if shown == "~"}
    return Identity(
        users=frozenset(name for name in names if len(name) >= _SHORTEST),
        hosts=_hosts(environ) | _proxies(paths, environ),
        folders=folders,
        secrets=frozenset(_secrets(paths, environ)),
    )


def _hosts(environ: Mapping[str, str]) -> frozenset[str]:
    names = {environ.get("HOSTNAME", ""), environ.get("COMPUTERNAME", "")}
    with contextlib.suppress(OSError):
        names.add(socket.gethostname())
    names.add(_text(Path("/etc/hostname")).strip())
    names |= {name.partition(".")[0] for name in names}
    return frozenset(name for name in names if len(name) >= _SHORTEST)


def _proxies(paths: Paths, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the hosts of proxies: their names tell whose network this is."""
    named = [value for name, value in environ.items() if name.lower().endswith("_proxy")]
    named += re.findall(r"[a-z0-9]+://[^\s\"']+", _text(paths.network_settings))
    hosts: set[str] = set()
    for url in named:
        with contextlib.suppress(ValueError):
            hosts.add(urllib.parse.urlsplit(url).hostname or "")
    return frozenset(
        host for host in hosts if len(host) >= _SHORTEST and not host.startswith("127.")
    )


def _secrets(paths: Paths, environ: Mapping[str, str]) -> set[str]:
    found = {value for name, value in environ.items() if _is_secret(name, value)}
    found.add(_text(paths.service / "token").strip())
    places = [*environ.values(), _text(paths.network_settings), _text(paths.settings_file)]
    for text in places:
        for match in _LOGIN.finditer(text):
            found |= {urllib.parse.unquote(part) for part in match.groups() if part}
            found |= {part for part in match.groups() if part}
    return {text for text in found if len(text) >= 4 and not text.isspace()}


def _is_secret(name: str, value: str) -> bool:
    is_path = value.startswith(("/", "~", "\\")) or value[1:3] == ":\\"
    is_long = len(value) >= _SHORTEST_SECRET and not is_path
    return is_long and _SECRET_NAME.search(name) is not None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


class Redactor:
    """Makes texts fit to leave the machine. Pure once it is made."""

    def __init__(self, known: Identity) -> None:
        self._plain: list[tuple[str, str]] = []
        self._words: list[tuple[str, re.Pattern[str], str]] = []
        for secret in known.secrets:
            self._plain += [(form, MASK) for form in forms(secret)]
        for folder, shown in known.folders.items():
            self._plain += [(form, shown) for form in forms(folder)]
        self._plain.sort(key=lambda one: -len(one[0]))
        for names, shown in ((known.users, USER), (known.hosts, HOST)):
            for name in sorted(names, key=len, reverse=True):
                if name.lower() not in _COMMON:
                    self._words += [_word(form, shown) for form in forms(name)]
        self._hidden = [
            text
            for text in (*known.secrets, *known.users, *known.hosts, *known.folders)
            if text.lower() not in _COMMON
        ]

    def text(self, text: str) -> str:
        """Return `text` without all that must not leave."""
        for form, shown in self._plain:
            if form in text:
                text = text.replace(form, shown)
        text = _private_keys(redact(text))
        for pattern, replacement in _SHAPES:
            text = pattern.sub(replacement, text)
        text = _addresses(text)
        lowered = text.lower()
        for form, pattern, shown in self._words:
            if form in lowered:
                text = pattern.sub(shown, text)
        return _BASE64.sub(self._decoded, text)

    def _decoded(self, match: "re.Match[str]") -> str:
        """Mask base64 that hides a login, or something known."""
        found = match[0]
        if found.islower() or found.isupper() or found.isdecimal():
            return found
        for text in (found, found.replace("-", "+").replace("_", "/")):
            with contextlib.suppress(ValueError):  # binascii's error is one
                plain = base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode()
                if _is_login(plain) or any(one in plain for one in self._hidden):
                    return MASK
        return found


def forms(text: str) -> list[str]:
    """Return `text` in every form in which it may be written, each once."""
    escaped = json.dumps(text)[1:-1]
    found = [
        text,
        urllib.parse.quote(text, safe=""),
        urllib.parse.quote(text),
        urllib.parse.quote_plus(text),
        urllib.parse.quote(text, safe="").lower(),
        urllib.parse.quote(urllib.parse.quote(text, safe=""), safe=""),
        json.dumps(text, ensure_ascii=False)[1:-1],
        escaped,
        escaped.replace("/", "\\/"),
        json.dumps(escaped)[1:-1],
        repr(text)[1:-1],
        text.encode().hex(),
    ]
    return list(dict.fromkeys(found))


def _word(form: str, shown: str) -> tuple[str, re.Pattern[str], str]:
    pattern = rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])"
    return form.lower(), re.compile(pattern, re.IGNORECASE), shown


def _is_login(plain: str) -> bool:
    """Tell whether something decoded is `user:password` rather than bytes that happen to decode."""
    name, colon, password = plain.partition(":")
    return bool(colon and name and password) and plain.isascii() and plain.isprintable()


def _private_keys(text: str) -> str:
    if "PRIVATE KEY" not in text:
        return text
    return _PEM.sub(MASK, text)


def _masked_address(match: "re.Match[str]") -> str:
    try:
        address = ipaddress.ip_address(match[0].strip("[]"))
    except ValueError:
        return match[0]
    return "PUBLIC-ADDRESS" if address.is_global else match[0]


def _addresses(text: str) -> str:
    if "@" in text or "%40" in text:
        text = _EMAIL.sub("EMAIL", text)
    text = _IPV4.sub(_masked_address, text)
    text = _IPV6_WHOLE.sub(_masked_address, text)
    return _IPV6.sub(_masked_address, text) if "::" in text else text


_PEM = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
_DOTTED = r"(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d|\w)"
_DOTTED = r"(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d|\w)"
_IPV4 = re.compile(rf"(?<![\w.=-]){_DOTTED}|(?<=[^=]=){_DOTTED}")
"""Not after `==` or a dash: `nvidia-cublas==13.0.0.19` is a version."""
_IPV6 = re.compile(
    r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){1,7}:?(?:[0-9A-Fa-f]{1,4}:){0,6}[0-9A-Fa-f]{0,4}(?![\w:])"
)
_IPV6_WHOLE = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?![\w:])")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,128}(?:@|%40)[\w.-]{1,253}\.[A-Za-z]{2,}\b")
_SLASH = r"(?:\\{1,8}|/|%2[fF]|%5[cC]|\\/)"
_SHAPES: tuple[tuple[re.Pattern[str], Replace], ...] = (
    (re.compile(r"(?:gh[pousr]_|github_pat_|glpat-)[\w-]{16,}"), MASK),
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), MASK),
    (re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), MASK),
    (_UUID, r"\1…"),
    (
        re.compile(
            r"(\"--(?:api-key|[\w-]{0,40}(?:token|password|secret))\",\s*\")(?:[^\"\\\n]|\\.)*"
        ),
        rf"\1{MASK}",
    ),
    (
        re.compile(rf"((?:{_SLASH})(?:home|Users|export{_SLASH}home){_SLASH})[^\\/\n\"'%<>|:*?]+"),
        rf"\1{USER}",
    ),
    (re.compile(rf"([A-Za-z]:{_SLASH}Users{_SLASH})[^\\/\n\"'%<>|:*?]+"), rf"\1{USER}"),
    (re.compile(r"\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b"), "MAC-ADDRESS"),
)  # fmt: skip
