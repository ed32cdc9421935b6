"""A patch read backwards, to see whether it is already applied. Pure."""

from studio.runtimes.patching.model import ADD, DROP, KEEP, FileChange, Hunk, Kind, Patch

_TAGS = {KEEP: KEEP, DROP: ADD, ADD: DROP}
_KINDS = {
    Kind.CONTENT: Kind.CONTENT,
    Kind.RENAME: Kind.RENAME,
    Kind.COPY: Kind.UNCOPY,
    Kind.UNCOPY: Kind.COPY,
}


def reversed_patch(patch: Patch) -> Patch:
    """Return the patch that takes `patch` back."""
    return Patch(
        name=patch.name,
        sha256=patch.sha256,
        diffs=tuple(
            tuple(reversed_change(change) for change in reversed(diff))
            for diff in reversed(patch.diffs)
        ),
    )


def reversed_change(change: FileChange) -> FileChange:
    """Return the change that takes `change` back."""
    return FileChange(
        old_name=change.new_name,
        new_name=change.old_name,
        kind=_KINDS[change.kind],
        old_presence=change.new_presence,
        new_presence=change.old_presence,
        old_executable=change.new_executable,
        new_executable=change.old_executable,
        hunks=tuple(reversed_hunk(hunk) for hunk in change.hunks),
        is_git=change.is_git,
        patch_line=change.patch_line,
    )


def reversed_hunk(hunk: Hunk) -> Hunk:
    """Return the hunk that takes `hunk` back."""
    return Hunk(
        number=hunk.number,
        header=hunk.header,
        old_first=hunk.new_first,
        new_first=hunk.old_first,
        lines=tuple((_TAGS[tag], text) for tag, text in hunk.lines),
        old=hunk.new,
        new=hunk.old,
        prefix=hunk.prefix,
        suffix=hunk.suffix,
    )
