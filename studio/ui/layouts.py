"""Has Qt lay out what changed before it is painted.

Qt lays out what came late in several rounds of the event loop: words, card, page, scroll area. A
picture between two of them shows cards squashed, for as long as a slow machine takes.
"""

from PySide6.QtCore import QCoreApplication, QEvent

_ROUNDS = 3
"""A scroll bar that comes makes words narrower, which makes cards taller."""


def settle() -> None:
    """Carry out every layout that waits for the event loop; costs nothing where none does."""
    for _ in range(_ROUNDS):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
