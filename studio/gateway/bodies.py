"""What the gateway changes in a request's body: as little as can be, and by appending only.

A client's JSON is never written anew. Where a field has to be set it is appended before the closing
brace: of two fields of one name JSON readers, the engine's included, take the last.
"""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from studio.gateway.adjust import Adjusted
from studio.gateway.draft import Body, Fields
from studio.host.http_client import Pieces

_TRUE = frozenset({b"true", b"1", b'"true"'})
"""What the engine, too, reads as true."""
_COPIED_BYTES = 1 << 20
"""A larger body (pictures) is sent in pieces instead of being copied to change its end."""
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})

_NO_RAW = msgspec.Raw()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A body as the client sent it, read once."""

    body: Body
    is_object: bool = False
    fields: Fields = dataclasses.field(default_factory=dict)
    model: str | None = None
    """As the body names it; None: not named, or no name."""
    names_none: bool = False
    """Whether the model was left out; what is no name is the engine's to refuse."""
    is_stream: bool = False
    options: bytes = b""
    """What it says about its stream."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A body as the engine gets it."""

    pieces: Pieces
    model: str | None = None
    """As the body names it; None: not named, or no name."""
    meant: str = ""
    """As the engine is asked for it."""
    is_stream: bool = False
    hides_usage: bool = False
    """Whether the usage event was not the client's wish, and is to be dropped."""
    notes: tuple[str, ...] = ()
    """What was changed so that the engine takes it, by which rule."""

    @property
    def body(self) -> bytes:
        """Return it in one piece; of a large one that is a copy."""
        return in_one(self.pieces)


def in_one(pieces: Pieces) -> bytes:
    """Return the pieces of a body as one; of a large one that is a copy."""
    first = pieces[0]
    if len(pieces) == 1 and isinstance(first, bytes):
        return first
    return b"".join(pieces)


def read(body: Body) -> Asked:
    """Return what a body asks for; of one that is no JSON object nothing is known."""
    try:
        fields: Fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Asked(body=body)
    return _asked(body, fields)


def _asked(body: Body, fields: Fields) -> Asked:
    model = fields.get("model", _NO_RAW)
    return Asked(
        body=body,
        is_object=True,
        fields=fields,
        model=_name(model),
        names_none=bytes(model) in {b"", b"null"},
        is_stream=bytes(fields.get("stream", _NO_RAW)) in _TRUE,
        options=bytes(fields.get("stream_options", _NO_RAW)),
    )


def prepare(
    asked: Asked,
    *,
    served_name: str,
    takes_stream_options: bool,
    aliases: Mapping[str, str] = _NO_ALIASES,
    preset: str | None = None,
    adjust: Callable[[Body, Fields], Adjusted] | None = None,
) -> Prepared:
    """Name the model where the body names none, an alias or the preset, and ask for the usage of
    a stream.

    No alias hides the name that is served. `adjust` goes first.
    A body that is no JSON object passes unchanged: the engine says what is wrong with it.
    """
    if not asked.is_object:
        return Prepared(pieces=(asked.body,))
    notes: tuple[str, ...] = ()
    if adjust is not None:
        adjusted = adjust(asked.body, asked.fields)
        notes = adjusted.notes
        if adjusted.body is not asked.body:
            asked = _asked(adjusted.body, adjusted.fields)
    fields: dict[str, object] = {}
    model = asked.model
    meant = served(model, served_name, aliases, preset)
    if asked.names_none or meant != model:
        fields["model"] = meant or served_name
    hides_usage = False
    if asked.is_stream and takes_stream_options:
        options = _options(asked.options)
        if options is not None:
            fields["stream_options"] = options
            hides_usage = True
    return Prepared(
        pieces=_appended(asked.body, fields) if fields else (asked.body,),
        model=model,
        meant=str(fields.get("model", model or "")),
        is_stream=asked.is_stream,
        hides_usage=hides_usage,
        notes=notes,
    )


def served(
    name: str | None, served_name: str, aliases: Mapping[str, str], preset: str | None
) -> str | None:
    """Return by which name the engine is asked for what a request names."""
    if name is None or name == served_name:
        return name
    meant = (aliases[name] or served_name) if name in aliases else name
    return served_name if meant == preset else meant


def _options(raw: bytes) -> dict[str, object] | None:
    """Return stream options that ask for usage; None when the client did, or wrote nonsense."""
    options: object = None
    if raw:
        options = msgspec.json.decode(raw)
    if options is None:
        options = {}
    if not isinstance(options, dict):
        return None
    if options.get("include_usage") not in (None, False):
        return None
    # Asked for without include_usage it has no effect; with ours it would change every event.
    changes = {"include_usage": True}
    if "continuous_usage_stats" in options:
        changes["continuous_usage_stats"] = False
    return options | changes


def _name(raw: msgspec.Raw) -> str | None:
    try:
        name = msgspec.json.decode(raw) if bytes(raw) else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return name if isinstance(name, str) else None


def appended(body: bytes, fields: dict[str, object]) -> bytes:
    """Return a JSON object with more fields at its end: of two of a name, the last one counts."""
    return b"".join(_appended(body, fields))


def _appended(body: Body, fields: dict[str, object]) -> Pieces:
    end = body.rindex(b"}")
    added = msgspec.json.encode(fields)[1:-1]
    ending = b"".join((b"" if _is_empty(body, end) else b",", added, body[end:]))
    if len(body) > _COPIED_BYTES:
        return (memoryview(body)[:end], ending)
    return (bytes(body[:end]) + ending,)


def _is_empty(body: Body, end: int) -> bool:
    """Return whether the object that ends at `end` has no field; copies little of it to see."""
    size = 64
    while not (before := body[max(0, end - size) : end].rstrip(b" \t\r\n")):
        size *= 64
    return before.endswith(b"{")
