"""What a prompt is made of, as hashes under a secret: enough to find what changed, no text.

A shape is built in slices (a generator), so that whoever builds it can let others in between. What
does not reach the prompt (`cache_control`, ids of items) is left out; a string and a list with one
text part are the same. Prompts that are no chat, or that nobody could read, have no shape.
"""

import dataclasses
import hashlib
from collections.abc import Generator, Iterable, Iterator, Mapping

import msgspec

PIECE_CHARS = 256
"""A line longer than this is cut, so that a place is never wider."""
DIGEST_BYTES = 8
MOST_BODY_BYTES = 8 << 20
_MOST_BRACES = 60_000
"""More objects than this are no conversation, and would take long to list."""
_MOST_PIECES = 4_000
_SLICE_PIECES = 100
_SAMPLED_FROM = 256
_SAMPLED_BELOW = 32
"""Of a long head the pieces count whose digest begins with a byte below this."""
_SLICE_BYTES = 64 << 10
_PICTURE_BYTES = 4_096
"""What a picture or a sound counts in shares of a prompt, however large it is."""
_MEDIA = frozenset({"image", "image_url", "input_image", "input_audio", "audio_url", "video_url"})
_HEAD_ROLES = frozenset({"system", "developer"})
_SEPARATOR = b"\x1f"

Fields = Mapping[str, msgspec.Raw]
Slices = Generator[None, None, "Built | None"]

_NO_RAW = msgspec.Raw()
_SETTINGS = (
    "reasoning_effort",
    "reasoning",
    "thinking",
    "output_config",
    "chat_template_kwargs",
    "chat_template",
    "documents",
)
_ROUTES = {
    "/v1/chat/completions": ("messages", ""),
    "/v1/messages": ("messages", "system"),
    "/v1/responses": ("input", "instructions"),
    "/v1/completions": ("prompt", ""),
}


class _Part(msgspec.Struct):
    type: str = ""
    text: msgspec.Raw = _NO_RAW
    thinking: msgspec.Raw = _NO_RAW
    source: msgspec.Raw = _NO_RAW
    image_url: msgspec.Raw = _NO_RAW
    input_audio: msgspec.Raw = _NO_RAW
    tool_use_id: msgspec.Raw = _NO_RAW
    name: msgspec.Raw = _NO_RAW
    input: msgspec.Raw = _NO_RAW
    content: msgspec.Raw = _NO_RAW


class _Message(msgspec.Struct):
    role: str = ""
    type: str = ""
    content: msgspec.Raw = _NO_RAW
    tool_calls: msgspec.Raw = _NO_RAW
    tool_call_id: msgspec.Raw = _NO_RAW
    reasoning: msgspec.Raw = _NO_RAW
    reasoning_content: msgspec.Raw = _NO_RAW
    name: msgspec.Raw = _NO_RAW
    call_id: msgspec.Raw = _NO_RAW
    arguments: msgspec.Raw = _NO_RAW
    input: msgspec.Raw = _NO_RAW
    output: msgspec.Raw = _NO_RAW
    summary: msgspec.Raw = _NO_RAW


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One message after the system prompt."""

    digest: bytes
    size: int
    """Bytes of JSON, pictures counted small."""
    role: str
    pieces: bytes | None = None
    """Digests of its text, piece by piece; None where that was too much."""


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """A piece of a text: which message (None: the system prompt), and the number of the piece."""

    message: int | None
    piece: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is remembered of a prompt."""

    settings: bytes
    tools: tuple[bytes, ...]
    tools_size: int
    system: bytes
    """Digests of the system prompt, piece by piece."""
    system_size: int
    messages: tuple[Message, ...]
    late_systems: int
    """System messages after the first other one."""
    sample: frozenset[bytes] = frozenset()
    """Pieces of the head by which two of them are compared; of a long one, one of eight."""
    is_sampled: bool = False
    known: frozenset[bytes] = frozenset()
    """The digests of all messages."""
    spot: Spot | None = None
    """Of this piece every beginning was hashed, character by character."""
    beginnings: bytes = b""

    @property
    def head_size(self) -> int:
        """Return the bytes before the first message."""
        return self.tools_size + self.system_size

    @property
    def size(self) -> int:
        """Return the bytes of all of it."""
        return self.head_size + sum(one.size for one in self.messages)


