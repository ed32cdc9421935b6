"""What may be asked of the planner, and how a start is refused that does not fit. Pure."""

from studio.domain.errors import BadInput, HostLacks
from studio.domain.hardware import HostSnapshot
from studio.domain.plans import Plan, PlanRequest, PlanVerdict


def check(request: PlanRequest) -> None:
    """Refuse a request that contradicts itself.

    Raises: BadInput (`plan-of-both`, `plan-without-model`, `request-invalid`).
    """
    if request.model is None:
        given = {"drafter": request.drafter, "engine": request.engine}
        extra = next((name for name, value in given.items() if value is not None), None)
        if extra is not None:
            raise BadInput(
                "plan-without-model",
                f"`{extra}` goes with a model's folder only; a preset names its own.",
                hint="Name the folder with `--model`, or leave it out.",
            )
    elif request.preset is not None:
        raise BadInput(
            "plan-of-both",
            f"Both a preset (`{request.preset}`) and a model's folder are named.",
            hint="Leave one of them out.",
        )
    rate = request.download_bytes_per_s
    if rate is not None and not rate > 0:
        raise BadInput("request-invalid", f"A speed should be above 0, found {rate:g}.")


def refusal(found: Plan) -> HostLacks:
    """Return the error for a start whose plan does not fit: its reasons, and what must give."""
    what = found.preset or found.model
    settings = " ".join(f"--set {one.knob}={one.value}" for one in found.reductions)
    hints = []
    if found.verdict is PlanVerdict.FITS_IF:
        titles = "; ".join(one.title for one in found.reductions)
        hints.append(f"It fits with `{settings}` ({titles}).")
    if _spills(found):
        hints.append("`--allow-spill` starts it all the same, this once.")
    hints.append("`weir plan` shows the arithmetic.")
    return HostLacks(
        "plan-spills" if _spills(found) else "plan-does-not-fit",
        f"`{what}` does not fit this machine: {' '.join(found.reasons)}",
        hint=" ".join(hints),
        data={
            "verdict": found.verdict.value,
            "settings": settings if found.verdict is PlanVerdict.FITS_IF else None,
            "pool_tokens": found.pool_tokens,
        },
    )


def _spills(found: Plan) -> bool:
    """Tell whether bytes would spill, and the whole card has room for them all the same."""
    left, error = found.headroom_bytes, found.headroom_error_bytes or 0
    if left is None or left >= 0:
        return False
    return any(
        card.total_bytes is None or -left - error <= card.total_bytes - card.line_bytes
        for card in found.cards
        if card.line_bytes
    )


def has_more_room(now: HostSnapshot, before: HostSnapshot) -> bool:
    """Tell whether a card has more free memory than before."""
    was = {card.index: card.free_bytes or 0 for card in before.gpus}
    return any((card.free_bytes or 0) > was.get(card.index, 0) for card in now.gpus)
