"""Runs of the bench for the command line's tests."""

from studio.benchmark.against_published import with_published
from studio.benchmark.compare import with_earlier
from studio.domain.bench import BenchReport, BenchRuns
from studio.domain.manifests import Expected
from tests.benchmark.samples import part, result

NOW = result(
    part("decode-1", decode_tokens_per_s=88.4, step_s=0.035),
    part("decode-4", total_tokens_per_s=240.0, is_disturbed=True),
    part("prefill-8k", prompt_tokens=8_190, prefill_tokens_per_s=1_210.0),
    part("turns-later", prompt_tokens=6_300, cached_tokens=6_144, ttft_p50_s=0.14),
    id="20261129-120000",
    at="2026-11-29T12:00:00+00:00",
    left_out=("Prefill of 50k: it needs a context of 50,161 tokens, 32,768 are served.",),
    notes=("Other requests ran at the same time: parts marked * are off.",),
    overrides={"draft_tokens": "7"},
)
THEN = result(part("decode-1"), part("prefill-8k"), id="20261129-100000")
PUBLISHED = Expected(
    card="RTX 3090 at 250 W, Linux", decode_tokens_per_s=121.8, source="HyperQwen, speed"
)
REPORT = BenchReport(
    result=NOW,
    comparisons=(with_earlier(NOW, THEN, 0.05), *with_published(NOW, (PUBLISHED,), 0.05)),
    path="/home/ada/weir-studio/bench/20261129-120000.json",
)
EMPTY = BenchRuns()
