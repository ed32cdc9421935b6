"""What a repository holds at one commit, and which of its files are wanted. Pure."""

import fnmatch
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from studio.domain.downloads import FetchedFile, HubName
from studio.domain.errors import BadInput, Damaged

_NAME = re.compile(r"(?!.*--.*/)[\w.][\w.-]{0,95}(?<![.-])/[\w.][\w.-]{0,95}", re.ASCII)
"""No hyphens where `models--OWNER--NAME` would be another repository's folder as well."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOST_PATH = 1024
_MOST_NAME_BYTES = 255
"""What file systems take for one part of a path."""
_RECORD = "weir-model.json"
"""What the Studio itself writes into a folder whose files it has proven."""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository at one commit."""

    id: str
    hub: HubName
    asked: str
    commit: str
    files: tuple[FetchedFile, ...]


def require_name(text: str) -> str:
    """Return a repository's name. Raises: BadInput (`model-name`)."""
    if not _NAME.fullmatch(text) or ".." in text or text.startswith((".", "-")):
        raise BadInput(
            "model-name",
            f"`{text}` is no name of a repository.",
            hint="Names are of the form `owner/name`, as in the hub's address of its page.",
        )
    return text


def is_commit(revision: str) -> bool:
    """Return whether a revision names one commit for good."""
    return _COMMIT.fullmatch(revision) is not None


def require_commit(text: object, repository: str) -> str:
    """Return what a hub says a commit is. Raises: Damaged (`hub-answer`)."""
    if not isinstance(text, str) or not is_commit(text):
        raise strange(f"says no commit for `{repository}`")
    return text


def safe(files: Sequence[FetchedFile]) -> tuple[FetchedFile, ...]:
    """Return files whose paths stay in their folder on every system and can be proven, sorted.

    Raises: Damaged (`hub-answer`).
    """
    for file in files:
        if not _stays_inside(file.path):
            raise strange(f"names a file `{file.path[:200]}`, which is no path in a folder")
        if file.path.casefold() == _RECORD:
            raise strange(f"names a file `{file.path}`, which is the Studio's own proof of a model")
        if file.bytes < 0 or not _is_provable(file):
            raise strange(f"says no size or no digest for `{file.path[:200]}`")
    paths = {file.path for file in files}
    if len(paths) != len(files):
        raise strange("names a file twice")
    above = {str(folder) for path in paths for folder in PurePosixPath(path).parents}
    if both := paths & above:
        raise strange(f"names `{min(both)[:200]}` as a file and as a folder")
    return tuple(sorted(files, key=lambda file: file.path))


def _stays_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and not path.startswith("/")
        and len(path) <= _MOST_PATH
        and path == str(PurePosixPath(path))  # `a//b` and `./a/b` would be other names of a/b
        and not any(part == ".." or "\\" in part or "\0" in part for part in parts)
        and all(len(part.encode("utf-8", "replace")) <= _MOST_NAME_BYTES for part in parts)
    )


def _is_provable(file: FetchedFile) -> bool:
    """Return whether the digests are digests: they become names of files in the cache."""
    if file.sha256 is not None:
        return _SHA256.fullmatch(file.sha256) is not None
    return file.blob_id is not None and is_commit(file.blob_id)


def strange(what: str) -> Damaged:
    """Return the error for an answer that no hub gives."""
    return Damaged(
        "hub-answer",
        f"The hub's answer cannot be used: it {what}.",
        hint="A mirror or a proxy may stand between; `weir network` shows what is in force.",
    )


def selected(
    repository: Repository, include: Sequence[str], exclude: Sequence[str]
) -> tuple[FetchedFile, ...]:
    """Return the files that are wanted. Raises: BadInput (`model-no-files`)."""
    wanted = tuple(
        file
        for file in repository.files
        if (not include or _matches(file.path, include)) and not _matches(file.path, exclude)
    )
    if not wanted:
        asked = ", ".join(f"`{one}`" for one in include)
        count = f"{len(repository.files):,}"
        raise BadInput(
            "model-no-files",
            f"No file of {repository.id} matches {asked}: it has {count} files."
            if asked
            else f"Nothing of {repository.id} is left to fetch: all {count} files are excluded.",
            hint="Patterns are as in a shell: `--include '*.safetensors'`. The first ones are: "
            + (", ".join(file.path for file in repository.files[:5]) or "none")
            + ".",
        )
    return wanted


def _matches(path: str, patterns: Sequence[str]) -> bool:
    """Return whether any pattern is of that path, as huggingface_hub's `filter_repo_objects`."""
    full = (f"{one}*" if one.endswith("/") else one for one in patterns)
    return any(fnmatch.fnmatchcase(path, one) for one in full)
