"""Runtimes to text, as pure functions; the words of `weir runtime` stand here too."""

import textwrap
from collections.abc import Iterable, Sequence

from studio.cli.render import (
    READABLE_WIDTH,
    cells_of,
    labelled,
    moment_text,
    padded,
    table,
)
from studio.cli.series_text import built_text
from studio.domain.control import RuntimeVersions
from studio.domain.integrity import Collected, Repaired, Verdict
from studio.domain.runtimes import (
    BuildStep,
    InstallStopped,
    PackageWheel,
    PatchSeriesInfo,
    RuntimeDetail,
    RuntimeInfo,
    RuntimeState,
    RuntimeWork,
    Tool,
)
from studio.domain.units import bytes_text, duration_text

STATES: dict[RuntimeState, str] = {
    RuntimeState.INSTALLED: "installed",
    RuntimeState.AVAILABLE: "can be installed",
    RuntimeState.NOT_PINNED: "not pinned: its patch series has no commit yet",
    RuntimeState.UNVERIFIED: "unverified: something needs a hash or a yes from you",
    RuntimeState.DAMAGED: "damaged",
}
WORKS = "works on this machine"
UPDATE_OFFERED = "update offered"
WORKS_NOT = "does not work on this machine"
NO_RUNTIMES = "The catalogue holds no runtime."
NOTHING_TO_STOP = "Nothing is being done to {name}, so there is nothing to stop."
STOPPED_LATE = "{name} was finished before it could be stopped: {id} is in use."
STOPPED = {
    RuntimeWork.INSTALL: "The installation of {name} is stopped. What was fetched is kept: the "
    "next try goes on from there.",
    RuntimeWork.REPAIR: "The repair of {name} is stopped. What is restored stays restored: the "
    "next repair does the rest, and so does the next start.",
    RuntimeWork.VERIFY: "The comparison of {name} is stopped. Nothing was changed, and nothing is "
    "known of what was not read.",
    RuntimeWork.EXPORT: "The export of {name} is stopped. No file was written.",
}
STAYS = "{id} stays in use."
NOTHING_OPEN = "Nothing is open any more: it can be installed."
VERSION_HEADINGS = ("ID", "INSTALLED", "SIZE", "PYTHON", "")
VERSION_USED = "in use"
_MOST_DIFFERENCES = 20
_ID_SHOWN = 12
_GAP = "  "
_SEPARATOR = " · "
_LEAST_WIDTH = 20
_LEAST_COLUMN = 40
"""Beside a name of 21 letters 19 columns are left of 40: then it stands above."""


def stopped_text(done: InstallStopped) -> str:
    """Return what came of stopping what was done to a runtime."""
    id_ = done.current[:_ID_SHOWN] if done.current is not None else ""
    work = done.work or RuntimeWork.INSTALL
    if not done.was_running or (done.is_finished and work is not RuntimeWork.INSTALL):
        return NOTHING_TO_STOP.format(name=done.runtime)
    if done.is_finished:
        return STOPPED_LATE.format(name=done.runtime, id=id_)
    stopped = STOPPED[work].format(name=done.runtime)
    return f"{stopped} {STAYS.format(id=id_)}" if id_ and work is RuntimeWork.INSTALL else stopped


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
    if one.is_update_offered:
        pieces.append(UPDATE_OFFERED)
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
        (
            "The Studio's own patches that it goes without",
            (f"{name}: {cost}" for name, cost in found.without_patches.items()),
        ),
        ("Tools", (_tool(one) for one in found.tools)),
        (
            "Build steps (choose with `weir runtime pin NAME --with STEP`, `--without STEP`)",
            (_step(one) for one in found.steps),
        ),
        ("Built on this machine", (built_text(one) for one in found.built)),
        ("Left out, for it does not fit", found.left_out),
        ("Not verified", (f"{one.name}: {one.what}" for one in found.open)),
        ("Agreed to by you", found.agreed),
        ("Known failures", (f"{one.title}. {one.text}" for one in found.notes)),
    )
    parts += [_section(title, lines, width) for title, lines in sections]
    return "\n\n".join(part for part in parts if part)