@dataclasses.dataclass(frozen=True, slots=True)
class Built:
    """A shape and, for the moment of comparing, the texts that its pieces are of."""

    shape: Shape
    system: str
    texts: Mapping[int, str]
    """Number of a message to its text; only of those that have pieces."""

    def text(self, message: int | None) -> str:
        """Return the text of a message, or the system prompt."""
        return self.system if message is None else self.texts.get(message, "")


class Hasher:
    """Keyed hashes: without the secret nobody can try out which text one stands for."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of(self, data: bytes) -> bytes:
        """Return the digest of some bytes."""
        return hashlib.blake2b(data, digest_size=DIGEST_BYTES, key=self._secret).digest()

    def beginnings(self, text: str) -> bytes:
        """Return the digests of every beginning of a short text, the shortest first."""
        running = hashlib.blake2b(digest_size=DIGEST_BYTES, key=self._secret)
        found = []
        for character in text:
            running.update(character.encode("utf-8", "surrogatepass"))
            found.append(running.copy().digest())
        return b"".join(found)


def pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text, those that are long in pieces; together they are the text."""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), PIECE_CHARS):
            yield line[start : start + PIECE_CHARS]


def common(first: bytes, second: bytes) -> int:
    """Return how many digests two strings of them begin with alike."""
    count = min(len(first), len(second)) // DIGEST_BYTES
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        end = middle * DIGEST_BYTES
        if first[:end] == second[:end]:
            low = middle
        else:
            high = middle - 1
    return low


def sampled(digests: Iterable[bytes]) -> Iterator[bytes]:
    """Yield one of eight digests, the same ones of every prompt."""
    return (one for one in digests if one[0] < _SAMPLED_BELOW)


def _each(digests: bytes) -> Iterator[bytes]:
    return (digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES))


def is_wanted(route: str, body_bytes: int) -> bool:
    """Tell whether prompts of a route have shapes, and this one is not too large for one."""
    return route in _ROUTES and body_bytes <= MOST_BODY_BYTES


def build(body: bytes, route: str, hasher: Hasher, spot: Spot | None = None) -> Slices:
    """Build the shape of a body, a slice at a time; None: it has none.

    Of the piece at `spot` the place within is kept to the character.
    """
    if body.count(b"{") > _MOST_BRACES:
        return None
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        yield
        return (yield from _built(fields, route, hasher, spot))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _built(fields: Fields, route: str, hasher: Hasher, spot: Spot | None) -> Slices:
    messages_name, system_name = _ROUTES[route]
    heads = [_text(fields[system_name])] if system_name in fields else []
    messages = _messages(fields.get(messages_name, _NO_RAW))
    yield
    body: list[_Message] = []
    for one in messages:
        if one.role in _HEAD_ROLES and not body:
            heads.append(_text(one.content))
        else:
            body.append(one)
    tools = _tools(fields.get("tools", _NO_RAW))
    system = "\n".join(heads)
    budget = _MOST_PIECES
    system_pieces = yield from _digests(system, hasher, budget)
    budget -= len(system_pieces) // DIGEST_BYTES
    texts: dict[int, str] = {}
    shaped = []
    for number, one in enumerate(body):
        text = _text(one.content) if budget > 0 else None
        digests = None
        if text is not None and len(text) < budget * PIECE_CHARS:
            digests = yield from _digests(text, hasher, budget)
            budget -= len(digests) // DIGEST_BYTES
            texts[number] = text
        canonical, size = _canonical(one)
        shaped.append(Message(hasher.of(canonical), size, one.role or one.type, digests))
        if len(canonical) > _SLICE_BYTES or number % _SLICE_PIECES == 0:
            yield
    is_long = len(system_pieces) > _SAMPLED_FROM * DIGEST_BYTES
    yield
    shape = Shape(
        settings=hasher.of(_SEPARATOR.join(bytes(fields.get(n, _NO_RAW)) for n in _SETTINGS)),
        tools=tuple(hasher.of(one) for one in tools),
        tools_size=sum(map(len, tools)),
        system=system_pieces,
        system_size=len(system.encode("utf-8", "surrogatepass")),
        messages=tuple(shaped),
        late_systems=sum(one.role in _HEAD_ROLES for one in body),
        sample=frozenset(sampled(_each(system_pieces)) if is_long else _each(system_pieces)),
        is_sampled=is_long,
        known=frozenset(one.digest for one in shaped),
        spot=spot,
    )
    built = Built(shape, system, texts)
    if spot is None:
        return built
    beginnings = hasher.beginnings(piece_at(built.text(spot.message), spot.piece)[0])
    return dataclasses.replace(built, shape=dataclasses.replace(shape, beginnings=beginnings))


