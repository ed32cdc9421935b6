"""Cards as `weir top` shows them. Pure."""

from studio.cli import top_words as words
from studio.cli.cells import Line, Span, columns, line
from studio.domain.cards import CardSample
from studio.domain.units import GIB, UNKNOWN, bytes_text, percent_text

_WIDE = 120


def cards_lines(
    cards: tuple[CardSample, ...] | None, width: int, most: int, note: str | None = None
) -> list[Line]:
    """Return a table of the cards in at most `most` lines; why there is none, where there is none.

    Cards that have no room are counted in the last line. `note` is the monitor's own reason.
    """
    label = f"{words.CARDS:<9}"
    if cards is None:
        reason = words.CARDS_UNKNOWN if note is None else words.BECAUSE.format(reason=note)
        return [line(Span(label, "strong"), Span(reason, "quiet"))]
    if not cards:
        return [line(Span(label, "strong"), Span(words.NO_CARDS, "quiet"))]
    is_wide = width >= _WIDE
    rows: list[tuple[str, ...]] = [words.CARD_COLUMNS_WIDE if is_wide else words.CARD_COLUMNS]
    shown = cards if len(cards) + 1 <= most else cards[: max(1, most - 2)]
    rows += [_row(card, is_wide=is_wide) for card in shown]
    rights = [index not in (1, len(rows[0]) - 1) for index in range(len(rows[0]))]
    texts = columns(rows, rights, 1, width)
    lines = [line(Span(texts[0], "quiet"))]
    for card, text in zip(shown, texts[1:], strict=True):
        is_bad = card.is_lost or bool(card.ecc_uncorrected)
        lines.append(line(Span(text, "bad" if is_bad else "")))
    if len(shown) < len(cards):
        more = words.MORE.format(count=len(cards) - len(shown), key="g")
        lines.append(line(Span(more, "quiet")))
    return lines


def faults_lines(cards: tuple[CardSample, ...] | None) -> list[str]:
    """Return what the driver failed to answer, one sentence a card."""
    return [f"{card.index}: {fault}" for card in cards or () for fault in card.faults]


def _row(card: CardSample, *, is_wide: bool) -> tuple[str, ...]:
    head = (
        str(card.index),
        _short(card.name),
        percent_text(card.utilisation_share),
        percent_text(card.controller_share),
        _memory(card),
        _power(card),
        UNKNOWN if card.temperature_c is None else str(card.temperature_c),
        _clock(card.sm_clock_mhz),
    )
    if not is_wide:
        return (*head, _held(card))
    ecc = UNKNOWN if card.ecc_uncorrected is None else str(card.ecc_uncorrected)
    return (
        *head,
        _clock(card.memory_clock_mhz),
        _moved(card.pcie_rx_bytes_per_s),
        _moved(card.pcie_tx_bytes_per_s),
        ecc,
        _held(card),
    )


def _short(name: str) -> str:
    """Return a card's name without what every card's begins with."""
    return name.removeprefix("NVIDIA ").removeprefix("GeForce ").removeprefix("Tesla ")


def _memory(card: CardSample) -> str:
    used, total = card.memory_used_bytes, card.memory_total_bytes
    if used is None and total is None:
        return UNKNOWN
    shown = [UNKNOWN if one is None else f"{one / GIB:.1f}" for one in (used, total)]
    return "/".join(shown)


def _power(card: CardSample) -> str:
    used, limit = card.power_w, card.power_limit_w
    if used is None and limit is None:
        return UNKNOWN
    shown = [UNKNOWN if one is None else f"{one:.0f}" for one in (used, limit)]
    return "/".join(shown)


def _clock(mhz: int | None) -> str:
    return UNKNOWN if mhz is None else str(mhz)


def _moved(bytes_per_s: float | None) -> str:
    return UNKNOWN if bytes_per_s is None else words.MOVES.format(rate=bytes_text(bytes_per_s))


def _held(card: CardSample) -> str:
    if card.is_lost:
        return words.LOST
    if card.throttle is None:
        return UNKNOWN
    return ", ".join(card.throttle) or words.NOTHING_HOLDS
