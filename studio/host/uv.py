"""Packages by uv: the binary, its environment, one call to install, and its failures in our words.

Every call uses the Studio's own cache, requires hashes, never builds from source, reads where this
machine's pip gets its packages (pip_config.py) and goes out as the policy says (network.py). What
uv says itself goes into `evidence`.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged, HostLacks, NetworkFailure, StudioError
from studio.host import frozen, pip_config, process
from studio.host.network import NetworkPolicy, in_force

_INSTALL_TIMEOUT_S = 6 * 3600.0
"""A slow line takes hours for a large runtime; a dead one is ended by uv's own read timeout."""
_VENV_TIMEOUT_S = 120.0
_CLEAN_TIMEOUT_S = 300.0
_EVIDENCE_LINES = 16
_FULL = re.compile(r"os error (28|122)\b|No space left|Disk quota")
_REFUSED = re.compile(r"os error (13|30)\b|Permission denied|Read-only file system")
_HASH = re.compile(r"Hash mismatch for `([^`]+)`")
_BROKEN = re.compile(r"Failed to (?:download|read|extract|install)[^`]*`([^`]+)`")
_BROKEN_CAUSE = re.compile(
    r"Invalid zip|[Uu]nexpected (?:end of file|EOF)|central directory|Bad \w+ size|Bad CRC|checksum"
)
_UNREACHABLE = re.compile(
    r"error sending request|Failed to fetch|client error|dns error|timed out|operation timed out"
    r"|was not found in|no version of|network was disabled|status (client|server) error"
    r"|no wheels? with a matching|response body|Network is unreachable|connection closed"
    r"|error decoding"
)
_NAME = re.compile(r"(?:there is no version of |[Bb]ecause )([A-Za-z0-9._-]+)(?:==| was not)")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
_WHEEL_PARTS = 5


class PackageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to install where. Every requirement in `requirements` carries hashes."""

    python: Path
    requirements: Path
    cache: Path
    target: Path | None = None
    """A folder beside the interpreter's own packages, for a helper's needs."""
    prefix: Path | None = None
    """A folder that gets packages and scripts as the interpreter's own would."""
    compile_bytecode: bool = True
    extra_indexes: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    """Wheel folders beside this machine's own, each with an index of its wheels at `simple/`."""
    pins: tuple[str, ...] = ()
    """What to fetch by hand when there is no network; empty: the requirements file."""
    what: str
    """For messages, as the beginning of a sentence: `The packages of runtime x`."""
    policy: NetworkPolicy | None = None
    """How to go out; None: as the environment and pip's files say."""


def binary() -> str:
    """Return the path of the uv that was installed with the Studio.

    Raises: HostLacks (`uv-missing`).
    """
    packed = frozen.program("uv")
    if packed is not None:
        return str(packed)
    try:
        import uv  # here, so that a machine can be looked at without it (`weir doctor --json`)

        return uv.find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        raise HostLacks(
            "uv-missing",
            "The installer `uv` is missing from the Studio's own environment.",
            hint="Install the Studio again (`make deps`), or install its package `uv`.",
        ) from error


async def make_venv(interpreter: Path, folder: Path, *, cache: Path) -> None:
    """Create an empty virtual environment on `interpreter`; `folder` must not exist.

    Raises: HostLacks (`venv-failed`, `disk-full`).
    """
    result = await process.run(
        [binary(), "venv", "--no-project", "--python", str(interpreter), str(folder)],
        env=environment(cache, {}),
        timeout_s=_VENV_TIMEOUT_S,
    )
    if result.exit_code == 0:
        return
    if _FULL.search("\n".join(result.tail)):
        raise _disk_full(folder, result.tail)
    raise HostLacks(
        "venv-failed",
        f"No environment could be made on {interpreter}.",
        hint="Check that this interpreter works, or supply the interpreter archive "
        "(docs/user/offline.md).",
        evidence=result.tail[-_EVIDENCE_LINES:],
    )


async def install(
    request: PackageRequest,
    *,
    on_line: Callable[[str], None] | None = None,
    on_tick: Callable[[int], None] | None = None,
) -> None:
    """Install exactly what the requirements say.

    No index is asked when the wheel folders hold every pin, and where the network fails, what lies
    in the cache and the folders is tried alone.

    Raises: NetworkFailure (`packages-unreachable`), Damaged (`package-hash`), HostLacks
    (`disk-full`, `not-writable`, `packages-failed`).
    """
    policy = request.policy or in_force()
    sources = policy.sources
    arguments, variables = pip_config.uv_settings(sources, extra_indexes=request.extra_indexes)
    variables = {**policy.uv_variables(), **variables}
    if policy.offline or holds_all(sources.folders, request.requirements):
        arguments.append("--offline")
    if request.folders:
        arguments += _first(request.folders, variables)
    command = [*_command(request), *arguments, "-r", str(request.requirements)]

    async def attempt(*more: str) -> process.RunResult:
        return await process.run(
            [*command, *more],
            env=environment(request.cache, variables),
            cwd=request.requirements.parent,
            timeout_s=_INSTALL_TIMEOUT_S,
            on_line=on_line,
            on_tick=on_tick,
        )

    result = await attempt()
    if result.exit_code == 0:
        return
    failure = explain(result, request)
    is_worth_a_try = isinstance(failure, NetworkFailure) and "--offline" not in command
    if is_worth_a_try and (await attempt("--offline")).exit_code == 0:
        return
    raise failure


