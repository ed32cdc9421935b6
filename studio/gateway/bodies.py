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


def prepare(
    body: Body,
    *,
    served_name: str,
    takes_stream_options: bool,
    aliases: Mapping[str, str] = _NO_ALIASES,
    adjust: Callable[[Body, Fields], Adjusted] | None = None,
) -> Prepared:
    """Name the model where the body names none or an alias, and ask for the usage of a stream.

    No alias hides the name that is served. `adjust` goes first.
    A body that is no JSON object passes unchanged: the engine says what is wrong with it.
    """
    try:
        asked: Fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Prepared(pieces=(body,))
    notes: tuple[str, ...] = ()
    if adjust is not None:
        adjusted = adjust(body, asked)
        body, asked, notes = adjusted.body, adjusted.fields, adjusted.notes
    fields: dict[str, object] = {}
    model = _name(asked.get("model", _NO_RAW))
    if model is None and bytes(asked.get("model", _NO_RAW)) in {b"", b"null"}:
        fields["model"] = served_name
    elif model is not None and model != served_name and model in aliases:
        fields["model"] = aliases[model] or served_name
    is_stream = bytes(asked.get("stream", _NO_RAW)) in _TRUE
    hides_usage = False
    if is_stream and takes_stream_options:
        options = _options(bytes(asked.get("stream_options", _NO_RAW)))
        if options is not None:
            fields["stream_options"] = options
            hides_usage = True
    return Prepared(
        pieces=_appended(body, fields) if fields else (body,),
        model=model,
        meant=str(fields.get("model", model or "")),
        is_stream=is_stream,
        hides_usage=hides_usage,
        notes=notes,
    )


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
