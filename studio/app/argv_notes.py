"""What is in the way of a command that is only printed: no card, no runtime, no model. Pure words.

A start refuses these or does something about them; a printed command goes to another machine or
comes before the installation, so that they are said beside it.
"""

from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset, RuntimeRecipe
from studio.domain.units import counted
from studio.host.paths import Paths
from studio.models import library

PLACE_OF_ID = "RUNTIME-ID"
"""Stands in a path for what only an installation decides."""


def about_cards(
    host: HostSnapshot, gpus: tuple[int, ...] | None, used: tuple[int, ...], wanted: int
) -> list[str]:
    """Return what there is to say about the cards that were asked for, and those that are used."""
    if wanted == 0:
        return ["It uses no card, so `--gpus` changes nothing."] if gpus else []
    known = {card.index for card in host.gpus}
    missing = [index for index in gpus or () if index not in known]
    said = []
    if missing:
        there = ", ".join(f"{card.index} {card.name}" for card in host.gpus) or "none"
        numbers = " or ".join(str(index) for index in missing)
        said.append(f"This machine has no card {numbers} (cards here: {there}).")
    if not used:
        count = counted(wanted, "card", "cards")
        said.append(f"It is written for a machine with {count} that this one does not have.")
    return said


def about_installing(
    paths: Paths, preset: Preset, recipe: RuntimeRecipe, *, is_installed: bool
) -> list[str]:
    """Return what the printed paths lack: an installed runtime, a model that can be fetched."""
    said = []
    if not is_installed:
        said.append(
            f"{recipe.title} is not installed: `{PLACE_OF_ID}` stands for what installing decides. "
            f"Run `weir runtime install {recipe.name}`, then this again."
        )
    said += [
        f"{spec.title} is not here; `weir up {preset.id}` fetches it."
        for spec in preset.models
        if library.can_get(spec) and library.find(paths, spec) is None
    ]
    return said
