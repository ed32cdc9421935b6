"""The runtimes that can be had: every `runtimes/<name>/runtime.toml` of the catalogue."""

import difflib
from pathlib import Path

from studio.domain.errors import BadInput, NotFound
from studio.domain.manifests import RuntimeRecipe
from studio.host.documents import read_toml
from studio.host.paths import Paths

RECIPE_FILE = "runtime.toml"


def recipe_folder(paths: Paths, name: str) -> Path:
    """Return the catalogue folder of a runtime: its recipe, its lock."""
    return paths.catalogue / "runtimes" / name


class Catalog:
    """Reads recipes when they are asked for, so that an edited file counts at once."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def recipes(self) -> list[RuntimeRecipe]:
        """Return every recipe, by name.

        Raises: BadInput (`document-invalid`, `runtime-name`).
        """
        return [self._read(name) for name in self._names()]

    def recipe(self, name: str) -> RuntimeRecipe:
        """Return one recipe.

        Raises: NotFound (`runtime-unknown`), BadInput (`document-invalid`, `runtime-name`).
        """
        names = self._names()
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
            guess = f"Did you mean `{close[0]}`? " if close else ""
            raise NotFound(
                "runtime-unknown",
                f"There is no runtime `{name}`.",
                hint=f"{guess}Known: {', '.join(names) or 'none'}.",
            )
        return self._read(name)

    def _names(self) -> list[str]:
        root = self._paths.catalogue / "runtimes"
        return sorted(path.parent.name for path in root.glob(f"*/{RECIPE_FILE}"))

    def _read(self, name: str) -> RuntimeRecipe:
        path = recipe_folder(self._paths, name) / RECIPE_FILE
        recipe = read_toml(path, RuntimeRecipe)
        if recipe.name != name:
            raise BadInput(
                "runtime-name",
                f"{path}: name is `{recipe.name}`, the folder is called `{name}`.",
                hint="Give both the same name.",
            )
        return recipe
