"""What a series does to a tree: every hunk's fate and every file's new content. Pure.

A patch that does not apply and can be taken back cleanly is already applied. A series of which the
first patches are applied is recognised as a whole, from the last of them backwards, since a later
patch may have changed the lines of an earlier one.
"""

import functools
from collections.abc import Callable, Sequence

from studio.domain.errors import BadInput
from studio.runtimes.patching.model import (
    FileChange,
    HunkOutcome,
    HunkResult,
    Kind,
    Patch,
    PatchOutcome,
    PatchState,
    Plan,
    Record,
    Rejection,
    Series,
)
from studio.runtimes.patching.names import inside, strip_components
from studio.runtimes.patching.overlay import Overlay
from studio.runtimes.patching.report import rejections_of
from studio.runtimes.patching.reverse import reversed_patch
from studio.runtimes.patching.transform import Transformed, transform

Read = Callable[[str], bytes | None]


class Target(Record, frozen=True, kw_only=True):
    """A file change with names that are paths inside the tree."""

    change: FileChange
    old: str | None
    new: str | None

    @property
    def shown(self) -> str:
        """The path to name in reports."""
        return self.new or self.old or ""


def plan(series: Series, read: Read, strip: int) -> Plan:
    """Return what `series` does to the tree whose files `read` returns (None: no such file).

    Raises: BadInput (`patch-escapes`, `patch-strip`), and what `read` raises.
    """
    named_paths(series, strip)  # before anything is read, every path has to be inside the tree
    cached = functools.cache(read)
    forward = _walk(series, cached, strip, applied=0)
    if all(one.state is PatchState.APPLIED for one in forward.patches):
        return forward
    nearest: Plan | None = None
    for count in range(len(series.patches), 0, -1):
        if _is_undone(series.patches[:count], cached, strip):
            rest = _walk(series, cached, strip, applied=count)
            if not rest.rejections:
                return rest
            nearest = nearest or rest
    return nearest if nearest is not None and forward.rejections else forward


def is_applied(series: Series, read: Read, strip: int) -> bool:
    """Return whether every patch of `series` is in the tree. Raises as `plan` does."""
    decided = plan(series, read, strip)
    return all(one.state is PatchState.ALREADY for one in decided.patches)


def named_paths(series: Series, strip: int) -> tuple[str, ...]:
    """Return every path that `series` names, sorted. Raises as `plan` does."""
    targets = [
        target
        for patch in series.patches
        for diff in patch.diffs
        for target in _targets(patch, diff, strip)
    ]
    return tuple(sorted({path for one in targets for path in (one.old, one.new) if path}))


def _targets(patch: Patch, diff: Sequence[FileChange], strip: int) -> list[Target]:
    targets = []
    for change in diff:
        old, new = (
            None if name is None else strip_components(name, strip)
            for name in (change.old_name, change.new_name)
        )
        if (old is None and new is None) or (
            change.kind is not Kind.CONTENT and (old is None or new is None)
        ):
            name = change.old_name or change.new_name or ""
            raise BadInput(
                "patch-strip",
                f"{patch.name}, line {change.patch_line}: `{name}` has fewer than {strip + 1}"
                " components.",
                hint="Strip fewer leading components from the patch's file names.",
                data={"patch": patch.name, "file": name, "strip": strip},
            )
        targets.append(
            Target(
                change=change,
                old=None if old is None else inside(old, patch.name),
                new=None if new is None else inside(new, patch.name),
            )
        )
    return targets


def _walk(series: Series, read: Read, strip: int, *, applied: int) -> Plan:
    """Try the series in order, its first `applied` patches being in the tree."""
    overlay = Overlay(read)
    patches: list[PatchOutcome] = []
    hunks: list[HunkOutcome] = []
    rejections: tuple[Rejection, ...] = ()
    for number, patch in enumerate(series.patches):
        state = PatchState.ALREADY
        done = _Done()
        if number >= applied:
            trial = overlay.fork()
            done = _try(trial, patch, strip)
            if not done.failed:
                state, overlay = PatchState.APPLIED, trial
            elif _try(overlay.fork(), reversed_patch(patch), strip).failed:
                state = PatchState.REJECTED
        patches.append(PatchOutcome(name=patch.name, sha256=patch.sha256, state=state))
        if state is PatchState.ALREADY:
            hunks += _already(patch, strip)
        for target, result in done.files if state is not PatchState.ALREADY else ():
            hunks += _outcomes(patch, target, result)
        if state is PatchState.REJECTED:
            rejections = tuple(
                one for target, result in done.failed for one in _rejections(patch, target, result)
            )
            break  # what follows may stand on this patch
    return Plan(
        patches=tuple(patches),
        hunks=tuple(hunks),
        changes=() if rejections else overlay.changes(),
        rejections=rejections,
        paths=named_paths(series, strip),
    )


