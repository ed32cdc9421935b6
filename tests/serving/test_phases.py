"""Boot phases, read from every recorded boot."""

import re
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from studio.domain.server import BootPhase
from studio.serving import phases
from tests.fakes import recordings

BOOTS = recordings.boots()
EAGER = [
    BootPhase.CONFIG,
    BootPhase.ENGINE,
    BootPhase.WEIGHTS,
    BootPhase.KV_CACHE,
    BootPhase.SERVER,
    BootPhase.FIRST_TOKEN,
]


def walk(path: Path) -> tuple[list[BootPhase], dict[str, int | float | str]]:
    """Return the phases in the order in which they were announced, and all facts."""
    seen: list[BootPhase] = []
    facts: dict[str, int | float | str] = {}
    reader = phases.Reader()
    for line in recordings.lines(path):
        sign = reader.read(line)
        if sign is None:
            continue
        facts.update(sign.facts)
        if sign.phase is not None and (not seen or seen[-1] is not sign.phase):
            seen.append(sign.phase)
    return seen, facts


@pytest.mark.parametrize(
    "path", [*BOOTS, *sorted((recordings.ENGINE / "cuda-0.32").glob("*.log"))],
    ids=recordings.name_of,
)  # fmt: skip
def test_phases_come_in_order_and_each_once(path: Path) -> None:
    """A progress bar that jumps back, or a phase entered twice, would look like a restart."""
    seen, _facts = walk(path)

    assert seen == sorted(set(seen), key=phases.ORDER.index)
    assert set(EAGER) <= set(seen)


@pytest.mark.parametrize("path", BOOTS, ids=recordings.name_of)
def test_pool_tokens_are_the_printed_ones(path: Path) -> None:
    """The pool is the product's first number; it must be the engine's own, to the token."""
    printed = re.search(r"KV cache size: ([\d,]+) tokens", path.read_text(encoding="utf-8"))
    assert printed is not None

    _seen, facts = walk(path)

    assert facts["pool_tokens"] == int(printed[1].replace(",", ""))
    assert facts["startup_complete"] == 1
    assert isinstance(facts["init_s"], float)
    assert facts["engine_version"] == ("0.26.0" if path.stem == "boot" else "0.32.0")


def test_facts_of_a_cpu_boot_are_complete() -> None:
    """These feed the forecast and the status line."""
    _seen, facts = walk(recordings.ENGINE / "boot" / "smollm2-f32-eager.log")

    assert facts == {
        "engine_version": "0.32.0",
        "max_model_len": 4096,
        "checkpoint_gib": 0.25,
        "weights_s": 0.71,
        "kv_gib": 2.0,
        "pool_tokens": 46592,
        "max_concurrency": 11.38,
        "init_s": 4.76,
        "startup_complete": 1,
        "is_eager": 1,
    }


def test_facts_of_a_compiled_cuda_boot_are_complete() -> None:
    """0.26 prints the pool and the concurrency on two lines, and graphs after the pool."""
    seen, facts = walk(recordings.ENGINE / "cuda" / "r1-compiled-offload8" / "boot.log")

    assert BootPhase.COMPILE in seen
    assert BootPhase.GRAPHS in seen
    assert BootPhase.WARM_UP in seen
    assert facts["weights_gib"] == 49.77
    assert facts["compile_s"] == 44.85
    assert facts["kv_gib"] == 31.13
    assert facts["max_concurrency"] == 7.49
    assert facts["graphs_s"] == 5.0
    assert facts["init_s"] == 159.08


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "w1-pinned.log",
            {"pool_tokens": 81_727, "blocks": 212, "block_tokens": 400, "kv_bytes": 5_557_452_800},
        ),
        (
            "w2-unpinned.log",
            {
                "pool_tokens": 528_914,
                "activation_peak_bytes": 265_017_344,
                "non_torch_bytes": 241_172_480,
            },
        ),
        (
            "w3-compiled.log",
            {
                "pool_tokens": 493_062,
                "activation_peak_bytes": 2_522_877_952,
                "graph_pool_bytes": 71_303_168,
            },
        ),
        ("w4-tp2-killed.log", {"pool_tokens": 163_840, "weights_bytes": 53_614_404_608}),
    ],
)
def test_a_patched_engine_on_cards_tells_its_ledger(name: str, expected: dict[str, int]) -> None:
    """Recorded on H200 with our patches: what the next plan is calibrated with."""
    seen, facts = walk(recordings.ENGINE / "cuda-0.32" / name)

    assert {key: facts[key] for key in expected} == expected
    assert facts["engine_version"] == "0.32.0"
    assert (BootPhase.COMPILE in seen) == (name == "w3-compiled.log")


