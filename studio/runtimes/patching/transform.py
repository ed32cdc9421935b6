"""One file change on an overlay: which file it means, whether it may, and what comes out. Pure.

The rules for files that are or are not there are GNU patch's under `--forward`: what would create
a file that is there, or delete one that is not, is refused.
"""

from studio.runtimes.patching.locate import Fit, Placement, fit
from studio.runtimes.patching.model import FileChange, Kind, Presence, Record
from studio.runtimes.patching.overlay import Entry, Overlay


class Transformed(Record, frozen=True, kw_only=True):
    """What came of a file change; with a `refusal` nothing was done."""

    path: str
    placements: tuple[Placement, ...] = ()
    before: bytes = b""
    refusal: str | None = None

    @property
    def is_done(self) -> bool:
        """Return whether the file was changed."""
        return self.refusal is None and all(one.line is not None for one in self.placements)


def transform(
    overlay: Overlay,
    change: FileChange,
    old: str | None,
    new: str | None,
    vacated: frozenset[str],
) -> Transformed:
    """Do `change` to `overlay`, if all of it fits.

    `old` and `new` are paths inside the tree; `vacated` are those that the same diff moves away.
    """
    if not change.is_git:
        overlay.settle()
    if change.kind is Kind.CONTENT:
        return _content(overlay, change, old, new)
    assert old is not None
    assert new is not None
    if change.kind is Kind.UNCOPY:
        return _uncopy(overlay, change, old)
    return _move(overlay, change, old, new, vacated)


def _content(overlay: Overlay, change: FileChange, old: str | None, new: str | None) -> Transformed:
    path = _choose(overlay, [name for name in (old, new) if name is not None])
    entry = overlay.now(path)
    refusal = _refusal(change, entry, path)
    before = entry.content or b""
    fitted = fit(before, change.hunks)
    if refusal is None and fitted.fits and change.new_presence is Presence.ABSENT:
        refusal = _leftover(fitted, path)
    if refusal is None and fitted.fits:
        if change.new_presence is Presence.ABSENT:
            overlay.remove(path, is_queued=change.is_git)
        else:
            overlay.put(path, _after(change, entry, fitted), is_queued=change.is_git)
    return Transformed(path=path, placements=fitted.placements, before=before, refusal=refusal)


def _choose(overlay: Overlay, names: list[str]) -> str:
    """Return which of the two names is meant where a patch gives two, as GNU patch chooses.

    Of those that exist (else of all) the one with the fewest components, then the shortest file
    name, then the shortest path, then the old one.
    """
    assert names
    if len(set(names)) == 1:
        return names[0]
    existing = [name for name in names if overlay.now(name).content is not None]
    return min(
        existing or names,
        key=lambda name: (name.count("/"), len(name.rpartition("/")[2]), len(name)),
    )


def _refusal(change: FileChange, entry: Entry, path: str) -> str | None:
    """Return why the file's being there, or not, forbids the change."""
    sides = (change.old_presence, change.new_presence)
    if entry.content is None:
        is_new = sides[0] is not Presence.PRESENT and sides[1] is Presence.PRESENT
        if is_new or sides == (Presence.ABSENT, Presence.EMPTY):
            return None
        return f"there is no file {path}"
    if entry.content:
        if change.old_presence is Presence.ABSENT:
            return f"{path} exists already"
        return None
    if sides[1] is Presence.PRESENT or sides == (Presence.EMPTY, Presence.ABSENT):
        return None
    return f"{path} is empty already"


def _leftover(fitted: Fit, path: str) -> str | None:
    if not fitted.content:
        return None
    return f"{path} holds more than the patch deletes, so it cannot be deleted"


def _after(change: FileChange, entry: Entry, fitted: Fit) -> Entry:
    executable = entry.executable
    if change.new_executable is not None and change.new_executable != change.old_executable:
        executable = change.new_executable
    mode_of = None if entry.content is None else entry.mode_of
    return Entry(content=fitted.content, executable=executable, mode_of=mode_of)


def _move(
    overlay: Overlay, change: FileChange, old: str, new: str, vacated: frozenset[str]
) -> Transformed:
    """Rename or copy `old` to `new`, with hunks on the way."""
    source = overlay.before(old)
    target = overlay.now(new)
    before = source.content or b""
    fitted = fit(before, change.hunks)
    refusal = None
    if source.content is None:
        refusal = f"there is no file {old}"
    elif target.content is not None and new not in vacated:
        refusal = f"{new} exists already"
    elif fitted.fits:
        overlay.put(new, _after(change, source, fitted), is_queued=True)
        if change.kind is Kind.RENAME and old != new:
            overlay.remove(old, is_queued=True)
    return Transformed(path=new, placements=fitted.placements, before=before, refusal=refusal)


def _uncopy(overlay: Overlay, change: FileChange, copy: str) -> Transformed:
    entry = overlay.now(copy)
    before = entry.content or b""
    fitted = fit(before, change.hunks)
    refusal = None
    if entry.content is None:
        refusal = f"there is no file {copy}"
    elif fitted.fits:
        overlay.remove(copy, is_queued=True)
    return Transformed(path=copy, placements=fitted.placements, before=before, refusal=refusal)
