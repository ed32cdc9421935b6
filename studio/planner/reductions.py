"""What must give so that a plan fits: an ordered list, each with its cost. Pure.

The steps are data (presets/planner/reductions.toml). Each is tried on top of those before it; one
that mends nothing is left out, and the first that is enough ends the list.
"""

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from studio.domain.manifests import Document
from studio.domain.plans import Reduction
from studio.domain.units import bytes_text, tokens_text
from studio.planner.memory import DEFAULT_SHARE
from studio.planner.outcome import Lack, Outcome

Evaluate = Callable[[Mapping[str, str]], Outcome | None]
"""Overrides to what they come to; None when the preset refuses them."""

_MOST_PROBES = 40


class StepKind(enum.StrEnum):
    """How a step finds its value."""

    SET = "set"
    HALVE = "halve"
    FIT = "fit"


class Unit(enum.StrEnum):
    """How a step's value is written for people."""

    PLAIN = "plain"
    BYTES = "bytes"
    TOKENS = "tokens"
    SHARE = "share"
    REQUESTS = "requests"


class Step(Document, frozen=True, kw_only=True):
    """One thing that may be given up."""

    knob: str
    kind: StepKind
    against: tuple[Lack, ...]
    title: str
    """In words; `{value}` stands for the new value."""
    costs: str
    source: str
    unit: Unit = Unit.PLAIN
    presence: tuple[str, ...] = msgspec.field(default=(), name="from")
    """Present values that `set` replaces; empty: any other."""
    unless: tuple[str, ...] = ()
    """Settings beside which the step is not to be had."""
    value: str | None = None
    step: float = 1
    floor: float = 1


class Ladder(Document, frozen=True, kw_only=True):
    """`presets/planner/reductions.toml`."""

    schema_version: int
    steps: tuple[Step, ...]


def find(
    start: Outcome, evaluate: Evaluate, overrides: Mapping[str, str], steps: Sequence[Step]
) -> tuple[Reduction, ...]:
    """Return what must give, in order; the last one is enough when anything is.

    `start` is what `overrides` come to. Steps that `evaluate` refuses are passed over.
    """
    found, _ = _search(start, evaluate, overrides, steps)
    for one in found[:-1]:
        # What was taken early may be needless beside what came later.
        fewer = [step for step in steps if step.knob != one.knob]
        without, after = _search(start, evaluate, overrides, fewer)
        if after.starts and len(without) < len(found):
            return find(start, evaluate, overrides, fewer)
    return found


def _search(
    start: Outcome, evaluate: Evaluate, overrides: Mapping[str, str], steps: Sequence[Step]
) -> tuple[tuple[Reduction, ...], Outcome]:
    """Return what was given up, and what is left to be wished for then."""
    found: list[Reduction] = []
    before, texts = start, dict(overrides)
    for step in steps:
        if before.starts:
            break
        best = _tried(step, before, evaluate, texts)
        if best is None:
            continue
        value, after = best
        texts[step.knob] = value
        found.append(_described(step, value, before, after))
        before = after
    return tuple(found), before


def _tried(
    step: Step, before: Outcome, evaluate: Evaluate, texts: Mapping[str, str]
) -> tuple[str, Outcome] | None:
    """Return the step's best value and what it comes to, or None when it mends nothing."""
    if not any(before.missing(lack) for lack in step.against):
        return None
    if any(before.settings.get(name) is not None for name in step.unless):
        return None

    def attempt(value: str) -> Outcome | None:
        return evaluate({**texts, step.knob: value})

    now = _present(step, before)
    best = None
    if step.kind is StepKind.FIT:
        best = _fitted(step, now, attempt, missing=_missing(step, before))
        return best if best is not None and _helps(step, before, best[1]) else None
    for value in _candidates(step, now):
        after = attempt(value)
        if after is None or not _helps(step, before, after):
            break
        best = value, after
        if _is_mended(step, after):
            break
    return best


def _helps(step: Step, before: Outcome, after: Outcome) -> bool:
    """Tell whether less is missing of what the step is for, and not more of anything else."""
    better = any(after.missing(lack) < before.missing(lack) for lack in step.against)
    others = [lack for lack in Lack if lack not in step.against]
    return better and all(after.missing(lack) <= before.missing(lack) for lack in others)


