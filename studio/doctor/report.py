"""All checks of one host, in the order in which they are read, and what they come to."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from studio.doctor import cards, drivers, links, storage, system, tools, wsl
from studio.domain.doctor import EVERYTHING, Check, Level, PresetVerdict
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.domain.units import bytes_text


def checks(
    host: HostSnapshot,
    recipes: Sequence[RuntimeRecipe],
    *,
    own_pids: AbstractSet[int] = frozenset(),
    installed: AbstractSet[str] = frozenset(),
) -> tuple[Check, ...]:
    """Return every check. `own_pids`: our processes; `installed`: runtimes that are in place."""
    return (
        *drivers.checks(host, recipes),
        *cards.checks(host, recipes, own_pids),
        *links.checks(host),
        *system.checks(host, recipes),
        *wsl.checks(host, recipes),
        *storage.checks(host, recipes, installed),
        *tools.checks(host, recipes),
    )


def level(found: Sequence[Check], presets: Sequence[PresetVerdict]) -> Level:
    """Return what it all comes to: `stops` only when no preset at all can run."""
    if any(EVERYTHING in check.stops for check in found):
        return Level.STOPS
    if presets and not any(preset.usable for preset in presets):
        return Level.STOPS
    if any(check.level in (Level.LOOK, Level.STOPS) for check in found):
        return Level.LOOK
    return Level.GOOD


def title(host: HostSnapshot) -> str:
    """Return the host in a line: cards, memory, system."""
    kinds: dict[str, int] = {}
    for card in host.gpus:
        kinds[card.name] = kinds.get(card.name, 0) + 1
    said = [f"{count}× {name}" if count > 1 else name for name, count in kinds.items()]
    said = said or [host.cpu_name or host.machine, "no NVIDIA card"]
    if host.available_memory_bytes is not None:
        said.append(f"{bytes_text(host.available_memory_bytes)} memory")
    said.append(f"{host.os_name} in WSL" if host.is_wsl else host.os_name)
    return " · ".join(said)
