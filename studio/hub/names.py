"""Names of a repository's files that would be one file, or in one another's way, on this disk."""

import os
import secrets
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from studio.domain.errors import BadInput
from studio.host.transfer.part import journal_of, part_of


def require_apart(paths: Iterable[str], folder: Path, repository: str, *, is_plain: bool) -> None:
    """Raise unless each path is a file of its own in `folder`, which exists. Blocks.

    With `is_plain` files lie under their own names while they come, beside what is unfinished.

    Raises: BadInput (`model-names-collide`); OSError.
    """
    every = tuple(paths)
    beside = in_the_way(every) if is_plain else None
    if beside is not None:
        raise BadInput(
            "model-names-collide",
            f"{repository} has a file `{beside[1]}`, and `{beside[0]}` has that name while it "
            "comes.",
            hint="Leave out `--into`: in the cache both have other names.",
        )
    alike = same_but_for_case(every)
    if alike is not None and is_case_blind(folder):
        raise BadInput(
            "model-names-collide",
            f"{repository} has `{alike[0]}` and `{alike[1]}`, and the disk of {folder} takes such "
            "names for one file.",
            hint=f"Leave one out with `--exclude '{alike[1]}'`, or fetch it to a disk that tells "
            "them apart, with `--into FOLDER` or HF_HUB_CACHE.",
        )


def same_but_for_case(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return two paths that differ only in large and small letters or in how those are written.

    Pure. Letters that are put together of two signs are the same to such file systems, too.
    """
    seen: dict[str, str] = {}
    for path in paths:
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in seen:
            return seen[folded], path
        seen[folded] = path
    return None


def in_the_way(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return a path, and the one that is called as that one's unfinished file is. Pure."""
    names: Mapping[str, None] = dict.fromkeys(paths)
    for path in names:
        part = part_of(Path(path))
        for other in (part, journal_of(part)):
            if other.as_posix() in names:
                return path, other.as_posix()
    return None


def is_case_blind(folder: Path) -> bool:
    """Tell whether a folder takes large and small letters for the same. Raises: OSError."""
    probe = folder / f".weir-Case-{os.getpid()}-{secrets.token_hex(4)}"
    probe.touch()
    try:
        return probe.with_name(probe.name.lower()).exists()
    finally:
        probe.unlink()
