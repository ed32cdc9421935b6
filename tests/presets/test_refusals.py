"""Every refusal and every warning of the shipped presets has a case, and a plain start has none."""

import pytest

from studio.domain.errors import BadInput
from studio.presets import resolve
from tests.presets.samples import HOSTS, bundled_all, fit_on

FAST, QUOTE, HUGE, HUGE_MTP, INT4 = (
    "27b-dflash2", "27b-dflash2-quote", "27b-huge", "27b-huge-mtp", "27b-int4-256k",
)  # fmt: skip
NATIVE, WSL, PAIR, V100_16, V100_32 = (
    "rtx3090-linux", "rtx4090-wsl2", "rtx3090x2-linux", "v100-16x4-linux", "v100-32x4-linux",
)  # fmt: skip
Case = tuple[str, str, dict[str, str]]

REFUSED: dict[str, Case] = {
    "parallel-size": (FAST, PAIR, {"tensor_parallel_size": "3"}),
    "batched-tokens": (FAST, NATIVE, {"max_num_batched_tokens": "8192"}),
    "graph-size": (FAST, NATIVE, {"max_cudagraph_capture_size": "128"}),
    "retention-off-block": (FAST, NATIVE, {"prefix_cache_retention_interval": "1000"}),
    "fp8-triton-needs-8.9": (
        FAST, NATIVE, {"kv_cache_dtype": "fp8", "attention_backend": "TRITON_ATTN"},
    ),
    "fp8-triton-int8": (
        FAST, WSL,
        {"kv_cache_dtype": "fp8", "attention_backend": "TRITON_ATTN", "int8_act": "int8"},
    ),
    "int8-kv-backend": (FAST, NATIVE, {"kv_cache_dtype": "int8_per_token_head"}),
    "kvarn-block": (HUGE, NATIVE, {"block_size": "64"}),
    "kvarn-without-block": (
        FAST, NATIVE, {"kv_cache_dtype": "kvarn_k4v2_g128"},
    ),
    "kvarn-seats": (HUGE, NATIVE, {"max_num_seqs": "13"}),
    "float16-drafts": (FAST, NATIVE, {"dtype": "float16"}),
    "prefill-attention-kv": ("27b-long-quote", NATIVE, {"prefill_attn": "int8"}),
    "vision-on-card": (FAST, NATIVE, {"vision": "true", "vision_offload": "false"}),
    "tools-hermes": (FAST, NATIVE, {"tool_call_parser": "hermes"}),
    "int8-layers-all": (FAST, NATIVE, {"int8_act": "int8", "int8_layers": "mlp|linear_attn"}),
    "long-drafts-async": (FAST, NATIVE, {"draft_tokens": "15", "async_scheduling": "true"}),
    "huge-full-graphs": (
        HUGE_MTP, NATIVE, {"enable_prefix_caching": "true", "cudagraph_mode": "FULL"},
    ),
    "huge-adaptive": (HUGE, NATIVE, {"draft_tokens": "15", "dflash2_lookup_adaptive": "true"}),
    "no-bfloat16": ("v100-27b", V100_16, {"dtype": "bfloat16"}),
    "original-prefill-nvcc": ("v100-27b", V100_16, {"flashqla_original_prefill": "true"}),
    "partial-1.5.0": (
        "v100-27b", V100_32, {"runtime": "sm70-1cat-1.5.0", "partial_prefix_cache": "true"},
    ),
    "retention-1.5.0": (
        "v100-27b", V100_32,
        {"runtime": "sm70-1cat-1.5.0", "prefix_cache_retention_interval": "8192"},
    ),
    "host-kv-ple": ("v100-flash-next", V100_32, {"ple": "hybrid"}),
    "ple-memory": ("v100-flash-next", WSL, {"ple": "hybrid", "host_kv": "false"}),
    "needs-nvcc": ("v100-v41-16k", V100_16, {}),
}  # fmt: skip
WARNED: dict[str, Case] = {
    "pin-above-stock": (FAST, NATIVE, {"kv_cache_memory_bytes": "5740000000"}),
    "pin-above-stock-wsl": (FAST, WSL, {"kv_cache_memory_bytes": "5740000000"}),
    "utilization-high": ("27b-long", NATIVE, {"gpu_memory_utilization": "0.95"}),
    "no-figures-9.0": (FAST, "h200-linux", {}),
    "several-cards-wsl": (FAST, WSL, {"tensor_parallel_size": "2"}),
    "tool-strict-auto": (FAST, NATIVE, {"tool_strict_level": "auto"}),
    "tool-strict-xgrammar": (FAST, NATIVE, {"runtime": "cu13-hyperqwen-0.32.0"}),
    "kv-offload-0.31": (FAST, NATIVE, {"kv_offload_gib": "8"}),
    "embed-uva-several": (FAST, PAIR, {"embed_uva": "true"}),
    "draft-width": (FAST, NATIVE, {"draft_tokens": "6"}),
    "long-drafts-several-cards": (FAST, PAIR, {"draft_tokens": "15"}),
    "mtp-depth": ("27b-mtp", NATIVE, {"draft_tokens": "5"}),
    "long-mtp-depth": ("27b-long", NATIVE, {"draft_tokens": "4"}),
    "long-wsl": ("27b-long", WSL, {}),
    "long-quote-drafts": ("27b-long-quote", NATIVE, {"draft_tokens": "15"}),
    "prompt-logprobs": (HUGE_MTP, NATIVE, {"enable_prefix_caching": "true"}),
    "retention-unknown": (HUGE, NATIVE, {"draft_tokens": "5"}),
    "huge-4090": (HUGE, "rtx4090-linux", {}),
    "int4-tier": (INT4, NATIVE, {"kv_offload_gib": "8"}),
    "int4-long-drafts": (INT4, NATIVE, {"draft_tokens": "15"}),
    "kvarn-wsl": ("27b-batch-kvarn", WSL, {}),
    "prefill-1.5.0": ("v100-27b", V100_16, {"runtime": "sm70-1cat-1.5.0"}),
    "fewer-cards": ("v100-27b", V100_32, {"tensor_parallel_size": "2"}),
    "batched-8192": ("v100-flash-next", V100_32, {"max_num_batched_tokens": "8192"}),
    "one-seat": ("v100-v41-512k", V100_32, {"max_num_seqs": "2"}),
    "disk": ("v100-v41-16k", V100_32, {}),
}
ELSEWHERE = {"pin-with-desktop", "no-nvlink", "small-cards"}
"""No host of the catalogue has such cards: test_shipped.py has the cases."""


