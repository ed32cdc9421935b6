"""Slow paths of the engine as small signs: which, and what their tooltips say."""

import textwrap
from collections.abc import Sequence

import msgspec

from studio.domain.remedies import Badge
from studio.ui.language import t, told

MOST_SIGNS = 4
_TOOLTIP_WIDTH = 72
"""Characters: a plain tooltip is not folded by itself."""


class BadgeView(msgspec.Struct, frozen=True, kw_only=True):
    """One sign."""

    name: str
    """For those who hear it."""
    tooltip: str


class BadgesView(msgspec.Struct, frozen=True, kw_only=True):
    """All signs, the dearest first, and words beside them."""

    signs: tuple[BadgeView, ...] = ()
    text: str = ""
    tooltip: str = ""


def badges_view(badges: Sequence[Badge]) -> BadgesView:
    """Return the signs; more than a few stand in the last one's words."""
    if not badges:
        return BadgesView()
    first, *rest = badges
    title = told(first.title)
    text = title if not rest else f"{title} +{len(rest)}"
    return BadgesView(
        signs=tuple(
            BadgeView(
                name=t("Slow path: {title}").format(title=told(badge.title)), tooltip=_words(badge)
            )
            for badge in badges[:MOST_SIGNS]
        ),
        text=text,
        tooltip="\n\n".join(_words(badge) for badge in badges),
    )


def _words(badge: Badge) -> str:
    lines = [
        told(badge.title),
        told(badge.cost),
        *(t("To do: {remedy}").format(remedy=told(remedy.text)) for remedy in badge.remedies),
    ]
    return "\n".join(textwrap.fill(line, _TOOLTIP_WIDTH) for line in lines)
