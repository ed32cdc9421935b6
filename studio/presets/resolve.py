"""A preset with overrides on a host and a runtime, every value decided. Pure.

Order: what the preset says, then its rules one after the other, then what the person typed, which
always stays. Refusals and warnings look at the outcome; a refusal is reported, not raised, so that
a list can show it (`require` raises).
"""

import re
from collections.abc import Mapping
from typing import Any

from studio.domain.errors import BadInput
from studio.domain.manifests import Preset
from studio.domain.rules import Advice, Facts, Finding, Resolved, Rule, Value
from studio.presets import flags, knobs
from studio.presets.conditions import Settings, holds

PLACES = {"model": "MODEL", "drafter": "DRAFTER", "cache": "CACHE"}
"""What stands for the folders while nobody asks where they are."""
PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_][a-z0-9_]*)\}(?!\})")
"""`{name}`; doubled braces are the engine's own and become single ones."""
_DEEPEST = 16


def resolve(
    preset: Preset,
    facts: Facts,
    overrides: Mapping[str, str] | None = None,
    places: Mapping[str, str] | None = None,
) -> Resolved:
    """Return every value of `preset` on a host with these facts.

    `places` are the folders `model`, `drafter` and `cache`.
    Raises: BadInput (`knob-unknown`, `knob-value`, `placeholder-unknown`).
    """
    typed = dict(overrides or {})
    state = _State(preset, knobs.read_overrides(preset, typed), {**PLACES, **(places or {})})
    acted = [rule for rule in preset.rules if state.apply(rule, facts)]
    badges = [*preset.badges, *(rule.badge for rule in acted if rule.badge is not None)]
    values = state.knob_values()
    structured = state.filled_structured(values)
    fixed = state.filled_fixed()
    return Resolved(
        preset=preset.id,
        runtime=facts.runtime,
        served_name=preset.served_name,
        gpus=facts.gpus,
        knobs=values,
        overrides=typed,
        arguments=state.arguments(values, fixed, structured),
        environment=state.variables(values),
        settings={**fixed, **values, **structured},
        badges=tuple(dict.fromkeys(badges)),
        rules=tuple(rule.name for rule in acted),
        refusals=state.findings(preset.refusals, facts),
        warnings=state.findings(preset.warnings, facts),
    )


def require(resolved: Resolved) -> None:
    """Raise the first refusal.

    Raises: BadInput (`preset-refused`).
    """
    if resolved.refusals:
        first = resolved.refusals[0]
        raise BadInput(
            "preset-refused",
            f"`{resolved.preset}` cannot be served like this: {first.sentence}",
            hint=first.hint,
            evidence=tuple(one.sentence for one in resolved.refusals[1:]),
            data={"refusal": first.name},
        )