def test_the_pool_line_corrects_the_length_that_a_drafter_printed() -> None:
    """A draft model prints its own length after the model's."""
    draft = phases.read(
        "(APIServer pid=1) INFO 11-29 13:49:23 [model.py:1788] Using max model len 262144"
    )
    pool = phases.read(
        "(EngineCore pid=2) INFO 11-29 13:54:21 [kv_cache_utils.py:2327] CPU KV cache size: 23,296"
        " tokens, Maximum concurrency for 2,048 tokens per request: 11.38x"
    )

    assert draft is not None
    assert draft.facts["max_model_len"] == 262144
    assert pool is not None
    assert pool.facts["max_model_len"] == 2048


@pytest.mark.parametrize(
    ("line", "phase", "share"),
    [
        (
            "Loading safetensors checkpoint shards:  33% Completed | 1/3 [00:00<00:00,  1.43it/s]",
            BootPhase.WEIGHTS,
            1 / 3,
        ),
        (
            "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  40%|████      | 2/5 [00:00",
            BootPhase.GRAPHS,
            0.4,
        ),
        (
            "Capturing CUDA graphs (decode, FULL): 100%|██████████| 4/4 [00:00<00:00,  4.42it/s]",
            BootPhase.GRAPHS,
            1.0,
        ),
        ("Loading safetensors checkpoint shards: 0% Completed | 0/0 [", BootPhase.WEIGHTS, None),
    ],
)
def test_progress_bars_give_a_share(line: str, phase: BootPhase, share: float | None) -> None:
    """Weights and graphs are the only phases for which the engine says how far it is."""
    sign = phases.read(line)

    assert sign is not None
    assert sign.phase is phase
    assert sign.share == pytest.approx(share)


REFERENCES = tomllib.loads(
    (recordings.ENGINE / "phases" / "reference-lines.toml").read_text(encoding="utf-8")
)["lines"]


@pytest.mark.parametrize("case", REFERENCES, ids=lambda case: case["source"][:40])
def test_lines_that_only_the_references_give_are_read(case: dict[str, Any]) -> None:
    """Cards and loaders that this project cannot record."""
    sign = phases.read(case["line"])

    assert sign is not None
    assert sign.phase == case["phase"]
    assert sign.share == pytest.approx(case["share"]) if "share" in case else sign.share is None
    assert dict(sign.facts) == case.get("facts", {})


@pytest.mark.parametrize(
    ("name", "is_cold", "is_eager"),
    [
        ("boot/smollm2-bf16-compile-cold.log", True, False),
        ("boot/tiny-compile-cold.log", True, False),
        # Its cache was there and could not be loaded: it compiled again, and took as long.
        ("boot/tiny-compile-warm.log", True, False),
        ("boot/smollm2-f32-eager.log", None, True),
        ("cuda/r1-compiled-offload8/boot.log", True, False),
        ("cuda-0.32/w3-compiled.log", True, False),
        ("cuda-0.32/w2-unpinned.log", None, True),
    ],
)
def test_the_log_says_whether_a_boot_compiled(
    name: str, is_cold: bool | None, is_eager: bool
) -> None:
    """Cold or warm is the first thing to know of a time or a pool."""
    _seen, facts = walk(recordings.ENGINE / name)

    assert phases.is_cold(facts) is is_cold
    assert bool(facts.get("is_eager")) is is_eager
    assert ("compile_cache" in facts) is (is_cold is True)


@pytest.mark.parametrize(
    ("facts", "is_cold"),
    [
        ({}, None),
        ({"cache_loaded": 1}, False),
        ({"saved": 1}, True),
        # Kernels came from the cache; only what binds them was written anew.
        ({"cache_loaded": 1, "saved": 1}, False),
        ({"cache_loaded": 1, "compiled": 1}, True),
        ({"cache_off": 1}, True),
    ],
)
def test_one_kernel_made_anew_makes_a_boot_cold(
    facts: dict[str, int], is_cold: bool | None
) -> None:
    """An engine may load one part and compile the other, which takes as long as all."""
    assert phases.is_cold(facts) is is_cold


