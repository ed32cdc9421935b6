"""What of a prompt is no longer as it was: the first difference of two shapes. Pure."""

import dataclasses
from collections import Counter
from collections.abc import Sequence

from studio.domain.cache import ChangeKind
from studio.gateway.prompt_shape import DIGEST_BYTES, Message, Shape, Spot, common, sampled

ALIKE = 0.5
"""So much of two system prompts has to be the same for them to be versions of one."""
_SHORT_SIZE = 24
"""A message as short as this ("Hi", "yes") does not tell one conversation from another."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The first part that is not as it was."""

    kind: ChangeKind
    number: int | None = None
    """Which tool or message, from 0."""
    role: str | None = None
    spot: Spot | None = None
    """The piece in which it begins, where pieces are known."""
    character: int | None = None
    """Where in that piece exactly, where that is known."""
    size_before: int = 0
    """Bytes of the new prompt before it."""


def first(old: Shape, new: Shape) -> Change | None:
    """Return the first change that costs what was cached; None: the old prompt goes on.

    A last message that was written anew, a turn taken back and a history that was summed up are
    what people and programs do once, not what keeps a cache from working.
    """
    return head(old, new) or _in_messages(old, new)


def head(old: Shape, new: Shape) -> Change | None:
    """Return the first change before the first message."""
    if old.settings != new.settings:
        return Change(kind=ChangeKind.SETTINGS)
    if old.tools != new.tools:
        number = _common(old.tools, new.tools)
        same = Counter(old.tools) == Counter(new.tools)
        kind = ChangeKind.TOOLS_ORDER if same else ChangeKind.TOOLS
        before = new.tools_size * number // max(1, len(new.tools))
        return Change(kind=kind, number=number, size_before=before)
    if old.system == new.system:
        return None
    piece = common(old.system, new.system)
    before = new.tools_size + _share(new.system_size, piece, new.system)
    spot = Spot(None, piece)
    return Change(
        kind=ChangeKind.SYSTEM, spot=spot, character=_exactly(old, new, spot), size_before=before
    )


def similarity(old: Shape, new: Shape) -> float:
    """Return how much of two heads is the same, whatever its place: 0 to 1."""
    one, other = old.sample, new.sample
    if old.is_sampled != new.is_sampled:
        one, other = frozenset(sampled(one)), frozenset(sampled(other))
    one, other = one | frozenset(old.tools), other | frozenset(new.tools)
    larger = max(len(one), len(other))
    return len(one & other) / larger if larger else 1.0


def kinship(old: Shape, new: Shape) -> int:
    """Return how many messages two prompts share; 0: two conversations.

    One message alone counts only where it is no word of every day and the heads are alike, so that
    a helper that was handed the same question is not taken for the one who asked.
    """
    shared = old.known & new.known
    if len(shared) != 1:
        return len(shared)
    only = next(one for one in new.messages if one.digest in shared)
    is_telling = only.size > _SHORT_SIZE and similarity(old, new) >= ALIKE
    return 1 if is_telling else 0


def _in_messages(old: Shape, new: Shape) -> Change | None:
    before, after = old.messages, new.messages
    number = _common([one.digest for one in before], [one.digest for one in after])
    if number >= len(before) - 1 or number >= len(after) - 1:
        return None  # it goes on, its last message was written anew, or a turn was taken back
    if _is_cut(before, after, number):
        return _of(ChangeKind.HISTORY_CUT, new, number, None, None)
    if not _goes_on(before, after, number):
        return None  # summed up, or begun anew from there
    piece = _piece(before[number], after[number])
    spot = None if piece is None else Spot(number, piece)
    return _of(ChangeKind.MESSAGE, new, number, spot, _exactly(old, new, spot))


def _of(
    kind: ChangeKind, new: Shape, number: int, spot: Spot | None, character: int | None
) -> Change:
    before = new.head_size + sum(one.size for one in new.messages[:number])
    changed = new.messages[number]
    if spot is not None and changed.pieces:
        before += _share(changed.size, spot.piece, changed.pieces)
    return Change(
        kind=kind,
        number=number,
        role=changed.role,
        spot=spot,
        character=character,
        size_before=before,
    )


def _is_cut(before: Sequence[Message], after: Sequence[Message], number: int) -> bool:
    """Tell whether older messages are gone and those that followed moved up.

    One message in between is what some clients put in their place: "earlier messages left out".
    """
    later = [one.digest for one in before[number + 1 :]]
    for skipped in (0, 1):
        start = number + skipped
        if start >= len(after) or after[start].digest not in later:
            continue
        at = later.index(after[start].digest)
        if number + 1 + at <= start:
            continue  # it stands where it stood: the one before it was changed
        moved = later[at:]
        if _common(moved, [one.digest for one in after[start:]]) == len(moved):
            return len(moved) >= 2 or len(before) <= 3
    return False


def _goes_on(before: Sequence[Message], after: Sequence[Message], number: int) -> bool:
    """Tell whether what follows the changed message is still there, at its place."""
    old_rest = [one.digest for one in before[number + 1 :]]
    new_rest = [one.digest for one in after[number + 1 :]]
    return bool(set(old_rest) & set(new_rest))


def _piece(old: Message, new: Message) -> int | None:
    if old.pieces is None or new.pieces is None or old.pieces == new.pieces:
        return None
    return common(old.pieces, new.pieces)


def _exactly(old: Shape, new: Shape, spot: Spot | None) -> int | None:
    if spot is None or old.spot != spot or new.spot != spot:
        return None
    return common(old.beginnings, new.beginnings)


def _share(size: int, piece: int, pieces: bytes) -> int:
    return size * piece // max(1, len(pieces) // DIGEST_BYTES)


def _common(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count
