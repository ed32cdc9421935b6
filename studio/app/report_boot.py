"""The last boot as its log tells it: phases with their times, facts, known failures. Pure."""

import datetime
from collections.abc import Mapping, Sequence

import msgspec

from studio.domain.metrics import LogLine
from studio.domain.plans import Plan
from studio.domain.server import BootPhase
from studio.domain.units import GIB, UNKNOWN, bytes_text, duration_text
from studio.serving import phases

_MARK = "Starting "
"""How the line begins that stands in the log before each start."""


class SeenPhase(msgspec.Struct, frozen=True, kw_only=True):
    """One phase of a boot; times are those of the log's lines."""

    phase: BootPhase
    at: float
    lasted_s: float | None = None


class SeenBoot(msgspec.Struct, frozen=True, kw_only=True):
    """What the log says of its last boot."""

    lines: tuple[LogLine, ...] = ()
    phases: tuple[SeenPhase, ...] = ()
    facts: dict[str, int | float | str] = {}
    serves: bool = False
    """It got as far as serving."""


def last_boot(lines: Sequence[LogLine]) -> SeenBoot:
    """Return the last boot in `lines`; all of them when no beginning is seen."""
    known = phases.Known()
    seen: list[SeenPhase] = []
    start = 0
    for at, line in enumerate(lines):
        if line.source == "studio":
            if line.text.startswith(_MARK):
                start, seen, known = at, [], phases.Known()
            continue
        sign = phases.read(line.text)
        if sign is None:
            continue
        if sign.phase is BootPhase.CONFIG and seen and seen[-1].phase not in _EARLY:
            start, seen, known = at, [], phases.Known()  # it was started again by itself
        known.learn(sign)
        if sign.phase is not None:
            _enter(seen, sign.phase, line.at)
    return SeenBoot(
        lines=tuple(lines[start:]),
        phases=tuple(seen),
        facts=dict(known.facts),
        serves=bool(known.facts.get("startup_complete")),
    )


_EARLY = (BootPhase.INTERPRETER, BootPhase.CONFIG)


def _enter(seen: list[SeenPhase], phase: BootPhase, at: float) -> None:
    last = seen[-1] if seen else None
    if last is not None and not phases.is_later(phase, last.phase):
        return
    if last is not None:
        seen[-1] = msgspec.structs.replace(last, lasted_s=max(0.0, at - last.at))
    seen.append(SeenPhase(phase=phase, at=at))


def timeline(boot: SeenBoot) -> str:
    """Return the phases as a table."""
    if not boot.phases:
        return "The log names no phase of a boot.\n"
    first = boot.phases[0].at
    rows = [
        f"{clock(one.at)}  +{one.at - first:8.1f} s  {one.phase.value:<12} "
        f"{duration_text(one.lasted_s) if one.lasted_s is not None else ''}".rstrip()
        for one in boot.phases
    ]
    return "\n".join(["time (UTC)           since the first  phase        lasted", *rows, ""])


def clock(at: float) -> str:
    """Return a time in UTC: reports are read in other zones."""
    return f"{datetime.datetime.fromtimestamp(at, datetime.UTC):%Y-%m-%d %H:%M:%S}"


def comparison(plan: Plan | None, facts: Mapping[str, int | float | str]) -> str:
    """Return what was forecast beside what the engine printed."""
    context = plan.max_model_len if plan is not None else None
    rows = [
        ("KV pool, tokens", _whole(plan and plan.pool_tokens), _whole(facts.get("pool_tokens"))),
        ("context, tokens", _whole(context), _whole(facts.get("max_model_len"))),
        ("KV cache", _size(plan and plan.kv_bytes), _printed(facts, "kv")),
        ("weights", _size(_item(plan, "weights")), _printed(facts, "weights")),
        ("activation peak", _size(_item(plan, "activation-peak")),
         _printed(facts, "activation_peak")),
        ("graphs", _size(_item(plan, "graphs")), _printed(facts, "graphs", "graph_pool")),
        ("beside torch", _size(_item(plan, "non-torch")), _printed(facts, "non_torch")),
        ("requests at a time", _ratio(plan and plan.resident_requests),
         _ratio(facts.get("max_concurrency"))),
    ]  # fmt: skip
    wide = max(len(name) for name, _, _ in rows)
    text = [f"{'':<{wide}}  {'forecast':>16}  {'printed':>16}"]
    text += [f"{name:<{wide}}  {left:>16}  {right:>16}" for name, left, right in rows]
    if plan is not None and plan.pool_tokens_error:
        text.append(f"The forecast of the pool is ± {plan.pool_tokens_error:,} tokens.")
    others = sorted(f"{name} = {value}" for name, value in facts.items())
    return "\n".join([*text, "", "All that the engine printed:", *others, ""])


def _item(plan: Plan | None, name: str) -> int | None:
    if plan is None:
        return None
    return next((one.bytes for one in plan.ledger if one.name == name), None)


def _whole(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else UNKNOWN


def _ratio(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else UNKNOWN


def _size(value: object) -> str:
    return bytes_text(value) if isinstance(value, int) else UNKNOWN


def _printed(facts: Mapping[str, int | float | str], *names: str) -> str:
    for name in names:
        exact, rounded = facts.get(f"{name}_bytes"), facts.get(f"{name}_gib")
        if isinstance(exact, int):
            return bytes_text(exact)
        if isinstance(rounded, int | float):
            return bytes_text(rounded * GIB)
    return UNKNOWN