class _State:
    """The values while the rules act."""

    def __init__(
        self, preset: Preset, overrides: Mapping[str, Value], places: Mapping[str, str]
    ) -> None:
        self._preset = preset
        self._overrides = overrides
        self._places = places
        self._defaults = {
            name: knob.default for name, knob in preset.knobs.items() if knob.default is not None
        }
        self._fixed: dict[str, Value] = dict(preset.fixed)
        self._structured = {name: dict(keys) for name, keys in preset.structured.items()}
        self._environment = dict(preset.environment)
        self._quantities = dict(preset.quantities)
        self._settings = Settings(value=self._value, default=self._default, overrides=overrides)

    def apply(self, rule: Rule, facts: Facts) -> bool:
        """Let `rule` act if its condition holds; return whether it did."""
        if not holds(rule.when, facts, self._settings):
            return False
        for name, value in rule.set.items():
            (self._defaults if name in self._preset.knobs else self._fixed)[name] = value
        for name, keys in rule.structured.items():
            self._structured.setdefault(name, {}).update(keys)
        self._environment.update(rule.environment)
        self._quantities.update(rule.quantities)
        for name in rule.unset:
            for where in (self._defaults, self._fixed, self._environment, self._structured):
                where.pop(name, None)
        return True

    def knob_values(self) -> dict[str, Value]:
        """Return every knob that has a value, in the preset's order."""
        found = ((name, self._value(name)) for name in self._preset.knobs)
        return {name: value for name, value in found if value is not None}

    def filled_structured(self, values: Mapping[str, Value]) -> dict[str, dict[str, Any]]:
        """Return the structured arguments with their knobs and numbers put in."""
        made = {name: _known(self._filled(keys)) for name, keys in self._structured.items()}
        for name, value in values.items():
            argument, _, key = (self._preset.knobs[name].within or "").partition(".")
            if argument in made:
                made[argument][key] = value
        return {name: keys for name, keys in made.items() if keys}

    def filled_fixed(self) -> dict[str, Value]:
        """Return the fixed arguments with their numbers put in."""
        made = {name: self._filled(value) for name, value in self._fixed.items()}
        return {name: value for name, value in made.items() if value is not None}

    def arguments(
        self,
        values: Mapping[str, Value],
        fixed: Mapping[str, Value],
        structured: Mapping[str, dict[str, Any]],
    ) -> tuple[str, ...]:
        """Return the engine's arguments: knobs, fixed ones, structured ones, the rest."""
        argv: list[str] = []
        for name, value in values.items():
            knob = self._preset.knobs[name]
            if not (knob.internal or knob.environment or knob.within):
                argv += flags.flag(knob.flag or name, value)
        for name, value in fixed.items():
            argv += flags.flag(name, value)
        for name, keys in structured.items():
            argv += flags.json_flag(name, keys)
        argv += [str(self._filled(part)) for part in self._preset.arguments]
        return tuple(argv)

    def variables(self, values: Mapping[str, Value]) -> dict[str, str]:
        """Return the engine's variables; a knob's wins."""
        made = {name: str(self._filled(text)) for name, text in self._environment.items()}
        for name, value in values.items():
            variable = self._preset.knobs[name].environment
            if variable is not None:
                made[variable] = flags.text(value)
        return made

    def findings(self, listed: tuple[Advice, ...], facts: Facts) -> tuple[Finding, ...]:
        """Return those whose condition holds, their sentences filled in."""
        return tuple(
            Finding(
                name=one.name,
                sentence=self._said(one.sentence),
                hint=None if one.hint is None else self._said(one.hint),
                source=one.source,
            )
            for one in listed
            if holds(one.when, facts, self._settings)
        )

    def _value(self, name: str) -> Value | None:
        return self._lookup(name, self._overrides)

    def _default(self, name: str) -> Value | None:
        return self._lookup(name, {})

    def _lookup(self, name: str, typed: Mapping[str, Value], depth: int = 0) -> Value | None:
        for where in (typed, self._defaults, self._fixed, self._quantities):
            if name in where:
                return where[name]
        made = self._preset.derived.get(name)
        if made is None or depth > _DEEPEST:
            return None
        product = 1
        for part in made.of:
            value = self._lookup(part, typed, depth + 1)
            if value is None or isinstance(value, bool | str):
                return None
            product *= int(value)
        total = product + made.plus
        return total if made.at_most is None else min(total, made.at_most)

    def _filled(self, value: Any) -> Any:
        """Return a value with its placeholders put in; a whole `{name}` keeps the value's kind."""
        if isinstance(value, dict):
            return {key: self._filled(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._filled(one) for one in value]
        if not isinstance(value, str):
            return value
        whole = PLACEHOLDER.fullmatch(value)
        if whole is not None:
            return self._named(whole[1])
        filled = PLACEHOLDER.sub(lambda match: self._text(match[1]), value)
        return filled.replace("{{", "{").replace("}}", "}")

    def _text(self, name: str) -> str:
        value = self._named(name)
        return "" if value is None else flags.text(value)

    def _named(self, name: str) -> Value | None:
        if name in self._places:
            return self._places[name]
        if not self._is_known(name):
            known = ", ".join(f"{{{one}}}" for one in self._places)
            raise BadInput(
                "placeholder-unknown",
                f"`{self._preset.id}` uses the placeholder {{{name}}}, which does not exist.",
                hint=f"Known: {known}, and the names of its settings.",
            )
        return self._value(name)

    def _is_known(self, name: str) -> bool:
        preset = self._preset
        where = (preset.knobs, preset.fixed, preset.quantities, preset.derived)
        by_rules = ((rule.set, rule.quantities) for rule in preset.rules)
        return any(name in one for one in where) or any(
            name in one for pair in by_rules for one in pair
        )

    def _said(self, sentence: str) -> str:
        def shown(match: re.Match[str]) -> str:
            value = self._value(match[1])
            if isinstance(value, bool):
                return "on" if value else "off"
            if isinstance(value, int):
                return f"{value:,}"
            return "–" if value is None else str(value)

        return PLACEHOLDER.sub(shown, sentence)


def _known(keys: dict[str, Any]) -> dict[str, Any]:
    """Return a structured argument without the keys whose number is not known."""
    return {key: value for key, value in keys.items() if value is not None}
