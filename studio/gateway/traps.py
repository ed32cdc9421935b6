"""What clients send that an engine or a template does not take, and what becomes of it: the rules.

The rules are data (`runtimes/client_traps.toml`); what each action does is in trap_fields.py and
trap_messages.py.
"""

from collections.abc import Container
from pathlib import Path

import msgspec

from studio.gateway.engine import EngineTarget
from studio.host.documents import read_toml


class MapValue(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="map",
):
    """A word at one of these paths becomes another."""

    at: tuple[str, ...]
    values: dict[str, str]


class DropField(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="drop",
):
    """A field goes: when it is one of `equals`, or is not wanted without another field."""

    at: tuple[str, ...]
    equals: tuple[object, ...] = ()
    unless_true: str | None = None
    """It stays where this field is true."""
    unless_filled: str | None = None
    """It stays where this field is there, and neither null nor empty."""


class Cap(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="cap",
):
    """A number at one of these paths is at most the engine's context; `below` stays under it."""

    at: tuple[str, ...]
    below: tuple[str, ...] = ()


class Roles(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="roles",
):
    """Messages of one role become messages of another."""

    values: dict[str, str]


class Systems(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="systems",
):
    """System messages at the head become one; `late`: the role of those that come later."""

    merge: bool = False
    late: str | None = None


class Parts(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="parts",
):
    """Parts of contents get another type, or go."""

    values: dict[str, str] = {}
    drop: tuple[str, ...] = ()


class Documents(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="documents",
):
    """A document whose text is in the request becomes that text."""


class Tools(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="tools",
):
    """Tools get the shape that the route wants; those that only their vendor can run go."""

    nest: bool = False
    """`{type, name, parameters}` becomes `{type, function: {name, parameters}}`."""
    without: str
    """A tool without this field, or of another type than `type`, goes."""
    type: str | None = None


class ToolFormats(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="tool-formats",
):
    """A grammar that the engine does not take is left away; the tool stays, with free text."""

    drop: tuple[str, ...]


class Arguments(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="arguments",
):
    """Arguments of past calls that are JSON, and not the text of JSON, become text."""


class EmptyContent(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="empty-content",
):
    """Null as the content of a message of these roles becomes an empty text, or an empty list."""

    roles: tuple[str, ...]
    as_list: bool = False


class StopWords(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="stop-words",
):
    """Empty stop words go."""

    at: tuple[str, ...]


class SchemaWords(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="schema-words",
):
    """Words that the engine's grammar does not know go from the schema of the answer."""

    at: tuple[str, ...]
    drop: tuple[str, ...]


class StripLine(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="action",
    tag="strip-line",
):
    """A line that begins so goes from the head of the system prompt."""

    begins: str


Action = (
    MapValue
    | DropField
    | Cap
    | Roles
    | Systems
    | Parts
    | Documents
    | Tools
    | ToolFormats
    | Arguments
    | EmptyContent
    | StopWords
    | SchemaWords
    | StripLine
)


class Trap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that breaks, and the way around it."""

    id: str
    what: str
    """What is changed, in a sentence for people."""
    why: str
    """What happens otherwise, and where that was seen."""
    source: str
    routes: tuple[str, ...]
    fields: tuple[str, ...] = ()
    """The body has to have one of these fields; that costs nothing to know."""
    needles: tuple[str, ...] = ()
    """One of these has to stand in the body: a look through all of it, before anything is read."""
    starts: dict[str, str] = {}
    """Some value of one of these names has to begin with one of these letters: `n` for null."""
    template_has: tuple[str, ...] = ()
    """All of these stand in the model's template."""
    template_lacks: tuple[str, ...] = ()
    runtimes: tuple[str, ...] = ()
    """Beginnings of the names of runtimes that it is for; none: every engine."""
    is_asked: bool = False
    """It is done only where the person allowed it: requests work without it."""
    do: tuple[Action, ...]

    def may_apply(self, body: bytes | bytearray, fields: Container[str]) -> bool:
        """Tell whether a body is worth a closer look."""
        if self.fields and not any(name in fields for name in self.fields):
            return False
        if self.starts and not any(_starts(body, *pair) for pair in self.starts.items()):
            return False
        return not self.needles or any(one.encode() in body for one in self.needles)

    def fits(self, engine: EngineTarget) -> bool:
        """Tell whether it is for this engine; what is not known of one fits no condition."""
        template, runtime = engine.template, engine.runtime
        if (self.template_has or self.template_lacks) and template is None:
            return False
        text = template or ""
        return (
            all(one in text for one in self.template_has)
            and not any(one in text for one in self.template_lacks)
            and (not self.runtimes or (runtime or "").startswith(self.runtimes))
        )


def _starts(body: bytes | bytearray, name: str, letters: str) -> bool:
    """Tell whether some value of a name begins with one of these letters; goes through once."""
    key = f'"{name}"'.encode()
    at = body.find(key)
    while at >= 0:
        after = body[at + len(key) : at + len(key) + 8].lstrip(b" \t\r\n:")
        if after[:1] in letters.encode() and after:
            return True
        at = body.find(key, at + len(key))
    return False


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema_version: int
    trap: tuple[Trap, ...]


def load(path: Path) -> tuple[Trap, ...]:
    """Read the rules. Raises: NotFound (`file-missing`), BadInput (`document-invalid`)."""
    return read_toml(path, _File).trap
