"""Plans of the shipped presets and of model folders, on hosts from files and on this machine."""

import json
import shutil
from pathlib import Path

import pytest

from studio.app.machine import Machine
from studio.app.plan_refusals import refusal
from studio.app.plans import Plans
from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput, HostLacks, NotFound, StudioError
from studio.domain.hardware import GpuProcess, HostSnapshot
from studio.domain.hosts import HostFile
from studio.domain.plans import LedgerPlace, Plan, PlanRequest, PlanVerdict
from studio.domain.units import GIB
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from tests.planner.plan_samples import card, host

QWEN = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "model_type": "qwen3_5",
    "text_config": {
        "model_type": "qwen3_5_text",
        "num_hidden_layers": 64,
        "full_attention_interval": 4,
        "num_attention_heads": 24,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "hidden_size": 5120,
        "linear_num_value_heads": 48,
        "linear_num_key_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "max_position_embeddings": 262144,
        "vocab_size": 248320,
        "dtype": "bfloat16",
    },
}
"""The shape of Qwen3.8-27B."""
PINNED = {
    "kv_cache_memory_bytes": "5583457484",
    "max_model_len": "65536",
    "kv_cache_dtype": "auto",
    "enable_prefix_caching": "true",
    "mamba_ssm_cache_dtype": "float16",
}


def planner(
    tmp_path: Path,
    machine: HostSnapshot | None = None,
    catalogue: Path | None = None,
    **settings: object,
) -> Plans:
    """Return the planner of an empty home on `machine`, which is this one's."""
    paths = Paths(home=tmp_path / "wéir home", catalogue=catalogue or bundled_root())
    paths.home.mkdir(exist_ok=True)
    kept = SettingsFile(paths.settings_file)
    kept.change(**settings)
    seen = Machine(paths)

    async def look() -> HostSnapshot:
        return machine or host()

    seen.look = look
    return Plans(
        paths=paths,
        presets=PresetStore(paths),
        catalog=Catalog(paths),
        settings=kept,
        machine=seen,
        own_pids=frozenset,
    )


async def plan(tmp_path: Path, machine: HostSnapshot | None = None, **fields: object) -> Plan:
    """Return one plan."""
    return await planner(tmp_path, machine).plan(PlanRequest(**fields))


