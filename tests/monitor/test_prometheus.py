"""The engine's metrics text, recorded and mistreated."""

import math
import re
import time
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.metrics import EngineSample
from studio.monitor import prometheus
from studio.monitor.families import BY_LABEL, CONFIG, MEANS, SLEEP, SUMMED, USE
from studio.monitor.families import HISTOGRAMS as HISTOGRAMS_READ
from tests.fakes.recordings import ENGINE

RECORDED = [
    *sorted((ENGINE / "metrics").glob("*.txt")),
    *sorted((ENGINE / "cuda").glob("*/metrics*")),
]
MAIN = (ENGINE / "metrics" / "main-under-load.txt").read_text(encoding="utf-8")


def told(sample: EngineSample, *names: str) -> dict[str, object]:
    """Return these fields; a comparison of whole samples takes pytest minutes to explain."""
    return {name: getattr(sample, name) for name in names}


def test_a_cpu_engine_under_load_gives_every_number() -> None:
    """0.32 with speculation and prefix caching, six requests running."""
    expected = {
        "running": 6.0,
        "waiting": 0.0,
        "pool_used_share": 0.03867403314917128,
        "pool_tokens": 23296,
        "block_size": 128,
        "blocks": 182,
        "prompt_tokens_total": 1597.0,
        "generation_tokens_total": 501.0,
        "cached_prompt_tokens_total": 640.0,
        "prefix_queries_total": 1597.0,
        "prefix_hits_total": 640.0,
        "preemptions_total": 0.0,
        "requests_finished_total": 19.0,
        "ttft_sum_s": 26.093565940856934,
        "ttft_count": 25.0,
        "itl_sum_s": 56.48675359100207,
        "itl_count": 383.0,
        "drafts_total": 57.0,
        "accepted_total": 93.0,
        "draft_tokens_total": 167.0,
        "accepted_by_position": (46.0, 25.0, 22.0),
        "waiting_by_reason": {"capacity": 0.0, "deferred": 0.0},
        "prompt_tokens_by_source": {
            "local_compute": 957.0,
            "local_cache_hit": 640.0,
            "external_kv_transfer": 0.0,
        },
        "external_queries_total": 0.0,
        "rejected_total": 0.0,
        "sleep_state": "awake",
        "estimated_flops_total": 0.0,
    }

    assert told(prometheus.parse(MAIN), *expected) == expected


def test_finished_requests_are_told_by_reason_and_in_sum() -> None:
    """Those that were broken off are no answers."""
    sample = prometheus.parse(MAIN)

    assert sample.finished_by_reason is not None
    assert sample.finished_by_reason["stop"] == 11.0
    assert sum(sample.finished_by_reason.values()) == sample.requests_finished_total


HISTOGRAMS = (
    "ttft", "itl", "end_to_end", "queue", "prefill", "decode", "time_per_output_token",
    "iteration_tokens",
)  # fmt: skip


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms_are_whole(name: str) -> None:
    """Quantiles stand on them."""
    found = getattr(prometheus.parse(MAIN), name)

    assert found.bounds[-1] == math.inf
    assert len(found.bounds) == len(found.counts) > 10
    assert list(found.counts) == sorted(found.counts)
    assert found.count > 0
    assert found.sum > 0


def test_first_tokens_are_counted_bound_by_bound() -> None:
    """As the engine printed them."""
    found = prometheus.parse(MAIN).ttft

    assert found is not None
    by_bound = dict(zip(found.bounds, found.counts, strict=True))
    assert (by_bound[0.1], by_bound[0.25], by_bound[0.5], by_bound[1.0]) == (0, 2, 16, 18)
    assert (found.count, found.sum) == (25.0, 26.093565940856934)


def test_the_kv_tier_of_host_memory_is_counted_under_old_names_and_new() -> None:
    """0.26: nothing was loaded yet, so only the older family says so."""
    text = (ENGINE / "cuda" / "r1-compiled-offload8" / "metrics_load.txt").read_text("utf-8")

    sample = prometheus.parse(text)

    assert sample.kv_store_bytes_total == 419037184.0
    assert sample.kv_load_bytes_total == 0.0
    assert sample.kv_store_time_total_s == 0.008174911975860595
    assert sample.kv_pinned_share == 0.0
    assert sample.external_queries_total == 15840.0


def test_a_cuda_engine_without_speculation_leaves_drafts_unknown() -> None:
    """0.26 on a card; the pool is the one that its log printed."""
    text = (ENGINE / "cuda" / "r1-compiled-offload8" / "metrics_load.txt").read_text("utf-8")

    sample = prometheus.parse(text)

    assert sample.pool_tokens == 491134
    assert sample.running == 8.0
    assert sample.generation_tokens_total == 6841.0
    assert sample.requests_finished_total == 32.0
    assert sample.drafts_total is None
    assert sample.accepted_total is None


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_recorded_text_has_pool_and_load(path: Path) -> None:
    """All families that every engine has, exist in both versions."""
    sample = prometheus.parse(path.read_text(encoding="utf-8"))
    unknown = {name for name in sample.__struct_fields__ if getattr(sample, name) is None}

    assert unknown <= SOMETIMES


