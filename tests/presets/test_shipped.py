"""The shipped presets against what is published: values, flags, figures with a source."""

import functools
import json
import re
from pathlib import Path

import msgspec
import pytest

from studio.domain.hardware import GpuLink
from studio.domain.rules import Facts, Resolved
from studio.domain.units import GIB
from studio.presets import choose
from studio.presets.resolve import resolve
from tests.presets.samples import bundled, bundled_all, fit_on, host, recipe_of

HELP = Path(__file__).resolve().parents[1] / "data" / "engine" / "serve-help-0.32.txt"
OWN_VARIABLES = re.compile(r"(?:VLLM|KVARN)_|MTP_DRAFT_VOCAB")
STOCK_VARIABLES = {"VLLM_WSL2_ENABLE_PIN_MEMORY", "VLLM_CPU_OMP_THREADS_BIND"}
"""Registered by vLLM 0.32 itself (vllm/envs.py)."""
UNDOCUMENTED = {"VLLM_SM70_GEMM_LUT_PATH"}
"""Of the V100 engine, from its GGUF page; its recipe names only what a person may want to set."""
ROWS = [
    # preset, k, context, seats, pinned bytes, KV type, backend, graph size, retention, QMAX
    ("27b-mtp", 4, 65_536, 8, None, "bfloat16", "FLASH_ATTN", 32, None, None),
    ("27b-dflash2", 7, 65_536, 8, 5_583_457_484, "bfloat16", "FLASH_ATTN", 64, "None", "8"),
    ("27b-dflash2-quote", 15, 57_344, 4, 5_583_457_484, "bfloat16", "FLASH_ATTN", 64, "None", "16"),
    ("27b-long", 3, 150_000, 8, None, "fp8", None, 32, None, None),
    (
        "27b-long-quote", 7, 131_072, 4, 5_583_457_484, "int8_per_token_head", "TRITON_ATTN", 32,
        "None", "8",
    ),
    ("27b-huge-mtp", 3, 200_000, 8, None, "kvarn_k4v2_g128", None, 32, None, None),
    ("27b-huge", 7, 245_760, 2, 5_261_334_938, "kvarn_k4v2_g128", None, 16, 13_056, "8"),
    ("27b-int4-256k", 7, 256_000, 1, None, "int4_per_token_head", "TRITON_ATTN", 8, 0, None),
    ("27b-batch-fp8", None, 150_000, 64, None, "fp8", None, 64, None, None),
    ("27b-batch-kvarn", None, 262_144, 64, None, "kvarn_k4v2_g128", None, 64, None, None),
    (
        "27b-batch-int4", None, 262_144, 64, None, "int4_per_token_head", "TRITON_ATTN", 64, None,
        None,
    ),
]  # fmt: skip


def on(preset_id: str, host_id: str = "rtx3090-linux", **overrides: str) -> Resolved:
    """Return a preset's values on a host."""
    found = fit_on(preset_id, host_id, **overrides).resolved
    assert found is not None
    return found


@pytest.mark.parametrize("row", ROWS, ids=[str(row[0]) for row in ROWS])
def test_the_values_are_the_published_ones(row: tuple[object, ...]) -> None:
    """HyperQwen, launch values per profile (0.31), on one 24 GB card under Linux."""
    preset_id, k, context, seats, pinned, dtype, backend, graph, retention, qmax = row
    made = on(str(preset_id))
    values = made.settings

    assert (values["max_model_len"], values["max_num_seqs"]) == (context, seats)
    assert values.get("kv_cache_memory_bytes") == pinned
    assert (values["kv_cache_dtype"], values.get("attention_backend")) == (dtype, backend)
    assert values["compilation_config"]["max_cudagraph_capture_size"] == graph
    assert values.get("prefix_cache_retention_interval") == retention
    assert made.environment.get("VLLM_SPEC_DECODE_ATTN_QMAX") == qmax
    assert values.get("speculative_config", {}).get("num_speculative_tokens") == k


def test_prefix_caching_is_on_where_it_was_published_so() -> None:
    """S2, S3, S5, S7 and S9; off in the rest, and off by name."""
    on_by_default = {
        preset.id for preset in bundled_all()
        if preset.id.startswith("27b") and on(preset.id).settings["enable_prefix_caching"]
    }  # fmt: skip

    assert on_by_default == {
        "27b-dflash2", "27b-dflash2-quote", "27b-long-quote", "27b-huge", "27b-int4-256k",
    }  # fmt: skip
    assert "--no-enable-prefix-caching" in on("27b-mtp").arguments


