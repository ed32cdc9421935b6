"""A person's part of Windows' registry, as a table."""

from studio.host.registry import Registry


class FakeRegistry(Registry):
    """Keeps what is written; `refuses` plays a Windows that forbids it."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.values: dict[tuple[str, str], str | int] = {}
        self._refuses = refuses

    def text(self, key: str, name: str) -> str | None:
        """Return a value as text."""
        found = self.values.get((key, name))
        return None if found is None else str(found)

    def keys(self, key: str) -> tuple[str, ...]:
        """Return the names of the keys in a key."""
        inside = (one.removeprefix(f"{key}\\") for one, _name in self.values if one != key)
        return tuple(dict.fromkeys(one for one in inside if "\\" not in one))

    def write(self, key: str, name: str, value: str | int) -> None:
        """Keep a value. Raises: PermissionError."""
        if self._refuses:
            raise PermissionError(13, "a rule forbids it")
        self.values[key, name] = value

    def delete(self, key: str, name: str) -> None:
        """Forget a value."""
        self.values.pop((key, name), None)
