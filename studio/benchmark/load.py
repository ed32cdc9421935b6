"""What is asked of an engine, as data (presets/bench/load.toml), and which of it this one can take.

Pure. Not for asking: see runner.py.
"""

import dataclasses
import hashlib
from collections.abc import Sequence

import msgspec

from studio.domain.bench import BenchKind

_TOKENS_AROUND = 160
"""What a chat template and the question around a document may take, with room for its own count."""
_ANSWER = {BenchKind.PREFILL: 1}


class Sizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is asked, in one of the two lengths of a run."""

    limit_s: float
    """When the run ends at the latest."""
    decode_streams: tuple[int, ...]
    decode_tokens: int
    decode_rounds: int
    """Of one stream; several at once are several samples already."""
    prefill_tokens: tuple[int, ...]
    copy_document_tokens: int
    copy_tokens: int
    turns: int
    turns_document_tokens: int
    turns_tokens: int


class Texts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What prompts are made of."""

    tasks: tuple[str, ...]
    copy: str
    prefill: str
    turns_first: str
    turns_questions: tuple[str, ...]
    turns_answers: tuple[str, ...]
    who: tuple[str, ...]
    did: tuple[str, ...]
    what: tuple[str, ...]
    where: tuple[str, ...]
    when: tuple[str, ...]
    outcome: tuple[str, ...]


class Compare(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When two figures are the same."""

    same_share: float
    """They differ by no more than this share of the other."""


class Load(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`presets/bench/load.toml`."""

    schema_version: int
    quick: Sizes
    full: Sizes
    compare: Compare
    texts: Texts

    def sizes(self, *, is_quick: bool) -> Sizes:
        """Return the sizes of a run."""
        return self.quick if is_quick else self.full

    def digest(self, *, is_quick: bool) -> str:
        """Return what tells this load from others: runs of different ones cannot be compared."""
        asked = msgspec.json.encode((self.sizes(is_quick=is_quick), self.texts))
        return hashlib.sha256(asked).hexdigest()[:16]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One part of a run."""

    name: str
    kind: BenchKind
    streams: int = 1
    rounds: int = 1
    document_tokens: int = 0
    """Of the document in the prompt."""
    answer_tokens: int

    @property
    def tokens(self) -> int:
        """Return what one request holds at most."""
        return self.document_tokens + self.answer_tokens + _TOKENS_AROUND


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What an engine takes; None: not known, and then not in the way."""

    max_model_len: int | None = None
    pool_tokens: int | None = None
    max_requests: int | None = None


def steps(
    sizes: Sizes, room: Room, only: Sequence[BenchKind] = ()
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the parts of a run in their order, and a sentence for each that has no room."""
    wanted = [one for one in _all(sizes) if not only or one.kind in only]
    kept: list[Step] = []
    left_out: list[str] = []
    for step in wanted:
        reason = _lacks(step, room)
        if reason is None:
            kept.append(step)
        else:
            left_out.append(f"{label(step.name)}: {reason}.")
    return tuple(kept), tuple(left_out)


def _all(sizes: Sizes) -> list[Step]:
    decode = [
        Step(
            name=f"decode-{streams}",
            kind=BenchKind.DECODE,
            streams=streams,
            rounds=sizes.decode_rounds if streams == 1 else 1,
            answer_tokens=sizes.decode_tokens,
        )
        for streams in sizes.decode_streams
    ]
    prefill = [
        Step(
            name=f"prefill-{length_name(tokens)}",
            kind=BenchKind.PREFILL,
            document_tokens=tokens,
            answer_tokens=_ANSWER[BenchKind.PREFILL],
        )
        for tokens in sizes.prefill_tokens
    ]
    copy = Step(
        name="copy",
        kind=BenchKind.COPY,
        document_tokens=sizes.copy_document_tokens,
        answer_tokens=sizes.copy_tokens,
    )
    turns = Step(
        name="turns",
        kind=BenchKind.TURNS,
        rounds=sizes.turns,
        document_tokens=sizes.turns_document_tokens + sizes.turns * _TOKENS_AROUND,
        answer_tokens=sizes.turns_tokens,
    )
    # The figures that people ask for first come first: a run that is cut short has them.
    return [*decode[:1], *prefill[:1], copy, turns, *decode[1:], *prefill[1:]]


def _lacks(step: Step, room: Room) -> str | None:
    if room.max_model_len is not None and step.tokens > room.max_model_len:
        return f"it needs a context of {step.tokens:,} tokens, {room.max_model_len:,} are served"
    if room.max_requests is not None and step.streams > room.max_requests:
        return f"the engine computes {room.max_requests} at once"
    if room.pool_tokens is not None and step.tokens * step.streams > room.pool_tokens:
        needed = step.tokens * step.streams
        return f"it needs {needed:,} tokens of the pool, which holds {room.pool_tokens:,}"
    return None


def length_name(tokens: int) -> str:
    """Return a prompt's length as it stands in the name of a part: `1k`, `50k`, `700`."""
    if tokens < 1_000:
        return str(tokens)
    binary = tokens % 1_024 == 0
    return f"{tokens // 1_024 if binary else round(tokens / 1_000)}k"


def length_of(name: str) -> int | None:
    """Return the prompt's length that a part's name tells, in tokens, near enough."""
    _, _, length = name.partition("prefill-")
    if not length:
        return None
    return round(float(length.removesuffix("k")) * (1_000 if length.endswith("k") else 1))


def label(name: str) -> str:
    """Return what a part is called."""
    kind, _, rest = name.partition("-")
    match kind:
        case "decode":
            return "Decode, one stream" if rest == "1" else f"Decode, {rest} streams"
        case "prefill":
            return f"Prefill of {rest}"
        case "copy":
            return "Copying a text"
        case "turns":
            words = {"first": ", first turn", "later": ", later turns"}
            return f"Conversation{words.get(rest, '')}"
        case _:
            return name
