"""What the prefix-cache doctor remembers of each client, and when that adds up to a finding. Pure.

A client is a key, a program (its user agent without a version) and a model. Nothing here is text of
a prompt, and all of it is bounded.
"""

import collections
import dataclasses
import statistics
from collections.abc import Sequence

from studio.domain.cache import CacheClient, ChangeKind, Place
from studio.gateway import prompt_change
from studio.gateway.prompt_change import Change
from studio.gateway.prompt_shape import Shape, Spot, piece_at

MOST_CLIENTS = 64
MOST_CONVERSATIONS = 12
"""Of one client: an agent and its helpers, or a few windows."""
KEPT_S = 2 * 3600.0
"""So long hashes of a conversation are kept that nobody goes on with."""
WINDOW = 20
"""Turns of a client that are looked at together."""
LEAST_CHANGES = 3
LEAST_LOST = 256
"""Fewer tokens than this are not worth a word."""
_LEAST_HEAD_BYTES = 1_000
_KEPT_SHARE = 0.25
"""Less of an unchanged prompt than this was found: it was not kept."""
_LEAST_EXPECTED = 1_024


@dataclasses.dataclass(frozen=True, slots=True)
class ClientName:
    """Who asks, for what."""

    key_id: str
    agent: str | None
    model: str
    route: str


@dataclasses.dataclass(slots=True)
class Conversation:
    """The newest prompt of a conversation."""

    shape: Shape
    at: float
    prompt_tokens: int | None
    boot: int
    """Of which engine; another one has an empty cache."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One prompt that was compared with the one before."""

    change: Change | None
    lost_tokens: int | None = None
    is_between: bool = False
    """It begins a conversation, and was compared with the head of another."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a client's last turns have in common."""

    turn: Turn
    """The newest of those."""
    changed: int
    compared: int
    lost_tokens: int | None


class Client:
    """One client."""

    def __init__(self, name: ClientName) -> None:
        self.name = name
        self.conversations: collections.deque[Conversation] = collections.deque(
            maxlen=MOST_CONVERSATIONS
        )
        self.turns: collections.deque[Turn] = collections.deque(maxlen=WINDOW)
        self.requests = 0
        self.prompt_tokens = 0
        self.cached_tokens: int | None = None
        self.last_seen = 0.0
        self.spot: Spot | None = None
        """The piece that changed last; of this one the next shape keeps every character."""

    def count(self, prompt: int | None, cached: int | None, at: float) -> None:
        """Add a request to the sums."""
        self.requests += 1
        self.prompt_tokens += prompt or 0
        if cached is not None:
            self.cached_tokens = (self.cached_tokens or 0) + cached
        self.last_seen = at

    def take(
        self,
        shape: Shape,
        *,
        at: float,
        prompt: int | None,
        cached: int | None,
        boot: int,
        merges_systems: bool,
    ) -> Turn | None:
        """Compare a prompt with what is remembered and remember it; None: nothing to compare."""
        self._forget(at)
        before = self._continued(shape)
        turn = None
        if before is not None:
            change = prompt_change.first(before.shape, shape)
            if merges_systems and shape.late_systems > before.shape.late_systems:
                change = change or Change(kind=ChangeKind.LATE_SYSTEM)
            if before.boot == boot:
                turn = _judged(change, before.prompt_tokens, prompt, cached, shape)
            before.shape, before.at, before.boot = shape, at, boot
            before.prompt_tokens = prompt if prompt is not None else before.prompt_tokens
        else:
            turn = self._begun(shape, prompt, cached, boot)
            self.conversations.append(Conversation(shape, at, prompt, boot))
        if turn is not None:
            self.turns.append(turn)
            if turn.change is not None and turn.change.spot is not None:
                self.spot = turn.change.spot
        return turn

    def verdict(self) -> Verdict | None:
        """Return what happens in most of the last turns; None: nothing worth a word."""
        kinds = collections.Counter(one.change.kind for one in self.turns if one.change is not None)
        if not kinds:
            return None
        kind, changed = kinds.most_common(1)[0]
        compared = len(self.turns)
        if changed < LEAST_CHANGES or 2 * changed < compared:
            return None
        alike = [one for one in self.turns if one.change is not None and one.change.kind is kind]
        lost = [one.lost_tokens for one in alike if one.lost_tokens is not None]
        lost_tokens = int(statistics.median(lost)) if lost else None
        if lost_tokens is not None and lost_tokens < LEAST_LOST:
            return None
        return Verdict(turn=alike[-1], changed=changed, compared=compared, lost_tokens=lost_tokens)

    def info(self, key: str) -> CacheClient:
        """Return how well its prompts were found."""
        return CacheClient(
            key_id=self.name.key_id,
            key=key,
            agent=self.name.agent,
            model=self.name.model,
            requests=self.requests,
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            last_seen=self.last_seen,
        )

    def _forget(self, at: float) -> None:
        kept = [one for one in self.conversations if at - one.at < KEPT_S]
        if len(kept) < len(self.conversations):
            self.conversations = collections.deque(kept, maxlen=MOST_CONVERSATIONS)

    def _continued(self, shape: Shape) -> Conversation | None:
        """Return the conversation that a prompt goes on with: the one it shares most with."""
        best, most = None, 0
        for one in self.conversations:
            shared = prompt_change.kinship(one.shape, shape)
            if shared and shared >= most:
                best, most = one, shared
        if best is not None:  # the newest last: the oldest is what is forgotten first
            self.conversations.remove(best)
            self.conversations.append(best)
        return best

    def _begun(
        self, shape: Shape, prompt: int | None, cached: int | None, boot: int
    ) -> Turn | None:
        """Compare the head of a new conversation with the one most like it."""
        if shape.head_size < _LEAST_HEAD_BYTES:
            return None
        alike = [one for one in self.conversations if one.boot == boot]
        if any(prompt_change.head(one.shape, shape) is None for one in alike):
            return Turn(change=None, is_between=True)
        best = max(alike, key=lambda one: prompt_change.similarity(one.shape, shape), default=None)
        if best is None or prompt_change.similarity(best.shape, shape) < prompt_change.ALIKE:
            return None
        change = prompt_change.head(best.shape, shape)
        expected = None
        if prompt is not None and shape.size:
            expected = prompt * shape.head_size // shape.size
        lost = _lost(expected, cached, change, prompt, shape)
        return Turn(change=change, lost_tokens=lost, is_between=True)


