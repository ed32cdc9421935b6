"""Each card by itself: what it is for, how much of it is free, and what slows it down."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from studio.doctor.verdicts import (
    for_cards,
    good,
    is_lost,
    is_made_for,
    is_whole,
    label,
    listed,
    look,
    names,
    stops,
    unknown,
    version,
)
from studio.domain.doctor import Area, Check
from studio.domain.hardware import Gpu, GpuProcess, HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.domain.units import MIB, bytes_text

_HELD_BYTES = 512 * MIB
"""Below it nobody need be on a card: 267 MiB were in use on a bare 3090 (HyperQwen's
documentation)."""
_NAMED_BYTES = 64 * MIB
"""What a program that is known by name may hold unmentioned."""
_WDDM_SHARE = 0.08
"""What Windows keeps of a clean card: 1.24 of 23.99 GiB (HyperQwen's documentation, RTX 4090),
1.72 of 31.84 GiB (github.com/Alex8791-cyber/cognithor/pull/318, RTX 5090)."""
_LOW_POWER_SHARE = 0.6
_HOT = {
    "hw-slowdown": "the hardware slows it down",
    "hw-thermal-slowdown": "it is too hot",
    "sw-thermal-slowdown": "it is too hot",
    "hw-power-brake": "its power supply asks it to brake",
}
_MOST_HOLDERS = 5
_AREA = Area.CARDS


def checks(
    host: HostSnapshot, recipes: Sequence[RuntimeRecipe], own_pids: AbstractSet[int]
) -> Iterator[Check]:
    """Yield the checks of every card, and of all together. `own_pids`: processes of ours."""
    for card in host.gpus:
        yield _capability(card, host, recipes)
        yield from _availability(card, host, recipes)
        yield _memory(card, host, own_pids)
        yield from _display(card)
        yield from _heat(card)
        yield from _power(card)
        yield from _slot(card)
    yield from _kinds(host)
    yield from _adapters(host)


def _blocks(
    card: Gpu,
    host: HostSnapshot,
    recipes: Sequence[RuntimeRecipe],
    code: str,
    said: tuple[str, str],
) -> Check:
    """Return that a card cannot be used: worth a look when another can, else it stops."""
    found, advice = said
    others = [one for one in host.gpus if one.index != card.index and is_whole(one)]
    if any(is_made_for(recipe, one) for recipe in for_cards(recipes) for one in others):
        return look(code, _AREA, label(card), f"{found} It is left out.", advice, gpu=card.index)
    blocked = names(for_cards(recipes))
    return stops(code, _AREA, label(card), found, advice, what=blocked, gpu=card.index)


def _capability(card: Gpu, host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Check:
    code, capability = "card-capability", card.compute_capability
    if capability is None or not version(capability):
        found = f"{card.name}; its compute capability could not be found out."
        return unknown(code, _AREA, label(card), found, gpu=card.index)
    suited = names(recipe for recipe in for_cards(recipes) if is_made_for(recipe, card))
    if suited:
        found = f"{card.name}, compute capability {capability}: for {listed(suited)}."
        return good(code, _AREA, label(card), found, gpu=card.index)
    found = f"{card.name}: no runtime of this version is for compute capability {capability}."
    advice = "Use another card, or serve on the processor: `weir presets` says what fits."
    return _blocks(card, host, recipes, code, (found, advice))


def _availability(
    card: Gpu, host: HostSnapshot, recipes: Sequence[RuntimeRecipe]
) -> Iterator[Check]:
    if card.faults:
        found = f"The driver says of it: {'; '.join(card.faults)}."
        advice = (
            "Restart the machine. If it happens again, look for `Xid` in the output of `dmesg`, "
            "and at the card's power cables and riser."
        )
        if is_lost(card):
            yield _blocks(card, host, recipes, "card-fault", (found, advice))
        else:
            yield look("card-fault", _AREA, label(card), found, advice, gpu=card.index)
    if card.mig_enabled:
        count = len(card.mig_devices)
        found = f"It is split by MIG into {count} part(s); an engine wants a whole card."
        advice = f"Join it again: `sudo nvidia-smi -i {card.index} -mig 0`."
        yield _blocks(card, host, recipes, "card-mig", (found, advice))
    if card.compute_mode == "prohibited":
        found = "Its compute mode lets no program compute."
        advice = f"Allow it again: `sudo nvidia-smi -i {card.index} -c 0`."
        yield _blocks(card, host, recipes, "card-mode", (found, advice))
    if card.compute_mode == "exclusive-process":
        found = "Its compute mode lets only one program in at a time."
        advice = f"If an engine cannot start, allow more: `sudo nvidia-smi -i {card.index} -c 0`."
        yield look("card-mode", _AREA, label(card), found, advice, gpu=card.index)


def _memory(card: Gpu, host: HostSnapshot, own_pids: AbstractSet[int]) -> Check:
    title, usable, free = label(card, "memory"), card.usable_bytes, card.free_bytes
    if usable is None or free is None:
        found = "How much is free could not be found out."
        return unknown("card-memory", _AREA, title, found, gpu=card.index)
    listing = card.processes or ()
    ours = [one for one in listing if one.pid in own_pids]
    others = [one for one in listing if one.pid not in own_pids]
    held = max(0, usable - free) - sum(one.bytes or 0 for one in ours)
    share = f"{bytes_text(free)} of {bytes_text(usable)} is free"
    if _is_held(card, usable, held, others) and not (ours and not others):
        found = f"{share}. {_holders(others, held, host)}"
        advice = "End what you do not need there; the KV pool grows by what becomes free."
        return look("card-memory-held", _AREA, title, found, advice, gpu=card.index)
    keeps = "; Windows keeps the rest" if card.is_wddm else ""
    tail = "; the rest is held by the Studio's own engine" if ours else keeps
    return good("card-memory", _AREA, title, f"{share}{tail}.", gpu=card.index)


def _is_held(card: Gpu, usable: int, held: int, others: Sequence[GpuProcess]) -> bool:
    if card.is_wddm:
        return held > max(_HELD_BYTES, round(usable * _WDDM_SHARE))
    named = sum(one.bytes or 0 for one in others)
    return named > _NAMED_BYTES or held > _HELD_BYTES


def _holders(others: Sequence[GpuProcess], held: int, host: HostSnapshot) -> str:
    if not others:
        by = "programs of Windows" if host.is_wsl else "programs that the driver does not name"
        return f"{bytes_text(held)} is held by {by}."
    said = [
        f"{one.name or 'a program of somebody else'} (process {one.pid})"
        + (f" {bytes_text(one.bytes)}" if one.bytes is not None else "")
        for one in others[:_MOST_HOLDERS]
    ]
    if len(others) > _MOST_HOLDERS:
        said.append(f"{len(others) - _MOST_HOLDERS} more")
    return f"Held by {listed(said)}."


def _display(card: Gpu) -> Iterator[Check]:
    if card.display_active:
        # About 1.3 GiB for a desktop: HyperQwen's documentation.
        found = "A desktop is drawn on it, which takes up to about 1.3 GiB of its memory."
        advice = (
            "Connect the screen to the processor's own graphics or to another card; "
            "until then a preset has to leave that much free."
        )
        yield look("card-display", _AREA, label(card, "display"), found, advice, gpu=card.index)


def _heat(card: Gpu) -> Iterator[Check]:
    reasons = [_HOT[one] for one in card.throttle_reasons or () if one in _HOT]
    if reasons:
        degrees = f" at {card.temperature_c} °C" if card.temperature_c is not None else ""
        why = listed(list(dict.fromkeys(reasons)))
        found = f"It runs slower than it could{degrees}: {why}."
        advice = "Look at its fans, the air in the case and its power cables."
        yield look("card-throttle", _AREA, label(card, "heat"), found, advice, gpu=card.index)


def _power(card: Gpu) -> Iterator[Check]:
    limit, default = card.power_limit_w, card.power_default_w
    if not limit or not default:
        return
    if limit < default * _LOW_POWER_SHARE:
        found = f"Its power is limited to {limit:.0f} of {default:.0f} W, which costs speed."
        advice = f"Raise it: `sudo nvidia-smi -i {card.index} -pl {default:.0f}`."
        yield look("card-power", _AREA, label(card, "power"), found, advice, gpu=card.index)
    else:
        found = f"Power limit {limit:.0f} W, by default {default:.0f} W."
        yield good("card-power", _AREA, label(card, "power"), found, gpu=card.index)


def _slot(card: Gpu) -> Iterator[Check]:
    width, most = card.pcie_width, card.pcie_width_max
    if width is None or most is None:
        return
    if width < most:
        found = f"It sits on {width} of its {most} PCIe lanes."
        advice = (
            "A card that holds the whole model does not mind. For several cards, and for KV in "
            "the machine's memory, use a slot with all lanes."
        )
        yield look("card-slot", _AREA, label(card, "slot"), found, advice, gpu=card.index)
    else:
        found = f"{width} PCIe lanes, up to generation {card.pcie_generation_max or '–'}."
        yield good("card-slot", _AREA, label(card, "slot"), found, gpu=card.index)


def _kinds(host: HostSnapshot) -> Iterator[Check]:
    kinds = list(dict.fromkeys(card.name for card in host.gpus))
    if len(kinds) > 1:
        found = f"The cards are of {len(kinds)} kinds: {listed(kinds)}."
        advice = "Presets for several cards want alike ones: choose with `--gpus`, for example 0,1."
        yield look("cards-alike", _AREA, "All cards", found, advice)


def _adapters(host: HostSnapshot) -> Iterator[Check]:
    chips = [one.name for one in host.adapters if host.gpus or one.vendor != "nvidia"]
    if chips:
        found = f"{listed(chips)}. Memory of such a chip is the machine's and is not counted."
        yield good("adapters", _AREA, "Other graphics", found)
