"""Python's garbage is collected in the window's thread alone.

Python collects in whichever thread happens to allocate. A widget that is part of a circle, such as
a dialog that was closed or the window before a change of language, would then be deleted by the
bridge's thread while Qt works on it, which ends the process.
"""

import gc

from PySide6.QtCore import QObject, QTimer

_LOOK_MS = 2_000


class Garbage(QObject):
    """Collects what has become due, every two seconds, instead of Python by itself."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._looks = QTimer(self)
        self._looks.setInterval(_LOOK_MS)
        self._looks.timeout.connect(collect_due)
        self._looks.start()


def collect_due() -> int:
    """Collect the oldest generation that Python's own thresholds call due; return how many died."""
    counts, limits = gc.get_count(), gc.get_threshold()
    due = [place for place in range(len(counts)) if counts[place] > limits[place]]
    return gc.collect(due[-1]) if due else 0
