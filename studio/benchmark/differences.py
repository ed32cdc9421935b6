"""Two figures beside each other, and the sentence that says so. Pure.

They are the same within `same_share` of the load's data.
"""

import dataclasses
from collections.abc import Callable

from studio.domain.bench import BenchDifference, BenchVerdict
from studio.domain.units import latency_text, rate_text, tokens_text


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that is compared."""

    name: str
    noun: str
    text: Callable[[float | None], str]
    is_time: bool = False
    """Less is better."""


DECODE = Figure(name="decode_tokens_per_s", noun="one answer", text=rate_text)
TOTAL = Figure(name="total_tokens_per_s", noun="all together", text=rate_text)
PREFILL = Figure(name="prefill_tokens_per_s", noun="reading", text=rate_text)
TTFT = Figure(name="ttft_p50_s", noun="first token", text=latency_text, is_time=True)
POOL = Figure(name="pool_tokens", noun="the pool", text=tokens_text)


def beside(
    figure: Figure,
    part: str,
    subject: str,
    value: float | None,
    other: float | None,
    when: str,
    same_share: float,
    *,
    cause: str = "",
) -> list[BenchDifference]:
    """Return one figure beside another; empty where either is not known.

    `when` says of the other what it is; `cause` is told where they are not the same.
    """
    share = share_of(value, other)
    if value is None or other is None or share is None:
        return []
    if abs(share) <= same_share:
        verdict, judged = BenchVerdict.SAME, "the same"
    else:
        is_better = (share < 0) is figure.is_time
        verdict = BenchVerdict.BETTER if is_better else BenchVerdict.WORSE
        judged = f"{abs(share) * 100:.0f} % {'more' if share > 0 else 'less'}"
    said = f"{subject}: {figure.text(value)}, {when} {figure.text(other)}: {judged}"
    if cause and verdict is not BenchVerdict.SAME:
        said += f"; {cause}"
    return [
        BenchDifference(
            part=part,
            figure=figure.name,
            value=value,
            other=other,
            change_share=share,
            verdict=verdict,
            sentence=said + ".",
        )
    ]


def share_of(value: float | None, other: float | None) -> float | None:
    """Return by which share of the other a value is more."""
    if value is None or other is None or other <= 0:
        return None
    return (value - other) / other
