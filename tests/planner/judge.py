"""Ask vLLM itself what it makes of caches: run by a runtime's interpreter, never by ours.

`python judge.py CASES OUTCOMES` reads a list of mixtures of caches and writes what vLLM's
get_kv_cache_configs answers for each. It knows nothing of the Studio, so that nothing of ours
decides.
"""

import dataclasses
import json
import logging
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import vllm.v1.core.kv_cache_utils as sizing
import vllm.v1.kv_cache_interface as specs
from vllm.distributed.utils import get_pp_indices
from vllm.v1.kv_cache_layout import KVCacheLayout

logging.disable(logging.CRITICAL)


def spec_of(entry: list[Any], case: dict[str, Any]) -> Any:
    """Return vLLM's own specification of one kind of layer."""
    kind, _, block, token_bytes, state_bytes, _, window, padded, shape = entry
    if kind == "linear":
        return specs.MambaSpec(
            block_size=case["block_size"]
            if case["mamba_mode"] == "align"
            else case["max_model_len"],
            shapes=((state_bytes,),),
            dtypes=(torch.uint8,),
            page_size_padded=padded,
            mamba_cache_mode=case["mamba_mode"],
            num_speculative_blocks=case["draft_tokens"],
        )
    if kind == "mla":
        return specs.MLAAttentionSpec(
            block_size=block, num_kv_heads=1, head_size=token_bytes, dtype=torch.uint8
        )
    heads = max(1, shape[0] // case.get("shards", 1))
    keys, values = shape[1], shape[2] or shape[1]
    width = token_bytes // (heads * (keys + values))
    values_of = {
        "block_size": block,
        "num_kv_heads": heads,
        "head_size": keys,
        "dtype": {1: torch.uint8, 2: torch.bfloat16}[width],
        "page_size_padded": padded,
    }
    if kind == "sliding":
        return specs.SlidingWindowSpec(sliding_window=window, head_size_v=values, **values_of)
    if kind == "chunked":
        return specs.ChunkedLocalAttentionSpec(attention_chunk_size=window, **values_of)
    return specs.FullAttentionSpec(head_size_v=values, **values_of)


def settings_of(case: dict[str, Any]) -> Any:
    """Return as much of a VllmConfig as pool sizing reads."""
    length = case["max_model_len"]
    return SimpleNamespace(
        scheduler_config=SimpleNamespace(disable_hybrid_kv_cache_manager=False),
        kv_transfer_config=None,
        speculative_config=None,
        cache_config=SimpleNamespace(
            num_gpu_blocks_override=None,
            mamba_cache_mode=case["mamba_mode"],
            get_resolved_kv_cache_layout=lambda: KVCacheLayout.LBNHC,
            prefix_cache_retention_interval=None,
        ),
        model_config=SimpleNamespace(
            max_model_len=length,
            original_max_model_len=length,
            hf_config=SimpleNamespace(model_type="sample"),
        ),
        parallel_config=SimpleNamespace(
            decode_context_parallel_size=case.get("context_shards", 1),
            tensor_parallel_size=case.get("shards", 1),
            pipeline_parallel_size=case.get("stages", 1),
        ),
        max_in_flight_tokens=case["in_flight"],
        num_prefill_lookahead_tokens=0,
        attention_config=SimpleNamespace(hisparse_config=None),
        device_config=SimpleNamespace(device_type="cuda"),
    )


def stages_of(layers: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the layers of each stage, as vLLM's get_pp_indices deals them out."""
    bounds = [get_pp_indices(len(layers), rank, count) for rank in range(count)]
    return [dict(list(layers.items())[first:last]) for first, last in bounds]


def outcome_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return what vLLM answers."""
    layers = {
        f"{index}.{layer}": spec_of(entry, case)
        for index, entry in enumerate(case["caches"])
        for layer in range(entry[1])
    }
    settings = settings_of(case)
    try:
        stages = stages_of(layers, case.get("stages", 1))
        each = [case["kv_bytes"]] * len(stages)
        made, *_ = sizing.get_kv_cache_configs(settings, stages, each)
    except NotImplementedError:
        return {"error": "pages-differ"}
    except ValueError as error:
        found = re.search(r"maximum model length is (\d+)", str(error))
        named = int(found[1]) if found else 0
        return {"refused": True, "longest": longest_of(case, named)}
    tokens, _ = sizing.get_kv_cache_capacity(settings, made)
    return {"refused": False, "blocks": made.num_blocks, "tokens": tokens}


def longest_of(case: dict[str, Any], named: int) -> int:
    """Return the length that the engine takes in the end, asked again with each that it names.

    It names what the first stage without room would hold; a later stage may hold less.
    """
    if not 0 < named < case["max_model_len"] or case.get("stages", 1) == 1:
        return named
    again = outcome_of({**case, "max_model_len": named})
    return again["longest"] if again.get("refused") else named


def main() -> None:
    """Read cases, write outcomes."""
    assert dataclasses.is_dataclass(specs.FullAttentionSpec)
    cases = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(sys.argv[2]).write_text(json.dumps([outcome_of(case) for case in cases]), encoding="utf-8")


if __name__ == "__main__":
    main()
