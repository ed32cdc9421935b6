"""`weir models missing|prepare` and the models' stage of `weir up`, in a running Studio."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.domain.control import UpRequest
from studio.domain.errors import NeedsConsent, NotFound
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.preparing import PrepareRequest, StepState
from studio.domain.proofs import ModelState
from studio.domain.server import EngineState
from studio.host import network
from tests.app.running import Running, fake_paths, running
from tests.app.second_preset import OTHER, another_preset, refused
from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, Hub
from tests.host.downloads import QUICK
from tests.models.checkpoints import TOOL, put, safetensors

WEIGHTS = safetensors({"lm_head.weight": bytes(range(256)) * 40, "b": bytes(100)})
FILES = {"config.json": b"{}", "model.safetensors": WEIGHTS, "tokenizer.json": b"{}"}
STEPS = f"""
[[model.sources]]
repository = "{NAME}"
revision = "{COMMIT}"
download_bytes = {{size}}

[[model.preparation]]
name = "lm-head"
what = "Store the output matrix in 8 bits."
tool = "turn.py"
tensors = ["lm_head.weight"]
done = {{{{ tensors = ["lm_head.weight_packed"] }}}}
disk_bytes = 20_000
takes_s = 3.0

[[model.preparation]]
name = "template"
what = "Harden the template."
optional = true
open = "Nobody says how."
"""


@pytest.fixture
async def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    """Return a Studio with a preset whose model has to be fetched and prepared."""
    with fake.running(Hub(files=FILES, lfs=frozenset({"model.safetensors"}))) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.delenv("HF_HUB_CACHE", raising=False)
        monkeypatch.setattr(network, "in_force", lambda *_arguments: QUICK)
        with fake_paths(tmp_path) as paths:
            put(paths.catalogue / "runtimes" / "tools", {"turn.py": TOOL.encode()})
            async with running(paths) as one:
                another_preset(one, model="prepared", more=STEPS.format(size=10_500))
                yield one


async def test_what_is_missing_is_said_by_name_and_size(made: Running) -> None:
    """Before anything is fetched; from the preset alone, and as the hub lists it."""
    known = await made.studio.preparing.missing(OTHER)
    listed = await made.studio.preparing.missing(OTHER, listed=True)

    (model,) = known.models
    assert (model.state, model.is_usable) == (ModelState.INCOMPLETE, False)
    assert (known.download_bytes, known.disk_bytes) == (10_500, 10_500 + 20_000)
    assert [step.state for step in model.steps] == [StepState.DUE, StepState.LEFT_OUT]
    (source,) = listed.models[0].sources
    assert {one.name: one.size_bytes for one in source.missing} == {
        name: len(data) for name, data in FILES.items()
    }
    assert listed.download_bytes == sum(map(len, FILES.values()))


async def test_up_fetches_prepares_and_serves(made: Running) -> None:
    """One command from nothing to an engine that answers; said step by step."""
    result = await made.studio.up(UpRequest(preset=OTHER))

    folder = made.paths.models / "prepared"
    assert result.preset == OTHER
    assert made.studio.engine().state is EngineState.READY
    assert b"lm_head.weight_packed" in (folder / "model.safetensors").read_bytes()
    stages = [one for one in made.of(StageProgress) if one.stage is Stage.MODEL]
    notes = [one.note or "" for one in stages]
    assert any(note.startswith(f"Getting {NAME}") for note in notes)
    assert any(note.startswith("Store the output matrix") for note in notes)
    assert stages[-1].state is StageState.DONE
    found = await made.studio.preparing.missing(OTHER)
    assert found.is_usable
    assert found.models[0].state is ModelState.READY
    assert [step.state for step in found.models[0].steps] == [StepState.DONE, StepState.LEFT_OUT]


async def test_a_model_alone_is_prepared_once(made: Running) -> None:
    """By its own name where it is a file of `presets/models`; a second time costs nothing."""
    shelf = made.paths.catalogue / "presets" / "models"
    text = STEPS.format(size=10_500).replace("model.", "")
    put(
        shelf,
        {
            "shelved.toml": f"""
id = "shelved"
title = "A model"
licence = "Apache-2.0"
origin = "made on the spot"
disk_bytes = 20_000
files = ["config.json", "model.safetensors", "tokenizer.json"]
{text}""".encode()
        },
    )
    preset = made.paths.catalogue / "presets" / f"{OTHER}.toml"
    head = preset.read_text().partition("[model]")[0]
    preset.write_text(head.replace("arguments", 'model = "shelved"\narguments', 1))

    first = await made.studio.preparing.prepare(PrepareRequest(name="shelved"))
    second = await made.studio.preparing.prepare(PrepareRequest(name=OTHER))

    assert first.preset is None
    assert first.is_usable
    assert second.is_usable
    runs = made.paths.catalogue / "runtimes" / "tools" / "runs.txt"
    assert runs.read_text().splitlines() == ["lm_head.weight"]


async def test_a_large_download_wants_a_yes(made: Running) -> None:
    """As for runtimes: with size and room, before the first byte."""
    another_preset(made, model="large", more=STEPS.format(size=20_000_000_000))

    error = await refused(made.studio.preparing.prepare(PrepareRequest(name=OTHER)))
    starting = await refused(made.studio.up(UpRequest(preset=OTHER)))

    assert isinstance(error, NeedsConsent)
    assert error.data["download_bytes"] == 20_000_000_000
    assert isinstance(starting, NeedsConsent)
    assert f"{NAME} (18.63 GiB) goes to " in starting.message


async def test_a_name_that_nothing_answers_to_is_refused(made: Running) -> None:
    """Both presets and models may be meant."""
    error = await refused(made.studio.preparing.missing("no-such"))

    assert isinstance(error, NotFound)
    assert error.code == "model-unknown"
