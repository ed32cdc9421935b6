"""A stick for a machine without a network, by docs/user/install-linux.md, word by word.

On the machine with a network the runtime is exported and the model's folder copied; on the other,
which has the loopback alone, the .run and the .deb install, runtime and model are imported and the
small model answers.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from installer import served
from installer.roots import BORROWED, HOME, Root, over, say

RUNTIME = "cpu-vllm-0.32.0"
MODEL = "smollm2-135m-instruct-f32"
STICK = "media/stick"
_FINGERPRINT = "fingerprint"
"""A file on the stick: what the person noted."""
NEEDS = f"{BORROWED} xz-utils libexpat1"
"""What the borrowed interpreter and the .deb want; a Debian that a person uses has all of it."""
_PROGRAM = f"{HOME}/.local/bin/weir"


def write_stick(dist: Path, seed: Path, stick: Path) -> None:
    """Fill a stick on this machine, the one with a network: packages, runtime, models.

    The runtime is exported where it was installed: its scripts hold that place. Raises:
    RuntimeError, subprocess.CalledProcessError.
    """
    prefix = stick.with_name(f"{stick.name}-maker")
    shutil.rmtree(prefix, ignore_errors=True)
    for path in dist.iterdir():
        if path.suffix in (".run", ".deb") or path.name.startswith("SHA256SUMS"):
            shutil.copy(path, stick)
    [run] = stick.glob("*.run")
    subprocess.run(
        ["sh", str(run), "--quiet", "--nox11", "--", "--headless", "--prefix", str(prefix)],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    done = subprocess.run(
        [str(prefix / "bin/weir"), "runtime", "export", RUNTIME, "--to", str(stick)],
        env={**os.environ, "WEIR_HOME": str(seed)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    found = re.search(r"[0-9a-f]{4}(-[0-9a-f]{4}){7}", said)
    if done.returncode != 0 or found is None:
        raise RuntimeError(f"the runtime was not exported: {said}")
    (stick / _FINGERPRINT).write_text(f"{found[0]}\n", encoding="ascii")
    shutil.copytree(seed / "models", stick / "models")
    # As sticks are: their file systems know no owners.
    subprocess.run(["chmod", "--recursive", "a+rX", str(stick)], check=True)
    shutil.rmtree(prefix)
    names = sorted(path.name for path in stick.iterdir())
    size = sum(path.stat().st_size for path in stick.rglob("*") if path.is_file())
    say(f"  stick: {size / 1e6:.0f} MB, {' '.join(names)}")


def try_offline(made: Root, stick: Path, user: str) -> None:
    """Install and serve without a network. Raises: RuntimeError."""
    with _plugged(made, stick), made.offline():
        _require_no_network(made)
        made.run("sh", "-c", f"cd /{STICK} && sha256sum --check --ignore-missing SHA256SUMS")
        [run] = stick.glob("*.run")
        made.run("sh", f"/{STICK}/{run.name}", user=user)
        _serve(made, stick, user, _PROGRAM)
        made.run(_PROGRAM, "down", user=user)
        made.run(_PROGRAM, "uninstall", "--remove", "all", user=user)
        [deb] = stick.glob("*.deb")
        made.run("apt", "install", "-y", "--no-install-recommends", f"/{STICK}/{deb.name}")
        said = made.run("weir", "--version", user=user).strip()
        made.run("apt-get", "purge", "-y", "-qq", "weir-studio")
        say(f"  without a network: the .deb installs, too: {said}")


def _serve(made: Root, stick: Path, user: str, program: str) -> None:
    [bundle] = stick.glob("*.weir.tar.gz")
    fingerprint = (stick / _FINGERPRINT).read_text(encoding="ascii").strip()
    words = ("runtime", "import", f"/{STICK}/{bundle.name}")
    said = made.refused(program, *words, user=user)
    say(f"  without a network: {said}")
    made.run(program, *words, "--trust", fingerprint, user=user)
    model = f"/{STICK}/models/{MODEL}"
    made.run(program, "models", "import", model, "--by", "copy", user=user)
    said = made.run(program, "models", "missing", served.PRESET, user=user).strip()
    say(f"  models missing: {said.splitlines()[-1]}")
    served.first_run(made, user, program)


@contextmanager
def _plugged(made: Root, stick: Path) -> Iterator[None]:
    """Have the stick at its place in a root."""
    with over(made.folder / STICK, "--bind", str(stick)):
        yield


def _require_no_network(made: Root) -> None:
    """Raises: RuntimeError where apt reaches anybody."""
    said = made.run("apt-get", "update", check=False)
    if "Failed to fetch" not in said and "Temporary failure" not in said:
        raise RuntimeError(f"this root has a network: {said}")