async def fails(
    tmp_path: Path, machine: HostSnapshot | None = None, **fields: object
) -> StudioError:
    """Return the error that a plan ends with."""
    with pytest.raises(StudioError) as caught:
        await plan(tmp_path, machine, **fields)
    return caught.value


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a folder with a config and nothing else."""
    folder = tmp_path / "Mein Modell ü"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(QWEN), encoding="utf-8")
    return folder


async def test_the_recommended_preset_fits_the_card_it_is_made_for(tmp_path: Path) -> None:
    """68,605 tokens: what the engine printed on every 3090 and 4090."""
    found = await plan(tmp_path, preset="27b-dflash2", host="rtx3090-linux")

    assert found.verdict is PlanVerdict.FITS
    assert (found.pool_tokens, found.pool_tokens_error) == (68_605, 0)
    assert round(found.resident_requests or 0, 2) == 1.05
    assert found.is_replay
    assert [one.index for one in found.cards] == [0]
    names = [item.name for item in found.ledger if item.place is LedgerPlace.CARD]
    assert {"weights", "drafter", "kv-pool", "graphs", "free"} <= set(names)
    assert found.boot_cold_s is not None
    assert found.download_bytes is not None


@pytest.mark.parametrize("host_id", ["rtx4090-wsl2", "v100-16x4-linux", "none-linux"])
async def test_every_preset_has_a_verdict_with_its_reason_on_every_host(
    tmp_path: Path, host_id: str
) -> None:
    """A preset that cannot be planned is one that nobody dares to start."""
    made = planner(tmp_path)

    for preset_id in PresetStore(Paths(home=tmp_path, catalogue=bundled_root())).ids():
        found = await made.plan(PlanRequest(preset=preset_id, host=host_id))
        assert found.verdict is PlanVerdict.FITS or found.reasons, (preset_id, found)
        if found.verdict is PlanVerdict.FITS_IF:
            assert found.reductions[-1].is_enough


async def test_a_context_that_is_too_long_says_what_would_fit(tmp_path: Path) -> None:
    """The answer to "does it fit" is what to type so that it does."""
    made = planner(tmp_path)
    request = PlanRequest(
        preset="27b-dflash2", host="rtx3090-linux", overrides={"max_model_len": "120000"}
    )

    found = await made.plan(request)

    assert found.verdict is PlanVerdict.FITS_IF
    assert found.reasons
    taken = {one.knob: one.value for one in found.reductions}
    again = await made.plan(
        PlanRequest(
            preset="27b-dflash2", host="rtx3090-linux", overrides={**request.overrides, **taken}
        )
    )
    assert again.verdict is PlanVerdict.FITS


async def test_a_pin_above_the_dedicated_memory_is_refused_under_windows(tmp_path: Path) -> None:
    """Two to ten times slower without a word in any log; once, if one insists."""
    made = planner(tmp_path)
    fields = {"preset": "27b-dflash2", "host": "rtx4090-wsl2"}
    overrides = {"kv_cache_memory_bytes": "6G"}

    found = await made.plan(PlanRequest(**fields, overrides=overrides))
    forced = await made.plan(PlanRequest(**fields, overrides=overrides, allow_spill=True))

    assert found.verdict is PlanVerdict.FITS_IF
    assert "Windows moves bytes" in found.reasons[0]
    assert found.reductions[0].knob == "kv_cache_memory_bytes"
    assert refusal(found).code == "plan-spills"
    assert "--allow-spill" in (refusal(found).hint or "")
    assert forced.verdict is PlanVerdict.FITS
    assert forced.spills
    assert any("Windows moves bytes" in one for one in forced.warnings)


async def test_a_machine_without_cards_says_so(tmp_path: Path) -> None:
    """And still says what the pool would be."""
    found = await plan(tmp_path, preset="27b-dflash2")

    assert found.verdict is PlanVerdict.DOES_NOT_FIT
    assert found.pool_tokens == 68_605
    assert "No NVIDIA driver was found" in found.reasons[0]
    assert found.reductions == ()


async def test_who_holds_the_card_is_named(tmp_path: Path) -> None:
    """The person ends that program instead of buying another card."""
    held = GpuProcess(pid=4242, name="ollama", bytes=12 * GIB)
    busy = host(card(free=11 * GIB, processes=(held,)))

    found = await plan(tmp_path, busy, preset="27b-dflash2")

    assert found.verdict is PlanVerdict.DOES_NOT_FIT
    assert any("`ollama` (pid 4242) 12.00 GiB" in reason for reason in found.reasons)


async def test_the_cards_chosen_earlier_are_kept_by_their_own_ids(tmp_path: Path) -> None:
    """A card added in front moves all numbers."""
    made = planner(
        tmp_path, host(card(0, uuid="GPU-new"), card(1, uuid="GPU-old")), gpu_uuids=("GPU-old",)
    )

    found = await made.plan(PlanRequest(preset="27b-dflash2"))

    assert found.gpus == (1,)


async def test_a_chosen_card_that_is_gone_is_named(tmp_path: Path) -> None:
    """Serving on another one without a word would surprise the person who drives it."""
    made = planner(
        tmp_path, host(card(0)), gpu_uuids=("GPU-gone",), gpu_names={"GPU-gone": "RTX 4090"}
    )

    with pytest.raises(HostLacks) as caught:
        await made.plan(PlanRequest(preset="27b-dflash2"))

    assert caught.value.code == "gpu-missing"
    assert "RTX 4090 (GPU-gone)" in caught.value.message


async def test_a_config_alone_is_enough_for_the_pool(tmp_path: Path, model: Path) -> None:
    """The row of an H200 with vLLM 0.26: 81,727 tokens in 5.2 GiB."""
    found = await plan(
        tmp_path, model=str(model), engine="vllm-0.26.0", overrides=PINNED, host="h200-linux"
    )

    assert (found.pool_tokens, found.pool_tokens_error) == (81_727, 0)
    assert found.model == "Mein Modell ü"
    assert any("holds no weights" in one for one in found.warnings)


async def test_a_runtime_whose_name_tells_no_version_is_planned_for(
    tmp_path: Path, model: Path
) -> None:
    """A person's own runtime is called as they like; its recipe says which engine it holds."""
    catalogue = tmp_path / "catalogue"
    shutil.copytree(bundled_root() / "presets", catalogue / "presets")
    shutil.copytree(bundled_root() / "runtimes", catalogue / "runtimes")
    folder = catalogue / "runtimes" / "my-engine"
    folder.mkdir()
    recipe = (bundled_root() / "runtimes" / "cpu-vllm-0.32.0" / "runtime.toml").read_text("utf-8")
    folder.joinpath("runtime.toml").write_text(
        recipe.replace('name = "cpu-vllm-0.32.0"', 'name = "my-engine"'), encoding="utf-8"
    )
    found = await planner(tmp_path, catalogue=catalogue).plan(
        PlanRequest(model=str(model), engine="my-engine", overrides=PINNED)
    )

    assert found.runtime == "my-engine"
    assert found.block_size is not None


