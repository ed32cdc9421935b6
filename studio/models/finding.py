"""Walks a root and finds the models in it: names, sizes and times of files, no content.

A model is a folder with a config, a folder of weights, a snapshot in a cache of huggingface_hub's
layout, or loose GGUF files (their parts together). Nothing is trusted: links may lead in rings or
out, folders may vanish, names may be no text, and there may be far too many files.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from studio.domain.library import RootState
from studio.models.roots import Root

_MOST_DEPTH = 8
_MOST_ENTRIES = 400_000
"""Of one root. 500 models have some 5,000; a home folder that was named by mistake has millions."""
_MOST_FILES = 50_000
"""Of one model."""
_REPOSITORY = re.compile(r"models--(.+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
_MARKS = frozenset(("config.json", "model_index.json", "params.json"))
_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth")
_NO_MODELS = ("datasets--", "spaces--")
"""What else a cache of huggingface_hub holds."""
_UNFINISHED = (".incomplete", ".part")
RECORDS = ("weir-model.json", "weir-prepared.json")
"""What the Studio itself writes into its own model folders."""
REMOVING = ".removing-"
IMPORTING = ".importing-"


class File(NamedTuple):
    """A file of a model, its links followed; `size` is None for a link that leads nowhere."""

    name: str
    """Relative to the model's folder, with forward slashes."""
    path: str
    size: int | None
    mtime_ns: int = 0
    device: int = 0
    inode: int = 0
    links: int = 1
    blob: str | None = None
    """The name of what a link in a snapshot points at: a digest of the content."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A model as it lies."""

    root: Root
    folder: str
    name: str
    files: tuple[File, ...] = ()
    is_loose: bool = False
    """GGUF files that share their folder with other things."""
    repository: str | None = None
    revision: str | None = None
    refs: tuple[str, ...] = ()
    cache_folder: str | None = None
    """`models--owner--name` with its blobs, for a snapshot."""
    unfinished_bytes: int = 0
    """In files of the repository that a download has not finished."""
    problems: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Return what an engine would be given."""
        return self.files[0].path if self.is_loose and self.files else self.folder


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """What one root holds."""

    root: Root
    state: RootState = RootState.PRESENT
    models: tuple[Found, ...] = ()
    note: str | None = None
    folders: dict[str, int] = {}
    """Every folder that was listed, with its time of change: what a change is noticed by."""


def walk(root: Root) -> Walked:
    """Return the models below a root. Raises nothing: what cannot be read is noted."""
    try:
        about = root.folder.stat()
    except (OSError, ValueError) as error:
        return _unseen(root, error)
    if not stat.S_ISDIR(about.st_mode):
        return _walk_file(root)
    walker = _Walker(root)
    models = tuple(walker.models(root.path, 0))
    if walker.refused == root.path:
        return Walked(root=root, state=RootState.UNREADABLE, note=walker.note)
    return Walked(root=root, models=models, note=walker.note, folders=walker.folders)


def _unseen(root: Root, error: OSError | ValueError) -> Walked:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOENT, errno.ENOTDIR):
        return Walked(root=root, state=RootState.MISSING)
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return Walked(root=root, state=RootState.UNREADABLE, note=reason)


def _walk_file(root: Root) -> Walked:
    """Return the single GGUF that a root of its own names, with its other parts."""
    walker = _Walker(root)
    folder, name = str(root.folder.parent), root.folder.name
    stem = _stem(name)
    parts = [file for file in walker.files(folder, deep=False) if _stem(file.name) == stem]
    if not name.lower().endswith(".gguf") or not parts:
        return Walked(root=root, state=RootState.MISSING, note="it is no model")
    found = Found(root=root, folder=folder, name=_loose_name(name), files=tuple(parts),
                  is_loose=True)  # fmt: skip
    return Walked(root=root, models=(found,), folders=walker.folders)


class _Walker:
    """One walk through one root."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._left = _MOST_ENTRIES
        self._seen: set[tuple[int, int]] = set()
        self.folders: dict[str, int] = {}
        self.note: str | None = None
        self.refused: str | None = None

    def models(self, folder: str, depth: int) -> Iterator[Found]:
        """Yield the models in a folder and below."""
        if self._is_known(folder):
            return
        entries = self._entries(folder)
        names = {entry.name for entry in entries}
        if self._is_repository(folder, names):
            yield from self._snapshots(folder)
            return
        if _is_model(names):
            yield self._plain(folder)
            return
        below = [*self._loose(folder, entries), *self._below(entries, depth)]
        if not below and names & _MARKS:
            yield self._plain(folder)  # a config whose weights are still to come
            return
        yield from below

    def _below(self, entries: list["os.DirEntry[str]"], depth: int) -> Iterator[Found]:
        if depth >= _MOST_DEPTH and any(_is_folder(entry) for entry in entries):
            self.note = f"folders deeper than {_MOST_DEPTH} are not searched"
            return
        for entry in entries:
            if entry.name.startswith(IMPORTING) and _is_folder(entry):
                yield self._begun_import(entry)
            elif not entry.name.startswith((".", *_NO_MODELS)) and _is_folder(entry):
                yield from self.models(entry.path, depth + 1)

    def _is_known(self, folder: str) -> bool:
        """Tell whether a folder was walked already, by whatever name: links may lead in rings."""
        try:
            about = Path(folder).stat()
        except (OSError, ValueError):
            return True
        key = (about.st_dev, about.st_ino)
        is_known = key in self._seen
        self._seen.add(key)
        self.folders[folder] = about.st_mtime_ns
        return is_known

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        if self._left <= 0:
            self.note = f"more than {_MOST_ENTRIES:,} files: the rest is not looked at"
            return []
        try:
            with os.scandir(folder) as listing:
                found = [entry for _, entry in zip(range(self._left + 1), listing, strict=False)]
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.note = f"{folder} cannot be read: {reason}"
            self.refused = folder
            return []
        if len(found) > self._left:
            self.note = f"more than {_MOST_ENTRIES:,} files: the rest is not looked at"
        self._left -= len(found)
        texts = [entry for entry in found if _is_text(entry.name)]
        if len(texts) < len(found):
            self.note = f"{len(found) - len(texts)} names in {folder} are no text"
        return sorted(texts, key=lambda entry: entry.name)

    def _is_repository(self, folder: str, names: set[str]) -> bool:
        is_named = _REPOSITORY.fullmatch(Path(folder).name) is not None
        return is_named and bool(names & {"snapshots", "blobs"})

    def _plain(self, folder: str) -> Found:
        name = os.path.relpath(folder, self._root.path)
        files = tuple(self.files(folder))
        return Found(
            root=self._root,
            folder=folder,
            name=Path(folder).name if name == "." else Path(name).as_posix(),
            files=files,
            problems=self._too_many(files),
        )

    def _begun_import(self, entry: "os.DirEntry[str]") -> Found:
        """Return an import that has not ended, which takes room all the same."""
        self._note_folder(entry.path)
        return Found(
            root=self._root,
            folder=entry.path,
            name=f"{entry.name.removeprefix(IMPORTING)} (import)",
            unfinished_bytes=_bytes_below(Path(entry.path)),
            problems=("An import of it has begun and not ended.",),
        )

    def _too_many(self, files: tuple[File, ...]) -> tuple[str, ...]:
        if len(files) < _MOST_FILES:
            return ()
        return (f"It has more than {_MOST_FILES:,} files; the rest is not looked at.",)

    def _loose(self, folder: str, entries: list[os.DirEntry[str]]) -> Iterator[Found]:
        groups: dict[str, list[File]] = {}
        for entry in entries:
            if entry.name.lower().endswith(".gguf") and not entry.name.startswith("."):
                file = _file(entry, entry.name)
                if file is not None:
                    groups.setdefault(_stem(entry.name), []).append(file)
        for files in groups.values():
            inside = os.path.relpath(folder, self._root.path)
            name = _loose_name(files[0].name)
            yield Found(
                root=self._root,
                folder=folder,
                name=name if inside == "." else f"{Path(inside).as_posix()}/{name}",
                files=tuple(files),
                is_loose=True,
            )

    def files(self, folder: str, *, deep: bool = True) -> Iterator[File]:
        """Yield the files of a model, in order of their names."""
        count = 0
        waiting = [(folder, "")]
        while waiting:
            here, before = waiting.pop()
            for entry in self._entries(here):
                name = f"{before}{entry.name}"
                if _is_folder(entry):
                    # A folder that is a link leads to other models, out of here, or in a ring.
                    if deep and not entry.name.startswith(".") and not entry.is_symlink():
                        self._note_folder(entry.path)
                        waiting.append((entry.path, f"{name}/"))
                    continue
                file = _file(entry, name)
                if file is None or entry.name.startswith(".") or name in RECORDS:
                    continue
                count += 1
                if count > _MOST_FILES:
                    return
                yield file

    def _note_folder(self, folder: str) -> None:
        try:
            self.folders[folder] = Path(folder).stat().st_mtime_ns
        except OSError:
            self.folders[folder] = 0

    def _snapshots(self, folder: str) -> Iterator[Found]:
        name = _REPOSITORY.fullmatch(Path(folder).name)
        assert name is not None
        repository = name[1].replace("--", "/", 1)
        refs = self._refs(f"{folder}/refs")
        unfinished = self._unfinished(f"{folder}/blobs")
        place = f"{folder}/snapshots"
        self._note_folder(place)
        commits = [
            one
            for one in self._listed(place)
            if not one.name.startswith(".") and _is_folder(one) and not one.is_symlink()
        ]
        main = _main(commits, refs)
        for entry in commits:
            self._note_folder(entry.path)
            files = _with_blobs(tuple(self.files(entry.path)), f"{folder}/blobs")
            is_main = entry.name == main
            yield Found(
                root=self._root,
                folder=entry.path,
                name=repository if is_main else f"{repository}@{entry.name[:8]}",
                files=files,
                repository=repository,
                revision=entry.name if _COMMIT.fullmatch(entry.name) else None,
                refs=refs.get(entry.name, ()),
                cache_folder=folder,
                unfinished_bytes=unfinished if is_main else 0,
                problems=self._too_many(files),
            )
        if not commits and unfinished:
            yield Found(
                root=self._root,
                folder=folder,
                name=repository,
                repository=repository,
                cache_folder=folder,
                unfinished_bytes=unfinished,
            )

    def _listed(self, folder: str) -> list[os.DirEntry[str]]:
        return self._entries(folder) if Path(folder).is_dir() else []

    def _refs(self, folder: str) -> dict[str, tuple[str, ...]]:
        """Return the branches and tags of each commit."""
        found: dict[str, tuple[str, ...]] = {}
        self._note_folder(folder)
        for file in self.files(folder) if Path(folder).is_dir() else ():
            if file.size is not None and 40 <= file.size <= 64:
                try:
                    text = Path(file.path).read_text("ascii").strip()
                except (OSError, UnicodeDecodeError):
                    continue
                found[text] = (*found.get(text, ()), file.name)
        return found

    def _unfinished(self, blobs: str) -> int:
        total = 0
        self._note_folder(blobs)
        for entry in self._listed(blobs):
            if entry.name.endswith(_UNFINISHED):
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                total += min(about.st_size, getattr(about, "st_blocks", about.st_size) * 512)
        return total


