"""Updates of runtimes to text, as pure functions; their words stand here too."""

import textwrap
from collections.abc import Iterable, Sequence

from studio.cli.render import READABLE_WIDTH
from studio.domain.runtimes import (
    Change,
    ChangeKind,
    RuntimeUpdate,
    RuntimeUpdated,
    UpdateKind,
)
from studio.domain.units import bytes_text

NO_UPDATES = "There is nothing to update: what is installed is as its recipe says, and the newest."
SIGNS: dict[ChangeKind, str] = {
    ChangeKind.ADDED: "+",
    ChangeKind.REMOVED: "-",
    ChangeKind.CHANGED: "~",
}
UNKNOWN_PARTS = "not known: the installation does not say what it was made of"
_ID_SHOWN = 12


def updates_text(updates: Sequence[RuntimeUpdate], width: int = READABLE_WIDTH) -> str:
    """Return each update with what it costs, what it changes, and how to get it."""
    if not updates:
        return NO_UPDATES
    return "\n\n".join("\n".join(_update(one, width)) for one in updates)


def updated_text(done: RuntimeUpdated) -> str:
    """Return what is used now, and how to go back."""
    after = done.after[:_ID_SHOWN]
    if done.before == done.after:
        return f"{done.runtime} ({after}) is as its recipe says: there was nothing to update."
    before = (done.before or "")[:_ID_SHOWN]
    return (
        f"{done.runtime} is updated: {after} in place of {before}, from the next start on.\n"
        f"`weir runtime rollback {done.runtime}` goes back."
    )


def _update(one: RuntimeUpdate, width: int) -> list[str]:
    shown = one.runtime_id[:_ID_SHOWN]
    if one.kind is UpdateKind.RECIPE:
        head = f"{one.runtime} ({shown}): its recipe has changed"
    else:
        head = f"{one.runtime} ({shown}): {one.target} is newer, and goes beside it"
    lines = [head, f"  {_cost(one)}"]
    if one.presets:
        lines.append(f"  Used by {', '.join(one.presets)}")
    if one.interpreter is not None:
        lines.append(f"  Python: {_arrow(one.interpreter)}")
    lines += _part("Packages", one.packages)
    lines += _part("Patches", one.patches)
    lines += _part("Knobs and settings", one.knobs)
    if not one.usable:
        lines += _folded(("Not on this machine:", *one.reasons), width)
    else:
        verb = "update" if one.kind is UpdateKind.RECIPE else "install"
        lines.append(f"  Get it: weir runtime {verb} {one.target}")
    return lines


def _cost(one: RuntimeUpdate) -> str:
    if one.is_here:
        return "It is here already: nothing to download"
    return f"{bytes_text(one.fetch_bytes)} to download, about {bytes_text(one.disk_bytes)} of disk"


def _part(title: str, changes: tuple[Change, ...] | None) -> list[str]:
    if changes is None:
        return [f"  {title}: {UNKNOWN_PARTS}"]
    if not changes:
        return []
    return [
        f"  {title}:",
        *(f"    {SIGNS[one.kind]} {one.name}{_versions(one)}" for one in changes),
    ]


def _versions(one: Change) -> str:
    if one.before is None and one.after is None:
        return ""
    return f" {_arrow(one)}"


def _arrow(one: Change) -> str:
    if one.kind is ChangeKind.CHANGED:
        return f"{one.before or 'none'} → {one.after or 'none'}"
    return one.after or one.before or ""


def _folded(texts: Iterable[str], width: int) -> list[str]:
    return textwrap.wrap(
        " ".join(texts),
        max(20, width),
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
