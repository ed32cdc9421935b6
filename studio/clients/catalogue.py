"""`presets/clients/*.toml`: one client a file. Reads and checks; fills places with values."""

from pathlib import Path

import msgspec

from studio.clients.splices import Json, Step
from studio.domain.clients import Labelled, Snippet
from studio.domain.errors import NotFound
from studio.host.documents import read_toml

_CONTEXT = 8_192
"""Written where a client insists on a context and none is known: small, so that nothing is cut."""
_OUTPUT = 8_192
"""The longest answer that a client is told of; at most a quarter of the context that it shares."""


class Find(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Traces of a client."""

    commands: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """With `~`, `%APPDATA%` and the like; also as `folder/prefix*`."""


class Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value at one place."""

    at: tuple[Step, ...]
    value: object


class FileSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that is written."""

    format: str
    """`json` (comments are kept), `toml`, `yaml` or `env`."""
    linux: tuple[str, ...] = ()
    """Places, the first one that is there counts."""
    macos: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    folder_variable: str | None = None
    """An environment variable that moves the folder of the file."""
    holds_key: bool = True
    default: tuple[Edit, ...] = ()
    """Set only where the file says nothing about it."""
    set: tuple[Edit, ...] = ()


class ClientSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One client."""

    schema_version: int
    id: str
    title: str
    summary: str
    documented: str
    versions: str
    find: Find = Find()
    file: FileSpec | None = None
    steps: tuple[str, ...] = ()
    """What the person does, before or after."""
    values: tuple[Labelled, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    undo: str
    """How it is undone by hand."""


class Filling(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into the places of a file, of steps and of snippets."""

    base_url: str
    """Ends in `/v1`."""
    key: str
    model: str
    context: int | None = None

    def words(self) -> dict[str, str | int | None]:
        """Return the places by name."""
        output = None if self.context is None else min(_OUTPUT, max(1, self.context // 4))
        return {
            "base_url": self.base_url,
            "root_url": self.base_url.removesuffix("/v1"),
            "key": self.key,
            "model": self.model,
            "context": self.context,
            "output": output,
            "context_or_default": self.context or _CONTEXT,
            "output_or_default": output or _CONTEXT // 4,
        }

    def text(self, form: str) -> str:
        """Return a text with its places filled; an unknown number is named as such."""
        for name, value in self.words().items():
            form = form.replace("{" + name + "}", "–" if value is None else str(value))
        return form

    def value(self, form: object) -> Json:
        """Return a value with its places filled. A place alone keeps its kind; what is not known
        is left out of tables.
        """
        if isinstance(form, str):
            words = self.words()
            name = form[1:-1]
            if form == "{" + name + "}" and name in words:
                return words[name]
            return self.text(form)
        if isinstance(form, dict):
            filled = {self.text(str(key)): self.value(item) for key, item in form.items()}
            return {key: item for key, item in filled.items() if item is not None}
        if isinstance(form, list):
            return [self.value(item) for item in form]
        assert form is None or isinstance(form, int | float)
        return form

    def edits(self, edits: tuple[Edit, ...]) -> list[tuple[tuple[Step, ...], Json]]:
        """Return what is to be set; what is not known is not set."""
        found: list[tuple[tuple[Step, ...], Json]] = []
        for edit in edits:
            at = tuple(self._step(step) for step in edit.at)
            value = self.value(edit.value)
            if value is not None:
                found.append((at, value))
        return found

    def _step(self, step: Step) -> Step:
        if isinstance(step, str):
            return self.text(step)
        return {key: self.text(word) for key, word in step.items()}


def read_all(folder: Path) -> tuple[ClientSpec, ...]:
    """Return every client of the catalogue, by title. Raises: BadInput, HostLacks."""
    found = [read_toml(path, ClientSpec) for path in sorted(folder.glob("*.toml"))]
    return tuple(sorted(found, key=lambda one: one.title.casefold()))


def named(specs: tuple[ClientSpec, ...], client: str) -> ClientSpec:
    """Return a client by its id or title. Raises: NotFound (`client-unknown`)."""
    wanted = client.casefold().strip()
    for spec in specs:
        if wanted in (spec.id, spec.title.casefold()):
            return spec
    known = ", ".join(f"`{one.id}`" for one in specs)
    raise NotFound(
        "client-unknown",
        f"There is no client `{client}`.",
        hint=f"There are: {known}. Any other client takes the address and a key by hand:"
        " `weir connect sdk` shows both.",
    )