SOMETIMES = {
    # only with speculation
    "drafts_total", "accepted_total", "draft_tokens_total", "accepted_by_position",
    # only with a KV tier in host memory
    "kv_load_bytes_total", "kv_store_bytes_total", "kv_load_time_total_s", "kv_store_time_total_s",
    "kv_pinned_share", "kv_stores_skipped_total", "kv_allocation_failures_total",
    "kv_disk_read_bytes_total", "kv_disk_write_bytes_total",
    # only with a switch, or in later versions
    "corrupted_total", "waiting_by_fetch", "cached_tokens_by_tier", "rejected_total",
    "estimated_flops_total", "estimated_read_bytes_total", "estimated_write_bytes_total",
    "external_queries_total", "external_hits_total",
}  # fmt: skip


def _config(**labels: int) -> str:
    inside = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"vllm:cache_config_info{{{inside}}} 1.0"


def test_two_engines_are_summed_and_their_use_is_weighted() -> None:
    """Data-parallel servers have one series for each engine; the pool is all of them."""
    text = "\n".join(
        [
            'vllm:num_requests_running{engine="0",model_name="m"} 3.0',
            'vllm:num_requests_running{engine="1",model_name="m"} 4.0',
            'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5',
            'vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.1',
            _config(engine=0, block_size=16, num_gpu_blocks=10, kv_cache_size_tokens=300),
            _config(engine=1, block_size=16, num_gpu_blocks=5, kv_cache_size_tokens=100),
        ]
    )

    sample = prometheus.parse(text)

    assert sample.running == 7.0
    assert sample.pool_tokens == 400
    assert sample.blocks == 15
    assert sample.block_size == 16
    assert sample.pool_used_share == pytest.approx(0.4)


def test_use_is_a_plain_mean_where_pools_are_unknown() -> None:
    """Better than nothing, and exact for engines of one size."""
    text = 'vllm:kv_cache_usage_perc{engine="0"} 0.5\nvllm:kv_cache_usage_perc{engine="1"} 0.1\n'

    assert prometheus.parse(text).pool_used_share == pytest.approx(0.3)


def test_pool_is_blocks_times_size_where_the_engine_prints_no_tokens() -> None:
    """Engines before `kv_cache_size_tokens`."""
    text = MAIN.replace('kv_cache_size_tokens="23296",', "")

    assert prometheus.parse(text).pool_tokens == 182 * 128


@pytest.mark.parametrize(
    "value", ["NaN", "+Inf", "-Inf", "-1", "", "x", "1_0", "１", "1e999", "0x1"]
)
def test_a_value_that_is_no_number_makes_the_field_unknown(value: str) -> None:
    """Also when the other engine's value is good: half a sum is a wrong number."""
    text = (
        f'vllm:num_requests_running{{engine="0"}} {value}\n'
        'vllm:num_requests_running{engine="1"} 4.0\n'
        'vllm:num_requests_waiting{engine="0"} 2.0\n'
    )

    sample = prometheus.parse(text)

    assert sample.running is None
    assert sample.waiting == 2.0


def test_created_series_help_and_other_programs_are_ignored() -> None:
    """`…_created` are time stamps; adding one to a counter would show millions of tokens."""
    text = (
        "# HELP vllm:generation_tokens_total Number of generation tokens processed.\n"
        "# TYPE vllm:generation_tokens_total counter\n"
        'vllm:generation_tokens_total{engine="0"} 7.0\n'
        'vllm:generation_tokens_created{engine="0"} 1.79596041394e+09\n'
        "generation_tokens_total 99.0\n"
    )

    assert prometheus.parse(text) == EngineSample(generation_tokens_total=7.0)


def test_unusual_but_legal_lines_are_read() -> None:
    """No labels, a time stamp, braces and escaped quotes inside a label, Windows line ends."""
    text = (
        "vllm:num_requests_running 1\r\n"
        'vllm:num_requests_waiting{model_name="a } \\" b"} 2 1700000000000\r\n'
        'vllm:prompt_tokens_total{model_name="模型"} 1.5e+06\r\n'
    )

    sample = prometheus.parse(text)

    assert (sample.running, sample.waiting, sample.prompt_tokens_total) == (1.0, 2.0, 1_500_000.0)


LINES = [line for line in MAIN.split("\n") if line.startswith("vllm:") and "_bucket" not in line]


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    """Whatever listens on the engine's socket, the monitor goes on."""
    prometheus.parse(text)
    prometheus.parse("vllm:num_requests_running" + text)
    prometheus.parse("vllm:cache_config_info{" + text + "} 1")


