"""A run beside another one, with a sentence for each difference. Pure.

Of a slower answer it is said which of its two parts is slower: what the drafter guesses, or the
engine's step.
"""

from collections.abc import Iterable

from studio.benchmark.differences import DECODE, POOL, PREFILL, TOTAL, TTFT, beside, share_of
from studio.benchmark.load import label
from studio.domain.bench import (
    BenchAgainst,
    BenchComparison,
    BenchDifference,
    BenchKind,
    BenchPart,
    BenchResult,
)

_CAUSE_SHARE = 0.03
_OF_KIND = {
    BenchKind.DECODE: (DECODE, TOTAL),
    BenchKind.PREFILL: (PREFILL,),
    BenchKind.COPY: (DECODE,),
    BenchKind.TURNS: (TTFT,),
}


def with_earlier(result: BenchResult, other: BenchResult, same_share: float) -> BenchComparison:
    """Return a run beside another one."""
    notes = list(_unlike(result, other))
    differences: list[BenchDifference] = []
    if result.load == other.load:
        theirs = {part.name: part for part in other.parts}
        for part in result.parts:
            before = theirs.pop(part.name, None)
            if before is not None:
                differences += _of_parts(part, before, same_share)
        lacking = [label(name) for name in theirs]
        if lacking:
            notes.append(f"Measured then and not now: {'; '.join(lacking)}.")
    else:
        notes.append("The two asked different things of the engine; speeds are not compared.")
    differences += beside(
        POOL, "pool", "The pool", result.pool_tokens, other.pool_tokens, "then", same_share
    )
    return BenchComparison(
        against=BenchAgainst.EARLIER,
        other=other.id,
        title=f"the run of {other.at[:16].replace('T', ' ')} ({other.id})",
        differences=tuple(differences),
        notes=tuple(notes),
    )


def is_of_a_kind(result: BenchResult, other: BenchResult) -> bool:
    """Tell whether two runs are of one preset, runtime, card and load."""
    return all(
        getattr(result, name) == getattr(other, name)
        for name in ("preset", "runtime_id", "cards_key", "load")
    )


# With an earlier run


def _of_parts(part: BenchPart, before: BenchPart, same_share: float) -> list[BenchDifference]:
    found: list[BenchDifference] = []
    for figure in _OF_KIND[part.kind]:
        if figure is TOTAL and part.streams == 1:
            continue
        found += beside(
            figure,
            part.name,
            f"{label(part.name)}, {figure.noun}",
            getattr(part, figure.name),
            getattr(before, figure.name),
            "then",
            same_share,
            cause=_cause(part, before),
        )
    return found


def _cause(part: BenchPart, before: BenchPart) -> str:
    """Return which part of a decode speed changed: guesses of the drafter, or the step's time."""
    if part.kind not in (BenchKind.DECODE, BenchKind.COPY):
        return ""
    tokens = share_of(part.tokens_per_step, before.tokens_per_step)
    step = share_of(part.step_s, before.step_s)
    if tokens is None or step is None:
        return ""
    said = []
    if abs(tokens) > _CAUSE_SHARE:
        way = "more" if tokens > 0 else "fewer"
        said.append(
            f"a step brings {way} tokens ({part.tokens_per_step:.2f}, then"
            f" {before.tokens_per_step:.2f}): the drafter's guesses"
        )
    if abs(step) > _CAUSE_SHARE:
        way = "longer" if step > 0 else "shorter"
        said.append(f"a step takes {way} ({_ms(part.step_s)}, then {_ms(before.step_s)})")
    elif said:
        said.append("a step takes as long as then")
    return "; ".join(said)


def _unlike(result: BenchResult, other: BenchResult) -> Iterable[str]:
    """Yield what is not the same about two runs, one sentence each."""
    if result.preset != other.preset:
        yield f"Another preset: {result.preset}, then {other.preset}."
    elif result.preset_digest != other.preset_digest:
        yield "The preset was changed in between."
    yield from _other_machine(result, other)
    mine, theirs = _settings(result), _settings(other)
    for name in sorted(mine.keys() | theirs.keys()):
        here, there = mine.get(name, "not set"), theirs.get(name, "not set")
        if here != there:
            yield f"Another setting: {name} is {here}, was {there}."
    for one, when in ((result, "this"), (other, "that")):
        if one.is_disturbed:
            yield f"Other requests ran during {when} run ({one.id})."


def _other_machine(result: BenchResult, other: BenchResult) -> Iterable[str]:
    if result.runtime_id != other.runtime_id:
        yield f"Another runtime: {_runtime(result)}, then {_runtime(other)}."
    if result.cards_key != other.cards_key:
        yield f"Other cards: {cards_text(result)}, then {cards_text(other)}."
    elif (here := _limits(result)) != (there := _limits(other)):
        yield f"Another power limit: {here}, then {there}."
    if result.driver != other.driver:
        yield f"Another driver: {result.driver or 'none'}, then {other.driver or 'none'}."


def _settings(result: BenchResult) -> dict[str, str]:
    return {**{name: str(value) for name, value in result.settings.items()}, **result.overrides}


def _runtime(result: BenchResult) -> str:
    return f"{result.runtime or 'not known'} {(result.runtime_id or '')[:12]}".strip()


def _limits(result: BenchResult) -> str:
    watts = [card.power_limit_w for card in result.cards]
    return ", ".join("not known" if one is None else f"{one:.0f} W" for one in watts) or "none"


def cards_text(result: BenchResult) -> str:
    """Return the cards of a run in words: `2 × RTX 3090 at 250 W`; without one the processor."""
    if not result.cards:
        if result.is_adopted:
            return "not known"
        return result.processor or "processor"
    counted: dict[str, int] = {}
    for card in result.cards:
        name = card.name.removeprefix("NVIDIA ").removeprefix("GeForce ")
        if card.power_limit_w is not None:
            name += f" at {card.power_limit_w:.0f} W"
        counted[name] = counted.get(name, 0) + 1
    return ", ".join(name if n == 1 else f"{n} × {name}" for name, n in counted.items())


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1_000:.1f} ms"
