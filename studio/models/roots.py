"""Which folders are searched for models, and what of a root may be said without looking inside."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, NotFound
from studio.domain.library import RootKind
from studio.host import wsl


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that is searched; `path` is absolute and need not exist."""

    path: str
    kind: RootKind

    @property
    def folder(self) -> Path:
        """Return it as a path."""
        return Path(self.path)


def roots(
    own: Path, cache: Path, folders: Iterable[str] = (), references: Iterable[str] = ()
) -> tuple[Root, ...]:
    """Return all roots, each folder once: our own, the hub's cache, then the person's."""
    named = [(str(own), RootKind.OWN), (str(cache), RootKind.CACHE)]
    named += [(path, RootKind.FOLDER) for path in folders]
    named += [(path, RootKind.REFERENCE) for path in references]
    found: dict[str, Root] = {}
    for path, kind in named:
        found.setdefault(os.path.realpath(path), Root(path=path, kind=kind))
    return tuple(found.values())


def given(text: str) -> Path:
    """Return the absolute path that a person means. Raises: BadInput (`path-invalid`)."""
    is_text = text.strip() != "" and "\0" not in text and text.isprintable()
    try:
        encoded = text.encode("utf-8") if is_text else None
        path = Path(wsl.meant(text)).expanduser() if encoded is not None else None
    except (UnicodeEncodeError, RuntimeError):  # `~nobody` names no home
        path = None
    if path is None or not path.is_absolute():
        raise BadInput(
            "path-invalid",
            f"`{text[:100]}` is no absolute path.",
            hint="Name a folder or file from the root on: /media/models.",
        )
    return Path(os.path.normpath(path))


def require_folder(path: Path) -> None:
    """Raise NotFound (`models-folder-missing`) unless `path` is a folder that can be listed."""
    try:
        with os.scandir(path):
            return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotFound(
            "models-folder-missing",
            f"{path} cannot be used as a folder of models: {reason}.",
            hint="Name a folder that exists and that you may read; mount the disk first.",
        ) from error


def is_root(path: Path, known: Iterable[Root]) -> bool:
    """Tell whether a folder is searched already, by whatever name."""
    return os.path.realpath(path) in {os.path.realpath(root.path) for root in known}


def folder_of(path: str, known: Iterable[str]) -> str:
    """Return the root that `path` means. Raises: NotFound (`models-folder-unknown`)."""
    wanted = os.path.realpath(Path(path).expanduser())
    here = tuple(known)
    for one in here:
        if one == path or os.path.realpath(one) == wanted:
            return one
    raise NotFound(
        "models-folder-unknown",
        f"{path} is none of the folders that you added.",
        hint=f"Those are: {', '.join(here)}." if here else "`weir models roots` lists all.",
    )
