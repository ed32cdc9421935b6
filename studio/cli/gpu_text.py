"""What the cards do, as text. Pure. Lines fit 80 columns unless a name is longer by itself."""

from collections.abc import Iterator

from studio.cli import gpu_words, words
from studio.cli.console import plain
from studio.cli.render import cut, table
from studio.domain.cards import CardSample, CardsReading
from studio.domain.units import UNKNOWN, bytes_text, percent_text

_NAME_WIDTH = 24
_MOST_PROCESSES = 8
_INDENT = "   "


def gpus_text(reading: CardsReading, width: int | None) -> str:
    """Return a table of the cards; below each row what is out of the ordinary, and who is on it."""
    parts = []
    if reading.cards:
        rows = [gpu_words.HEADINGS, *(_row(card) for card in reading.cards)]
        heading, *lines = table(rows, width).split("\n")
        parts.append(heading)
        for card, line in zip(reading.cards, lines, strict=True):
            parts.append(line)
            parts += [_INDENT + text for text in _below(card)]
    elif reading.cards is None:
        parts.append(gpu_words.NOT_KNOWN)
    if reading.note is not None:
        parts.append(reading.note)
    elif reading.cards == ():
        parts.append(gpu_words.NO_CARDS)
    return "\n".join(part if width is None else cut(part, width) for part in parts)


def _row(card: CardSample) -> tuple[str, ...]:
    used, total = bytes_text(card.memory_used_bytes), bytes_text(card.memory_total_bytes)
    return (
        str(card.index),
        cut(plain(card.name).removeprefix("NVIDIA "), _NAME_WIDTH),
        words.of_total(used, total),
        percent_text(card.utilisation_share),
        percent_text(card.controller_share),
        _power(card),
        _with_unit(card.temperature_c, gpu_words.DEGREES, "degrees"),
        _with_unit(card.sm_clock_mhz, gpu_words.MEGAHERTZ, "clock"),
    )


def _below(card: CardSample) -> Iterator[str]:
    why = "; ".join(plain(fault) for fault in card.faults)
    if card.is_lost:
        yield gpu_words.LOST.format(why=why or gpu_words.LOST_WITHOUT_WORDS)
    elif why:
        yield gpu_words.FAULT.format(why=why)
    if card.throttle:
        reasons = [gpu_words.REASONS.get(name, name) for name in card.throttle]
        yield gpu_words.SLOWED.format(reasons=", ".join(dict.fromkeys(reasons)))
    if card.ecc_uncorrected:
        yield gpu_words.ERRORS.format(count=f"{card.ecc_uncorrected:,}")
    if card.pcie_rx_bytes_per_s is not None or card.pcie_tx_bytes_per_s is not None:
        yield gpu_words.LINK.format(
            received=bytes_text(card.pcie_rx_bytes_per_s), sent=bytes_text(card.pcie_tx_bytes_per_s)
        )
    listed = card.processes or ()
    for one in listed[:_MOST_PROCESSES]:
        name = plain(one.name or UNKNOWN)
        if one.is_graphics:
            name = f"{name} ({gpu_words.DRAWS})"
        yield gpu_words.PROCESS.format(pid=one.pid, name=name, held=bytes_text(one.bytes))
    if len(listed) > _MOST_PROCESSES:
        yield gpu_words.MORE_PROCESSES.format(count=len(listed) - _MOST_PROCESSES)


def _power(card: CardSample) -> str:
    if card.power_w is None and card.power_limit_w is None:
        return UNKNOWN
    drawn, limit = (
        UNKNOWN if watts is None else f"{watts:.0f}" for watts in (card.power_w, card.power_limit_w)
    )
    return gpu_words.WATTS.format(drawn=drawn, limit=limit)


def _with_unit(value: int | None, form: str, name: str) -> str:
    return UNKNOWN if value is None else form.format(**{name: value})
