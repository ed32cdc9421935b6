"""vLLM's `/metrics` text → `EngineSample`. Pure, and it never raises.

Reads only the families that the monitor shows (docs/decisions/0004-metrics-parser.md says why not a
general parser). Every engine of a data-parallel server has series of its own; they are summed. A
value that is not a finite number of at least 0 makes its whole field unknown: a sum that lacks a
part would be a wrong number, and unknown is not zero.

Source: vLLM 0.26 to 0.32, v1/metrics/loggers.py.
"""

import re
from collections.abc import Iterable

from studio.domain.metrics import EngineSample

_PREFIX = "vllm:"
_USE = "vllm:kv_cache_usage_perc"
_CONFIG = "vllm:cache_config_info"
_SUMMED = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:prompt_tokens_total": "prompt_tokens_total",
    "vllm:generation_tokens_total": "generation_tokens_total",
    "vllm:prompt_tokens_cached_total": "cached_prompt_tokens_total",
    "vllm:prefix_cache_queries_total": "prefix_queries_total",
    "vllm:prefix_cache_hits_total": "prefix_hits_total",
    "vllm:num_preemptions_total": "preemptions_total",
    "vllm:request_success_total": "requests_finished_total",
    "vllm:time_to_first_token_seconds_sum": "ttft_sum_s",
    "vllm:time_to_first_token_seconds_count": "ttft_count",
    "vllm:inter_token_latency_seconds_sum": "itl_sum_s",
    "vllm:inter_token_latency_seconds_count": "itl_count",
    "vllm:spec_decode_num_drafts_total": "drafts_total",
    "vllm:spec_decode_num_accepted_tokens_total": "accepted_total",
    "vllm:kv_offload_store_bytes_total": "kv_offload_store_bytes_total",
    "vllm:kv_offload_load_bytes_total": "kv_offload_load_bytes_total",
}
_LABEL = re.compile(r'[{,](\w+)="((?:[^"\\]|\\.)*)"')
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)

Labels = dict[str, str]


def parse(text: str) -> EngineSample:
    """Return what `text` says; a field that it does not say is None.

    `pool_used_share` is the mean over engines, weighted by their pools where all are known.
    """
    sums: dict[str, float | None] = {}
    use: list[tuple[str, float | None]] = []
    configs: dict[str, Labels] = {}
    for line in text.split("\n"):
        if not line.startswith(_PREFIX):
            continue
        end = line.find("{")
        name = line[:end] if end >= 0 else line.split(" ", 1)[0]
        field = _SUMMED.get(name)
        if field is not None:
            value = _value(line)
            known = sums.get(field, 0.0)
            sums[field] = None if value is None or known is None else known + value
        elif name == _USE:
            use.append((_labels(line).get("engine", ""), _value(line)))
        elif name == _CONFIG and _value(line):
            labels = _labels(line)
            configs[labels.get("engine", "")] = labels
    pools = {engine: _pool_tokens(labels) for engine, labels in configs.items()}
    return EngineSample(
        pool_used_share=_used_share(use, pools),
        pool_tokens=_sum(pools.values()),
        block_size=_same(_whole(labels, "block_size") for labels in configs.values()),
        blocks=_sum(_whole(labels, "num_gpu_blocks") for labels in configs.values()),
        **sums,
    )


def _value(line: str) -> float | None:
    """Return a sample line's value; a time stamp may follow it."""
    words = line[line.rfind("}") + 1 :].split() if "}" in line else line.split()[1:]
    if not words or _NUMBER.fullmatch(words[0]) is None:  # so neither NaN nor Inf nor below 0
        return None
    value = float(words[0])
    return value if value < float("inf") else None


def _labels(line: str) -> Labels:
    return dict(_LABEL.findall(line))


def _whole(labels: Labels, name: str) -> int | None:
    text = labels.get(name, "")
    return int(text) if _WHOLE.fullmatch(text) is not None else None


def _pool_tokens(labels: Labels) -> int | None:
    """Return one engine's pool as it printed it; older engines say only blocks and their size."""
    tokens = _whole(labels, "kv_cache_size_tokens")
    if tokens is not None:
        return tokens
    blocks, size = _whole(labels, "num_gpu_blocks"), _whole(labels, "block_size")
    return blocks * size if blocks is not None and size is not None else None


def _sum(parts: Iterable[int | None]) -> int | None:
    total = None
    for part in parts:
        if part is None:
            return None
        total = part + (total or 0)
    return total


def _same(parts: Iterable[int | None]) -> int | None:
    different = set(parts)
    return different.pop() if len(different) == 1 else None


def _used_share(use: list[tuple[str, float | None]], pools: dict[str, int | None]) -> float | None:
    weights: list[float] = []
    shares: list[float] = []
    for engine, share in use:
        if share is None:
            return None
        shares.append(share)
        weights.append(pools.get(engine) or 0)
    if not shares:
        return None
    if not all(weights):
        weights = [1.0] * len(shares)
    mean = sum(share * weight for share, weight in zip(shares, weights, strict=True)) / sum(weights)
    return min(mean, 1.0)