def test_graphs_that_are_captured_before_the_pool_are_part_of_the_trial_run() -> None:
    """vLLM 0.32 captures twice; a bar that jumps back looks like a restart."""
    reader = phases.Reader()
    first = reader.read("Capturing CUDA graphs (FULL): 100%|##########| 2/2 [00:00<00:00, 10it/s]")
    done = reader.read(
        "(EngineCore pid=7) INFO 11-29 19:59:48 [m.py:1] Graph capturing finished in 5 secs, "
        "took 0.14 GiB"
    )
    reader.read("(EngineCore pid=7) INFO 11-29 19:59:49 [k.py:2] GPU KV cache size: 493,062 tokens")
    second = reader.read("Capturing CUDA graphs (FULL):  50%|#####     | 2/4 [00:00<00:00, 8it/s]")

    assert first is not None
    assert done is not None
    assert second is not None
    assert (first.phase, first.share) == (BootPhase.PROFILE, 1.0)
    assert done.phase is BootPhase.PROFILE
    assert (second.phase, second.share) == (BootPhase.GRAPHS, 0.5)


@pytest.mark.parametrize(
    "line",
    [
        "",
        'INFO:     127.0.0.1:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
        "(APIServer pid=1) INFO 11-29 13:00:00 [l.py:1] Received a: 'GPU KV cache size: 9 tokens'",
        "user said: Application startup complete.",
        "(Worker pid=1) WARNING 11-29 13:00:00 [a.py:1] No more graph memory for the compilation",
        "KV cache size: many tokens",
        "Using max model len of something",
    ],
)
def test_a_message_counts_only_at_the_beginning_of_its_line(line: str) -> None:
    """A logged prompt must not be able to move the progress bar or change the pool."""
    assert phases.read(line) is None


def test_the_ledger_wins_over_prose_that_comes_later() -> None:
    """Workers speak out of step, and a draft model prints a length of its own."""
    document = '{"schema_version":1,"pool_tokens":23296,"max_model_len":2048,"blocks":null}'
    known = phases.Known()
    for line in (
        "(APIServer pid=1) INFO 11-29 13:49:23 [model.py:1788] Using max model len 262144",
        f"(EngineCore pid=2) INFO 11-29 13:54:21 [boot_ledger.py:45] WEIR_LEDGER {document}",
        "(APIServer pid=1) INFO 11-29 13:54:23 [model.py:1788] Using max model len 4096",
    ):
        sign = phases.read(line)
        assert sign is not None
        known.learn(sign)

    assert known.whole("max_model_len") == 2048
    assert known.whole("pool_tokens") == 23_296
    assert known.whole("blocks") is None
    assert known.whole("max_concurrency") is None


def test_prose_is_enough_for_an_engine_without_a_ledger() -> None:
    """Runtimes without our series, and the recordings."""
    known = phases.Known()
    for line in recordings.lines(recordings.ENGINE / "boot" / "smollm2-f32-eager.log"):
        sign = phases.read(line)
        if sign is not None:
            known.learn(sign)

    assert known.whole("pool_tokens") == 46_592
    assert known.whole("kv_gib") is None


def test_phase_order_keeps_the_latest() -> None:
    """Workers speak out of step; the shown phase never goes back."""
    assert phases.is_later(BootPhase.CONFIG, None)
    assert phases.is_later(BootPhase.SERVER, BootPhase.WEIGHTS)
    assert not phases.is_later(BootPhase.WEIGHTS, BootPhase.SERVER)
    assert not phases.is_later(BootPhase.SERVER, BootPhase.SERVER)


def test_lines_that_say_nothing_cost_next_to_nothing() -> None:
    """An engine that logs 100,000 lines a second must not stall the service.

    Goal: 200,000 lines a second; a quarter of it here, since the test machine is shared.
    """
    line = (
        '(EngineCore pid=2709) ERROR 11-29 13:47:36 [core.py:1330]   File "/srv/runtime/site-'
        'packages/vllm/v1/core/kv_cache_utils.py", line 778, in _check_enough_kv_cache_memory'
    )

    started = time.process_time()
    for _ in range(20_000):
        phases.read(line)
    lines_per_s = 20_000 / (time.process_time() - started)

    assert lines_per_s > 50_000