@pytest.mark.parametrize(
    ("engine", "hint"),
    [
        ("vlm-0.32.0", "vllm-0.32.0"),
        ("0.32.0", "vllm-0.32.0"),
        ("vllm", "vllm-0.31.0"),
        ("llama.cpp", "vllm-0.31.0"),
    ],
)
async def test_an_engine_that_is_none_is_named(
    tmp_path: Path, model: Path, engine: str, hint: str
) -> None:
    """A slip must not plan for another engine's rules without a word."""
    error = await fails(tmp_path, model=str(model), engine=engine, overrides=PINNED)

    assert error.code == "engine-unknown"
    assert hint in (error.hint or "")


async def test_a_stock_engine_without_a_card_leaves_the_verdict_open(
    tmp_path: Path, model: Path
) -> None:
    """The pool is arithmetic wherever it is asked for."""
    found = await plan(tmp_path, model=str(model), engine="vllm-0.26.0", overrides=PINNED)

    assert found.verdict is PlanVerdict.UNKNOWN
    assert found.pool_tokens == 81_727


async def test_the_config_itself_may_be_named(tmp_path: Path, model: Path) -> None:
    """It is what people download first."""
    path = str(model / "config.json")

    found = await plan(tmp_path, model=path, engine="vllm-0.26.0", overrides=PINNED)

    assert found.pool_tokens == 81_727


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"preset": "27b-dflesh2"}, "preset-unknown"),
        ({"preset": "27b-dflash2", "host": "rtx3091-linux"}, "host-unknown"),
        ({"preset": "27b-dflash2", "overrides": {"max_modle_len": "1"}}, "knob-unknown"),
        ({"preset": "27b-dflash2", "overrides": {"max_model_len": "long"}}, "knob-value"),
        ({"preset": "27b-dflash2", "gpus": (3,)}, "gpu-unknown"),
        ({"preset": "27b-dflash2", "engine": "vllm-0.26.0"}, "plan-without-model"),
        ({"preset": "27b-dflash2", "model": "/x"}, "plan-of-both"),
        ({"model": "/there/is/nothing"}, "model-missing"),
        ({"model": "nul\0byte"}, "model-missing"),
        ({"preset": "27b-dflash2", "download_bytes_per_s": -1.0}, "request-invalid"),
    ],
)
async def test_bad_input_is_named(tmp_path: Path, fields: dict[str, object], code: str) -> None:
    """Each with a stable code; none with a traceback."""
    assert (await fails(tmp_path, **fields)).code == code


async def test_stages_take_a_card_each(tmp_path: Path, model: Path) -> None:
    """A pipeline of two on one card would be planned with half of the pool."""
    found = await plan(
        tmp_path,
        model=str(model),
        engine="vllm-0.31.0",
        host="rtx3090x2-linux",
        overrides={"pipeline_parallel_size": "2", "kv_cache_memory_bytes": "4GiB"},
    )

    assert found.gpus == (0, 1)


async def test_blocks_that_are_counted_need_no_bytes(tmp_path: Path, model: Path) -> None:
    """`num_gpu_blocks_override` is what the engine allocates, whatever its card has left."""
    found = await plan(
        tmp_path,
        model=str(model),
        engine="vllm-0.31.0",
        host="rtx3090-linux",
        overrides={"num_gpu_blocks_override": "400", "max_model_len": "32768"},
    )

    assert (found.blocks, found.pool_tokens_error) == (400, 0)
    assert found.kv_bytes == 400 * (found.page_bytes or 0) * 16
    assert found.verdict is PlanVerdict.UNKNOWN  # the weights


async def test_overrides_of_the_config_are_planned_with(tmp_path: Path, model: Path) -> None:
    """`hf_overrides` is an argument like any other; the pool of half the layers is larger."""
    fields = {"model": str(model), "engine": "vllm-0.31.0"}
    whole = await plan(tmp_path, **fields, overrides=PINNED)
    half = await plan(
        tmp_path,
        **fields,
        overrides={**PINNED, "hf_overrides": '{"text_config": {"num_hidden_layers": 32}}'},
    )

    assert half.pool_tokens_error == 0
    assert (half.pool_tokens or 0) > 1.9 * (whole.pool_tokens or 0)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "config-invalid"),
        ("[1, 2]", "config-invalid"),
        ('{"model_type": "llama"}', "config-"),
        ("[" * 100_000, "config-invalid"),
    ],
)
async def test_a_broken_config_is_named(tmp_path: Path, model: Path, text: str, code: str) -> None:
    """Cut-off downloads and pointers to large files are what people have in their folders."""
    (model / "config.json").write_text(text, encoding="utf-8")

    assert (await fails(tmp_path, model=str(model), engine="vllm-0.32.0")).code.startswith(code)


