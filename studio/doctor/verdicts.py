"""The four ways a check ends, and what several checks ask of recipes."""

from collections.abc import Iterable, Sequence

from studio.domain.doctor import Area, Check, Level
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.domain.wsl import DISTRIBUTION


def good(code: str, area: Area, title: str, found: str, *, gpu: int | None = None) -> Check:
    """Return a check that found what is needed."""
    return Check(code=code, area=area, title=title, level=Level.GOOD, found=found, gpu=gpu)


def look(
    code: str, area: Area, title: str, found: str, advice: str, *, gpu: int | None = None
) -> Check:
    """Return a check that found something worth a look."""
    return Check(
        code=code, area=area, title=title, level=Level.LOOK, found=found, advice=advice, gpu=gpu
    )


def stops(
    code: str,
    area: Area,
    title: str,
    found: str,
    advice: str,
    *,
    what: Iterable[str],
    gpu: int | None = None,
) -> Check:
    """Return a check that found what keeps `what` from working."""
    return Check(
        code=code,
        area=area,
        title=title,
        level=Level.STOPS,
        found=found,
        advice=advice,
        gpu=gpu,
        stops=tuple(what),
    )


def unknown(code: str, area: Area, title: str, found: str, *, gpu: int | None = None) -> Check:
    """Return a check that could not find out."""
    return Check(code=code, area=area, title=title, level=Level.UNKNOWN, found=found, gpu=gpu)


def version(text: str) -> tuple[int, ...]:
    """Return a version's numbers: `580.95.05` is (580, 95, 5); what is no number ends it."""
    numbers = []
    for part in text.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


def for_cards(recipes: Sequence[RuntimeRecipe]) -> list[RuntimeRecipe]:
    """Return the runtimes that compute on a card."""
    return [recipe for recipe in recipes if recipe.needs.gpu]


def names(recipes: Iterable[RuntimeRecipe]) -> tuple[str, ...]:
    """Return the runtimes' names."""
    return tuple(recipe.name for recipe in recipes)


def is_made_for(recipe: RuntimeRecipe, card: Gpu) -> bool:
    """Tell whether a card's compute capability is within a runtime's range, or not known."""
    found = version(card.compute_capability or "")
    if not found:
        return True
    low, high = recipe.needs.min_compute_capability, recipe.needs.max_compute_capability
    return not (
        (low is not None and found < version(low)) or (high is not None and found > version(high))
    )


def is_whole(card: Gpu) -> bool:
    """Tell whether a card can be given to an engine: not split, not forbidden, not lost."""
    return not (card.mig_enabled or card.compute_mode == "prohibited" or is_lost(card))


def is_lost(card: Gpu) -> bool:
    """Tell whether a card does not even say how much memory it has; a broken sensor is less."""
    return bool(card.faults) and card.total_bytes is None


def is_own_linux(host: HostSnapshot) -> bool:
    """Tell whether this is the Studio's own Linux in Windows, where there is no `sudo`."""
    return host.wsl is not None and host.wsl.distribution == DISTRIBUTION


def wanted(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> list[RuntimeRecipe]:
    """Return the runtimes that are made for one of the host's cards."""
    return [
        recipe
        for recipe in for_cards(recipes)
        if any(is_made_for(recipe, card) for card in host.gpus)
    ]


def listed(words: Sequence[str]) -> str:
    """Return `a`, `a and b` or `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def label(card: Gpu, what: str = "") -> str:
    """Return what a card, or something of it, is called in a title."""
    return f"Card {card.index} {what}".rstrip()
