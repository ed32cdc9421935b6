"""How a version on trial ended, kept by whoever started it and saw its end.

A version that crashes while it is loaded can say nothing itself; the one before, which comes back,
was not there. See `update_trial.py`.
"""

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path

import msgspec

from studio.app.update_records import Records
from studio.domain.errors import HostLacks
from studio.domain.redaction import redact
from studio.host.files import exclusive
from studio.host.paths import Paths

_GAVE_UP = os.EX_SOFTWARE if os.name == "posix" else 70
"""Exit status of a version that ended itself: it has said why, or its time was over."""
_LINE_LETTERS = 200


def keep_end(paths: Paths, lock: Path, pid: int, exit_code: int, words: Iterable[str]) -> None:
    """Keep how process `pid` ended, if it was a version on trial that has not said so itself.

    `words` are the last lines that it wrote. `lock` is the service's: while another one holds it,
    the trial is that one's matter. Blocks. What cannot be kept costs a better sentence only.
    """
    records = Records(paths)
    trial = records.trial()
    if trial is None or trial.pid != pid or exit_code == _GAVE_UP:
        return
    with contextlib.suppress(HostLacks), exclusive(lock) as is_ours:
        trial = records.trial() if is_ours else None
        if trial is not None and trial.pid == pid and trial.shortcoming is None:
            said = in_words(exit_code, words)
            records.write(msgspec.structs.replace(trial, shortcoming=said))


def in_words(exit_code: int, words: Iterable[str]) -> str:
    """Return how a program ended as the end of a sentence: "it ended with status 1 (…)"."""
    lines = [line.strip() for line in words if line.strip()]
    how = f"status {exit_code}" if exit_code >= 0 else _signal(-exit_code)
    if not lines:
        return f"it ended with {how} and said nothing"
    last = redact(lines[-1]).rstrip(".")
    shown = last if len(last) <= _LINE_LETTERS else f"{last[:_LINE_LETTERS]}…"
    return f"it ended with {how}, and its last line was: {shown}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
