"""The history of boots as text, pure; its words stand in `boot_words`."""

import textwrap
from collections.abc import Iterable

from studio.cli import boot_words, words
from studio.cli.render import READABLE_WIDTH, moment_text
from studio.domain.boots import BootHistory, BootOutcome, BootRecord, BootTry
from studio.domain.server import BootPhase
from studio.domain.units import duration_text, tokens_text

_SEPARATOR = " · "
_INDENT = "  "
_ID_SHOWN = 12
_TIED = "\u00a0"
"""Stands for a blank at which no line may end."""
_LEAST_SHOWN_S = 0.05
_PHASES = {phase.value: phase for phase in BootPhase}


def history_text(history: BootHistory, preset: str | None, width: int = READABLE_WIDTH) -> str:
    """Return the boots, the newest first."""
    if not history.boots:
        return boot_words.NONE if preset is None else boot_words.NONE_OF.format(preset=preset)
    return "\n\n".join(_block(record, width) for record in reversed(history.boots))


def _block(record: BootRecord, width: int) -> str:
    lines = [_tied([f"{moment_text(record.at)}  {record.preset}", *_how(record)])]
    runtime = words.runtime_text(record.runtime, record.runtime_id[:_ID_SHOWN])
    pool = boot_words.POOL.format(tokens=tokens_text(record.pool_tokens))
    is_served = record.outcome is BootOutcome.SERVED
    lines.append(_tied([runtime, pool] if is_served else [runtime]))
    lines += [phases_text(record), *record.why]
    wrapped: list[str] = []
    for number, line in enumerate(filter(None, lines)):
        indent = _INDENT if number else ""
        wrapped += textwrap.wrap(
            line, width, initial_indent=indent, subsequent_indent=_INDENT * 2,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(wrapped).replace(_TIED, " ")


def _tied(pieces: Iterable[str]) -> str:
    """Return pieces side by side; a line may end between them only."""
    return _SEPARATOR.join(piece.replace(" ", _TIED) for piece in pieces)


def _how(record: BootRecord) -> list[str]:
    pieces = [temperature_text(record)]
    match record.outcome:
        case BootOutcome.SERVED:
            pieces.append(boot_words.SERVED.format(time=duration_text(record.boot_s)))
            if record.forecast_s is not None:
                pieces.append(boot_words.FORECAST.format(time=duration_text(record.forecast_s)))
        case BootOutcome.FAILED if record.error is not None:
            pieces.append(boot_words.FAILED.format(code=record.error))
        case BootOutcome.FAILED:
            pieces.append(boot_words.FAILED_UNKNOWN)
        case BootOutcome.STOPPED:
            pieces.append(boot_words.STOPPED)
    if record.attempt is not BootTry.FIRST:
        pieces.append(boot_words.TRIES[record.attempt.value])
    return pieces


def temperature_text(record: BootRecord) -> str:
    """Return whether a boot was cold or warm, and whether that is certain."""
    if record.is_cold is None:
        return boot_words.UNKNOWN_TEMPERATURE
    word = boot_words.COLD if record.is_cold else boot_words.WARM
    return word if record.is_cold_certain else boot_words.GUESSED.format(word=word)


def phases_text(record: BootRecord) -> str:
    """Return the phases that took time, in order: `loading weights 1.2 s · compiling 44.0 s`."""
    return _tied(
        boot_words.PHASE.format(
            phase=boot_words.PHASES[_PHASES[name]] if name in _PHASES else name,
            time=duration_text(seconds),
        )
        for name, seconds in record.phases_s.items()
        if seconds >= _LEAST_SHOWN_S
    )