def test_every_refusal_has_a_case() -> None:
    """A refusal that nobody has seen refuse may never do so, or always."""
    named = {one.name for preset in bundled_all() for one in preset.refusals}

    assert named == REFUSED.keys()


def test_every_warning_has_a_case() -> None:
    """The same for what is only said."""
    named = {one.name for preset in bundled_all() for one in preset.warnings}

    assert named == WARNED.keys() | ELSEWHERE


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_refuses_and_says_what_to_do(name: str) -> None:
    """With the sentence filled in, and a hint wherever the person can do something."""
    preset_id, host, overrides = REFUSED[name]
    resolved = fit_on(preset_id, host, **overrides).resolved
    assert resolved is not None

    (finding,) = [one for one in resolved.refusals if one.name == name]

    assert "{" not in finding.sentence
    assert finding.hint
    assert finding.source
    with pytest.raises(BadInput) as caught:
        resolve.require(resolved)
    assert caught.value.code == "preset-refused"


@pytest.mark.parametrize("name", WARNED)
def test_a_warning_is_said_where_it_belongs(name: str) -> None:
    """And nothing is refused by it."""
    preset_id, host, overrides = WARNED[name]
    resolved = fit_on(preset_id, host, **overrides).resolved
    assert resolved is not None

    (finding,) = [one for one in resolved.warnings if one.name == name]

    assert "{" not in finding.sentence + (finding.hint or "")
    assert finding.source


@pytest.mark.parametrize("host", HOSTS)
def test_what_fits_a_host_is_not_refused_there_without_a_word_about_the_host(host: str) -> None:
    """A preset that refuses its own values could never be started."""
    for preset in bundled_all():
        resolved = fit_on(preset.id, host).resolved
        assert resolved is not None
        assert {one.name for one in resolved.refusals} <= {"needs-nvcc"}, preset.id
