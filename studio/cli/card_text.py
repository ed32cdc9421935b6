"""The cards as `weir status` names them: one line each. Pure."""

from studio.cli import gpu_words, words
from studio.cli.console import plain
from studio.domain.cards import CardSample
from studio.domain.control import Status
from studio.domain.units import bytes_text, percent_text


def card_pairs(status: Status) -> list[tuple[str, str]]:
    """Return a line for each card: as it is now where that is known, else as it was last seen."""
    cards = status.tick.cards if status.tick is not None else None
    if cards:
        return [(words.LABEL_CARDS, _now(card)) for card in cards]
    pairs = []
    for gpu in status.host.gpus if status.host else ():
        used = None
        if gpu.total_bytes is not None and gpu.free_bytes is not None:
            used = gpu.total_bytes - gpu.free_bytes
        amount = words.of_total(bytes_text(used), bytes_text(gpu.total_bytes))
        pairs.append((words.LABEL_CARDS, f"{gpu.index}: {gpu.name}, {amount}"))
    return pairs


def _now(card: CardSample) -> str:
    name = f"{card.index}: {plain(card.name)}"
    if card.is_lost:
        return f"{name}, {gpu_words.LOST_SHORT}"
    used, total = bytes_text(card.memory_used_bytes), bytes_text(card.memory_total_bytes)
    pieces = [name, words.of_total(used, total)]
    if card.utilisation_share is not None:
        pieces.append(gpu_words.BUSY.format(share=percent_text(card.utilisation_share)))
    if card.temperature_c is not None:
        pieces.append(gpu_words.DEGREES.format(degrees=card.temperature_c))
    return ", ".join(pieces)