def _bytes_below(folder: Path) -> int:
    """Return the size of the files below a folder, as far as they are still there."""
    total = 0
    for top, _folders, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(top, name).lstat().st_size
    return total


def _with_blobs(files: tuple[File, ...], blobs: str) -> tuple[File, ...]:
    """Return a snapshot's files with their blobs, where they are second names and no links."""
    if not files or any(file.blob is not None for file in files):
        return files
    names: dict[tuple[int, int], str] = {}
    try:
        with os.scandir(blobs) as listing:
            for entry in listing:
                about = entry.stat(follow_symlinks=False)
                names[about.st_dev, about.st_ino] = entry.name
    except OSError:
        return files
    return tuple(file._replace(blob=names.get((file.device, file.inode))) for file in files)


def _is_model(names: set[str]) -> bool:
    """Tell whether a folder is a model by what lies in it, and not only a folder of such."""
    if "model_index.json" in names or any(name.endswith(".safetensors") for name in names):
        return True
    has_weights = any(name.lower().endswith((*_WEIGHTS, ".index.json")) for name in names)
    return bool(names & _MARKS) and has_weights


def _main(commits: list["os.DirEntry[str]"], refs: dict[str, tuple[str, ...]]) -> str | None:
    """Return the commit that bears the repository's plain name: `main`, else the newest."""
    for entry in commits:
        if {"main", "master"} & set(refs.get(entry.name, ())):
            return entry.name
    newest = max(commits, key=_changed, default=None)
    return newest.name if newest is not None else None


