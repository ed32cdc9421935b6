"""Which cards of a host a preset uses, and what its conditions may ask about them. Pure."""

import dataclasses

from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import CardShape, Preset, RuntimeRecipe
from studio.domain.rules import Facts
from studio.domain.units import bytes_text, counted, number_text
from studio.presets import conditions

PARALLEL = "tensor_parallel_size"
"""The knob that says over how many cards a model is spread."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """The cards to use, or the reasons why there are none."""

    gpus: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()


def pick(
    preset: Preset,
    recipe: RuntimeRecipe,
    host: HostSnapshot,
    allowed: tuple[int, ...] | None = None,
    count: int | None = None,
) -> Pick:
    """Return the cards that `preset` uses on `host`.

    `allowed` restricts them by NVML index, `count` asks for so many (`tensor_parallel_size`). Cards
    of one name go together where they can. An unknown fact never counts against a card.
    """
    shapes = _shapes(preset, recipe)
    if not shapes:
        return Pick()
    if not host.gpus:
        return Pick(reasons=(host.gpu_note or "It needs an NVIDIA card; none was found.",))
    cards = [card for card in host.gpus if allowed is None or card.index in allowed]
    floor = preset.needs.min_compute_capability or recipe.needs.min_compute_capability
    ceiling = preset.needs.max_compute_capability or recipe.needs.max_compute_capability
    able = [card for card in cards if _is_able(card, floor, ceiling)]
    offered = _offered(shapes, host, count)
    for shape in offered:
        found = _together(able, shape)
        if found:
            return Pick(gpus=_ordered(found, allowed))
    kind = _kind(floor, ceiling, recipe.needs.cards)
    return Pick(reasons=(_reason(offered or shapes, cards, able, kind),))


def wanted(preset: Preset, recipe: RuntimeRecipe, host: HostSnapshot, count: int | None) -> int:
    """Return the fewest cards that `preset` computes on; `count` asks for so many."""
    shapes = _shapes(preset, recipe)
    return min((one.count for one in _offered(shapes, host, count) or shapes), default=0)


def facts_of(host: HostSnapshot, recipe: RuntimeRecipe, gpus: tuple[int, ...]) -> Facts:
    """Return what conditions may ask about `host` with these cards in use."""
    used = [card for card in host.gpus if card.index in gpus]
    sizes = [card.total_bytes for card in used]
    kinds = [card.compute_capability for card in used]
    chain = host.toolchain
    return Facts(
        runtime=recipe.name,
        gpus=gpus,
        is_wsl=host.is_wsl,
        card_bytes=_least_known(sizes),
        compute_capability=_lowest_capability(kinds),
        has_nvlink=_has_nvlink(host, gpus),
        has_desktop=_any_known([card.display_active for card in used]),
        has_nvcc=None if chain is None else chain.nvcc is not None,
        memory_bytes=host.available_memory_bytes,
    )


def _shapes(preset: Preset, recipe: RuntimeRecipe) -> tuple[CardShape, ...]:
    needs = preset.needs
    if needs.shapes:
        return needs.shapes
    wanted = needs.gpus or (1 if recipe.needs.gpu else 0)
    return (CardShape(count=wanted, vram_bytes_each=needs.vram_bytes_each),) if wanted else ()


def _offered(
    shapes: tuple[CardShape, ...], host: HostSnapshot, count: int | None
) -> list[CardShape]:
    facts = Facts(runtime="", is_wsl=host.is_wsl, memory_bytes=host.available_memory_bytes)
    if count is None:
        return [shape for shape in shapes if conditions.of_host(shape.when, facts)]
    known = [shape for shape in shapes if shape.count == count]
    if known or count < 1:
        return known
    # More or fewer cards than anybody tried: as much memory in all as the smallest set has.
    least = min((one.count * (one.vram_bytes_each or 0) for one in shapes), default=0)
    return [CardShape(count=count, vram_bytes_each=least // count or None)]


def _together(able: list[Gpu], shape: CardShape) -> list[Gpu]:
    """Return `shape.count` cards, of one name if there are so many, or none."""
    roomy = [card for card in able if _has_room(card, shape.vram_bytes_each)]
    names = sorted({card.name for card in roomy})
    alike = [[card for card in roomy if card.name == name] for name in names]
    # The best group first: by memory, then by the place of its first card.
    alike.sort(key=lambda group: (-(group[0].total_bytes or 0), group[0].index))
    for group in [*alike, roomy]:
        if len(group) >= shape.count:
            return group[: shape.count]
    return []


def _ordered(found: list[Gpu], allowed: tuple[int, ...] | None) -> tuple[int, ...]:
    indices = {card.index for card in found}
    if allowed is not None:
        return tuple(index for index in allowed if index in indices)
    return tuple(sorted(indices))


def _reason(
    shapes: list[CardShape] | tuple[CardShape, ...],
    cards: list[Gpu],
    able: list[Gpu],
    kind: str,
) -> str:
    fewest = min(shape.count for shape in shapes)
    if len(able) < fewest:
        return f"It needs {counted(fewest, 'card', 'cards')}{kind}; {_there(able, cards)}."
    sets = [_set_text(count, each) for count, each in _least(shapes)]
    largest = bytes_text(max((card.total_bytes or 0 for card in able), default=0))
    there = f"the one here has {largest}"
    if len(able) > 1:
        there = f"the {counted(len(able), 'card', 'cards')} here have at most {largest}"
    return f"It needs {' or '.join(sets)}; {there}."


def _kind(floor: str | None, ceiling: str | None, called: str | None) -> str:
    """Return ` of compute capability 7.0 (V100)`, nothing where every card will do."""
    if floor is None and ceiling is None:
        return ""
    if floor is None:
        found = f"{ceiling} or older"
    elif ceiling is None:
        found = f"{floor} or newer"
    else:
        found = floor if floor == ceiling else f"{floor} to {ceiling}"
    return f" of compute capability {found}{f' ({called})' if called else ''}"


def _there(able: list[Gpu], cards: list[Gpu]) -> str:
    if not able:
        return "none is here" if cards else "none of those chosen is here"
    return "one is here" if len(able) == 1 else f"{number_text(len(able))} are here"


def _set_text(count: int, each: int) -> str:
    tail = " each" if count > 1 else ""
    return f"{counted(count, 'card', 'cards')} with {bytes_text(each)}{tail}"


def _least(shapes: list[CardShape] | tuple[CardShape, ...]) -> list[tuple[int, int]]:
    """Return count and bytes of the sets that ask for less than every smaller one does."""
    found: list[tuple[int, int]] = []
    for count, each in sorted((one.count, one.vram_bytes_each or 0) for one in shapes):
        if not found or each < found[-1][1]:
            found.append((count, each))
    return found


def _is_able(card: Gpu, floor: str | None, ceiling: str | None) -> bool:
    if card.compute_capability is None:
        return True
    found = conditions.version(card.compute_capability)
    is_too_old = floor is not None and found < conditions.version(floor)
    is_too_new = ceiling is not None and found > conditions.version(ceiling)
    return not (is_too_old or is_too_new)


def _has_room(card: Gpu, needed_bytes: int | None) -> bool:
    return needed_bytes is None or card.total_bytes is None or card.total_bytes >= needed_bytes


def _least_known(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return min(known) if known and len(known) == len(sizes) else None


def _lowest_capability(kinds: list[str | None]) -> str | None:
    known = [kind for kind in kinds if kind is not None]
    return min(known, key=conditions.version) if known and len(known) == len(kinds) else None


def _any_known(answers: list[bool | None]) -> bool | None:
    if any(answers):
        return True
    return False if answers and None not in answers else None


def _has_nvlink(host: HostSnapshot, gpus: tuple[int, ...]) -> bool | None:
    pairs = [(a, b) for a in gpus for b in gpus if a < b]
    links = [host.link(a, b) for a, b in pairs]
    counts = [None if link is None else link.nvlinks for link in links]
    if any(count == 0 for count in counts):
        return False
    return True if counts and None not in counts else None