def piece_at(text: str, number: int) -> tuple[str, int, int]:
    """Return a piece, how many characters come before it, and its line (from 1)."""
    before, line = 0, 1
    for at, piece in enumerate(pieces(text)):
        if at == number:
            return piece, before, line
        before += len(piece)
        line += piece.endswith("\n")
    return "", before, line


def _digests(text: str, hasher: Hasher, budget: int) -> Generator[None, None, bytes]:
    found = []
    for number, piece in enumerate(pieces(text)):
        if number >= budget:
            break
        found.append(hasher.of(piece.encode("utf-8", "surrogatepass")))
        if number % _SLICE_PIECES == 0:
            yield
    return b"".join(found)


def _messages(raw: msgspec.Raw) -> list[_Message]:
    """Return the messages; a prompt that is one text is one message."""
    if _first(raw) == b"[":
        return msgspec.json.decode(raw, type=list[_Message])
    return [_Message(role="user", content=raw)] if bytes(raw) else []


def _tools(raw: msgspec.Raw) -> list[bytes]:
    """Return the bytes that stand for each tool, without the marker that clients move around."""
    if _first(raw) != b"[":
        return []
    tools = msgspec.json.decode(raw, type=list[dict[str, msgspec.Raw]])
    return [
        _joined(
            msgspec.Raw(name.encode() + bytes(value))
            for name, value in one.items()
            if name != "cache_control"
        )
        for one in tools
    ]


def _first(raw: msgspec.Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


def _text(raw: msgspec.Raw) -> str:
    """Return the text of a content: a string, or the texts of its parts."""
    first = _first(raw)
    if first == b'"':
        return msgspec.json.decode(raw, type=str)
    if first != b"[":
        return ""
    parts = msgspec.json.decode(raw, type=list[_Part])
    return "\n".join(
        msgspec.json.decode(one.text, type=str) for one in parts if _first(one.text) == b'"'
    )


def _canonical(message: _Message) -> tuple[bytes, int]:
    """Return the bytes that stand for a message, and what it counts in shares of the prompt."""
    content, size = _content(message.content)
    rest = _joined(
        (
            message.tool_calls,
            message.tool_call_id,
            message.reasoning,
            message.reasoning_content,
            message.name,
            message.call_id,
            message.arguments,
            message.input,
            message.output,
            message.summary,
        )
    )
    return (
        _SEPARATOR.join((message.role.encode("utf-8", "surrogatepass"), content, rest)),
        size + len(rest),
    )


def _content(raw: msgspec.Raw) -> tuple[bytes, int]:
    if _first(raw) != b"[":
        return bytes(raw), len(bytes(raw))
    parts = msgspec.json.decode(raw, type=list[_Part])
    if len(parts) == 1 and parts[0].type == "text":
        return bytes(parts[0].text), len(bytes(parts[0].text))
    found, size = [], 0
    for one in parts:
        nested, _ = _content(one.content)
        fields = (one.text, one.thinking, one.source, one.image_url, one.input_audio)
        plain = _joined((*fields, one.tool_use_id, one.name, one.input))
        found.append(one.type.encode("utf-8", "surrogatepass") + _SEPARATOR + plain + nested)
        is_media = one.type in _MEDIA
        size += _PICTURE_BYTES if is_media else len(plain) + len(nested)
    return _SEPARATOR.join(found), size


def _joined(raws: Iterable[msgspec.Raw]) -> bytes:
    return _SEPARATOR.join(bytes(raw) for raw in raws)
