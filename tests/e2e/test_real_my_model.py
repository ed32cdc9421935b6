"""A prepared folder made into a preset: the real engine loads it, answers, with the planned pool.

One boot for both: what a preparation leaves behind, and a model that no preset of ours knows.
"""

import asyncio
import json
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from studio.domain.manifests import ModelSpec
from studio.domain.preparing import Change, PreparationStep
from studio.models import assemble
from studio.models.prepare import Preparation, prepare
from tests.conftest import Serving
from tests.e2e.test_real import ANSWER, QUESTION
from tests.models.checkpoints import put

pytestmark = pytest.mark.real

BOOT_LIMIT_S = 300.0
MODEL = "smollm2-135m-instruct-f32"
INDEX = "model.safetensors.index.json"
SHARD = "model-0000{}-of-00002.safetensors"
NORM = "model.norm.weight"
GREETING = "{#- changed by a step -#}"
OVERLAY = ModelSpec(
    id="made-of-two",
    title="Made of two",
    licence="Apache-2.0",
    origin="made by a test",
    disk_bytes=540_000_000,
    files=("config.json", INDEX, "tokenizer.json", SHARD.format(1), SHARD.format(2)),
    preparation=(
        PreparationStep(
            name="template",
            what="Change the template.",
            changes=(
                Change(file="chat_template.jinja", prepend=GREETING),
                Change(file="config.json", path=("made_by",), value="a step"),
            ),
        ),
    ),
)


def published(model: Path, folder: Path) -> tuple[Path, Path]:
    """Part a model into a base that answers nonsense alone, and the overlay that mends it."""
    with (model / "model.safetensors").open("rb") as whole:
        (length,) = struct.unpack("<Q", whole.read(8))
        header = json.loads(whole.read(length))
        header.pop("__metadata__", None)
        data = memoryview(mmap.mmap(whole.fileno(), 0, prot=mmap.PROT_READ))[8 + length :]
    begin, end = header[NORM]["data_offsets"]
    rest = {name: one for name, one in header.items() if name != NORM}
    lone = {NORM: {**header[NORM], "data_offsets": [0, end - begin]}}
    index = {"weight_map": {**dict.fromkeys(rest, SHARD.format(1)), NORM: SHARD.format(2)}}
    small = ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
    base = put(folder / "base", {name: (model / name).read_bytes() for name in small})
    overlay = folder / "overlay"
    for one in (base, overlay):
        put(one, {INDEX: json.dumps(index).encode()})
    write(base / SHARD.format(1), rest, data)
    write(base / SHARD.format(2), lone, memoryview(bytes(end - begin)))
    write(overlay / SHARD.format(2), lone, data[begin:end])
    return base, overlay


def write(path: Path, header: dict[str, Any], data: memoryview) -> None:
    """Write a safetensors file of some tensors of `data`; the format wants no gaps."""
    told, at = {}, 0
    for name, one in sorted(header.items(), key=lambda pair: pair[1]["data_offsets"]):
        begin, end = one["data_offsets"]
        told[name] = {**one, "data_offsets": [at, at + end - begin]}
        at += end - begin
    raw = json.dumps(told).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(raw)) + raw)
        for name in told:
            file.write(data[slice(*header[name]["data_offsets"])])


def prepared(serving: Serving, folder: Path) -> Path:
    """Return the model that the Studio makes of base and overlay, below the home of the service."""
    paths = serving.weir.paths
    layers = tuple(
        assemble.layer(one, OVERLAY.title) for one in published(paths.models / MODEL, folder)
    )

    async def no_script(step: PreparationStep) -> Path:
        raise AssertionError(step)

    one = Preparation(spec=OVERLAY, layers=layers, paths=paths, python=None, script_of=no_script)
    return asyncio.run(prepare(one, lambda _progress: None))


@pytest.fixture(scope="module")
def mine(serving: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return what `weir` says of a preset of a prepared folder, once it is served."""
    weir = serving.weir
    folder = prepared(serving, tmp_path_factory.mktemp("published"))
    made = weir.json("presets", "make", str(folder), "--id", "mine", "--replace")
    try:
        booted = weir.json("switch", "mine", limit_s=BOOT_LIMIT_S)
        yield {"folder": folder, "made": made, "booted": booted}
    finally:
        weir.json("switch", "cpu-demo", limit_s=BOOT_LIMIT_S)


def test_a_prepared_model_answers_as_the_one_that_it_was_made_of(
    serving: Serving, mine: dict[str, Any]
) -> None:
    """Base and overlay are hard links, one of them alone answers nonsense."""
    served = mine["booted"]["served_name"]
    with openai.OpenAI(base_url=serving.base_url, api_key=serving.api_key) as client:
        answer = client.chat.completions.create(
            model=served, messages=[{"role": "user", "content": QUESTION}], temperature=0
        )

    assert answer.choices[0].message.content == ANSWER
    assert (mine["folder"] / "chat_template.jinja").read_text().startswith(GREETING)
    listed = serving.weir.json("models", "show", str(mine["folder"]))["model"]
    assert (listed["state"], listed["uses"]) == ("ready", ["mine"])


def test_the_engine_prints_exactly_the_pool_that_was_planned(
    serving: Serving, mine: dict[str, Any]
) -> None:
    """The whole point of the planner, on a model that no preset of ours knows."""
    again = serving.weir.json("plan", "mine")

    assert mine["made"]["plan"]["pool_tokens_error"] == 0
    assert mine["booted"]["pool_tokens"] == mine["made"]["plan"]["pool_tokens"]
    assert again["boot_source"] == "seen on this machine"
