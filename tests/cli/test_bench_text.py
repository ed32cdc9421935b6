"""Runs of the bench as people read them."""

import msgspec

from studio.benchmark.summary import summary
from studio.cli.bench_text import comparison_text, progress_text, report_text, runs_text
from studio.domain.bench import BenchProgress, BenchReport, BenchRuns
from tests.benchmark.samples import part, result
from tests.cli.bench_samples import EMPTY, NOW, REPORT, THEN


def test_a_report_says_what_was_measured_on_what_and_what_it_means() -> None:
    """Figures without card, power and runtime are gossip."""
    shown = report_text(REPORT)

    for words in (
        "27b-dflash2 on NVIDIA GeForce RTX 3090, 2026-11-29",
        "cu13-hyperqwen-0.31.0",
        "draft_tokens=7",
        "68,605 tokens",
        "– of 350 W",
        "decode-4 *",
        "8,190 at 1,210/s",
        "156 at",
        "Not measured",
        "it needs a context of 50,161 tokens",
        "Compared with the run of 2026-11-29 10:00 (20261129-100000)",
        "then 120 tok/s: 26 % less; a step takes longer (35.0 ms, then 25.0 ms)",
        "Compared with published: RTX 3090 at 250 W, Linux (HyperQwen, speed)",
        "It was published at 250 W; the limit here is 350 W.",
        "/home/ada/weir-studio/bench/20261129-120000.json",
    ):
        assert words in shown.replace("\n    ", " "), words


def test_a_report_fits_eighty_columns() -> None:
    """A table that wraps cannot be read; a path may be longer by itself."""
    lines = [line for line in report_text(REPORT).splitlines() if "/home/" not in line]

    assert max(map(len, lines)) <= 90
    sentences = [line for line in lines if line.startswith("  ") and "decode" not in line]
    assert max(map(len, sentences)) <= 80


def test_a_partial_run_says_why_it_ended() -> None:
    """Half a table must not pass for a whole one."""
    partial = BenchReport(result=msgspec.structs.replace(NOW, partial="It was stopped."))

    assert "Partial     It was stopped." in report_text(partial)


def test_a_run_without_a_card_or_figures_is_shown_too() -> None:
    """Unknown is a dash."""
    bare = result(
        part("decode-1", **dict.fromkeys(("decode_tokens_per_s", "step_s", "prompt_tokens"))),
        cards=(),
        processor=None,
        runtime=None,
    )

    shown = report_text(BenchReport(result=bare))

    assert "27b-dflash2 on –," in shown
    assert "–" in shown.splitlines()[-1]
    assert report_text(BenchReport(result=result()))


def test_what_is_the_same_is_one_line() -> None:
    """Ten times "the same" hides the one that is not."""
    same = msgspec.structs.replace(
        REPORT.comparisons[0],
        differences=tuple(
            one for one in REPORT.comparisons[0].differences if one.verdict.value == "same"
        ),
        notes=(),
    )

    shown = comparison_text(same)

    assert "No figure differs by more than the noise:" in shown
    nothing = comparison_text(msgspec.structs.replace(same, differences=()))
    assert "No figure of both could be compared." in nothing


def test_progress_is_one_line_with_part_and_time() -> None:
    """It is replaced in place on a terminal."""
    shown = progress_text(
        BenchProgress(id="x", part="Prefill of 8k", done=5, total=6, elapsed_s=61.0, limit_s=105.0)
    )

    assert shown == "Prefill of 8k · part 6 of 6 · 1 min 01 s of 1 min 45 s at most"


def test_the_list_shows_the_newest_first_with_marks() -> None:
    """What is partial or disturbed is seen before its figures are believed."""
    runs = BenchRuns(runs=(summary(THEN), summary(NOW)), damaged=("x.json cannot be read",))

    lines = runs_text(runs, None).splitlines()

    assert lines[1].startswith("20261129-120000")
    assert "disturbed" in lines[1]
    assert lines[2].startswith("20261129-100000")
    assert lines[3] == "Cannot be read: x.json cannot be read"
    assert runs_text(EMPTY, None) == "No run is kept. `weir bench` makes one."
    assert "27b" in runs_text(EMPTY, "27b")
