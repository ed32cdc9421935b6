"""The speed in words."""

import textwrap
from collections.abc import Iterator

from studio.cli import speed_words as words
from studio.cli.console import plain
from studio.cli.render import labelled, table
from studio.domain.speed import KeySpeed, SpeedReport
from studio.domain.units import UNKNOWN, latency_text, percent_text, rate_text

_LABEL = 18


def speed_text(speed: SpeedReport, width: int) -> str:
    """Return the verdict, the figures, and what each key got."""
    if speed.running is None and speed.preset is None:
        return words.NOTHING_SERVES
    text = labelled(_pairs(speed, max(40, min(width, 100) - _LABEL)))
    if not speed.keys:
        return text
    return f"{text}\n\n{table([words.HEADINGS, *(_row(one) for one in speed.keys)])}"


def _pairs(speed: SpeedReport, width: int) -> Iterator[tuple[str, str]]:
    for line in textwrap.wrap(speed.verdict.sentence, width, break_on_hyphens=False):
        yield words.LABEL_VERDICT, line
    yield words.LABEL_DECODE, _decode(speed)
    if speed.prefill_tokens_per_s is not None:
        yield words.LABEL_PREFILL, rate_text(speed.prefill_tokens_per_s)
    if speed.step_s is not None:
        time = f"{speed.step_s * 1e3:.1f} ms"
        if speed.tokens_per_step is None:
            yield words.LABEL_STEP, words.STEP.format(time=time)
        else:
            tokens = f"{speed.tokens_per_step:.2f}"
            yield words.LABEL_STEP, words.STEP_TOKENS.format(time=time, tokens=tokens)
    if speed.acceptance:
        shares = " · ".join(percent_text(one) for one in speed.acceptance)
        yield words.LABEL_GUESSES, words.GUESSES.format(shares=shares)
    for label, p50, p95 in (
        (words.LABEL_TTFT, speed.ttft_p50_s, speed.ttft_p95_s),
        (words.LABEL_ITL, speed.itl_p50_s, speed.itl_p95_s),
    ):
        if p50 is not None:
            yield label, words.PERCENTILES.format(p50=_time(p50), p95=_time(p95))
    if speed.card is not None:
        yield words.LABEL_CARD, speed.card
    figure = speed.verdict.figure
    if figure is not None:
        yield words.LABEL_SOURCE, f"{rate_text(figure.decode_tokens_per_s)}: {figure.source}"


def _decode(speed: SpeedReport) -> str:
    rate = rate_text(speed.decode_tokens_per_s)
    if speed.decode_tokens_per_s_each is None or (speed.running or 0) < 2:
        return words.DECODE.format(rate=rate)
    each = rate_text(speed.decode_tokens_per_s_each)
    return words.DECODE_EACH.format(rate=rate, each=each, count=speed.running)


def _row(one: KeySpeed) -> tuple[str, ...]:
    return (
        plain(one.key),
        f"{one.requests:,}",
        f"{one.generated_tokens:,}",
        latency_text(one.ttft_p50_s),
        latency_text(one.ttft_p95_s),
        UNKNOWN if one.tok_s_p50 is None else f"{one.tok_s_p50:.1f}",
        UNKNOWN if one.tok_s_p5 is None else f"{one.tok_s_p5:.1f}",
    )


def _time(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else latency_text(seconds)
