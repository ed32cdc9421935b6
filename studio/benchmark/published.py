"""Which of a preset's published rows are of a machine and a load like the measured ones. Pure.

Rows are written for people (`RTX 3090 at 250 W, Linux`); what cannot be read in one counts as not
known and never as equal.
"""

import dataclasses
import re
from collections.abc import Mapping

from studio.domain.bench import BenchCard, BenchResult
from studio.domain.manifests import Expected
from studio.domain.published import MeasuredOn, measured_on
from studio.domain.units import number_text

_AT_LENGTH = re.compile(r"(?:^|[a-z] )at (\d+)k\b|^(\d+)k prompt\b")
"""`at 24k`, `six tasks at 20k`, `8k prompt`; but `32.0 at 112k` is a figure of its own."""
_READING = re.compile(r"\breading (\d+)k\b")
_STREAMS = re.compile(r"\b(\w+) (?:streams|requests|agents)\b")
_NUMBERS = {number_text(count): count for count in range(2, 11)}
_POWER_SLACK = 0.02


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A published row that is of these cards."""

    expected: Expected
    differs: tuple[str, ...] = ()
    """What is not the same, one sentence each."""
    streams: int | None = None
    """Requests at once that `total_tokens_per_s` is of; None: the row does not say."""
    prompt_tokens: int | None = None
    """Length of the prompts that all of it is of; None: short ones, or the row does not say."""
    reading_tokens: int | None = None
    """Length of the prompt that `prefill_tokens_per_s` is of, where it is said."""

    @property
    def title(self) -> str:
        """Return what it is a figure of."""
        pieces = (self.expected.card, self.expected.pin, self.expected.date)
        named = " · ".join(piece for piece in pieces if piece)
        return f"{named} ({self.expected.source})" if named else self.expected.source


def rows(expected: tuple[Expected, ...], result: BenchResult) -> tuple[Row, ...]:
    """Return the rows of these cards and settings, those with the fewest differences first."""
    found = [row for row in (_row(one, result) for one in expected) if row is not None]
    return tuple(sorted(found, key=lambda row: len(row.differs)))


def _row(expected: Expected, result: BenchResult) -> Row | None:
    of = measured_on(expected)
    if not _has_speed(expected) or not _is_of_cards(of, result):
        return None
    settings = _assigned(expected.case)
    held = {**{name: str(value) for name, value in result.settings.items()}, **result.overrides}
    if any(held.get(name) not in (value, None) for name, value in settings.items()):
        return None
    asked = [name for name in settings if name not in held]
    return Row(
        expected=expected,
        differs=(
            *_system(of, result),
            *_power(of, result.cards),
            *_others(settings, result.overrides, asked),
        ),
        streams=_streams(expected.note),
        prompt_tokens=_length(_AT_LENGTH, (expected.note or "").split(";")[0]),
        reading_tokens=_length(_READING, expected.note or ""),
    )


def _has_speed(expected: Expected) -> bool:
    return any(
        figure is not None
        for figure in (
            expected.decode_tokens_per_s,
            expected.total_tokens_per_s,
            expected.prefill_tokens_per_s,
            expected.first_token_s,
            expected.pool_tokens,
        )
    )


def _is_of_cards(of: MeasuredOn, result: BenchResult) -> bool:
    """Tell whether a row is of the machine of the run."""
    if not result.cards:
        return of.is_processor(result.processor, result.processors)
    if of.cards != len(result.cards):
        return False
    return all(of.is_card(one.name, one.memory_bytes) for one in result.cards)


def _assigned(case: str | None) -> dict[str, str]:
    """Return the settings that a row is of: `int8_act=int8 prefill_attn=int8`."""
    pairs = (word.partition("=") for word in (case or "").split())
    return {name: value for name, equals, value in pairs if equals}


def _others(
    settings: Mapping[str, str], overrides: Mapping[str, str], asked: list[str]
) -> list[str]:
    said = []
    if asked:
        shown = " ".join(f"{name}={settings[name]}" for name in asked)
        said.append(f"It was published for {shown}.")
    changed = [name for name in overrides if name not in settings]
    if changed:
        shown = " ".join(f"{name}={overrides[name]}" for name in changed)
        said.append(f"You changed {shown}.")
    return said


def _system(of: MeasuredOn, result: BenchResult) -> list[str]:
    """Return what another system means. Source of the figure: HyperQwen, issue 156."""
    is_wsl = result.system == "WSL2"
    if of.system is None or not result.cards or (of.system == "WSL2") is is_wsl:
        return []
    if is_wsl:
        return ["It was published under Linux; WSL2 usually costs some 13 %."]
    return ["It was published under WSL2, which usually costs some 13 %."]


def _power(of: MeasuredOn, cards: tuple[BenchCard, ...]) -> list[str]:
    """Return what another power limit means."""
    limits = {card.power_limit_w for card in cards}
    if of.power_w is None or len(limits) != 1:
        return []
    here = limits.pop()
    if here is None:
        return [f"It was published at {of.power_w} W; the limit here is not known."]
    if abs(here / of.power_w - 1) <= _POWER_SLACK:
        return []
    return [f"It was published at {of.power_w} W; the limit here is {here:.0f} W."]


def _streams(note: str | None) -> int | None:
    found = _STREAMS.search(note or "")
    if found is None:
        return None
    word = found[1]
    return int(word) if word.isdecimal() else _NUMBERS.get(word)


def _length(pattern: re.Pattern[str], note: str) -> int | None:
    found = pattern.search(note)
    if found is None:
        return None
    return int(next(group for group in found.groups() if group)) * 1_000