@pytest.mark.parametrize(
    ("preset_id", "utilization", "context"),
    [
        ("27b-batch-fp8", 0.91, 150_000),
        ("27b-batch-kvarn", 0.88, 131_072),
        ("27b-batch-int4", 0.91, 262_144),
        ("27b-int4-256k", 0.93, 256_000),
        ("27b-mtp", 0.93, 65_536),
    ],
)
def test_wsl2_takes_less_of_the_card(preset_id: str, utilization: float, context: int) -> None:
    """There too much is no error: Windows moves memory out of the card."""
    made = on(preset_id, "rtx4090-wsl2")

    assert made.settings["gpu_memory_utilization"] == utilization
    assert made.settings["max_model_len"] == context
    assert made.environment["PYTORCH_CUDA_ALLOC_CONF"] == "expandable_segments:False"
    assert made.environment["VLLM_WSL2_ENABLE_PIN_MEMORY"] == "1"


def test_fifteen_drafts_bring_all_that_belongs_to_them() -> None:
    """Fewer seats, less context, the synchronous scheduler, larger buffers."""
    chat = on("27b-dflash2", draft_tokens="15")
    huge = on("27b-huge", draft_tokens="15")

    assert chat.settings["async_scheduling"] is False
    assert (chat.settings["max_model_len"], chat.settings["max_num_seqs"]) == (57_344, 4)
    assert chat.environment["VLLM_SPEC_DECODE_ATTN_QMAX"] == "16"
    assert huge.settings["max_model_len"] == 221_184
    assert huge.settings["prefix_cache_retention_interval"] == 14_592
    assert huge.environment["VLLM_DFLASH2_LOOKUP_ADAPTIVE"] == "0"
    assert huge.settings["compilation_config"]["max_cudagraph_capture_size"] == 32


def test_two_cards_share_the_model_and_drop_the_pin() -> None:
    """The pinned bytes are those of one card; over PCIe the custom all-reduce goes, too."""
    made = on("27b-dflash2", "rtx3090x2-linux")

    assert made.gpus == (0, 1)
    assert made.settings["tensor_parallel_size"] == 2
    assert "kv_cache_memory_bytes" not in made.settings
    assert made.settings["disable_custom_all_reduce"] is True
    assert made.environment["PYTORCH_CUDA_ALLOC_CONF"] == "expandable_segments:False"
    pinned = on("27b-dflash2", "rtx3090x2-linux", kv_cache_memory_bytes="6G")
    assert pinned.settings["kv_cache_memory_bytes"] == 6 * GIB


def test_no_drafts_means_that_nothing_is_said_of_drafting() -> None:
    """S8; only then float16 works."""
    for preset_id in ("27b-dflash2", "27b-mtp", "27b-huge-mtp", "v100-27b"):
        made = on(preset_id, draft_tokens="0")
        assert "speculative_config" not in made.settings
        assert not [part for part in made.arguments if "DRAFTER" in part]
    assert on("27b-mtp", draft_tokens="0", dtype="float16").refusals == ()


def test_profiles_f1_and_p1_are_knobs() -> None:
    """fp8 on Triton from 8.9 on, and the maintainer's production line."""
    f1 = on("27b-dflash2", "rtx4090-linux", kv_cache_dtype="fp8", attention_backend="TRITON_ATTN")
    p1 = on("27b-dflash2-quote", int8_act="int8", prefill_attn="int8")

    assert f1.refusals == ()
    assert f1.settings["speculative_config"]["attention_backend"] == "TRITON_ATTN"
    assert p1.environment["VLLM_MARLIN_INPUT_DTYPE"] == "int8"
    assert p1.environment["VLLM_MARLIN_INT8_INCLUDE_RE"] == "mlp|linear_attn|self_attn"
    assert p1.environment["VLLM_PREFILL_ATTN"] == "int8"
    assert not [name for name in on("27b-dflash2-quote").environment if "MARLIN" in name]


