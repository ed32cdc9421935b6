"""Presets on disk: bundled ones, and the person's own, which win by id.

presets/<id>.toml            what to serve
presets/parts/<id>.toml      what several presets share
presets/models/<id>.toml     the models they name
<home>/presets/<id>.toml     the person's own; `parts` and `models` may lie there too
"""

import difflib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from studio.domain.errors import BadInput, NotFound, StudioError
from studio.domain.manifests import ModelSpec, Preset, PresetFile, PresetPart
from studio.host.documents import read_toml
from studio.host.paths import Paths
from studio.host.toml_lines import line_of
from studio.presets.compose import compose, with_base
from studio.presets.text import require_no_secret

SCHEMA_VERSION = 1
T = TypeVar("T")


class PresetStore:
    """Reads presets; a file that has changed is read again, so that an edit shows at once."""

    def __init__(self, paths: Paths) -> None:
        self._own = paths.user_presets
        self._bundled = paths.catalogue / "presets"
        self._read: dict[Path, tuple[tuple[int, int], object]] = {}

    @property
    def own_folder(self) -> Path:
        """Return where the person's own presets lie."""
        return self._own

    def ids(self) -> list[str]:
        """Return every preset's id, sorted."""
        return sorted(self._files())

    def get(self, preset_id: str) -> Preset:
        """Return one preset.

        Raises: NotFound (`preset-unknown`), BadInput (`document-invalid`, `preset-version`),
        HostLacks (`not-readable`).
        """
        path = self.path(preset_id)
        return self.read(path, preset_id)

    def bundled(self, preset_id: str) -> Preset | None:
        """Return the preset of that id that came with the program, or None.

        Raises: what `get` raises.
        """
        path = self.bundled_path(preset_id)
        return self.read(path, preset_id) if preset_id in self._in(self._bundled) else None

    def bundled_path(self, preset_id: str) -> Path:
        """Return where a preset of that id lies that came with the program."""
        return self._bundled / f"{preset_id}.toml"

    def path(self, preset_id: str) -> Path:
        """Return the file of a preset. Raises: NotFound (`preset-unknown`)."""
        files = self._files()
        if preset_id not in files:
            close = difflib.get_close_matches(preset_id, files, n=1)
            known = ", ".join(sorted(files)) or "none"
            raise NotFound(
                "preset-unknown",
                f"There is no preset `{preset_id}`.",
                hint=f"Did you mean `{close[0]}`?" if close else f"Known presets: {known}.",
            )
        return files[preset_id]

    def model(self, model_id: str) -> ModelSpec:
        """Return a model of `presets/models` with what it is laid over put in.

        Raises: NotFound (`model-unknown`), BadInput (`document-invalid`), HostLacks.
        """
        models = self._shelf("models", ModelSpec)
        if model_id not in models:
            close = difflib.get_close_matches(model_id, list(models), n=1)
            raise NotFound(
                "model-unknown",
                f"There is no preset and no model `{model_id}`.",
                hint=f"Did you mean `{close[0]}`?" if close else "`weir presets` lists presets.",
            )
        return with_base(model_id, models, where="presets/models")

    def is_own(self, preset_id: str) -> bool:
        """Return whether the person has a preset of that id."""
        return preset_id in self._in(self._own)

    def read(self, path: Path, preset_id: str, *, is_own: bool | None = None) -> Preset:
        """Return the preset in the file `path`, which should be called `preset_id`.

        Raises: BadInput (`document-invalid`, `preset-version`), HostLacks (`not-readable`).
        """
        file = self._document(path, PresetFile)
        _check_version(file.schema_version, path)
        if file.id != preset_id:
            raise BadInput(
                "document-invalid",
                f"{path}: `id` should be the file's name `{preset_id}`, found `{file.id}`.",
            )
        own = path.parent == self._own if is_own is None else is_own
        if own:
            require_no_secret(msgspec.to_builtins(file), str(path))
        parts = self._shelf("parts", PresetPart)
        where = str(path)
        stray = next((name for name in file.values if not _is_knob(name, file, parts)), None)
        if stray is not None:
            where = _with_line(path, ("values", stray))
        models = self._shelf("models", ModelSpec)
        return compose(file, parts, models, where=where, is_own=own)

    def readable(self) -> tuple[list[Preset], dict[str, StudioError]]:
        """Return every preset that can be read, best rank first, and why the others cannot."""
        found: list[Preset] = []
        broken: dict[str, StudioError] = {}
        for preset_id, path in self._files().items():
            try:
                found.append(self.read(path, preset_id))
            except StudioError as error:
                broken[preset_id] = error
        return sorted(found, key=lambda p: (-p.rank, p.id)), broken

    def all(self) -> list[Preset]:
        """Return every preset that can be read, best rank first."""
        return self.readable()[0]

    def _files(self) -> dict[str, Path]:
        return {**self._in(self._bundled), **self._in(self._own)}

    def _in(self, folder: Path) -> dict[str, Path]:
        return {path.stem: path for path in sorted(folder.glob("*.toml"))}

    def _shelf(self, folder: str, kind: type[T]) -> "_Shelf[T]":
        files = {**self._in(self._bundled / folder), **self._in(self._own / folder)}
        return _Shelf(files, lambda path: self._document(path, kind))

    def _document(self, path: Path, kind: type[T]) -> T:
        """Return a document, from memory while its file is the same: each takes milliseconds."""
        try:
            stat = path.stat()
        except OSError:
            return read_toml(path, kind)
        stamp = (stat.st_mtime_ns, stat.st_size)
        known = self._read.get(path)
        if known is not None and known[0] == stamp and isinstance(known[1], kind):
            return known[1]
        found = read_toml(path, kind)
        self._read[path] = (stamp, found)
        return found


class _Shelf(Mapping[str, T]):
    """Documents of a folder by name, each read when it is asked for.

    So a broken one breaks only the presets that use it.
    """

    def __init__(self, files: dict[str, Path], read: Callable[[Path], T]) -> None:
        self._files = files
        self._read = read

    def __getitem__(self, name: str) -> T:
        return self._read(self._files[name])

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _is_knob(name: str, file: PresetFile, parts: Mapping[str, PresetPart]) -> bool:
    used = (parts[one] for one in file.uses if one in parts)
    return name in file.knobs or any(name in part.knobs for part in used)


def _with_line(path: Path, place: tuple[str, ...]) -> str:
    """Return where a misspelt name stands, as people look for it."""
    try:
        line = line_of(path.read_text(encoding="utf-8"), place)
    except OSError:
        line = None
    return f"{path}, line {line}" if line is not None else str(path)


def _check_version(found: int, path: Path) -> None:
    if found != SCHEMA_VERSION:
        age = "a newer" if found > SCHEMA_VERSION else "an older"
        raise BadInput(
            "preset-version",
            f"{path} is written for {age} Weir Studio "
            f"(schema {found}, this one reads {SCHEMA_VERSION}).",
        )
