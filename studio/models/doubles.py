"""Which models take the same bytes twice, from digests that are known; computes none. Pure.

Names of one inode are no doubles: they take nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from studio.domain.library import Double
from studio.models.facts import is_weights
from studio.models.finding import File

_LEAST_BYTES = 1 << 20
"""Below that nobody looks for space."""

Key = tuple[int, int]


class Weights(NamedTuple):
    """A model's weights, with the digest of each where it is known."""

    model: str
    files: Sequence[tuple[File, str | None]]


class Doubles(NamedTuple):
    """What is there twice, and what may be."""

    groups: tuple[Double, ...]
    same_as: Mapping[str, tuple[str, ...]]
    """Model to others whose weights are the very same."""
    to_hash: tuple[File, ...]
    """Files as large as another one, whose digest is not known: one for each inode."""


def counted(files: Sequence[File]) -> list[File]:
    """Return those files that may be doubles of others."""
    return [
        file
        for file in files
        if file.size is not None and file.size >= _LEAST_BYTES and is_weights(file.name)
    ]


def find(models: Sequence[Weights]) -> Doubles:
    """Return what several models keep."""
    inodes: dict[str, dict[Key, int]] = {}
    holders: dict[str, set[str]] = {}
    for one in models:
        for file, digest in one.files:
            if digest is not None:
                inodes.setdefault(digest, {})[_key(file)] = file.size or 0
                holders.setdefault(digest, set()).add(one.model)
    groups: dict[tuple[str, ...], list[str]] = {}
    for digest, names in holders.items():
        if len(names) > 1 and len(inodes[digest]) > 1:
            groups.setdefault(tuple(sorted(names)), []).append(digest)
    return Doubles(
        groups=tuple(
            Double(
                models=names,
                files=len(digests),
                extra_bytes=sum(_extra(inodes[digest]) for digest in digests),
            )
            for names, digests in sorted(groups.items())
        ),
        same_as=_same(models, inodes),
        to_hash=_unknown(models),
    )


def _extra(inodes: Mapping[Key, int]) -> int:
    return sum(inodes.values()) - max(inodes.values())


def _same(
    models: Sequence[Weights], inodes: Mapping[str, Mapping[Key, int]]
) -> dict[str, tuple[str, ...]]:
    """Return models with equal weights, where at least one of the files lies there twice."""
    by_content: dict[tuple[str, ...], list[str]] = {}
    for one in models:
        digests = [digest for _file, digest in one.files if digest is not None]
        if digests and len(digests) == len(one.files):
            by_content.setdefault(tuple(sorted(digests)), []).append(one.model)
    found: dict[str, tuple[str, ...]] = {}
    for content, names in by_content.items():
        if len(names) > 1 and any(len(inodes[digest]) > 1 for digest in content):
            for name in names:
                found[name] = tuple(other for other in names if other != name)
    return found


def _unknown(models: Sequence[Weights]) -> tuple[File, ...]:
    by_size: dict[int, dict[Key, tuple[File, str | None]]] = {}
    for one in models:
        for file, digest in one.files:
            by_size.setdefault(file.size or 0, {}).setdefault(_key(file), (file, digest))
    return tuple(
        file
        for same in by_size.values()
        if len(same) > 1
        for file, digest in same.values()
        if digest is None
    )


def _key(file: File) -> Key:
    return (file.device, file.inode)
