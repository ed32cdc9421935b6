"""Logs whose lines were wrapped: by a terminal, an editor, or a mail.

Pure. A line goes on in the next one when that has no header of its own and its first word would
not have fitted behind it. What goes on with an `info` line is dropped with it.
"""

from collections.abc import Sequence

from studio.serving.heard import WIDEST_WRAPPED, Boot, Message

_HALF = 0.5
_QUIET = frozenset({"info", "debug"})


def width_of(boot: Boot) -> int | None:
    """Return the width at which lines were wrapped; None where none was.

    It is the middle one of all broken lines' widths: a word that fits nowhere makes wider ones.
    """
    total = boot.before_bare.total()
    passed = 0
    for width, count in sorted(boot.before_bare.items()):
        passed += count
        if passed >= total * _HALF:
            return width if width <= WIDEST_WRAPPED else None
    return None


def unwrapped(boot: Boot) -> list[Message] | None:
    """Return the messages with wrapped lines put together again; None where none was wrapped.

    Each comes in two readings: a terminal breaks anywhere, an editor at blanks, and which it was
    cannot be told from one line. A joined line has the level of its beginning.
    """
    width = width_of(boot)
    if width is None:
        return None
    chains: list[list[Message]] = []
    is_joined = False
    for message in boot.messages:
        if message.follows is None or message.reach <= width:
            chains.append([message])
            continue
        is_joined = True
        if message.follows not in _QUIET and chains:
            chains[-1].append(message)
    if not is_joined:
        return None
    return [
        parts[0]._replace(text=reading, place=place)
        for place, parts in enumerate(chains)
        for reading in _readings(parts, width)
    ]


def _readings(parts: Sequence[Message], width: int) -> list[str]:
    if len(parts) == 1:
        return [parts[0].text]
    anywhere = "".join(
        part.text if part.width >= width else f"{part.text} " for part in parts
    ).rstrip()
    at_blanks = " ".join(part.text.strip() for part in parts)
    is_terminal = all(part.width == width for part in parts[:-1])
    return [anywhere, at_blanks] if is_terminal else [at_blanks, anywhere]
