"""Which of the engine's metric families go where in an `EngineSample`. Pure data.

Source: vLLM 0.26 to 0.32, v1/metrics/loggers.py, v1/spec_decode/metrics.py, v1/metrics/perf.py,
distributed/kv_transfer/kv_connector/v1/offloading/metrics.py and v1/kv_offload/.
"""

from collections.abc import Mapping

PREFIX = "vllm:"
USE = "vllm:kv_cache_usage_perc"
CONFIG = "vllm:cache_config_info"
SLEEP = "vllm:engine_sleep_state"
SLEEP_LABEL = "sleep_state"

SUMMED: Mapping[str, str] = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:prompt_tokens_total": "prompt_tokens_total",
    "vllm:generation_tokens_total": "generation_tokens_total",
    "vllm:prompt_tokens_cached_total": "cached_prompt_tokens_total",
    "vllm:prefix_cache_queries_total": "prefix_queries_total",
    "vllm:prefix_cache_hits_total": "prefix_hits_total",
    "vllm:external_prefix_cache_queries_total": "external_queries_total",
    "vllm:external_prefix_cache_hits_total": "external_hits_total",
    "vllm:mm_cache_queries_total": "multimodal_queries_total",
    "vllm:mm_cache_hits_total": "multimodal_hits_total",
    "vllm:num_preemptions_total": "preemptions_total",
    "vllm:request_success_total": "requests_finished_total",
    "vllm:admission_rejections_total": "rejected_total",
    "vllm:corrupted_requests_total": "corrupted_total",
    "vllm:time_to_first_token_seconds_sum": "ttft_sum_s",
    "vllm:time_to_first_token_seconds_count": "ttft_count",
    "vllm:inter_token_latency_seconds_sum": "itl_sum_s",
    "vllm:inter_token_latency_seconds_count": "itl_count",
    "vllm:spec_decode_num_drafts_total": "drafts_total",
    "vllm:spec_decode_num_draft_tokens_total": "draft_tokens_total",
    "vllm:spec_decode_num_accepted_tokens_total": "accepted_total",
    "vllm:kv_offload_load_bytes_total": "kv_load_bytes_total",
    "vllm:kv_offload_store_bytes_total": "kv_store_bytes_total",
    "vllm:kv_offload_load_time_total": "kv_load_time_total_s",
    "vllm:kv_offload_store_time_total": "kv_store_time_total_s",
    "vllm:kv_offload_stores_skipped_total": "kv_stores_skipped_total",
    "vllm:kv_offload_allocation_failure_total": "kv_allocation_failures_total",
    "vllm:kv_offload_tiering_read_bytes_total": "kv_disk_read_bytes_total",
    "vllm:kv_offload_tiering_write_bytes_total": "kv_disk_write_bytes_total",
    "vllm:estimated_flops_per_gpu_total": "estimated_flops_total",
    "vllm:estimated_read_bytes_per_gpu_total": "estimated_read_bytes_total",
    "vllm:estimated_write_bytes_per_gpu_total": "estimated_write_bytes_total",
}
"""Summed over all series of the family."""

MEANS: Mapping[str, str] = {"vllm:kv_offload_cpu_cache_usage_perc": "kv_pinned_share"}
"""Shares: the mean over engines."""

BY_LABEL: Mapping[str, tuple[str, str]] = {
    "vllm:num_requests_waiting_by_reason": ("waiting_by_reason", "reason"),
    "vllm:num_requests_kv_fetch_by_stage": ("waiting_by_fetch", "stage"),
    "vllm:request_success_total": ("finished_by_reason", "finished_reason"),
    "vllm:prompt_tokens_by_source_total": ("prompt_tokens_by_source", "source"),
    "vllm:prompt_tokens_cached_by_source_total": ("cached_tokens_by_tier", "source"),
    "vllm:spec_decode_num_accepted_tokens_per_pos_total": ("accepted_by_position", "position"),
    "vllm:kv_offload_total_bytes_total": ("kv_bytes_by_direction", "transfer_type"),
    "vllm:kv_offload_total_time_total": ("kv_time_by_direction", "transfer_type"),
}
"""Summed for each value of one label."""

HISTOGRAMS: Mapping[str, str] = {
    "vllm:time_to_first_token_seconds": "ttft",
    "vllm:inter_token_latency_seconds": "itl",
    "vllm:e2e_request_latency_seconds": "end_to_end",
    "vllm:request_queue_time_seconds": "queue",
    "vllm:request_prefill_time_seconds": "prefill",
    "vllm:request_decode_time_seconds": "decode",
    "vllm:request_time_per_output_token_seconds": "time_per_output_token",
    "vllm:iteration_tokens_total": "iteration_tokens",
}
"""Whole histograms, summed bound by bound."""

OLDER: Mapping[str, tuple[str, str]] = {
    "kv_load_bytes_total": ("kv_bytes_by_direction", "CPU_to_GPU"),
    "kv_store_bytes_total": ("kv_bytes_by_direction", "GPU_to_CPU"),
    "kv_load_time_total_s": ("kv_time_by_direction", "CPU_to_GPU"),
    "kv_store_time_total_s": ("kv_time_by_direction", "GPU_to_CPU"),
}
"""Families of before the present names, which stay away until there is something to count."""
