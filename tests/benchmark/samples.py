"""Answers, parts and runs for tests."""

from pathlib import Path
from typing import Any

from studio.benchmark.answer import Answer
from studio.benchmark.load import Load
from studio.domain.bench import BenchCard, BenchKind, BenchPart, BenchResult
from studio.host.documents import read_toml
from studio.host.paths import bundled_root

LOAD: Load = read_toml(bundled_root() / "presets/bench/load.toml", Load)
GIB = 1 << 30


def answer(
    sent_s: float = 0.0,
    *,
    ttft_s: float = 0.5,
    tokens: int = 11,
    gap_s: float = 0.1,
    tokens_per_piece: int = 1,
    prompt_tokens: int | None = 100,
    cached_tokens: int | None = 0,
) -> Answer:
    """Return an answer whose pieces come at a pace."""
    count = 1 + (tokens - 1) // tokens_per_piece
    pieces = tuple(sent_s + ttft_s + gap_s * number for number in range(count))
    return Answer(
        sent_s=sent_s,
        pieces_s=pieces,
        last_s=pieces[-1],
        prompt_tokens=prompt_tokens,
        cached_tokens=cached_tokens,
        generated_tokens=tokens,
    )


def card(name: str = "NVIDIA GeForce RTX 3090", **more: Any) -> BenchCard:
    """Return a card of 24 GiB at 350 W."""
    return BenchCard(
        **{"name": name, "uuid": "GPU-1", "memory_bytes": 24 * GIB, "power_limit_w": 350.0, **more}
    )


def part(name: str = "decode-1", **more: Any) -> BenchPart:
    """Return a part with usual figures."""
    kind, _, streams = name.partition("-")
    known = {
        "name": name,
        "kind": BenchKind(kind),
        "streams": int(streams) if kind == "decode" else 1,
        "requests": 1,
        "prompt_tokens": 100,
        "cached_tokens": 0,
        "generated_tokens": 256,
        "decode_tokens_per_s": 120.0,
        "total_tokens_per_s": 120.0,
        "prefill_tokens_per_s": 1_200.0,
        "ttft_p50_s": 0.2,
        "ttft_p95_s": 0.3,
        "itl_p50_s": 0.02,
        "itl_p95_s": 0.03,
        "tokens_per_step": 3.0,
        "step_s": 0.025,
        "took_s": 3.0,
    }
    return BenchPart(**{**known, **more})


def result(*parts: BenchPart, **more: Any) -> BenchResult:
    """Return a run of a 27B preset on one 3090."""
    known: dict[str, Any] = {
        "id": "20261129-100000",
        "at": "2026-11-29T10:00:00+00:00",
        "took_s": 61.0,
        "preset": "27b-dflash2",
        "preset_digest": "d1",
        "served_name": "qwen",
        "runtime": "cu13-hyperqwen-0.31.0",
        "runtime_id": "r1",
        "cards_key": "GPU-1",
        "cards": (card(),),
        "processor": "AMD EPYC 7B13",
        "processors": 2,
        "system": "Linux",
        "driver": "580.1",
        "pool_tokens": 68_605,
        "max_model_len": 65_536,
        "load": LOAD.digest(is_quick=False),
        "salt": "s",
        "parts": parts,
    }
    return BenchResult(**{**known, **more})


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
