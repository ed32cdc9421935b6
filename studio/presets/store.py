"""Presets on disk: bundled ones, and the person's own, which win by id."""

import difflib
from pathlib import Path

from studio.domain.errors import BadInput, NotFound
from studio.domain.manifests import Preset
from studio.host.documents import read_toml
from studio.host.paths import Paths

SCHEMA_VERSION = 1


class PresetStore:
    """Reads presets; each call reads the files again, so that an edit shows at once."""

    def __init__(self, paths: Paths) -> None:
        self._folders = (paths.user_presets, paths.catalogue / "presets")

    def ids(self) -> list[str]:
        """Return every preset's id, sorted."""
        return sorted(self._files())

    def get(self, preset_id: str) -> Preset:
        """Return one preset.

        Raises: NotFound (`preset-unknown`), BadInput (`document-invalid`, `preset-version`).
        """
        files = self._files()
        if preset_id not in files:
            close = difflib.get_close_matches(preset_id, files, n=1)
            known = ", ".join(sorted(files)) or "none"
            raise NotFound(
                "preset-unknown",
                f"There is no preset `{preset_id}`.",
                hint=f"Did you mean `{close[0]}`?" if close else f"Known presets: {known}.",
            )
        path = files[preset_id]
        preset = read_toml(path, Preset)
        if preset.schema_version != SCHEMA_VERSION:
            age = "newer" if preset.schema_version > SCHEMA_VERSION else "older"
            raise BadInput(
                "preset-version",
                f"{path} is written for an {age} Weir Studio "
                f"(schema {preset.schema_version}, this one reads {SCHEMA_VERSION}).",
            )
        if preset.id != preset_id:
            raise BadInput(
                "document-invalid",
                f"{path}: `id` should be the file's name `{preset_id}`, found `{preset.id}`.",
            )
        return preset

    def all(self) -> list[Preset]:
        """Return every preset, best rank first."""
        return sorted((self.get(name) for name in self._files()), key=lambda p: (-p.rank, p.id))

    def _files(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for folder in self._folders:
            for path in sorted(folder.glob("*.toml")):
                found.setdefault(path.stem, path)
        return found
