"""A preset's own steps on a small checkpoint, read back by the engine's own code."""

import asyncio
import json
import subprocess
from pathlib import Path

import msgspec
import pytest

from studio.domain.manifests import ModelSpec
from studio.domain.preparing import PreparationStep
from studio.host import tools
from studio.host.paths import Paths, bundled_root
from studio.models import assemble
from studio.models.prepare import Preparation, prepare
from studio.presets.store import PresetStore
from tests.conftest import Serving

pytestmark = pytest.mark.real

READER = Path(__file__).with_name("read_by_vllm.py")
LINEAR = ("fc", *(f"layers.0.{one}" for one in (
    "self_attn.qkv_proj", "self_attn.o_proj", "mlp.gate_up_proj", "mlp.down_proj",
)))  # fmt: skip


def small_spec(paths: Paths) -> ModelSpec:
    """Return the shipped model with its steps that a script does, of a few files."""
    spec = PresetStore(paths).model("qwen3.8-27b-w4a16")
    steps = tuple(one for one in spec.preparation if one.tool)
    assert [one.name for one in steps] == ["lm-head", "embedding", "mtp"]
    return msgspec.structs.replace(spec, files=("config.json",), preparation=steps)


def make_and_read(python: Path, folder: Path) -> dict[str, str]:
    """Make a checkpoint, prepare it, read it with vLLM; return what each layer is taken for."""
    paths = Paths(home=folder / "hömé", catalogue=bundled_root())
    source = folder / "published"
    source.mkdir()
    paths.models.mkdir(parents=True)
    subprocess.run([python, "-I", READER, "make", source], check=True, timeout=120)
    spec = small_spec(paths)

    async def script_of(step: PreparationStep) -> Path:
        assert step.tool is not None
        return tools.tool_file(paths, step.tool)

    one = Preparation(
        spec=spec,
        layers=(assemble.layer(source, spec.title),),
        paths=paths,
        python=python,
        script_of=script_of,
    )
    made = asyncio.run(prepare(one, lambda _progress: None))
    done = subprocess.run(
        [python, "-I", READER, "read", source, made],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_vllm_takes_what_the_shipped_steps_make_for_eight_bits(
    serving: Serving, tmp_path: Path
) -> None:
    """One name in the wrong list, and a card of 24 GB learns it after 20 minutes of loading.

    Names, parameters and numbers are vLLM's; each number of each matrix is at most half a step off.
    """
    (python,) = serving.weir.paths.runtimes.glob("*/*/python/bin/python3")

    found = make_and_read(python, tmp_path)

    assert found.pop("model.language_model.embed_tokens") == "CompressedTensorsEmbeddingWNA16Int"
    assert found == dict.fromkeys(
        ("lm_head", *(f"mtp.{one}" for one in LINEAR)), "CompressedTensorsWNA16"
    )
