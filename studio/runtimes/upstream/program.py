"""One commit fetched by the git program of this machine, with its own settings and certificates."""

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.domain.errors import NetworkFailure, NotFound, StudioError
from studio.host import process
from studio.runtimes.upstream import local
from studio.runtimes.upstream.objects import GitObject

_TIMEOUT_S = 600.0
_INIT_TIMEOUT_S = 30.0
_ASK_TIMEOUT_S = 60.0
_REF = re.compile(r"([0-9a-f]{40})\t(\S+)")
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "LC_ALL": "C"}
"""Nobody sits there to type a password; and its sentences are read."""
_SETTINGS = (
    *("-c", "protocol.version=2", "-c", "safe.directory=*", "-c", "gc.auto=0"),
    *("-c", "fetch.unpackLimit=1", "-c", "http.lowSpeedLimit=100", "-c", "http.lowSpeedTime=30"),
)
_MISSING = ("not our ref", "unadvertised object", "couldn't find remote ref")
_ABSENT = ("not found", "could not read Username", "Authentication failed", "does not appear to be")


def program() -> str | None:
    """Return the git program of this machine, or None."""
    return shutil.which("git")


async def fetch(
    address: str, commit: str, scratch: Path, variables: Mapping[str, str] | None = None
) -> dict[str, GitObject]:
    """Return the objects of one commit without its history; `scratch` is a folder to work in.

    `variables` say how to go out (proxy and certificates), beside the environment's own.

    Raises: NotFound (`commit-missing`, `repository-missing`), NetworkFailure
    (`repository-unreachable`), HostLacks (`program-missing`).
    """
    folder = Path(tempfile.mkdtemp(prefix=".git-", dir=scratch))
    try:
        await _git(address, ["init", "-q", "--bare", str(folder)], _INIT_TIMEOUT_S, {})
        argv = ["--git-dir", str(folder), *_SETTINGS, "fetch", "-q", "--depth=1", "--no-tags"]
        await _git(address, [*argv, "--", address, commit], _TIMEOUT_S, variables or {})
        found = local.read(folder)
        return found.objects if found is not None else {}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def refs(address: str, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the commit of each branch and tag, and of `HEAD`; a tag's own is that with `^{}`.

    Raises: as `fetch`.
    """
    lines: list[str] = []
    argv = [*_SETTINGS, "ls-remote", "-q", "--", address]
    await _git(address, argv, _ASK_TIMEOUT_S, variables or {}, lines.append)
    return {found[2]: found[1] for line in lines if (found := _REF.fullmatch(line))}


async def _git(
    address: str,
    arguments: list[str],
    timeout_s: float,
    variables: Mapping[str, str],
    on_line: Callable[[str], None] | None = None,
) -> None:
    env = process.helper_environment({**_QUIET, **variables})
    result = await process.run(["git", *arguments], env=env, timeout_s=timeout_s, on_line=on_line)
    if result.exit_code != 0 or result.timed_out:
        raise _failure(address, result)


def _failure(address: str, result: process.RunResult) -> StudioError:
    text = " ".join(result.tail)
    last = result.tail[-1] if result.tail else f"git ended with {result.exit_code}"
    if any(words in text for words in _MISSING):
        return NotFound("commit-missing", f"{address} has no such commit ({last}).")
    if any(words in text for words in _ABSENT):
        return NotFound("repository-missing", f"{address} is not there, or not open to everybody.")
    reason = "git took too long" if result.timed_out else last
    return NetworkFailure("repository-unreachable", f"{address} cannot be reached: {reason}.")