def _candidates(step: Step, now: object) -> Iterator[str]:
    if step.kind is StepKind.SET:
        text = _text(now)
        wanted = text in step.presence if step.presence else now not in (None, 0, False)
        if wanted and step.value is not None and text != step.value:
            yield step.value
        return
    value = now if isinstance(now, int) and not isinstance(now, bool) else 0
    while value > step.floor:
        value = max(int(step.floor), value // 2)
        yield str(value)


def _fitted(
    step: Step,
    now: object,
    attempt: Callable[[str], Outcome | None],
    *,
    missing: tuple[Lack, ...],
) -> tuple[str, Outcome] | None:
    """Return the largest multiple of `step.step` below `now` that mends what is `missing`.

    That is monotone: what more of it mends, less of it mends too, down to where nothing is left for
    the pool. Other things may well be missing at the smallest value, so they are not asked about
    here. Without a value that helps, the smallest one is returned.
    """
    bounds = _bounds(step, now)
    if bounds is None:
        return None
    low, high = bounds
    floor = attempt(_written(low, step))
    while floor is None and low * 2 <= high:  # a preset may take no less than some more
        low *= 2
        floor = attempt(_written(low, step))
    if floor is None:
        return None
    best = _written(low, step), floor
    if not _is_fitted(floor, missing) and not _is_starved(floor):
        return best
    for _ in range(_MOST_PROBES):
        if low >= high:
            break
        middle = (low + high + 1) // 2
        text = _written(middle, step)
        after = attempt(text)
        is_fitted = after is not None and _is_fitted(after, missing)
        if after is not None and is_fitted:
            best = text, after
        if is_fitted or _is_starved(after):
            low = middle
        else:
            high = middle - 1
    return best


def _bounds(step: Step, now: object) -> tuple[int, int] | None:
    """Return the least and the most that may be offered, in steps; None: there is no less."""
    if isinstance(now, bool) or not isinstance(now, int | float):
        return None
    low, high = _units(step.floor, step), _units(float(now), step)
    if low * step.step >= now:
        return None
    return low, high - 1 if high * step.step >= now else high


def _is_fitted(after: Outcome, missing: tuple[Lack, ...]) -> bool:
    """Tell whether what was missing is there: a context that is offered starts by the forecast."""
    return not any(after.missing(lack) for lack in missing)


def _present(step: Step, before: Outcome) -> object:
    """Return the present value; the engine's own where none is set."""
    now = before.settings.get(step.knob)
    if now is not None:
        return now
    if step.knob == "gpu_memory_utilization":
        return DEFAULT_SHARE
    return before.max_model_len if step.knob == "max_model_len" else None


def _is_starved(after: Outcome | None) -> bool:
    return after is not None and after.kv_bytes is not None and after.kv_bytes <= 0


def _missing(step: Step, before: Outcome) -> tuple[Lack, ...]:
    return tuple(lack for lack in step.against if before.missing(lack))


def _is_mended(step: Step, after: Outcome) -> bool:
    return not any(after.missing(lack) for lack in step.against)


def _units(value: float, step: Step) -> int:
    return int(value / step.step + 1e-9)


def _written(units: int, step: Step) -> str:
    value = units * step.step
    return f"{value:.4g}" if step.unit is Unit.SHARE else f"{round(value)}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _described(step: Step, value: str, before: Outcome, after: Outcome) -> Reduction:
    return Reduction(
        knob=step.knob,
        value=value,
        title=step.title.replace("{value}", shown(value, step.unit)),
        pool_tokens=after.pool_tokens,
        max_model_len=after.max_model_len,
        resident_requests=after.resident_requests,
        seats=after.seats,
        costs=" ".join([step.costs, *_figures(before, after)]),
        is_enough=None if after.starts and after.unknown else after.starts,
    )


def shown(value: str, unit: Unit) -> str:
    """Return a knob's value for people."""
    match unit:
        case Unit.BYTES:
            return bytes_text(float(value))
        case Unit.TOKENS:
            return tokens_text(float(value))
        case Unit.SHARE:
            return f"{float(value) * 100:.0f} %"
        case Unit.REQUESTS | Unit.PLAIN:
            return value


def _figures(before: Outcome, after: Outcome) -> Iterator[str]:
    if after.pool_tokens is not None and after.pool_tokens != before.pool_tokens:
        was = "" if before.pool_tokens is None else f", before {before.pool_tokens:,}"
        yield f"The pool then holds {tokens_text(after.pool_tokens)}{was}."
    if after.seats is not None and after.seats != before.seats and before.seats is not None:
        yield f"{after.seats} instead of {before.seats} requests are answered at a time."
