"""What is to be planned, put together from files and features: a preset, or any model's folder.

A case holds all that the planner needs; reading happens here, arithmetic there.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.geometry import ModelGeometry
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import ModelSpec, Preset, RuntimeRecipe
from studio.domain.plans import PlannedCard
from studio.host.paths import Paths
from studio.models import inspect, library
from studio.planner import arguments, budget, cards, geometry, weights
from studio.planner import config as config_rules
from studio.planner.arguments import Arguments
from studio.planner.budget import Surroundings
from studio.planner.card_ledger import Ground, line_of
from studio.planner.cards import CardNeeds
from studio.planner.engine import Device, Engine, engine
from studio.planner.needs import Demands
from studio.planner.outcome import Lack, Shortfall
from studio.planner.work import Attempt, Subject, whole
from studio.presets import choose
from studio.runtimes import folder as runtime_folders

_WAYS = ("tensor", "pipeline", "prefill_context")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing to plan."""

    model: str
    drafter: str | None = None
    preset: Preset | None = None
    recipe: RuntimeRecipe | None = None
    subject: Subject
    cards: tuple[Gpu, ...]
    overrides: Mapping[str, str]
    attempt: Callable[[Mapping[str, str]], Attempt]
    """Overrides to settings and their forecast. Raises: BadInput."""

    @property
    def profiles(self) -> tuple[str, ...]:
        """Return the preset's id and that of what it was made from."""
        return profiles_of(self.preset)


def profiles_of(preset: Preset | None) -> tuple[str, ...]:
    """Return a preset's id and that of what it was made from; nothing without a preset."""
    if preset is None:
        return ()
    return (preset.id, *([preset.origin.id] if preset.origin is not None else ()))


def of_preset(
    preset: Preset,
    recipe: RuntimeRecipe,
    *,
    paths: Paths,
    ground: Ground,
    around: Surroundings,
    overrides: Mapping[str, str],
    gpus: tuple[int, ...] | None,
) -> Case:
    """Return the case of a preset on a host. Raises: BadInput (`knob-unknown`, `knob-value`)."""
    host = ground.host
    first = choose.fit(preset, recipe, host, gpus, overrides)
    used = _cards_of(host, first)
    target, notes = _geometry(preset.model, paths)
    drafter, more = (None, ()) if preset.drafter is None else _geometry(preset.drafter, paths)
    subject = Subject(
        engine=_engine(recipe.name, recipe, used, host),
        ground=ground,
        target=target,
        drafter=drafter,
        demands=_demands(preset, recipe, paths, target),
        asked_for=frozenset(overrides),
    )

    def attempt(texts: Mapping[str, str]) -> Attempt:
        fit = choose.fit(preset, recipe, host, gpus, texts)
        chosen = _cards_of(host, fit)
        settings = fit.resolved.settings if fit.resolved is not None else {}
        checked = _checked(host, recipe, fit, chosen)
        refusals = fit.resolved.refusals if fit.resolved is not None else ()
        warned = fit.resolved.warnings if fit.resolved is not None else ()
        return Attempt(
            settings=settings,
            cards=chosen,
            budget=budget.forecast(subject, settings, chosen, around),
            shortfalls=(
                *(_rule(reason) for reason in fit.reasons),
                *(_rule(one.in_words) for one in refusals),
                *checked.shortfalls,
            ),
            warnings=(*(one.sentence for one in warned), *checked.warnings, *notes, *more),
        )

    return Case(
        model=preset.model.title,
        drafter=preset.drafter.title if preset.drafter is not None else None,
        preset=preset,
        recipe=recipe,
        subject=subject,
        cards=used,
        overrides=overrides,
        attempt=attempt,
    )


def _cards_of(host: HostSnapshot, fit: choose.Fit) -> tuple[Gpu, ...]:
    indices = fit.resolved.gpus if fit.resolved is not None else ()
    by_index = {card.index: card for card in host.gpus}
    return tuple(by_index[index] for index in indices if index in by_index)


def _checked(
    host: HostSnapshot, recipe: RuntimeRecipe, fit: choose.Fit, used: tuple[Gpu, ...]
) -> cards.Chosen:
    if not used or fit.reasons:
        return cards.Chosen()
    return cards.choose(host, _card_needs(recipe, len(used)), [card.index for card in used])


