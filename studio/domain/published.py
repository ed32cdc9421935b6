"""On what a preset's published figures were measured, read from words that people wrote. Pure.

`[[expected]]` names a machine as its source does: `RTX 3090 at 250 W, Linux`, `2 cores of an AMD
EPYC, 24 GiB`. What cannot be read counts as not known and never as equal.
"""

import dataclasses
import re

from studio.domain.manifests import Expected
from studio.domain.units import GIB

_COUNT = re.compile(r"^(\d+) ×\s*")
_CORES = re.compile(r"^(\d+) cores of an? ")
_MEMORY = re.compile(r"\b(\d+) ?(?:GB|GiB)\b")
_POWER = re.compile(r"(?:\bat |, ?)(\d{2,4}) W\b")
_ASIDE = re.compile(r"\b(?:at|with)\b.*$")
_SYSTEM = re.compile(r"\b(WSL2|Linux)\b")
_WORD = re.compile(r"[a-z0-9]+")
_VARIANTS = frozenset(("ti", "super", "laptop", "max", "mobile", "d", "ada", "mig"))
"""Words that make another card of one number."""
_MEMORY_SLACK = 0.12
"""Cards hold a little less or more than the number in their name."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredOn:
    """The machine that a row is of."""

    name: str
    """Of a card or processor; empty: the row does not say."""
    cards: int = 1
    """0: the processor."""
    cores: int | None = None
    memory_gib: int | None = None
    """Of one card."""
    power_w: int | None = None
    """Limit of one card; None: not said."""
    system: str | None = None
    """`Linux` or `WSL2`; None: not said."""

    def is_card(self, name: str, memory_bytes: int | None = None) -> bool:
        """Tell whether a card of this name, as NVIDIA's driver gives it, is one of these."""
        said, named = _words(self.name), _words(name)
        if not self.cards or not said or not said <= named or (named - said) & _VARIANTS:
            return False
        if self.memory_gib is None or memory_bytes is None:
            return True
        return abs(memory_bytes / GIB / self.memory_gib - 1) <= _MEMORY_SLACK

    def is_processor(self, name: str | None, count: int | None) -> bool:
        """Tell whether a processor with so many that work at once is the one."""
        if self.cards or name is None or count is None:
            return False
        return _words(self.name) <= _words(name) and count == self.cores


def measured_on(row: Expected) -> MeasuredOn:
    """Return on what a row was measured."""
    text = row.card or ""
    system = _SYSTEM.search(text)
    head = text.split(",")[0]
    cores = _CORES.match(text)
    if cores is not None:
        name = _CORES.sub("", head).strip()
        return MeasuredOn(name=name, cards=0, cores=int(cores[1]))
    count = _COUNT.match(text)
    model = _COUNT.sub("", head)
    memory = _MEMORY.search(model)
    power = _POWER.search(text)
    if power is None and (row.note or "").startswith("at "):
        power = _POWER.match(row.note or "")
    return MeasuredOn(
        name=_ASIDE.sub("", _MEMORY.sub("", model)).strip(),
        cards=int(count[1]) if count else 1,
        memory_gib=int(memory[1]) if memory else None,
        power_w=int(power[1]) if power else None,
        system=system[1] if system else None,
    )


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.lower()))