def _first(folders: Iterable[Path], variables: dict[str, str]) -> list[str]:
    """Make uv take what lies in `folders` before what an index lists; return its arguments.

    A wheel of a plain folder has no sha256 before it is read, and uv prefers one whose sha256 it
    knows to be right. So the folders' own indexes come first; they count for nothing where indexes
    are switched off.
    """
    places = [folder.absolute().as_uri() for folder in folders]
    indexes = [f"{place}/simple" for place in places]
    variables["UV_INDEX"] = " ".join([*indexes, *variables.get("UV_INDEX", "").split()])
    return [part for place in places for part in ("--find-links", place)]


def _command(request: PackageRequest) -> list[str]:
    return [
        *(binary(), "pip", "install", "--python", str(request.python)),
        *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-progress"),
        *("--link-mode", "hardlink", "--color", "never"),
        *(["--compile-bytecode"] if request.compile_bytecode else []),
        *(["--target", str(request.target)] if request.target is not None else []),
        *(["--prefix", str(request.prefix)] if request.prefix is not None else []),
    ]


async def forget(packages: Iterable[str], *, cache: Path) -> None:
    """Remove what the cache holds of these packages, so that the next use fetches them again.

    Files that are linked into a runtime stay there.
    """
    await process.run(
        [binary(), "cache", "clean", *packages],
        env=environment(cache, {}),
        timeout_s=_CLEAN_TIMEOUT_S,
    )


def holds_wheel(folders: Iterable[Path], package: str) -> bool:
    """Tell whether one of the wheel folders holds a wheel of `package`, in any version."""
    return any(name == _plain(package) for name, _version in _wheels(folders))


def holds_all(folders: Iterable[Path], requirements: Path) -> bool:
    """Tell whether the wheel folders hold a wheel for every pin of a requirements file."""
    here = _wheels(folders)
    pins = {
        (_plain(found[1]), _plain(found[2]))
        for found in _PIN.finditer(requirements.read_text("utf-8"))
    }
    return bool(pins) and pins <= here


def _wheels(folders: Iterable[Path]) -> set[tuple[str, str]]:
    """Return name and version of every wheel in `folders`, in comparable form."""
    parts = (path.name.split("-") for folder in folders for path in folder.glob("*.whl"))
    return {(_plain(part[0]), _plain(part[1])) for part in parts if len(part) >= _WHEEL_PARTS}


def _plain(text: str) -> str:
    return re.sub(r"[-_.+]+", "-", text).lower()


def explain(result: process.RunResult, request: PackageRequest) -> StudioError:
    """Return what uv's failure means for a person; uv's own lines are the evidence."""
    text = "\n".join(result.tail)
    evidence = result.tail[-_EVIDENCE_LINES:]
    if _FULL.search(text):
        return _disk_full(request.cache, result.tail)
    if damaged := _HASH.search(text):
        return _wrong_bytes(
            f"{damaged[1]} is not the file that the lock names: its sha256 differs.", evidence
        )
    if result.timed_out or _UNREACHABLE.search(text):
        return _unreachable(request, text, evidence)
    if (broken := _BROKEN.search(text)) and _BROKEN_CAUSE.search(text):
        return _wrong_bytes(f"The wheel of {broken[1]} is not whole.", evidence)
    if _REFUSED.search(text):
        return HostLacks(
            "not-writable",
            f"{request.what} cannot be written: permission was refused.",
            hint="Check the owner and permissions of the Studio's folder, or choose another one "
            "with WEIR_HOME.",
            evidence=evidence,
        )
    return HostLacks(
        "packages-failed",
        f"{request.what} could not be installed (uv ended with {result.exit_code}).",
        hint="The lines below are uv's own. Run it again; what was fetched is kept.",
        evidence=evidence,
    )


def _wrong_bytes(sentence: str, evidence: tuple[str, ...]) -> Damaged:
    return Damaged(
        "package-hash",
        sentence,
        hint="Remove that file from the wheel folder or mirror it came from, then run it again; "
        "if it came from an index, the index serves another file under this name.",
        evidence=evidence,
    )


def _unreachable(request: PackageRequest, text: str, evidence: tuple[str, ...]) -> NetworkFailure:
    named = _NAME.search(text)
    more = f" The first one missing is {named[1]}." if named else ""
    if request.policy is not None and request.policy.offline:
        more += f" The network is switched off by {request.policy.offline_source}."
    wanted = " ".join(request.pins) or f"--require-hashes -r {request.requirements}"
    indexes = "".join(f"--extra-index-url {url} " for url in request.extra_indexes)
    return NetworkFailure(
        "packages-unreachable",
        f"{request.what} cannot be fetched from the configured package sources.{more}",
        hint="On a machine with network and the same Python series run `python3 -m pip download "
        f"--no-deps --only-binary :all: {indexes}-d wheels {wanted}`. Bring the folder `wheels` "
        "here, set PIP_FIND_LINKS to its path, and run it again (docs/user/offline.md).",
        evidence=evidence,
        data={"requirements": str(request.requirements)},
    )


def _disk_full(folder: Path, tail: tuple[str, ...]) -> HostLacks:
    return HostLacks(
        "disk-full",
        f"The disk that holds {folder} is full.",
        hint="Free some space, or move the Studio's folder with WEIR_HOME, then run it again; "
        "what was fetched is kept.",
        evidence=tail[-_EVIDENCE_LINES:],
    )


def environment(cache: Path, variables: dict[str, str]) -> dict[str, str]:
    """Return what uv gets of our environment, and the Studio's own settings for it."""
    own = {"UV_CACHE_DIR": str(cache), "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
    return process.helper_environment({**variables, **own})
