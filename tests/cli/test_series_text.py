"""Patch series and build steps, in words."""

from studio.cli import series_words as words
from studio.cli.series_text import built_text, series_text
from studio.domain.runtimes import (
    BuiltStep,
    FetchedSeries,
    SeriesSet,
    SeriesSource,
    StepState,
)

COMMIT = "ab" * 20


def test_a_series_is_listed_in_its_order_with_its_source() -> None:
    """What a person compares with the project's own list."""
    found = FetchedSeries(
        runtime="x",
        sets=(
            SeriesSet(
                title="Series",
                repository="https://example.invalid/x",
                commit=COMMIT,
                patches=("b.patch", "a.patch"),
            ),
        ),
        sources=(
            SeriesSource(
                repository="https://example.invalid/x",
                commit=COMMIT,
                words="fetched with git",
                file="/home/series/x.bundle",
                bytes=2048,
            ),
        ),
    )

    assert series_text(found).splitlines() == [
        f"Series · https://example.invalid/x at {COMMIT}",
        "   1  b.patch",
        "   2  a.patch",
        "",
        f"fetched with git, 2.0 KiB. {words.KEPT.format(file='/home/series/x.bundle')}",
    ]


def test_a_runtime_without_a_series_says_so() -> None:
    """Most have none."""
    assert series_text(FetchedSeries(runtime="cpu")) == words.NO_SERIES.format(name="cpu")


def test_a_step_that_fell_back_says_why_and_what_it_costs() -> None:
    """The cost is what a person decides by."""
    step = BuiltStep(
        name="xgrammar",
        title="xgrammar from source",
        state=StepState.FELL_BACK,
        reason="compiler: gcc was not found.",
        fallback="the released one",
        cost="7 tok/s",
        definition="d",
    )

    assert built_text(step) == (
        "xgrammar from source: not built; compiler: gcc was not found; "
        "instead: the released one; cost: 7 tok/s."
    )


def test_a_step_that_was_built_says_with_what() -> None:
    """Two machines that differ differ here."""
    step = BuiltStep(
        name="x",
        title="Kernel",
        state=StepState.BUILT,
        tools={"nvcc": "/cuda/bin/nvcc (13.0.88)"},
        log="steps/x.log",
        seconds=75.0,
        definition="d",
    )

    text = built_text(step)

    assert text.startswith("Kernel: built in 1 min")
    assert text.endswith("; nvcc: /cuda/bin/nvcc (13.0.88); log: steps/x.log.")