def _changed(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:
        return 0


def _file(entry: "os.DirEntry[str]", name: str) -> File | None:
    """Return a regular file or a broken link; None for pipes, devices and what has vanished."""
    blob = None
    try:
        if entry.is_symlink():
            blob = Path(entry.path).readlink().name
            blob = blob if _is_text(blob) else None
        about = entry.stat()
    except OSError:
        return File(name, entry.path, None, blob=blob) if blob is not None else None
    if not stat.S_ISREG(about.st_mode):
        return None
    return File(
        name, entry.path, about.st_size, about.st_mtime_ns, about.st_dev, about.st_ino,
        about.st_nlink, blob,
    )  # fmt: skip


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_text(name: str) -> bool:
    return name.isascii() or not any(0xD800 <= ord(letter) <= 0xDFFF for letter in name)


def _stem(name: str) -> str:
    part = _PART.fullmatch(name)
    return f"{part['stem']}-of-{part['count']}" if part is not None else name


def _loose_name(name: str) -> str:
    part = _PART.fullmatch(name)
    return f"{part['stem']}.gguf" if part is not None else name


def parts_of(name: str) -> tuple[str, ...]:
    """Return the names of all parts that the GGUF `name` is one of; only itself when it is whole.

    Source: llama.cpp, `llama_split_path`: `%s-%05d-of-%05d.gguf`.
    """
    part = _PART.fullmatch(name)
    if part is None or not 0 < int(part["count"]) <= 9_999:
        return (name,)
    count = part["count"]
    return tuple(f"{part['stem']}-{n:05d}-of-{count}.gguf" for n in range(1, int(count) + 1))