def test_vision_tools_and_metrics_are_switches() -> None:
    """Each brings its arguments, and takes them away again."""
    seeing = on("27b-dflash2", vision="true", images_per_prompt="2", image_pixels="1M")
    mute = on("27b-dflash2", tools="false")
    told = on("27b-dflash2", request_metrics="detailed")

    assert seeing.settings["limit_mm_per_prompt"] == {"image": {"count": 2}}
    assert seeing.settings["mm_processor_kwargs"]["size"]["longest_edge"] == 1 << 20
    assert seeing.environment["VLLM_VISION_CPU_OFFLOAD_GB"] == "1"
    assert "--language-model-only" not in seeing.arguments
    assert not [part for part in mute.arguments if part.startswith("--tool")]
    assert "--enable-auto-tool-choice" not in mute.arguments
    assert told.settings["per_request_spec_decode_metrics"] == "detailed"
    assert told.settings["enable_force_include_usage"] is True


def test_a_tier_in_memory_switches_the_int4_preset_to_keeping_all() -> None:
    """The tier serves from it; without one, only the ends of prompts are kept."""
    made = on("27b-int4-256k", kv_offload_gib="8")

    assert made.settings["prefix_cache_retention_interval"] == "None"
    assert made.settings["kv_offloading_size"] == 8
    assert made.arguments[made.arguments.index("--kv-offloading-size") + 1] == "8"
    assert made.environment["PYTORCH_CUDA_ALLOC_CONF"] == "expandable_segments:False"


def test_an_older_runtime_has_values_of_its_own() -> None:
    """1.5.0 knows neither partial hits nor a retention interval, and was made for 32 GB."""
    large = on("v100-27b", "v100-32x4-linux", runtime="sm70-1cat-1.5.0")
    small = on("v100-27b", "v100-16x4-linux", runtime="sm70-1cat-1.5.0")

    assert large.runtime == "sm70-1cat-1.5.0"
    assert large.settings["kv_cache_dtype"] == "fp8_e5m2"
    assert not {"--partial-prefix-cache", "--prefix-cache-retention-interval", "--block-size"} & {
        *large.arguments, *small.arguments,
    }  # fmt: skip
    assert small.badges[-1] == "Community values"
    assert small.settings["max_num_seqs"] == 1


def test_nvcc_decides_which_prefill_a_v100_gets() -> None:
    """The person sees which one, before the first prompt."""
    assert "Original prefill" in on("v100-27b", "v100-32x4-linux").badges
    assert "Prebuilt prefill (no nvcc)" in on("v100-27b", "v100-16x4-linux").badges


def test_a_desktop_on_the_card_is_warned_of() -> None:
    """The pinned bytes assume that none is drawn on it."""
    preset, here = bundled("27b-dflash2"), host("rtx3090-linux")
    card = msgspec.structs.replace(here.gpus[0], display_active=True)
    here = msgspec.structs.replace(here, gpus=(card,))
    found = choose.fit(preset, recipe_of(preset.runtime), here).resolved
    assert found is not None

    assert "pin-with-desktop" in [one.name for one in found.warnings]


def test_small_cards_go_in_pairs() -> None:
    """Two RTX 5060 Ti serve it, as was reported; one does not."""
    preset, here = bundled("27b-dflash2"), host("rtx3090x2-linux")
    cards = tuple(
        msgspec.structs.replace(one, name="5060 Ti", total_bytes=16 * GIB) for one in here.gpus
    )
    pair = msgspec.structs.replace(here, gpus=cards)
    found = choose.fit(preset, recipe_of(preset.runtime), pair)
    assert found.resolved is not None

    assert found.reasons == ()
    assert "small-cards" in [one.name for one in found.resolved.warnings]
    assert choose.reasons_against(preset, recipe_of(preset.runtime), pair, (0,))


def test_v100_without_nvlink_are_warned_of() -> None:
    """All published figures are for cards with full peer access."""
    preset, here = bundled("v100-27b"), host("v100-32x4-linux")
    links = tuple(GpuLink(first=one.first, second=one.second, nvlinks=0) for one in here.gpu_links)
    pcie = msgspec.structs.replace(here, gpu_links=links)
    found = choose.fit(preset, recipe_of(preset.runtime), pcie).resolved
    assert found is not None

    assert "no-nvlink" in [one.name for one in found.warnings]


@pytest.mark.parametrize(
    ("host_id", "expected"),
    [
        ("rtx3090-linux", "27b-dflash2"),
        ("rtx4090-wsl2", "27b-dflash2"),
        ("h200-linux", "27b-dflash2"),
        ("v100-16x4-linux", "v100-27b"),
        ("v100-32x4-linux", "v100-27b"),
        ("none-linux", "cpu-demo"),
    ],
)
def test_the_recommended_preset_is_proposed(host_id: str, expected: str) -> None:
    """`weir up` alone serves it."""
    presets = bundled_all()
    recipes = {preset.runtime: recipe_of(preset.runtime) for preset in presets}

    best = choose.best(presets, recipes, host(host_id))

    assert best is not None
    assert best.id == expected


