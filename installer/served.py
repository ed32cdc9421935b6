"""What the trials ask of a service and its engine inside a clean root."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from installer.roots import Root, over, say

PRESET = "cpu-demo"
OWN_FOLDER = ".local/share/weir-studio"
_ENGINE_BYTES = 6_000_000_000
"""What the preset wants (presets/cpu-demo.toml), and some for what else goes on."""
_MEMORY_WITHIN_S = 900.0
_PROMPT = "Say hello"
_SERVICE = (
    "weir service run >/dev/null 2>&1 & n=0; "
    'until [ -f "$HOME/.local/share/weir-studio/service/service.json" ] || [ $n -gt 99 ]; '
    "do sleep 0.2; n=$((n+1)); done"
)


def start(made: Root, user: str) -> None:
    """Start a service without an engine. Raises: RuntimeError."""
    made.run("sh", "-c", _SERVICE, user=user)
    service(made, user)


def seeded(made: Root, user: str, seed: Path) -> None:
    """Give the person models and runtimes, or models and cached packages, of a seed."""
    home = made.home_folder / OWN_FOLDER
    home.mkdir(parents=True, exist_ok=True)
    names = ("models", "runtimes") if (seed / "runtimes").is_dir() else ("models", "cache")
    for name in names:
        if (seed / name).is_dir():
            subprocess.run(["cp", "-a", str(seed / name), str(home)], check=True)
    made.run("chown", "-R", f"{user}:{user}", made.home)


def serve(made: Root, user: str, seed: Path, program: str = "weir") -> None:
    """Serve the small model on the processor from a seed, and ask it. Raises: RuntimeError."""
    seeded(made, user, seed)
    first_run(made, user, program)


def first_run(made: Root, user: str, program: str = "weir") -> None:
    """Start the preset and ask it. Raises: RuntimeError where no answer comes."""
    require_memory()
    begun = time.monotonic()
    made.run(program, "up", PRESET, "--detach", "--yes", user=user)
    say(f"  first run to ready {time.monotonic() - begun:.0f} s: {answer(made, user, program)}")
    say(f"  asked: {asked(made, user, program)!r}")


def require_memory() -> None:
    """Wait for the memory that the engine takes: others on this machine may have it for a while.

    Raises: RuntimeError where it is not free for long.
    """
    deadline = time.monotonic() + _MEMORY_WITHIN_S
    while (free := _free_bytes()) < _ENGINE_BYTES:
        if time.monotonic() > deadline:
            raise RuntimeError(
                f"{free / 1e9:.1f} GB are free, the engine takes 5: end others first"
            )
        time.sleep(1)


def _free_bytes() -> int:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    return int(text.partition("MemAvailable:")[2].split()[0]) * 1024


def asked(made: Root, user: str, program: str = "weir") -> str:
    """Return what the model answers. Raises: RuntimeError where it does not."""
    said = made.run(program, "try", _PROMPT, user=user).strip()
    if not said or "error: " in said:
        raise RuntimeError(f"the model did not answer: {said}")
    return said[-120:]


def answer(made: Root, user: str, program: str = "weir") -> str:
    """Return what the engine is doing, in the words of `weir status`."""
    lines = made.run(program, "status", user=user).splitlines()
    return next((line.strip() for line in lines if "Engine" in line), "no engine")


def service(made: Root, user: str, program: str = "weir") -> str:
    """Return version and process of the service, in the words of `weir status`.

    Raises: RuntimeError where none runs.
    """
    said = made.run(program, "status", user=user)
    found = re.search(r"version \S+, process \d+", said)
    if found is None:
        raise RuntimeError(f"no service runs: {said}")
    return found[0]


def updates(made: Root, user: str, program: str = "weir") -> dict[str, object]:
    """Return what `weir update --json` knows."""
    found = json.loads(made.run(program, "update", "--json", user=user))
    assert isinstance(found, dict)
    return found


@contextmanager
def read_only_usr(made: Root) -> Iterator[None]:
    """Have a /usr that nobody can write for a while, as some distributions have it for good."""
    usr = made.folder / "usr"
    with over(usr, "--bind", str(usr)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(usr)], check=True)
        yield
