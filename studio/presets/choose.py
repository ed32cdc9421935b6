"""Which presets suit a host: facts against facts, reasons in words. Pure."""

from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import Preset, RuntimeRecipe
from studio.domain.units import bytes_text


def reasons_against(
    preset: Preset,
    recipe: RuntimeRecipe | None,
    host: HostSnapshot,
    gpus: tuple[int, ...] | None = None,
) -> tuple[str, ...]:
    """Return why `preset` cannot run on `host`, nothing if it can.

    `gpus` restricts the cards by NVML index. An unknown fact never counts against a host.
    """
    if recipe is None:
        return (f"Its runtime `{preset.runtime}` is not in this version's catalogue.",)
    reasons = []
    needs = recipe.needs
    if host.platform not in needs.platforms:
        reasons.append(f"The runtime is for {', '.join(needs.platforms)}; this is {host.platform}.")
    memory = max(preset.needs.memory_bytes or 0, needs.memory_bytes or 0)
    if host.memory_bytes is not None and host.memory_bytes < memory:
        reasons.append(
            f"It needs {bytes_text(memory)} of memory; this machine has "
            f"{bytes_text(host.memory_bytes)}."
        )
    wanted = preset.needs.gpus or (1 if needs.gpu else 0)
    if wanted:
        reasons += _card_reasons(preset, recipe, host, gpus, wanted)
    return tuple(reasons)


def _card_reasons(
    preset: Preset,
    recipe: RuntimeRecipe,
    host: HostSnapshot,
    gpus: tuple[int, ...] | None,
    wanted: int,
) -> list[str]:
    if not host.gpus:
        return [host.gpu_note or "It needs an NVIDIA card; none was found."]
    cards = [card for card in host.gpus if gpus is None or card.index in gpus]
    floor = preset.needs.min_compute_capability or recipe.needs.min_compute_capability
    ceiling = recipe.needs.max_compute_capability
    able = [card for card in cards if _is_able(card, floor, ceiling)]
    roomy = [card for card in able if _has_room(card, preset.needs.vram_bytes_each)]
    if len(able) < wanted:
        kind = (
            f"of compute capability {floor or 'any'} {f'to {ceiling}' if ceiling else 'or newer'}"
        )
        return [f"It needs {wanted} card(s) {kind}; {len(able)} of {len(cards)} here are."]
    if len(roomy) < wanted:
        room = bytes_text(preset.needs.vram_bytes_each)
        return [f"It needs {wanted} card(s) with {room} each; {len(roomy)} here have that."]
    return []


def _is_able(card: Gpu, floor: str | None, ceiling: str | None) -> bool:
    if card.compute_capability is None:
        return True
    found = _version(card.compute_capability)
    is_too_old = floor is not None and found < _version(floor)
    is_too_new = ceiling is not None and found > _version(ceiling)
    return not (is_too_old or is_too_new)


def _has_room(card: Gpu, needed_bytes: int | None) -> bool:
    return needed_bytes is None or card.total_bytes is None or card.total_bytes >= needed_bytes


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def best(
    presets: list[Preset],
    recipes: dict[str, RuntimeRecipe],
    host: HostSnapshot,
    gpus: tuple[int, ...] | None = None,
) -> Preset | None:
    """Return the highest-ranked preset that runs on `host`, or None."""
    usable = [p for p in presets if not reasons_against(p, recipes.get(p.runtime), host, gpus)]
    return max(usable, key=lambda preset: preset.rank, default=None)