@given(st.data())
def test_damaged_lines_give_numbers_or_nothing(data: st.DataObject) -> None:
    """Cut, doubled and scrambled lines: every field is None, or finite and at least 0."""
    lines = data.draw(st.lists(st.sampled_from(LINES), max_size=12))
    damaged = []
    for line in lines:
        at = data.draw(st.integers(0, len(line)))
        damaged.append(line[:at] + data.draw(st.text(max_size=4)) + line[at + 1 :])

    sample = prometheus.parse("\n".join(damaged))

    for value in msgspec.structs.asdict(sample).values():
        if isinstance(value, int | float):
            assert math.isfinite(value)
            assert value >= 0


def test_a_reading_costs_less_than_a_millisecond() -> None:
    """Goal: under 1 ms for 77 kB, once a second; the bound leaves room for a busy machine."""
    assert len(MAIN) > 77_000
    best_s = math.inf
    for _ in range(20):
        started = time.process_time()
        prometheus.parse(MAIN)
        best_s = min(best_s, time.process_time() - started)

    assert best_s < 0.002


def test_the_families_that_are_read_exist_in_the_engine() -> None:
    """A family that vLLM renames must fail here and not show as an eternal dash."""
    listed = families()
    read = {*SUMMED, *BY_LABEL, *HISTOGRAMS_READ, *MEANS, USE, CONFIG, SLEEP}

    for name in read:
        family = re.sub(r"_(sum|count)$", "", name)
        assert family.removesuffix("_total") in listed or family in listed, name


def test_every_family_of_every_version_is_read_or_left_out_on_purpose() -> None:
    """What vLLM adds has to be looked at once."""
    read = {
        re.sub(r"_(total|sum|count)$", "", name)
        for name in (*SUMMED, *BY_LABEL, *HISTOGRAMS_READ, *MEANS, USE, CONFIG, SLEEP)
    }

    for name, why in families().items():
        is_read = name in read or name.removesuffix("_total") in read
        assert is_read != bool(why), name


def families() -> dict[str, str]:
    """Return the families of vLLM 0.26 to 0.32, and why some are not read."""
    text = (ENGINE / "metrics-families.toml").read_text(encoding="utf-8")
    found: dict[str, str] = tomllib.loads(text)["families"]
    return found


def test_a_series_that_comes_twice_counts_once_or_is_not_known() -> None:
    """A proxy that joins two answers, a server that prints a family twice."""
    text = (
        'vllm:num_requests_running{engine="0"} 3.0\n'
        'vllm:num_requests_running{engine="0"} 3.0\n'
        'vllm:num_requests_waiting{engine="0"} 1.0\n'
        'vllm:num_requests_waiting{engine="0"} 2.0\n'
    )

    sample = prometheus.parse(text)

    assert (sample.running, sample.waiting) == (3.0, None)


@pytest.mark.parametrize(
    "lines",
    [
        ['le="1.0"} 3', 'le="+Inf"} 2'],
        ['le="1.0"} 3'],
        ['le="1.0"} NaN', 'le="+Inf"} 4'],
        ['le="x"} 3', 'le="+Inf"} 4'],
        ['le="NaN"} 3', 'le="+Inf"} 4'],
        ['other="1.0"} 3', 'le="+Inf"} 4'],
    ],
)
def test_a_histogram_that_contradicts_itself_is_not_known(lines: list[str]) -> None:
    """A quantile of it would be any number."""
    text = "\n".join(f"vllm:time_to_first_token_seconds_bucket{{{line}" for line in lines)

    assert prometheus.parse(text).ttft is None


def test_histograms_of_two_engines_are_summed_bound_by_bound() -> None:
    """Of a data-parallel server one sees all requests."""
    text = "\n".join(
        f'vllm:time_to_first_token_seconds_bucket{{engine="{engine}",le="{bound}"}} {count}'
        for engine, counts in ((0, (1, 4)), (1, (2, 3)))
        for bound, count in zip(("0.1", "+Inf"), counts, strict=True)
    )

    found = prometheus.parse(text).ttft

    assert found is not None
    assert (found.bounds, found.counts) == ((0.1, math.inf), (3.0, 7.0))


def test_engines_of_one_server_that_differ_have_no_common_state() -> None:
    """One sleeps, one is awake."""
    text = (
        'vllm:engine_sleep_state{engine="0",sleep_state="awake"} 1.0\n'
        'vllm:engine_sleep_state{engine="0",sleep_state="discard_all"} 0.0\n'
        'vllm:engine_sleep_state{engine="1",sleep_state="awake"} 0.0\n'
        'vllm:engine_sleep_state{engine="1",sleep_state="discard_all"} 1.0\n'
    )

    assert prometheus.parse(text).sleep_state is None


def test_a_hostile_text_costs_no_more_than_its_length() -> None:
    """Whatever listens on the socket must not be able to stall the service."""
    text = "vllm:cache_config_info{" + "a" * 200_000 + "} 1\n"
    text += "vllm:kv_cache_usage_perc{" + 50_000 * 'a="\\'

    started = time.process_time()
    prometheus.parse(text)

    assert time.process_time() - started < 0.5
