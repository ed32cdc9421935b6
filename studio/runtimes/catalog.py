"""The runtimes that can be had: every `runtimes/<name>/runtime.toml` of the catalogue.

A recipe is given out with what it only names filled in: interpreter archives from the common
table, and what the person supplied for values that no source gives (pin.py).
"""

import contextlib
import difflib
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, NotFound, StudioError
from studio.domain.manifests import Archive, InterpreterTable, RuntimeRecipe
from studio.domain.runtimes import RuntimePin
from studio.host.documents import read_toml
from studio.host.paths import Paths
from studio.runtimes import pin

RECIPE_FILE = "runtime.toml"
INTERPRETERS_FILE = "interpreters.toml"


def recipe_folder(paths: Paths, name: str) -> Path:
    """Return the catalogue folder of a runtime: its recipe, its lock."""
    return paths.catalogue / "runtimes" / name


class Catalog:
    """Reads recipes when they are asked for, so that an edited file counts at once."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def recipes(self) -> list[RuntimeRecipe]:
        """Return every recipe that can be read, by name; `unreadable` has the others.

        Raises: Damaged (`document-damaged`) when what the person supplied cannot be read.
        """
        pins = pin.read(self._paths)
        found = []
        for name in self._names():
            with contextlib.suppress(StudioError):
                found.append(pin.apply(self._read(name), pins.runtimes.get(name)))
        return found

    def unreadable(self) -> list[tuple[str, StudioError]]:
        """Return the runtimes whose recipe cannot be read, with the file, place and mistake."""
        found = []
        for name in self._names():
            try:
                self._read(name)
            except StudioError as error:
                found.append((name, error))
        return found

    def recipe(self, name: str) -> RuntimeRecipe:
        """Return one recipe.

        Raises: NotFound (`runtime-unknown`), BadInput (`document-invalid`, `runtime-name`,
        `interpreter-unlisted`), Damaged (`document-damaged`).
        """
        return pin.apply(self.published(name), pin.read(self._paths).runtimes.get(name))

    def published(self, name: str) -> RuntimeRecipe:
        """Return one recipe as the catalogue has it, without what the person supplied.

        Raises: what `recipe` raises.
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

    def pinned(self, name: str) -> RuntimePin | None:
        """Return what the person supplied for a runtime."""
        return pin.read(self._paths).runtimes.get(name)

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
        if recipe.interpreter.release is None or recipe.interpreter.archives:
            return recipe
        archives = self._archives(path, recipe)
        interpreter = msgspec.structs.replace(recipe.interpreter, archives=archives)
        return msgspec.structs.replace(recipe, interpreter=interpreter)

    def _archives(self, path: Path, recipe: RuntimeRecipe) -> tuple[Archive, ...]:
        wanted = recipe.interpreter
        table = read_toml(self._paths.catalogue / "runtimes" / INTERPRETERS_FILE, InterpreterTable)
        found = tuple(
            archive
            for archive in table.archives.get(wanted.series, ())
            if archive.release == wanted.release and archive.platform in recipe.needs.platforms
        )
        if not found:
            raise BadInput(
                "interpreter-unlisted",
                f"{path}: {INTERPRETERS_FILE} has no CPython {wanted.series} of release "
                f"{wanted.release} for {', '.join(recipe.needs.platforms)}.",
                hint="Name a release that is listed, or write the table anew "
                "(installer/interpreters.py).",
            )
        return found