# What engines know


@functools.cache
def _registered(runtime: str) -> frozenset[str]:
    """Return the flags of a runtime: those of vLLM 0.32 and what its recipe registers."""
    recipe = recipe_of(runtime)
    known = set(re.findall(r"--[a-z][a-z0-9-]+", HELP.read_text(encoding="utf-8")))
    own = [name.replace("_", "-") for name in recipe.knobs]
    return frozenset(known | {f"--{one}" for one in own} | {f"--no-{one}" for one in own})


def _rendered() -> list[Resolved]:
    """Return every preset on every host and runtime, and with every switch moved."""
    made = []
    for preset in bundled_all():
        switches = [
            {name: str(not knob.default).lower()}
            for name, knob in preset.knobs.items()
            if isinstance(knob.default, bool)
        ]
        choices: list[dict[str, str]] = [
            {name: choice}
            for name, knob in preset.knobs.items()
            for choice in knob.choices
            if choice not in preset.runtimes
        ]
        wanted = [{}, *switches, *choices, {"kv_offload_gib": "4"}]
        for runtime in preset.runtimes:
            facts = [Facts(runtime=runtime)]
            for host_id in ("rtx4090-wsl2", "rtx3090x2-linux", "v100-32x4-linux"):
                fit = fit_on(preset.id, host_id)
                assert fit.facts is not None
                facts.append(msgspec.structs.replace(fit.facts, runtime=runtime))
            known = [one for one in wanted if one.keys() <= preset.knobs.keys()]
            made += [resolve(preset, fact, change) for fact in facts for change in known]
    return made


def test_no_preset_passes_a_flag_or_a_variable_that_its_runtime_lacks() -> None:
    """An engine ends at once on a flag that it does not know, and ignores an unknown variable.

    Against the help of the real vLLM 0.32 and what the recipes register beside it.
    """
    unknown = set()
    for made in _rendered():
        if made.refusals:
            continue
        recipe = recipe_of(made.runtime)
        flags = {word for word in made.arguments if word.startswith("--")}
        unknown |= {(made.runtime, one) for one in flags - _registered(made.runtime)}
        variables = {name for name in made.environment if OWN_VARIABLES.match(name)}
        known = {knob.environment for knob in recipe.knobs.values()} | STOCK_VARIABLES
        unknown |= {(made.runtime, one) for one in variables - known - UNDOCUMENTED}

    assert unknown == set()


def test_json_arguments_are_json() -> None:
    """They are parsed by the engine only after minutes."""
    for preset in bundled_all():
        arguments = on(preset.id).arguments
        for word in arguments:
            if word.startswith("{"):
                assert isinstance(json.loads(word), dict)


# What is published


def test_every_figure_has_its_source_and_every_figure_of_a_card_its_card() -> None:
    """A number without a card, a date or a pin means nothing."""
    for preset in bundled_all():
        assert preset.expected, preset.id
        for row in preset.expected:
            assert row.source
            assert row.card


def test_every_preset_says_what_nobody_has_verified() -> None:
    """None of the card presets was booted by us; what else is open is named."""
    for preset in bundled_all():
        if preset.id != "cpu-demo":
            assert "never-booted" in {gap.name for gap in preset.unverified}
        for spec in preset.models:
            if spec.wheel is None and not any(one.revision for one in spec.sources):
                assert {gap.name for gap in spec.unverified} & {"revision", "repository"}


def test_every_knob_is_explained_and_bounded() -> None:
    """A number without limits lets a typing mistake reach the engine."""
    for preset in bundled_all():
        for name, knob in preset.knobs.items():
            assert knob.meaning.endswith("."), name
            if knob.kind in ("int", "float"):
                assert knob.minimum is not None, name
                assert knob.maximum is not None, name


def test_titles_are_for_people_and_each_has_its_own() -> None:
    """The expert's name stands beside."""
    titles = [preset.title for preset in bundled_all()]

    assert len(set(titles)) == len(titles)
    assert not [title for title in titles if re.search(r"dflash|mtp|fp8|kv\b", title.lower())]
