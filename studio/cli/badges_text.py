"""Badges of slow paths as text: title, what it costs, what to do."""

import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from studio.cli import badge_words
from studio.domain.remedies import Badge, Remedy, RemedyKind

_INDENT = "  "


def badge_pairs(
    badges: Sequence[Badge], preset: str | None, overrides: Mapping[str, str], width: int
) -> list[tuple[str, str]]:
    """Return label and value of each line; `width` is what a value may take.

    `overrides`: what the running engine was asked for, which a restart with more keeps.
    """
    lines: list[str] = []
    for badge in badges:
        lines.append(badge.title)
        lines += _wrapped(badge.cost, width)
        for remedy in badge.remedies:
            lines += _wrapped(badge_words.TO_DO + _said(remedy, preset, overrides), width)
    return [(badge_words.LABEL_BADGES, line) for line in lines]


def _said(remedy: Remedy, preset: str | None, overrides: Mapping[str, str]) -> str:
    command = remedy.command
    if remedy.kind is RemedyKind.RESTART_WITH and preset is not None:
        settings = {**overrides, **remedy.settings}
        command = badge_words.SWITCH.format(preset=shlex.quote(preset), settings=_typed(settings))
    if command is None:
        return remedy.text
    return badge_words.WITH_SETTINGS.format(text=remedy.text, command=command)


def _typed(settings: Mapping[str, str]) -> str:
    words: Iterable[str] = (f"{name}={value}" for name, value in settings.items())
    return " ".join(f"--set {shlex.quote(word)}" for word in words)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, 20),
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
