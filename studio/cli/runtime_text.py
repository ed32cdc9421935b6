"""Runtimes to text, as pure functions; the words of `weir runtime` stand here too."""

import textwrap
from collections.abc import Iterable, Sequence

from studio.cli.render import READABLE_WIDTH, cells_of, labelled, moment_text, padded
from studio.domain.runtimes import (
    BuildStep,
    PackageWheel,
    PatchSeriesInfo,
    RuntimeDetail,
    RuntimeInfo,
    RuntimeState,
    Tool,
)
from studio.domain.units import bytes_text

STATES: dict[RuntimeState, str] = {
    RuntimeState.INSTALLED: "installed",
    RuntimeState.AVAILABLE: "can be installed",
    RuntimeState.NOT_PINNED: "not pinned: its patch series has no commit yet",
    RuntimeState.UNVERIFIED: "unverified: something needs a hash or a yes from you",
    RuntimeState.DAMAGED: "damaged",
}
WORKS = "works on this machine"
WORKS_NOT = "does not work on this machine"
NO_RUNTIMES = "The catalogue holds no runtime."
NOTHING_OPEN = "Nothing is open any more: it can be installed."
_ID_SHOWN = 12
_GAP = "  "
_SEPARATOR = " · "
_LEAST_WIDTH = 20
_LEAST_COLUMN = 40
"""Beside a name of 21 letters 19 columns are left of 40: then it stands above."""


def list_text(runtimes: Sequence[RuntimeInfo], width: int = READABLE_WIDTH) -> str:
    """Return the runtimes with state, size and verdict."""
    if not runtimes:
        return NO_RUNTIMES
    column = max(cells_of(one.name) for one in runtimes) + len(_GAP)
    is_narrow = width - column < _LEAST_COLUMN
    indent = len(_GAP) if is_narrow else column
    blocks = []
    for one in runtimes:
        lines = _wrapped([one.title, _verdict(one), *one.reasons], width - indent)
        if is_narrow:
            block = [one.name, *(_GAP + line for line in lines)]
        else:
            labels = [one.name, *("" for _ in lines[1:])]
            block = [
                padded(label, indent) + line for label, line in zip(labels, lines, strict=True)
            ]
        blocks.append("\n".join(block))
    return "\n\n".join(blocks)


def _verdict(one: RuntimeInfo) -> str:
    pieces = [STATES[one.state]]
    if one.runtime_id is not None:
        pieces = [f"{pieces[0]} ({one.runtime_id[:_ID_SHOWN]})", f"{bytes_text(one.bytes)} on disk"]
    elif one.bytes is not None:
        pieces.append(f"{bytes_text(one.bytes)} to download")
    # What only waits for a yes is no verdict on the machine.
    is_waiting = one.state in (RuntimeState.NOT_PINNED, RuntimeState.UNVERIFIED)
    if one.usable:
        pieces.append(WORKS)
    elif not is_waiting:
        pieces.append(WORKS_NOT)
    return _SEPARATOR.join(pieces)


def detail_text(found: RuntimeDetail, width: int = READABLE_WIDTH) -> str:
    """Return everything about one runtime."""
    info = found.info
    pairs = [
        ("State", STATES[info.state]),
        *([("Id", info.runtime_id)] if info.runtime_id else []),
        *([("Installed", moment_text(found.installed_at))] if found.installed_at else []),
        ("Engine", f"{found.engine} {found.engine_version}"),
        ("Python", found.interpreter),
        ("Packages", _packages(found)),
        ("Needs", ", ".join(found.requirements)),
        ("Knobs", ", ".join(found.knobs) or "those of the stock engine"),
    ]
    heading = "\n".join(_wrapped([f"{info.name}: {info.title}"], width))
    parts = [heading, labelled(_folded(pairs, width))]
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("Against this machine", () if info.usable else info.reasons),
        ("To know about this machine", found.warnings),
        ("Wheels beside the lock", (_wheel(one) for one in found.wheels)),
        ("Patches", (_patches(one) for one in found.patches)),
        ("Tools", (_tool(one) for one in found.tools)),
        ("Build steps", (_step(one) for one in found.steps)),
        ("Not verified", (f"{one.name}: {one.what}" for one in found.open)),
        ("Agreed to by you", found.agreed),
        ("Known failures", (f"{one.title}. {one.text}" for one in found.notes)),
    )
    parts += [_section(title, lines, width) for title, lines in sections]
    return "\n\n".join(part for part in parts if part)


def pinned_text(found: RuntimeDetail, width: int = READABLE_WIDTH) -> str:
    """Return what is still open after something was supplied."""
    waits = found.info.state in (RuntimeState.NOT_PINNED, RuntimeState.UNVERIFIED)
    if not waits:
        return "\n".join(_wrapped([f"{found.info.name}: written down. {NOTHING_OPEN}"], width))
    head = f"{found.info.name}: written down. Still in the way:"
    return _section(head, found.info.reasons, width)


def _packages(found: RuntimeDetail) -> str:
    if found.packages is None:
        return "none"
    pieces = [str(found.packages), f"{bytes_text(found.download_bytes)} to download"]
    return _SEPARATOR.join([*pieces, f"{bytes_text(found.disk_bytes)} of disk to have free"])


def _wheel(one: PackageWheel) -> str:
    digest = f"sha256 {one.sha256}" if one.sha256 else "sha256 not known"
    origin = f", from {one.source}" if one.source else ""
    return f"{one.file or f'{one.name} {one.version}'}: {digest}{origin}. {one.url}"


def _patches(one: PatchSeriesInfo) -> str:
    count = "a number not known of patches" if one.patches is None else f"{one.patches} patches"
    if one.repository is None:
        return f"{one.title}: {count}, the Studio's own"
    return f"{one.title}: {count} of {one.repository} at {one.commit or 'no commit yet'}"


def _tool(one: Tool) -> str:
    wanted = " or ".join((*one.programs, *one.headers))
    version = f" ({one.version})" if one.version else ""
    return f"{one.name}: {wanted}{version}. {one.purpose}"


def _step(one: BuildStep) -> str:
    pieces = [f"{one.title}{'' if one.default else ' (only on request)'}."]
    if one.tools:
        pieces.append(f"With {', '.join(one.tools)}.")
    if one.fallback:
        cost = f": {one.fallback_cost}" if one.fallback_cost else ""
        pieces.append(f"Without: {one.fallback}{cost}.")
    return " ".join(pieces)


def _section(title: str, lines: Iterable[str], width: int) -> str:
    body = []
    for line in lines:
        first, *rest = _wrapped([line], width - 4)
        body += [f"  - {first}", *(f"    {one}" for one in rest)]
    return "\n".join([*_wrapped([title], width), *body]) if body else ""


def _folded(pairs: Iterable[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """Return long values in several lines; `labelled` shows a label that repeats once."""
    label_cells = 14
    return [
        (label, line) for label, text in pairs for line in _wrapped([text], width - label_cells)
    ]


def _wrapped(texts: Iterable[str], width: int) -> list[str]:
    lines = []
    for text in texts:
        lines += textwrap.wrap(
            text, max(_LEAST_WIDTH, width), break_long_words=False, break_on_hyphens=False
        )
    return lines or [""]
