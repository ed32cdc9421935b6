"""What the service says about presets, here and on hosts in files."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from studio.app.presets import Presets
from studio.domain.errors import BadInput, NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.presets import ArgvRequest, CommandFormat, CopyRequest, EditRequest
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from tests.presets.samples import bundled_all, host


@pytest.fixture
def presets(tmp_path: Path) -> Presets:
    """Return the presets of an empty home on a machine without a card."""
    paths = Paths(home=tmp_path / "höme", catalogue=bundled_root())

    async def here() -> HostSnapshot:
        return host("none-linux")

    return Presets(paths, PresetStore(paths), Catalog(paths), here)


def break_file(path: str) -> None:
    """Make a preset unreadable."""
    Path(path).write_text("max_seqs = 1", encoding="utf-8")


async def test_those_that_fit_come_first_and_the_best_is_marked(presets: Presets) -> None:
    """A person reads the first line."""
    here = await presets.all()
    there = await presets.all("rtx3090-linux")

    assert here[0].id == "cpu-demo"
    assert here[0].is_best
    assert [one.id for one in there if one.is_best] == ["27b-dflash2"]
    assert there[0].id == "27b-dflash2"
    assert len(here) == len(there) == len(bundled_all())
    assert all(one.usable or one.reasons for one in here)


async def test_what_is_to_be_done_is_said_before_anything_is_started(presets: Presets) -> None:
    """A runtime that waits for a hash; models that are fetched: with names, sizes and places."""
    (best,) = [one for one in await presets.all("rtx3090-linux") if one.is_best]
    notes = " ".join(best.notes)

    assert "weir runtime pin cu13-hyperqwen-0.31.0" in notes
    files = (await presets.one(best.id, "rtx3090-linux")).files
    assert files is not None
    base, fast, drafter = files.models
    assert base.sources[0].repository == "dbirks/Qwen3.8-27B-W4A16-AutoRound"
    assert base.sources[0].revision == "1f05c441c4e64ae0549de44fa9ea5a6d43610314"
    assert (base.sources[0].download_bytes, fast.base) == (19_500_000_000, base.id)
    assert drafter.id == "qwen3.8-27b-dflash2-w4a16"
    assert best.unverified


async def test_a_preset_is_shown_with_its_values_on_a_host(presets: Presets) -> None:
    """The person sees what would run there, and why."""
    found = await presets.one("27b-batch-fp8", "rtx4090-wsl2")

    assert found.usable
    assert found.default_values["gpu_memory_utilization"] == 0.91
    assert found.resolved is not None
    assert "wsl-share" in found.resolved.rules
    assert found.path.endswith("27b-batch-fp8.toml")
    msgspec.json.decode(msgspec.json.encode(found), type=type(found))


async def test_a_broken_preset_is_in_the_list_with_its_reason(presets: Presets) -> None:
    """It must not take the others with it, nor vanish."""
    made = await presets.copy("cpu-demo", CopyRequest(id="mine"))
    break_file(made.path)

    listed = {one.id: one for one in await presets.all()}

    assert listed["mine"].is_broken
    assert "mine.toml" in " ".join(listed["mine"].reasons)
    assert listed["cpu-demo"].usable
    with pytest.raises(BadInput):
        await presets.one("mine")


async def test_an_edit_is_one_or_the_other(presets: Presets) -> None:
    """Values, or a text; both would be a riddle."""
    made = await presets.edit("cpu-demo", EditRequest(values={"max_model_len": "4K"}))
    again = await presets.edit("cpu-demo", EditRequest(text=made.text.replace("4096", "2048")))

    assert made.is_own
    assert again.text != made.text
    with pytest.raises(BadInput):
        await presets.edit("cpu-demo", EditRequest(values={"seed": "1"}, text="x"))
    with pytest.raises(BadInput) as caught:
        await presets.edit("cpu-demo", EditRequest(values={"sed": "1"}))
    assert caught.value.code == "knob-unknown"


@pytest.mark.parametrize("form", CommandFormat)
async def test_a_command_needs_neither_card_nor_installation(
    presets: Presets, form: CommandFormat
) -> None:
    """On a laptop, for the machine in the cellar."""
    request = ArgvRequest(
        preset="v100-27b", host="v100-32x4-linux", format=form, overrides={"max_num_seqs": "2"}
    )

    made = await presets.argv(request)

    assert made.argv[made.argv.index("--max-num-seqs") + 1] == "2"
    assert made.gpus == (0, 1, 2, 3)
    assert made.environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert made.badges == ("Original prefill",)
    assert made.settings["speculative_config"]["num_speculative_tokens"] == 7
    assert "VLLM_API_KEY" in made.text
    assert any("cannot be installed yet" in note for note in made.notes)


async def test_a_command_for_a_host_that_lacks_something_is_printed_with_a_word(
    presets: Presets,
) -> None:
    """It is the person's own business; what is in the way stands beside it."""
    made = await presets.argv(ArgvRequest(preset="27b-dflash2"))

    assert "NVIDIA" in made.notes[0]
    assert made.gpus == ()
    assert "CUDA_VISIBLE_DEVICES" not in made.environment