def _is_undone(patches: Sequence[Patch], read: Read, strip: int) -> bool:
    """Return whether all `patches` can be taken back, the last one first."""
    overlay = Overlay(read)
    return not any(
        _try(overlay, reversed_patch(patch), strip).failed for patch in reversed(patches)
    )


class _Done(Record, frozen=True, kw_only=True):
    """What came of each file of a patch."""

    files: tuple[tuple[Target, Transformed], ...] = ()

    @property
    def failed(self) -> tuple[tuple[Target, Transformed], ...]:
        """The files that could not be changed."""
        return tuple((target, result) for target, result in self.files if not result.is_done)


def _try(overlay: Overlay, patch: Patch, strip: int) -> _Done:
    """Apply one patch to `overlay`."""
    files: list[tuple[Target, Transformed]] = []
    for diff in patch.diffs:
        targets = _targets(patch, diff, strip)
        # A file that this diff moves away or deletes leaves its name free for another one.
        vacated = frozenset(
            one.old
            for one in targets
            if one.old is not None and (one.change.kind is Kind.RENAME or one.new is None)
        )
        for target in targets:
            result = transform(overlay, target.change, target.old, target.new, vacated)
            files.append((target, result))
        overlay.settle()
    return _Done(files=tuple(files))


def _outcomes(patch: Patch, target: Target, result: Transformed) -> list[HunkOutcome]:
    if not target.change.hunks:
        fate = HunkResult.CLEAN if result.refusal is None else HunkResult.REJECTED
        return [_outcome(patch, result.path or target.shown, 0, describe(target), fate)]
    outcomes = []
    for place in result.placements:
        fate = HunkResult.OFFSET if place.offset else HunkResult.CLEAN
        is_placed = place.line is not None and result.refusal is None
        outcomes.append(
            _outcome(
                patch,
                result.path or target.shown,
                place.hunk.number,
                place.hunk.header,
                fate if is_placed else HunkResult.REJECTED,
                place.offset if is_placed else None,
            )
        )
    return outcomes


def _outcome(
    patch: Patch,
    file: str,
    hunk: int,
    header: str,
    result: HunkResult,
    offset: int | None = None,
) -> HunkOutcome:
    return HunkOutcome(
        patch=patch.name,
        sha256=patch.sha256,
        file=file,
        hunk=hunk,
        header=header,
        result=result,
        offset=offset,
    )


def _already(patch: Patch, strip: int) -> list[HunkOutcome]:
    return [
        _outcome(patch, target.shown, number, header, HunkResult.ALREADY)
        for diff in patch.diffs
        for target in _targets(patch, diff, strip)
        for number, header in (
            [(hunk.number, hunk.header) for hunk in target.change.hunks] or [(0, describe(target))]
        )
    ]


def describe(target: Target) -> str:
    """Return what a change without lines does, in a few words."""
    change = target.change
    if change.kind is Kind.CONTENT:
        if target.old is None:
            return "new empty file"
        if target.new is None:
            return "deletion of an empty file"
        return "executable" if change.new_executable else "not executable"
    return f"{change.kind} of {target.old}"


def _rejections(patch: Patch, target: Target, result: Transformed) -> list[Rejection]:
    hunks = target.change.hunks
    file = result.path or target.shown
    if result.refusal is not None:
        return [
            Rejection(
                patch=patch.name,
                file=file,
                hunk=hunks[0].number if hunks else 0,
                hunks=len(hunks),
                header=hunks[0].header if hunks else describe(target),
                reason=result.refusal,
            )
        ]
    return list(rejections_of(patch.name, file, result.before, result.placements))