def _card_needs(recipe: RuntimeRecipe | None, count: int) -> CardNeeds:
    if recipe is None:
        return CardNeeds(count=count)
    needs = recipe.needs
    return CardNeeds(
        count=count,
        min_capability=needs.min_compute_capability,
        max_capability=needs.max_compute_capability,
        min_driver=needs.min_driver,
        newest_driver=needs.newest_driver_known,
    )


def _rule(sentence: str) -> Shortfall:
    return Shortfall(lack=Lack.RULE, amount=1, sentence=sentence)


def _engine(
    name: str, recipe: RuntimeRecipe | None, used: tuple[Gpu, ...], host: HostSnapshot
) -> Engine:
    capabilities = [
        tuple(int(part) for part in card.compute_capability.split(".")[:2])
        for card in used
        if card.compute_capability
    ]
    sizes = [card.usable_bytes for card in used]
    lowest = min(capabilities, default=None)
    known = [size for size in sizes if size is not None]
    # A recipe says its engine's version; the name of a runtime of one's own need not.
    found = engine(
        name if recipe is None else f"{name}-{recipe.engine_version}",
        capability=(lowest[0], lowest[1]) if lowest is not None and len(lowest) == 2 else None,
        card_bytes=min(known, default=None),
        cpu_flags=host.cpu_flags,
    )
    if recipe is None:
        return found
    device = Device.CUDA if recipe.needs.gpu else Device.CPU  # the recipe knows, a name may not say
    return msgspec.structs.replace(found, name=name, device=device)


def _geometry(spec: ModelSpec, paths: Paths) -> tuple[ModelGeometry | None, tuple[str, ...]]:
    """Return a model's shape: its own config once it is here, else what the preset ships."""
    folder = library.find(paths, spec)
    if folder is None:
        return spec.geometry, ()
    try:
        found = read_folder(folder).geometry
    except StudioError as error:
        return spec.geometry, (f"{error.message} The preset's own figures are used instead.",)
    if spec.geometry is None:
        return found, ()
    differs = _difference(found, spec.geometry)
    sizes = _sizes(found.weight_bytes, spec.geometry.weight_bytes)
    found = msgspec.structs.replace(found, weight_bytes=sizes)
    return found, ((differs,) if differs else ())