@pytest.mark.parametrize(
    ("request_", "kind", "code"),
    [
        ({"preset": "nope"}, NotFound, "preset-unknown"),
        ({"preset": "27b-mtp", "overrides": {"x": "1"}}, BadInput, "knob-unknown"),
        ({"preset": "27b-mtp", "overrides": {"max_num_seqs": "0"}}, BadInput, "knob-value"),
        ({"preset": "27b-mtp", "overrides": {"runtime": "cpu"}}, BadInput, "knob-value"),
        ({"preset": "27b-mtp", "overrides": {"dtype": "float16"}}, BadInput, "preset-refused"),
        ({"preset": "27b-mtp", "host": "rtx9999"}, NotFound, "host-unknown"),
    ],
)
async def test_what_cannot_be_is_refused(
    presets: Presets, request_: dict[str, object], kind: type[Exception], code: str
) -> None:
    """With the same codes as `weir up`."""
    with pytest.raises(kind) as caught:
        await presets.argv(msgspec.convert(request_, ArgvRequest))

    assert caught.value.code == code


async def test_the_same_preset_on_another_runtime(presets: Presets) -> None:
    """`--set runtime=` is a setting like any other."""
    made = await presets.argv(
        ArgvRequest(
            preset="27b-mtp", host="rtx3090-linux", overrides={"runtime": "cu13-hyperqwen-0.32.0"}
        )
    )

    assert made.runtime == "cu13-hyperqwen-0.32.0"
    assert "cu13-hyperqwen-0.32.0" in made.argv[0]
    json.loads(msgspec.json.encode(made))


async def test_a_container_sees_a_model_where_it_lies(presets: Presets, tmp_path: Path) -> None:
    """A preset of one's own model names a folder anywhere; without it the engine finds nothing."""
    folder = tmp_path / "mein Modell: ü"
    await presets.copy("cpu-demo", CopyRequest(id="mine"))
    made = await presets.text("mine")
    fields = 'id = "own", title = "Own", licence = "x", origin = "y", files = ["config.json"]'
    own = f'model = {{ {fields}, disk_bytes = 1, folder = "{folder}" }}'
    text = re.sub(r"(?m)^model = .*$", own, made.text)
    await presets.edit("mine", EditRequest(text=text))

    found = await presets.argv(ArgvRequest(preset="mine", format=CommandFormat.COMPOSE))

    assert f'source: "{folder}"' in found.text
    assert f"{tmp_path / 'höme' / 'models'}:" not in found.text
    sockets = found.environment["VLLM_RPC_BASE_PATH"]
    assert f'tmpfs:\n      - "{sockets}:mode=1777"' in found.text
