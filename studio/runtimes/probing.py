"""What only the engine itself can say of a finished runtime: a card, its flags, its variables.

Asked for where a recipe wants it, for the engine has to be imported: ten seconds of a processor, a
minute from a cold disk. A flag or a variable that it does not know means that a series is not in.
"""

from pathlib import Path

import msgspec

from studio.domain.manifests import RuntimeRecipe
from studio.domain.units import percent_text
from studio.host.paths import Paths

_MORE_TIME_S = 600.0
"""A cold disk and the first start of a card's driver."""
_MIN_BYTECODE_SHARE = 0.9
"""Without bytecode every boot takes twice as long; some files can never be compiled."""


class EngineAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What probe.py found out by importing the engine."""

    card: str | None = None
    """Why no card can be used."""
    flags: tuple[str, ...] = ()
    """Flags that it does not know."""
    flags_fault: str | None = None
    variables: tuple[str, ...] = ()
    """Variables that it has not registered."""
    variables_fault: str | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What probe.py says of a finished runtime."""

    version: str
    lacking: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    uncompiled: tuple[str, ...] = ()
    bytecode_share: float | None = None
    versions: dict[str, str | None] = {}
    engine: EngineAnswer | None = None


def is_asked(recipe: RuntimeRecipe) -> bool:
    """Tell whether the engine has to be imported for the recipe's probe."""
    probe = recipe.probe
    return bool(probe.cuda or (probe.flags and probe.help) or (probe.variables and probe.registry))


def question(recipe: RuntimeRecipe) -> dict[str, object]:
    """Return what probe.py is asked beyond what it can see without the engine."""
    if not is_asked(recipe):
        return {}
    probe = recipe.probe
    return {
        "engine": {
            "cuda": probe.cuda,
            "flags": list(probe.flags) if probe.help else [],
            "help": list(probe.help),
            "variables": list(probe.variables) if probe.registry else [],
            "registry": probe.registry,
        }
    }


def more_time_s(recipe: RuntimeRecipe) -> float:
    """Return how much longer the probe may take than one that imports nothing."""
    return _MORE_TIME_S if is_asked(recipe) else 0.0


def environment(recipe: RuntimeRecipe, paths: Paths, folder: Path, python: Path) -> dict[str, str]:
    """Return the variables of the engine, so that it writes where it does when it serves."""
    if not is_asked(recipe):
        return {}
    places = {
        "{python}": str(python),
        "{runtime}": str(folder),
        "{cache}": str(paths.engine_cache),
    }
    filled = {}
    for name, text in recipe.serve.environment.items():
        value = text
        for mark, place in places.items():
            value = value.replace(mark, place)
        if "{" not in value:
            filled[name] = value
    return filled


def faults_of_engine(recipe: RuntimeRecipe, answer: EngineAnswer | None) -> list[str]:
    """Return in words what the engine lacks."""
    if not is_asked(recipe):
        return []
    if answer is None:
        return ["the engine said nothing of itself"]
    said = []
    if answer.card is not None:
        said.append(f"no card can be used: {answer.card}")
    if answer.flags_fault is not None:
        said.append(f"the engine's help cannot be read: {answer.flags_fault}")
    said += [f"the engine does not know {one}" for one in answer.flags]
    if answer.variables_fault is not None:
        said.append(f"the engine's variables cannot be read: {answer.variables_fault}")
    said += [f"the engine has not registered {one}" for one in answer.variables]
    return said


def all_faults(recipe: RuntimeRecipe, answer: Answer) -> list[str]:
    """Return in words where the runtime differs from its recipe."""
    faults = [f"{name} is missing" for name in answer.missing]
    faults += [
        f"{name} is {answer.versions.get(name) or 'missing'}, expected {version}"
        for name, version in recipe.probe.versions.items()
        if answer.versions.get(name) != version
    ]
    faults += [f"the standard module {name} does not load" for name in _vital(answer.lacking)]
    faults += [f"{name} has no bytecode" for name in answer.uncompiled]
    if answer.bytecode_share is not None and answer.bytecode_share < _MIN_BYTECODE_SHARE:
        faults.append(f"only {percent_text(answer.bytecode_share)} of its sources have bytecode")
    faults += faults_of_engine(recipe, answer.engine)
    if not answer.version.startswith(f"{recipe.interpreter.series}."):
        faults.append(f"Python is {answer.version}, expected {recipe.interpreter.series}")
    return faults


def _vital(lacking: tuple[str, ...]) -> list[str]:
    return [name for name in lacking if name in ("ssl", "sqlite3", "pyexpat", "ctypes", "zlib")]