def _sizes(found: Mapping[str, int], shipped: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of a model's parts: as its files have them, where their headers say so.

    Headers know nothing of parts that an engine keeps off the card (tables, experts): those that
    the preset ships are taken out of the body. Files without headers leave all of it to the preset.
    """
    if not found:
        return dict(shipped)
    sizes = dict(found)
    for part, size in shipped.items():
        if part in weights.PARTS or part in sizes:
            continue
        taken = min(size, sizes.get("body", 0))
        sizes |= {part: taken, "body": sizes.get("body", 0) - taken}
    return sizes


def _difference(found: ModelGeometry, shipped: ModelGeometry) -> str | None:
    """Return in words where a config on disk is not what the preset ships."""
    names = [
        name
        for name in ("layers", "query_heads", "hidden_size", "vocabulary", "mtp_layers")
        if getattr(found, name) not in (None, getattr(shipped, name))
        and getattr(shipped, name) is not None
    ]
    if not names:
        return None
    listed = ", ".join(name.replace("_", " ") for name in names)
    return (
        f"The model's config.json differs from what the preset ships ({listed}); the config is "
        "what counts."
    )


def _demands(
    preset: Preset, recipe: RuntimeRecipe, paths: Paths, target: ModelGeometry | None
) -> Demands:
    missing = [spec for spec in preset.models if library.find(paths, spec) is None]
    disk = sum(spec.disk_bytes for spec in missing)
    if runtime_folders.in_use(paths, recipe.name) is None:
        disk += recipe.needs.disk_bytes
    memory = None if target is None else target.weight_bytes.get("embedding")
    return Demands(
        memory_bytes=preset.needs.memory_bytes if recipe.needs.gpu else None,
        memory_source=preset.needs.memory_note or "what the preset asks for",
        disk_bytes=disk,
        embedding_bytes=memory,
    )


# A model's folder


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A model folder, read."""

    path: Path
    config: Mapping[str, object]
    geometry: ModelGeometry
    weights_bytes: int | None
    """As stored; None without weights."""
    missing: tuple[str, ...]
    """Weight files that its index names and that are not there."""


def read_folder(model: Path, overrides: object = None) -> Folder:
    """Return what a model's folder says of itself; its weights are optional.

    `overrides` is the engine's `hf_overrides`: values to be taken instead of the file's.
    Raises: NotFound (`model-missing`, `config-missing`), BadInput (`config-invalid`,
    `config-without-layers`, `knob-value`), Damaged (`weights-damaged`), HostLacks (`not-readable`).
    """
    path, stored = inspect.config_of(model)
    config = config_rules.overridden(stored, overrides)
    shape = geometry.geometry(config, source=str(path / inspect.CONFIG))
    headers = inspect.headers_of(path)
    missing = inspect.missing_files(path)
    total = None
    if headers and not missing:
        sums = weights.weights(headers)
        total = sums.total
        shape = msgspec.structs.replace(shape, weight_bytes=dict(sums.parts))
    return Folder(path=path, config=config, geometry=shape, weights_bytes=total, missing=missing)


def of_folder(
    model: Path,
    drafter: Path | None,
    *,
    engine_name: str,
    recipe: RuntimeRecipe | None,
    known: Arguments,
    ground: Ground,
    around: Surroundings,
    overrides: Mapping[str, str],
    gpus: tuple[int, ...] | None,
) -> Case:
    """Return the case of any model on an engine.

    `recipe` is the runtime of that name, None for a stock engine.
    Raises: what `read_folder` raises, BadInput (`engine-unknown`, `knob-unknown`, `knob-value`).
    """
    settings = arguments.read(overrides, known)
    target = read_folder(model, settings.get("hf_overrides"))
    draft = read_folder(drafter) if drafter is not None else None
    used = _chosen(engine_name, recipe, ground.host, settings, gpus).cards
    subject = Subject(
        engine=_engine(engine_name, recipe, used, ground.host),
        ground=ground,
        target=target.geometry,
        drafter=draft.geometry if draft is not None else None,
        asked_for=frozenset(settings),
    )
    notes = tuple(note for one in (target, draft) if one is not None for note in _notes(one))

    def attempt(texts: Mapping[str, str]) -> Attempt:
        values = arguments.read(texts, known)
        chosen = _chosen(engine_name, recipe, ground.host, values, gpus)
        return Attempt(
            settings=values,
            cards=chosen.cards,
            budget=budget.forecast(subject, values, chosen.cards, around),
            shortfalls=chosen.shortfalls,
            warnings=(*chosen.warnings, *notes),
        )

    return Case(
        model=target.path.name,
        drafter=draft.path.name if draft is not None else None,
        recipe=recipe,
        subject=subject,
        cards=used,
        overrides=overrides,
        attempt=attempt,
    )


def _chosen(
    engine_name: str,
    recipe: RuntimeRecipe | None,
    host: HostSnapshot,
    settings: Mapping[str, object],
    gpus: tuple[int, ...] | None,
) -> cards.Chosen:
    """Return the cards of a stock engine; a host without any is no fault of the model's."""
    if _engine(engine_name, recipe, (), host).device is Device.CPU or not host.gpus:
        return cards.Chosen()
    return cards.choose(host, _card_needs(recipe, _card_count(settings)), gpus)


def _card_count(settings: Mapping[str, object]) -> int:
    """Return how many cards an engine takes: it is spread in each of these ways at once."""
    return math.prod(whole(settings, f"{way}_parallel_size") or 1 for way in _WAYS)


def _notes(folder: Folder) -> tuple[str, ...]:
    if folder.missing:
        first = ", ".join(folder.missing[:3])
        more = f" and {len(folder.missing) - 3} more" if len(folder.missing) > 3 else ""
        sentence = f"Weight files of `{folder.path.name}` are missing: {first}{more}."
        return (sentence,)
    if folder.weights_bytes is None:
        return (f"`{folder.path.name}` holds no weights: what they take is not known.",)
    return ()


def planned(card: Gpu, ground: Ground) -> PlannedCard:
    """Return a card as a plan shows it."""
    return PlannedCard(
        index=card.index,
        name=card.name,
        uuid=card.uuid,
        total_bytes=card.total_bytes,
        free_bytes=card.free_bytes,
        line_bytes=line_of(card, ground),
    )


def in_words(host: HostSnapshot) -> str:
    """Return a host in words: its cards, or its processor."""
    system = f"{host.os_name}{' (WSL2)' if host.is_wsl else ''}"
    if host.gpus:
        names: dict[str, int] = {}
        for card in host.gpus:
            names[card.name] = names.get(card.name, 0) + 1
        listed = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in names.items())
        return f"{listed}; {system}"
    cores = f"{host.cpu_count} cores" if host.cpu_count else "cores not known"
    return f"{host.cpu_name or host.machine}, {cores}, no NVIDIA card; {system}"