async def test_a_folder_without_a_config_is_told_what_it_may_be(tmp_path: Path) -> None:
    """A folder of models, named instead of one of them."""
    inner = tmp_path / "models" / "one"
    inner.mkdir(parents=True)
    (inner / "config.json").write_text("{}", encoding="utf-8")

    error = await fails(tmp_path, model=str(inner.parent))

    assert isinstance(error, NotFound)
    assert error.hint == "Name one of the folders in it: one."


async def test_an_unknown_model_type_says_what_is_assumed(tmp_path: Path, model: Path) -> None:
    """What is known, what is assumed, and that it is."""
    config = {
        "model_type": "brand_new",
        "architectures": ["BrandNewForCausalLM"],
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 8,
        "hidden_size": 512,
        "max_position_embeddings": 4096,
    }
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")

    found = await plan(
        tmp_path,
        model=str(model),
        engine="vllm-0.32.0",
        overrides={"kv_cache_memory_bytes": "1G"},
    )

    assert found.pool_tokens is not None
    assert any("`brand_new` is not known" in one for one in found.assumptions)


async def test_a_start_that_does_not_fit_is_refused_with_what_must_give(tmp_path: Path) -> None:
    """`weir up` says before any download what it would find out after it."""
    machine = host(card())
    made = planner(tmp_path, machine)
    preset = PresetStore(Paths(home=tmp_path, catalogue=bundled_root())).get("27b-dflash2")
    recipe = Catalog(Paths(home=tmp_path, catalogue=bundled_root())).recipe(preset.runtime)

    async def require(overrides: dict[str, str]) -> Plan:
        return await made.require(
            preset, recipe, machine, overrides=overrides, gpus=None, allow_spill=False
        )

    assert (await require({})).verdict is PlanVerdict.FITS
    with pytest.raises(HostLacks) as caught:
        await require({"max_model_len": "200000"})
    assert caught.value.code == "plan-does-not-fit"
    assert "--set " in (caught.value.hint or "")
    assert caught.value.data["verdict"] == "fits-if"


async def test_memory_that_is_just_being_given_back_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card frees an engine's memory up to 1.5 s after its end; a restart must not fail on it."""
    monkeypatch.setattr("studio.app.plans._RELEASE_LOOK_S", 0.01)
    made = planner(tmp_path)
    looks = iter([host(card(free=12 * GIB)), host(card(free=23 * GIB))])

    async def look() -> HostSnapshot:
        return next(looks)

    made._machine.look = look
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    preset = PresetStore(paths).get("27b-dflash2")

    found = await made.require(
        preset,
        Catalog(paths).recipe(preset.runtime),
        host(card(free=2 * GIB)),
        overrides={},
        gpus=None,
        allow_spill=False,
    )

    assert found.verdict is PlanVerdict.FITS


async def test_a_host_in_a_file_teaches_and_remembers_nothing(tmp_path: Path) -> None:
    """What this machine's boots taught is not of that machine."""
    made = planner(tmp_path, gpu_uuids=("GPU-of-this-machine",))

    found = await made.plan(PlanRequest(preset="27b-dflash2", host="rtx3090-linux"))

    assert found.gpus == (0,)


async def test_a_damaged_calibration_costs_accuracy_and_nothing_else(tmp_path: Path) -> None:
    """A kill -9 cannot do it, a disk can."""
    made = planner(tmp_path)
    (tmp_path / "wéir home" / "calibration.json").write_bytes(b"\0{")

    found = await made.plan(PlanRequest(preset="cpu-demo"))

    assert found.pool_tokens == 23_296


async def test_two_plans_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    """The window asks for all presets while a terminal asks for one."""
    import asyncio

    made = planner(tmp_path)
    ids = ["27b-dflash2", "27b-huge", "cpu-demo"] * 3

    found = await asyncio.gather(
        *(made.plan(PlanRequest(preset=one, host="rtx3090-linux")) for one in ids)
    )

    assert [one.preset for one in found] == ids
    assert {one.pool_tokens for one in found} == {68_605, 268_169, 23_296}


async def test_a_replayed_machine_is_marked(tmp_path: Path) -> None:
    """`--host` makes the whole command look at another machine."""
    made = planner(tmp_path, host(card()))
    made._machine.replayed = HostFile(id="x", title="x", host=host(card()))

    assert (await made.plan(PlanRequest(preset="27b-dflash2"))).is_replay


async def test_a_drafter_belongs_to_a_folder(tmp_path: Path) -> None:
    """A preset names its own."""
    error = await fails(tmp_path, preset="27b-dflash2", drafter="/x")

    assert isinstance(error, BadInput)
    assert "`drafter`" in error.message