def tokens_before(change: Change, prompt: int | None, shape: Shape) -> int | None:
    """Return about how many tokens of a prompt come before its change, by share of its bytes."""
    if prompt is None or not shape.size:
        return None
    return prompt * min(change.size_before, shape.size) // shape.size


def place(change: Change, *, tokens: int | None, text: str) -> Place:
    """Return where a change is; `text` is that of the part that its spot is in."""
    line = characters = within = None
    if change.spot is not None and text:
        piece, characters, line = piece_at(text, change.spot.piece)
        within = max(1, len(piece))
        if change.character is not None:
            characters += min(change.character, len(piece))
            within = 1
    return Place(
        kind=change.kind,
        number=None if change.number is None else change.number + 1,
        role=change.role,
        line=line,
        characters=characters,
        within=within,
        tokens=tokens,
    )


def _judged(
    change: Change | None,
    before: int | None,
    prompt: int | None,
    cached: int | None,
    shape: Shape,
) -> Turn:
    """Return a turn; a change that cost nothing is none, and an unchanged prompt may be lost."""
    known = [one for one in (before, prompt) if one is not None]
    expected = min(known) if known else None
    if change is None:
        is_lost = (
            expected is not None
            and cached is not None
            and expected >= _LEAST_EXPECTED
            and cached < _KEPT_SHARE * expected
        )
        if not is_lost or expected is None or cached is None:
            return Turn(change=None)
        return Turn(change=Change(kind=ChangeKind.NOT_KEPT), lost_tokens=expected - cached)
    lost = _lost(expected, cached, change, prompt, shape)
    is_free = expected is not None and cached is not None and (lost or 0) < LEAST_LOST
    return Turn(change=None if is_free else change, lost_tokens=lost)


def _lost(
    expected: int | None,
    cached: int | None,
    change: Change | None,
    prompt: int | None,
    shape: Shape,
) -> int | None:
    """Return the tokens computed again: by the engine's own count, else by the change's place."""
    if expected is None:
        return None
    if cached is None and change is not None:
        cached = tokens_before(change, prompt, shape)
    return max(0, expected - (cached or 0))


def oldest(clients: Sequence[Client]) -> Client:
    """Return the client that was not seen for the longest time."""
    return min(clients, key=lambda one: one.last_seen)
