"""Which file uv would take for a pin, and where it lies: uv itself is asked.

An index answers as JSON (PEP 691) or as a page (PEP 503), wants a password or a keyring, is named
by pip's files, uv's file or a recipe, and lists a wheel for each platform. uv knows all of that. It
resolves the pins for an interpreter and writes what it chose as a `pylock.toml` (PEP 751), whose
entries name address, size and sha256. It reads no more than the pages of the index, unless these
say no sha256. Then it would read the wheels through to reckon theirs, and once more to install
them: that is ended after seconds, an index that does not answer after a minute, without a result.
"""

import asyncio
import base64
import logging
import re
import tomllib
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

import msgspec

from studio.host import pip_config, process, uv
from studio.host.network import NetworkPolicy, redacted

ANSWER_FILE = "pylock.large.toml"
_LOOKUP_TIMEOUT_S = 60.0
_READING_S = 2.0
"""How long uv may go on once it has chosen: what it says at once is what the index lists."""
_CHOSEN = re.compile(r"^Resolved \d+ packages? in ")
_PORTS = {"http": 80, "https": 443}
_logger = logging.getLogger(__name__)


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A wheel as an index lists it."""

    name: str
    version: str
    url: str
    bytes: int | None = None
    sha256: str | None = None
    headers: dict[str, str] = {}
    """What its server has to be told: the password of the index, where the address names one."""


class _Hashes(msgspec.Struct, frozen=True):
    sha256: str | None = None


class _Wheel(msgspec.Struct, frozen=True):
    url: str | None = None
    size: int | None = None
    hashes: _Hashes = _Hashes()


class _Package(msgspec.Struct, frozen=True):
    name: str
    version: str | None = None
    wheels: list[_Wheel] = []


class _Resolved(msgspec.Struct, frozen=True):
    packages: list[_Package] = []


async def look_up(
    requirements: Path,
    python: Path,
    cache: Path,
    *,
    policy: NetworkPolicy,
    extra_indexes: tuple[str, ...] = (),
) -> tuple[Listed, ...]:
    """Return the wheels that uv would fetch for the pins of a file; none where it finds no answer.

    Wheels that lie on this machine are among them, with a `file:` address. Nothing is asked while
    the network is switched off.
    """
    if policy.offline:
        return ()
    arguments, variables = pip_config.uv_settings(policy.sources, extra_indexes=extra_indexes)
    target = requirements.with_name(ANSWER_FILE)
    target.unlink(missing_ok=True)  # uv would prefer what an older one names
    command = [
        *(uv.binary(), "pip", "compile", "--python", str(python), "--format", "pylock.toml"),
        *("--no-deps", "--only-binary", ":all:", "--no-header", "--output-file", str(target)),
        *("--color", "never", *arguments, str(requirements)),
    ]
    env = uv.environment(cache, {**policy.uv_variables(), **variables})
    try:
        if not await _resolve(command, env, requirements.parent):
            return ()
        return _listed(target.read_text("utf-8"), variables)
    except FileNotFoundError:
        return ()
    finally:
        target.unlink(missing_ok=True)


async def _resolve(command: list[str], env: Mapping[str, str], folder: Path) -> bool:
    """Let uv write what it chooses; False where it finds no answer, or begins to read wheels."""
    clock = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(None) as limit:

            def on_line(line: str) -> None:
                if _CHOSEN.match(line):
                    limit.reschedule(clock.time() + _READING_S)

            result = await process.run(
                command, env=env, cwd=folder, timeout_s=_LOOKUP_TIMEOUT_S, on_line=on_line
            )
    except TimeoutError:
        _logger.info("the large wheels are left to uv: their index says no sha256")
        return False
    if result.exit_code != 0:
        _logger.info("no index says where the large wheels are: %s", " ".join(result.tail[-4:]))
    return result.exit_code == 0


def _listed(text: str, variables: Mapping[str, str]) -> tuple[Listed, ...]:
    """Return the wheels of a `pylock.toml`; a text that is none lists nothing."""
    try:
        found = msgspec.convert(tomllib.loads(text), _Resolved)
    except (ValueError, msgspec.ValidationError) as error:
        _logger.info("what uv says of the large wheels cannot be read: %s", error)
        return ()
    logins = _logins(variables)
    return tuple(
        Listed(
            name=package.name,
            version=package.version,
            url=wheel.url,
            bytes=wheel.size,
            sha256=wheel.hashes.sha256,
            headers=logins.get(_origin(wheel.url) or "", {}),
        )
        for package in found.packages
        if package.version is not None and len(package.wheels) == 1
        for wheel in package.wheels
        if wheel.url is not None
    )


def _logins(variables: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what to tell each server whose index's address holds a user name and a password.

    Only the same server gets it (as uv does): an index may list files of other hosts.
    """
    places = [place for value in variables.values() for place in value.replace(",", " ").split()]
    found: dict[str, dict[str, str]] = {}
    for place in places:
        url = place[place.find("http") :] if "://" in place else ""  # `UV_INDEX=name=https://…`
        origin = _origin(url)
        if origin is None or "@" not in urllib.parse.urlsplit(url).netloc:
            continue
        user, _colon, password = urllib.parse.urlsplit(url).netloc.rpartition("@")[0].partition(":")
        pair = f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}"
        code = base64.b64encode(pair.encode()).decode()
        _logger.debug("%s is asked with the password of its index", redacted(url))
        found.setdefault(origin, {"Authorization": f"Basic {code}"})
    return found


def _origin(url: str) -> str | None:
    """Return scheme, host and port; None for an address of another kind, or none at all."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}" if port and parts.hostname else None
