"""OpenAI's JavaScript client, installed once into the cache of the tests, outside the clone."""

import dataclasses
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "gateway" / "javascript"
INSTALL_S = 300.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JavaScript:
    """Where Node.js and the client lie."""

    node: str
    modules: Path

    def argv(self, base_url: str, api_key: str, *cases: str) -> list[str]:
        """Return the command that runs `cases` and prints what the client made of them."""
        return [self.node, str(FOLDER / "client.cjs"), str(self.modules), base_url, api_key, *cases]


def missing() -> str | None:
    """Return what this machine lacks, None where it has all."""
    for name in ("node", "npm"):
        if shutil.which(name) is None:
            return f"{name} is not installed"
    return None


def install() -> JavaScript:
    """Return the client in the version that is pinned, installed if it is not there yet."""
    node, npm = shutil.which("node"), shutil.which("npm")
    assert node is not None
    assert npm is not None
    lock = FOLDER / "package-lock.json"
    cache = Path(os.environ.get("WEIR_TEST_CACHE", "~/.cache/weir-studio-tests")).expanduser()
    target = cache / "javascript" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=target.parent))
        for name in ("package.json", "package-lock.json"):
            shutil.copy(FOLDER / name, made)
        argv = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(argv, cwd=made, check=True, timeout=INSTALL_S)
        try:
            made.rename(target)  # whole or absent, also when two test runs install at once
        except OSError:
            shutil.rmtree(made)
            assert target.exists()
    return JavaScript(node=node, modules=target)
