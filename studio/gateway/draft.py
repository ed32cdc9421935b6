"""A request's body while it is changed: only what changes is written anew.

The rest goes to the engine as the client's own bytes, in their order. Of two fields of one name the
last one counts, as it does for the engine.
"""

from collections.abc import Iterator, Mapping

import msgspec

Body = bytes | bytearray
Fields = Mapping[str, msgspec.Raw]
MISSING = object()
"""What is not there; None is JSON's null."""

_ITEMS = {"/v1/responses": "input"}


class Draft:
    """One body. Nothing is decoded before somebody asks for it."""

    def __init__(self, fields: Fields, route: str) -> None:
        self.route = route
        self._fields = dict(fields)
        self._open: dict[str, object] = {}
        self._is_changed = False
        self._items_name = _ITEMS.get(route, "messages")
        self._items: list[msgspec.Raw | dict[str, object]] | None = None
        self._are_items_changed = False
        self._roles: list[str] | None = None

    @property
    def is_changed(self) -> bool:
        """Return whether anything was set or dropped."""
        return self._is_changed or self._are_items_changed

    def raw(self, name: str) -> bytes:
        """Return the bytes of a field as they came; empty: it is not there."""
        raw = self._fields.get(name)
        return b"" if raw is None else bytes(raw)

    def get(self, path: str) -> object:
        """Return what stands at `a.b.c`; MISSING where there is nothing."""
        name, *rest = path.split(".")
        if name not in self._fields:
            return MISSING
        value = self._opened(name)
        for part in rest:
            if not isinstance(value, dict) or part not in value:
                return MISSING
            value = value[part]
        return value

    def set(self, path: str, value: object) -> None:
        """Put a value at a path whose parents are there."""
        *parents, last = path.split(".")
        if not parents:
            self._fields.setdefault(last, msgspec.Raw(b"null"))
            self._open[last] = value
        else:
            parent = self.get(".".join(parents))
            assert isinstance(parent, dict)
            parent[last] = value
        self._is_changed = True

    def drop(self, path: str) -> None:
        """Take away what stands at a path."""
        *parents, last = path.split(".")
        if not parents:
            self._fields.pop(last, None)
            self._open.pop(last, None)
        else:
            parent = self.get(".".join(parents))
            assert isinstance(parent, dict)
            parent.pop(last, None)
        self._is_changed = True

    def touched(self) -> None:
        """Take notice that something that `get` returned was changed in place."""
        self._is_changed = True

    # -- messages --------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Return how many messages there are."""
        return len(self._listed())

    def items(self, *needles: bytes) -> Iterator[tuple[int, dict[str, object]]]:
        """Yield messages in which one of the needles stands, decoded; without needles all."""
        items = self._listed()
        for number in range(len(items)):
            item = items[number]
            if isinstance(item, dict):
                yield number, item
                continue
            raw = bytes(item)
            if needles and not any(one in raw for one in needles):
                continue
            decoded = msgspec.json.decode(raw)
            if isinstance(decoded, dict):
                yield number, decoded

    def roles(self) -> list[str]:
        """Return the role of each message; empty where it has none."""
        if self._roles is None:
            self._roles = self._read_roles()
        return self._roles

    def _read_roles(self) -> list[str]:
        return [
            str(item.get("role") or "")
            if isinstance(item, dict)
            else msgspec.json.decode(item, type=_Role).role or ""
            for item in self._listed()
        ]

    def put_item(self, number: int, item: dict[str, object]) -> None:
        """Replace a message."""
        self._listed()[number] = item
        self._are_items_changed, self._roles = True, None

    def drop_item(self, number: int) -> None:
        """Take a message away."""
        del self._listed()[number]
        self._are_items_changed, self._roles = True, None

    def body(self) -> bytes:
        """Return the body as it now is."""
        parts = []
        for name, raw in self._fields.items():
            if name == self._items_name and self._are_items_changed:
                value = b"[" + b",".join(map(_encoded, self._listed())) + b"]"
            elif name in self._open:
                value = msgspec.json.encode(self._open[name])
            else:
                value = bytes(raw)
            parts.append(msgspec.json.encode(name) + b":" + value)
        return b"{" + b",".join(parts) + b"}"

    def fields(self) -> Fields:
        """Return the fields of the body as it now is."""
        return msgspec.json.decode(self.body(), type=dict[str, msgspec.Raw])

    def _opened(self, name: str) -> object:
        if name not in self._open:
            self._open[name] = msgspec.json.decode(self._fields[name])
        return self._open[name]

    def _listed(self) -> list[msgspec.Raw | dict[str, object]]:
        if self._items is None:
            raw = self.raw(self._items_name)
            self._items = []
            if raw[:1] == b"[":
                self._items += msgspec.json.decode(raw, type=list[msgspec.Raw])
        return self._items


class _Role(msgspec.Struct):
    role: str | None = None


def _encoded(item: "msgspec.Raw | dict[str, object]") -> bytes:
    return bytes(item) if isinstance(item, msgspec.Raw) else msgspec.json.encode(item)
