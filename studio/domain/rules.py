"""The small closed language of presets: conditions over facts, and what follows from them.

A condition names facts and settings; all that it names must hold. A fact that is not known holds
for nothing, so a rule never acts on a guess. There are no expressions: arithmetic is `Derived`, a
product with an offset and a ceiling. Evaluated by `studio.presets.resolve`.
"""

from typing import Any

import msgspec

Value = bool | int | float | str


class SettingTest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of one setting; all that is given must hold.

    A setting without a value holds for `given = false` only.
    """

    equals: Value | None = None
    one_of: tuple[Value, ...] = ()
    none_of: tuple[Value, ...] = ()
    above: float | None = None
    below: float | None = None
    above_default: bool | None = None
    """Whether it is more than preset and host rules choose by themselves."""
    no_multiple_of: str | None = None
    """Name of a quantity that it does not divide by; 0 divides by everything."""
    given: bool | None = None
    """Whether it has a value at all."""
    changed: bool | None = None
    """Whether the person gave the value."""


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts and settings that must all hold; without any it always holds."""

    wsl: bool | None = None
    cards: tuple[int, ...] = ()
    """How many cards are used: one of these counts."""
    min_card_bytes: int | None = None
    """Of the smallest card that is used."""
    max_card_bytes: int | None = None
    compute_capabilities: tuple[str, ...] = ()
    """The lowest of the used cards is one of these."""
    min_compute_capability: str | None = None
    max_compute_capability: str | None = None
    nvlink: bool | None = None
    """Whether every two used cards are joined by NVLink."""
    desktop: bool | None = None
    """Whether a desktop is drawn on a used card."""
    nvcc: bool | None = None
    """Whether the CUDA compiler is on the PATH."""
    min_memory_bytes: int | None = None
    max_memory_bytes: int | None = None
    runtimes: tuple[str, ...] = ()
    """Names of runtimes: one of these runs it."""
    settings: dict[str, SettingTest] = {}


class Derived(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number made from others: the product of `of`, plus `plus`, at most `at_most`."""

    of: tuple[str, ...]
    """Settings, quantities, or what was derived before; when one has no value, neither has this."""
    plus: int = 0
    at_most: int | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What changes where a condition holds. Later rules see what earlier ones did.

    What the person sets stays: a rule changes defaults. `{name}` stands for a setting, a quantity
    or a derived number.
    """

    name: str
    why: str
    source: str | None = None
    when: Condition = Condition()
    set: dict[str, Value] = {}
    """Defaults of knobs, and fixed arguments."""
    unset: tuple[str, ...] = ()
    """Settings, structured arguments and variables that are left out."""
    structured: dict[str, dict[str, Any]] = {}
    """Keys that are laid over those of structured arguments."""
    environment: dict[str, str] = {}
    quantities: dict[str, int] = {}
    badge: str | None = None
    """A word or three that the person sees beside the preset: `Prebuilt prefill`."""


class Advice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sentence for where a condition holds: a refusal or a warning, by the list it stands in."""

    name: str
    """Stable, kebab-case."""
    when: Condition
    sentence: str
    """What is wrong and why; `{name}` stands for a value."""
    hint: str | None = None
    """What to do."""
    source: str | None = None


class Gap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that no source gives."""

    name: str
    what: str
    """What is missing, and what is done meanwhile."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that conditions may ask of a host, for the cards that are used. None: not known."""

    runtime: str
    gpus: tuple[int, ...] = ()
    """NVML indices of the used cards."""
    is_wsl: bool | None = None
    card_bytes: int | None = None
    compute_capability: str | None = None
    has_nvlink: bool | None = None
    has_desktop: bool | None = None
    has_nvcc: bool | None = None
    memory_bytes: int | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal or warning that applies, its sentence filled in."""

    name: str
    sentence: str
    hint: str | None = None
    source: str | None = None

    @property
    def in_words(self) -> str:
        """Return what is wrong and the way out, as one text."""
        return f"{self.sentence} {self.hint}" if self.hint else self.sentence


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A preset with overrides on a host and a runtime: every value decided."""

    preset: str
    runtime: str
    served_name: str
    gpus: tuple[int, ...] = ()
    """NVML indices, in the order of the bus; empty: no card is used."""
    knobs: dict[str, Value] = {}
    """Every knob that has a value."""
    overrides: dict[str, str] = {}
    """What the person typed."""
    arguments: tuple[str, ...] = ()
    """The engine's, without model, socket and served name."""
    environment: dict[str, str] = {}
    settings: dict[str, Any] = {}
    """vLLM's arguments by name, with underscores, and the series' own knobs: for the planner.
    Structured arguments are mappings."""
    badges: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Names of the rules that acted."""
    refusals: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