def pinned_text(found: RuntimeDetail, width: int = READABLE_WIDTH) -> str:
    """Return what is still open after something was supplied."""
    waits = found.info.state in (RuntimeState.NOT_PINNED, RuntimeState.UNVERIFIED)
    commits = dict.fromkeys(one.commit for one in found.patches if one.commit is not None)
    written = f"{found.info.name}: written down."
    if commits:
        written = f"{found.info.name}: written down; commit {', '.join(commits)}."
    if not waits:
        return "\n".join(_wrapped([f"{written} {NOTHING_OPEN}"], width))
    head = f"{written} Still in the way:"
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
    count = "a number not known of patches"
    if one.patches is not None:
        count = f"{one.patches} {'patch' if one.patches == 1 else 'patches'}"
    if one.repository is None:
        said = f"{one.title}: {count}, the Studio's own"
    else:
        said = f"{one.title}: {count} of {one.repository} at {one.commit or 'no commit yet'}"
    if one.replaced:
        said += f". Skipped, for another series does the same: {', '.join(one.replaced)}"
    if one.fallback_cost:
        said += f". Left out where it does not fit; then {one.fallback_cost}"
    return said


def _tool(one: Tool) -> str:
    wanted = " or ".join((*one.programs, *one.headers))
    version = f" ({one.version})" if one.version else ""
    return f"{one.name}: {wanted}{version}. {one.purpose}"


def _step(one: BuildStep) -> str:
    request = "" if one.default else f" (only on request: `--with {one.name}`)"
    pieces = [f"{one.name}: {one.title}{request}."]
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


# What was done


def installed_text(found: RuntimeDetail) -> str:
    """Return that a runtime is there, with its id."""
    shown = (found.info.runtime_id or "")[:_ID_SHOWN]
    return f"{found.info.name} is installed ({shown}), {bytes_text(found.info.bytes)} on disk."


def verdict_text(found: Verdict, width: int = READABLE_WIDTH) -> str:
    """Return what a verification found, with the first differences."""
    name = f"{found.runtime} ({found.runtime_id[:_ID_SHOWN]})"
    seen = (
        f"{found.files:,} files, {bytes_text(found.bytes)} read in {duration_text(found.seconds)}"
    )
    if not found.is_known:
        return f"{name}: it has no list of its files, so nothing can be compared."
    if found.is_whole:
        return f"{name} is as it was installed ({seen})."
    count = len(found.differences)
    head = f"{name}: {count} {'file differs' if count == 1 else 'files differ'} ({seen})."
    lines = [f"{one.kind.value}: {one.path}" for one in found.differences[:_MOST_DIFFERENCES]]
    if count > _MOST_DIFFERENCES:
        lines.append(f"and {count - _MOST_DIFFERENCES:,} more")
    return f"{_section(head, lines, width)}\n`weir runtime repair {found.runtime}` restores them."


def repaired_text(done: Repaired) -> str:
    """Return what a repair did."""
    name = f"{done.runtime} ({done.runtime_id[:_ID_SHOWN]})"
    if done.is_rebuilt:
        return f"{name} was installed anew, in {duration_text(done.seconds)}."
    if not (done.restored or done.removed or done.compiled):
        return f"{name} needed no repair ({duration_text(done.seconds)})."
    pieces = [f"{done.restored:,} files restored", f"{done.removed:,} removed"]
    pieces += [f"{done.compiled:,} compiled", duration_text(done.seconds)]
    return f"{name} is repaired: {', '.join(pieces)}."


def versions_text(found: RuntimeVersions) -> str:
    """Return the installations that are kept, the one in use marked."""
    if not found.kept:
        return f"{found.name} is not installed."
    rows = [VERSION_HEADINGS]
    for one in found.kept:
        is_used = one.runtime_id == found.current
        size, moment = bytes_text(one.bytes), moment_text(one.installed_at)
        used = VERSION_USED if is_used else ""
        rows.append((one.runtime_id[:_ID_SHOWN], moment, size, one.interpreter, used))
    return table(rows)


def collected_text(done: Collected, width: int = READABLE_WIDTH) -> str:
    """Return what was removed, or would be."""
    if not done.removals:
        return "\n".join(["Nothing is unused.", *done.notes])
    verb = "would be free again" if done.is_dry_run else "are free again"
    lines = [f"{one.path}: {one.what}" for one in done.removals]
    return "\n".join([_section(f"{bytes_text(done.bytes)} {verb}:", lines, width), *done.notes])
