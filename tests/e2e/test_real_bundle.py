"""The real runtime on its way to a machine without a network: out of one home, into another."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from studio.host.paths import Paths
from tests.conftest import REAL_RUNTIME, RealRuntime
from tests.fakes.weir import Weir, weir_home

pytestmark = [pytest.mark.real, pytest.mark.timeout(2400)]

LIMIT_S = 1200.0
NOWHERE = "http://127.0.0.1:1"
NO_NETWORK = {
    "HTTP_PROXY": NOWHERE,
    "HTTPS_PROXY": NOWHERE,
    "ALL_PROXY": NOWHERE,
    "NO_PROXY": "127.0.0.1,localhost",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_FIND_LINKS": "",
    "PIP_INDEX_URL": NOWHERE,
    "WEIR_PYTHON_MIRROR": NOWHERE,
}


def python_of(paths: Paths, runtime_id: str) -> Path:
    """Return the interpreter of an installation."""
    return paths.runtimes / REAL_RUNTIME / runtime_id[:12] / "python/bin/python3"


def test_exported_imported_and_asked_for_its_version(
    real_runtime: RealRuntime, tmp_path: Path
) -> None:
    """Equal id, every byte as signed, and an engine that starts, with no way to the network."""
    out = real_runtime.weir.json(
        "runtime", "export", REAL_RUNTIME, "--to", str(tmp_path), limit_s=LIMIT_S
    )

    with weir_home(tmp_path / "the öther box", None) as box:
        offline = Weir(
            paths=box.paths,
            environment={**box.environment, **NO_NETWORK},
            port=box.port,
            started=box.started,
        )
        refused = offline.run("runtime", "import", out["path"])
        assert refused.returncode == 4
        assert out["fingerprint"] in refused.stderr
        taken = offline.json(
            "runtime", "import", out["path"], "--trust", out["fingerprint"], limit_s=LIMIT_S
        )
        assert taken["runtime_id"] == out["runtime_id"]
        assert taken["is_catalogued"]
        verdict = offline.json("runtime", "verify", REAL_RUNTIME, "--full", limit_s=LIMIT_S)
        assert verdict["differences"] == []
        assert not (box.paths.cache / "uv").exists()
        command = ["-I", "-m", "vllm.entrypoints.cli.main", "--version"]
        asked = subprocess.run(
            [python_of(box.paths, taken["runtime_id"]), *command],
            env={"PATH": os.defpath, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), **NO_NETWORK},
            capture_output=True,
            text=True,
            check=True,
        )
        assert asked.stdout.split()[-1] == "0.32.0+cpu"
    shutil.rmtree(tmp_path / "the öther box")
    Path(out["path"]).unlink()
