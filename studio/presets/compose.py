"""A preset's file, the parts it uses and the models it names, as one preset. Pure.

Where two say the same, the later wins: parts in the order of `uses`, then the preset itself. Rules
and sentences of one name replace each other; new ones come after those that are there. What a file
names but nobody defines is an error that says where.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from studio.domain.errors import BadInput
from studio.domain.manifests import (
    Knob,
    KnobKind,
    ModelSpec,
    Preset,
    PresetBody,
    PresetFile,
    PresetHead,
    PresetPart,
)
from studio.domain.rules import Advice, Condition, Gap, Rule
from studio.presets.choose import RUNTIME
from studio.presets.knobs import fault_in
from studio.presets.resolve import PLACEHOLDER, PLACES

Named = TypeVar("Named", Rule, Advice, Gap)
_MAPS = ("environment", "fixed", "knobs", "quantities", "derived")
_LISTS = ("rules", "refusals", "warnings", "unverified")


def compose(
    file: PresetFile,
    parts: Mapping[str, PresetPart],
    models: Mapping[str, ModelSpec],
    *,
    where: str,
    is_own: bool = False,
) -> Preset:
    """Return the preset that `file` describes; `where` names it in errors.

    Raises: BadInput (`document-invalid`).
    """
    bodies: list[PresetBody] = [_named(parts, name, "part", where) for name in file.uses]
    bodies.append(file)
    merged: dict[str, Any] = {name: _laid_over(bodies, name) for name in _MAPS}
    merged |= {name: _by_name(bodies, name) for name in _LISTS}
    merged["structured"] = _structured(bodies)
    merged["badges"] = tuple(dict.fromkeys(badge for body in bodies for badge in body.badges))
    merged["knobs"] = _with_values(merged["knobs"], file, where)
    head = {name: getattr(file, name) for name in PresetHead.__struct_fields__}
    preset = Preset(
        **{**head, **merged},
        model=_model(file.model, models, where),
        drafter=None if file.drafter is None else _model(file.drafter, models, where),
        is_own=is_own,
    )
    _check(preset, where)
    return preset


def _invalid(where: str, fault: str, hint: str | None = None) -> BadInput:
    return BadInput("document-invalid", f"{where}: {fault}", hint=hint)


def _near(name: str, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean `{close[0]}`?" if close else None


Item = TypeVar("Item")


def _named(known: Mapping[str, Item], name: str, kind: str, where: str) -> Item:
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        hint = _near(name, known) or f"There are: {listed}."
        raise _invalid(where, f"there is no {kind} `{name}`.", hint)
    return known[name]


def with_base(named: str, models: Mapping[str, ModelSpec], *, where: str) -> ModelSpec:
    """Return a model with what it is laid over put in. Raises: BadInput (`document-invalid`)."""
    return _model(named, models, where)


def _model(
    named: str | ModelSpec, models: Mapping[str, ModelSpec], where: str, above: tuple[str, ...] = ()
) -> ModelSpec:
    """Return a model with what it is laid over put in; `above` are those laid over it."""
    found = named if isinstance(named, ModelSpec) else _named(models, named, "model", where)
    if found.base is None:
        return found
    above = (*above, found.id)
    base = found.base if isinstance(found.base, str) else found.base.id
    if base in above:
        raise _invalid(where, f"the model `{base}` would be laid over itself.")
    return msgspec.structs.replace(found, base=_model(found.base, models, where, above))


def _laid_over(bodies: list[PresetBody], name: str) -> dict[str, Any]:
    return {key: value for body in bodies for key, value in getattr(body, name).items()}


def _by_name(bodies: list[PresetBody], name: str) -> tuple[Any, ...]:
    return tuple({one.name: one for body in bodies for one in getattr(body, name)}.values())


def _structured(bodies: list[PresetBody]) -> dict[str, dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {}
    for body in bodies:
        for name, keys in body.structured.items():
            merged.setdefault(name, {}).update(keys)
    return merged


def _with_values(knobs: dict[str, Knob], file: PresetFile, where: str) -> dict[str, Knob]:
    made = dict(knobs)
    for name, value in file.values.items():
        if name not in made:
            raise _invalid(where, f"`values.{name}` sets a knob that does not exist.",
                           _near(name, made))  # fmt: skip
        chosen = made[name].words.get(str(value), value)
        made[name] = msgspec.structs.replace(made[name], default=chosen)
    runtimes = (file.runtime, *file.other_runtimes)
    if len(runtimes) > 1:
        made[RUNTIME] = Knob(
            kind=KnobKind.STR,
            default=file.runtime,
            choices=runtimes,
            internal=True,
            meaning="Which runtime serves it.",
        )
    return made


def _check(preset: Preset, where: str) -> None:
    for name, knob in preset.knobs.items():
        _check_knob(preset, name, knob, where)
    known = {*preset.knobs, *preset.fixed, *preset.quantities, *preset.derived}
    for rule in preset.rules:
        known |= rule.set.keys() | rule.quantities.keys()
    for place, name in _settings_named(preset):
        if name not in known:
            raise _invalid(where, f"`{place}` names the setting `{name}`, which does not exist.",
                           _near(name, known))  # fmt: skip
    for place, name in _placeholders(preset):
        if name not in known and name not in PLACES:
            raise _invalid(where, f"`{place}` uses the placeholder {{{name}}}, "
                           "which does not exist.", _near(name, known))  # fmt: skip
    for place, gone in _unknown_unsets(preset):
        raise _invalid(where, f"`{place}` leaves out `{gone}`, which does not exist.")


def _check_knob(preset: Preset, name: str, knob: Knob, where: str) -> None:
    if knob.within is not None and not all(knob.within.partition(".")):
        raise _invalid(where, f"`knobs.{name}.within` should be an argument, a dot and a key.")
    if knob.default is not None:
        expected = fault_in(knob, knob.default)
        if expected is not None:
            found = f"found `{knob.default}`"
            raise _invalid(where, f"the value of `{name}` should be {expected}, {found}.")
    for rule in preset.rules:
        value = rule.set.get(name)
        expected = None if value is None else fault_in(knob, value)
        if expected is not None:
            raise _invalid(
                where, f"`rules.{rule.name}` sets `{name}`: it should be {expected}, "
                f"found `{value}`."
            )  # fmt: skip


def _conditions(preset: Preset) -> Iterator[tuple[str, Condition]]:
    for rule in preset.rules:
        yield f"rules.{rule.name}", rule.when
    for kind, listed in (("refusals", preset.refusals), ("warnings", preset.warnings)):
        for one in listed:
            yield f"{kind}.{one.name}", one.when


def _settings_named(preset: Preset) -> Iterator[tuple[str, str]]:
    for place, condition in _conditions(preset):
        for name, test in condition.settings.items():
            yield place, name
            if test.no_multiple_of is not None:
                yield place, test.no_multiple_of
    for name, made in preset.derived.items():
        for part in made.of:
            yield f"derived.{name}", part


def _placeholders(preset: Preset) -> Iterator[tuple[str, str]]:
    texts: list[tuple[str, object]] = [
        ("environment", preset.environment),
        ("fixed", preset.fixed),
        ("structured", preset.structured),
        ("arguments", preset.arguments),
    ]
    for rule in preset.rules:
        place = f"rules.{rule.name}"
        texts += [(place, rule.environment), (place, rule.structured), (place, rule.set)]
    for kind, listed in (("refusals", preset.refusals), ("warnings", preset.warnings)):
        texts += [(f"{kind}.{one.name}", (one.sentence, one.hint)) for one in listed]
    for place, value in texts:
        for text in _strings(value):
            yield from ((place, name) for name in PLACEHOLDER.findall(text))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)


def _unknown_unsets(preset: Preset) -> Iterator[tuple[str, str]]:
    known = {*preset.knobs, *preset.fixed, *preset.structured, *preset.environment}
    for rule in preset.rules:
        known |= rule.set.keys() | rule.structured.keys() | rule.environment.keys()
    for rule in preset.rules:
        for name in rule.unset:
            if name not in known:
                yield f"rules.{rule.name}", name
