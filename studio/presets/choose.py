"""Which presets suit a host: facts against facts, reasons in words. Pure."""

import dataclasses
from collections.abc import Mapping

from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Preset, RuntimeRecipe
from studio.domain.rules import Facts, Resolved
from studio.domain.units import bytes_text
from studio.presets import cards, knobs, resolve

RUNTIME = "runtime"
"""The knob that chooses among the runtimes of a preset."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What a preset would be on a host, and why it cannot be served there."""

    facts: Facts | None = None
    resolved: Resolved | None = None
    cards_wanted: int = 0
    """The fewest cards that it computes on."""
    reasons: tuple[str, ...] = ()
    """About the host. Refusals stand in `resolved`."""


def runtime_of(preset: Preset, overrides: Mapping[str, str]) -> str:
    """Return the name of the runtime that serves `preset`."""
    return overrides.get(RUNTIME, preset.runtime)


def fit(
    preset: Preset,
    recipe: RuntimeRecipe | None,
    host: HostSnapshot,
    gpus: tuple[int, ...] | None = None,
    overrides: Mapping[str, str] | None = None,
) -> Fit:
    """Return what `preset` would be on `host`.

    `gpus` restricts the cards by NVML index. An unknown fact never counts against a host; where a
    host has not enough cards, the values are those for the fewest that would do.
    Raises: BadInput (`knob-unknown`, `knob-value`).
    """
    typed = dict(overrides or {})
    values = knobs.read_overrides(preset, typed)
    if recipe is None:
        name = runtime_of(preset, typed)
        return Fit(reasons=(f"Its runtime `{name}` is not in this version's catalogue.",))
    count = values.get(cards.PARALLEL)
    picked = cards.pick(preset, recipe, host, gpus, count if isinstance(count, int) else None)
    reasons = (*_machine_reasons(preset, recipe, host), *picked.reasons)
    facts = cards.facts_of(host, recipe, picked.gpus)
    return Fit(
        facts=facts,
        resolved=resolve.resolve(preset, facts, typed),
        cards_wanted=cards.wanted(preset, recipe, host, count if isinstance(count, int) else None),
        reasons=reasons,
    )


def reasons_against(
    preset: Preset,
    recipe: RuntimeRecipe | None,
    host: HostSnapshot,
    gpus: tuple[int, ...] | None = None,
) -> tuple[str, ...]:
    """Return why `preset` cannot run on `host` as it is, nothing if it can."""
    found = fit(preset, recipe, host, gpus)
    if found.reasons or found.resolved is None:
        return found.reasons
    return tuple(one.sentence for one in found.resolved.refusals)


def _machine_reasons(preset: Preset, recipe: RuntimeRecipe, host: HostSnapshot) -> list[str]:
    reasons = []
    needs = recipe.needs
    if host.platform not in needs.platforms:
        way_out = " Inside WSL 2 it would do." if host.system.lower() == "windows" else ""
        reasons.append(
            f"The runtime is for {', '.join(needs.platforms)}; this is {host.platform}.{way_out}"
        )
    memory = max(preset.needs.memory_bytes or 0, needs.memory_bytes or 0)
    there = host.available_memory_bytes
    if there is not None and there < memory:
        what = f" {preset.needs.memory_note}" if preset.needs.memory_note else ""
        reasons.append(
            f"It needs {bytes_text(memory)} of memory{what}; this machine has {bytes_text(there)}."
        )
    return reasons


def best(
    presets: list[Preset],
    recipes: dict[str, RuntimeRecipe],
    host: HostSnapshot,
    gpus: tuple[int, ...] | None = None,
) -> Preset | None:
    """Return the highest-ranked preset that runs on `host`, or None."""
    usable = [p for p in presets if not reasons_against(p, recipes.get(p.runtime), host, gpus)]
    return max(usable, key=lambda preset: preset.rank, default=None)
