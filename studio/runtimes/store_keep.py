"""Takes what was just installed into the store: before any patch, and only what is as listed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from studio.host import locks
from studio.host.hashing import Hashed, Wanted, hash_files
from studio.host.sharing import is_leftover
from studio.runtimes import relocate, survey
from studio.runtimes.manifest import LINK, LISTING, PLACED, SUSPECT, Entry
from studio.runtimes.store import Read, Store, inode_of
from studio.runtimes.survey import Distribution, Owned, Seen


class Kept(NamedTuple):
    """What went into the store."""

    pins: frozenset[str]
    known: dict[str, Read]
    """What was read, by its path in the runtime."""


def keep(
    store: Store,
    root: Path,
    keys: Mapping[str, str],
    known: Mapping[str, Read] | None = None,
    seen: Mapping[str, Seen] | None = None,
) -> Kept:
    """Keep the packages in `keys` (pin to the store's name) of the runtime folder `root`.

    Reads every file but those in `known` that are still the same file. `seen` is what an earlier
    look at the folder found, and these packages are as they were then.
    One that is not what its own list says, or lacks a file of it, is left out: it is fetched again
    when another runtime needs it. Raises: OSError, HostLacks (`disk-full`, `not-writable`).
    """
    seen = dict(seen) if seen is not None else survey.walk(root)
    for path in [path for path in seen if is_leftover(path.rpartition("/")[2])]:
        (root / path).unlink(missing_ok=True)  # of a run that was killed in here
        del seen[path]
    bytecode = _bytecode(seen)
    lists = [
        path
        for path in seen
        if (owner := survey.owner_of(path)) is not None and locks.plain(owner) in keys
    ]
    wanted = list(survey.distributions(root, lists))  # reading them all takes half a second
    names = {path for found in wanted for path, _digest in found.files if path in seen}
    names |= {cached for path in names for cached in bytecode.get(path, ())}
    read = _known(names, seen, known or {})
    read |= _read(root, names - read.keys(), seen)
    pins = set[str]()
    kept: dict[str, Read] = {}
    for found in wanted:
        entries = _entries(root, found, seen, bytecode, read)
        if entries is None:
            continue
        _put(store, root, entries, seen, read, kept)
        pin = locks.plain(found.owner)
        store.write_record(keys[pin], found.owner, entries)
        pins.add(pin)
    return Kept(frozenset(pins), kept)


def keep_interpreter(store: Store, root: Path, key: str) -> dict[str, Read]:
    """Keep the interpreter in `root`, which holds nothing else yet; return what was read.

    Raises: OSError, HostLacks (`disk-full`, `not-writable`).
    """
    seen = survey.walk(root)
    read = _read(root, (path for path, found in seen.items() if found.link is None), seen)
    entries = [
        entry
        for path, found in seen.items()
        if (entry := _entry(root, path, found, read, survey.UNOWNED)) is not None
    ]
    known: dict[str, Read] = {}
    _put(store, root, entries, seen, read, known)
    store.write_record(key, key, entries)
    return known


def _known(
    names: Iterable[str], seen: Mapping[str, Seen], known: Mapping[str, Read]
) -> dict[str, Hashed | None]:
    return {
        path: known[path].hashed for path in names if survey.is_known(known.get(path), seen[path])
    }


def _read(root: Path, names: Iterable[str], seen: Mapping[str, Seen]) -> dict[str, Hashed | None]:
    files = sorted(names)
    wanted = [Wanted(f"{root}/{path}", seen[path].size) for path in files]
    return dict(zip(files, hash_files(wanted), strict=True))


def _bytecode(seen: Iterable[str]) -> dict[str, list[str]]:
    """Return the compiled files of each source."""
    found: dict[str, list[str]] = {}
    for path in seen:
        folder, cached, name = path.rpartition("/__pycache__/")
        if cached:
            found.setdefault(f"{folder}/{name.partition('.')[0]}.py", []).append(path)
    return found


def _entries(
    root: Path,
    found: Distribution,
    seen: Mapping[str, Seen],
    bytecode: Mapping[str, list[str]],
    read: Mapping[str, Hashed | None],
) -> list[Entry] | None:
    """Return what a package is made of; None when it is not as it lists itself."""
    entries: dict[str, Entry] = {}
    for path, digest in found.files:
        if path not in seen:
            if digest is not None and not path.endswith(".pyc"):
                return None
            continue
        owned = Owned(1, digest)
        for name in (path, *bytecode.get(path, ())):
            entry = _entry(root, name, seen[name], read, owned if name == path else Owned(1))
            if entry is None or entry.has(SUSPECT):
                return None
            entries[name] = entry
    return list(entries.values())


def _entry(
    root: Path, path: str, found: Seen, read: Mapping[str, Hashed | None], owned: Owned
) -> Entry | None:
    if found.link is not None:
        return Entry(path, LINK, 0, 0, found.link.encode("utf-8", "surrogateescape"), owned.owner)
    now = read.get(path)
    if now is None or now.sha256 is None:
        return None
    return survey.entry(root, path, now, owned)


def _put(
    store: Store,
    root: Path,
    entries: Iterable[Entry],
    seen: Mapping[str, Seen],
    read: Mapping[str, Hashed | None],
    known: dict[str, Read],
) -> None:
    for entry in entries:
        if entry.has(LINK):
            continue
        source = f"{root}/{entry.path}"
        is_other = store.put(source, entry, _form(root, entry))
        now = read.get(entry.path)
        if now is not None and not entry.flags & (PLACED | LISTING):
            # The file that was seen before it was read: one that was put in its place since has
            # another inode, and is read again for the list of files.
            inode = inode_of(source) if is_other else seen[entry.path].inode
            known[entry.path] = Read(inode, now)


def _form(root: Path, entry: Entry) -> bytes | None:
    """Return what is kept instead of a file that names its folder; None: the file itself."""
    if not entry.flags & (PLACED | LISTING):
        return None
    content = (root / entry.path).read_bytes()
    if entry.has(LISTING):
        return relocate.listing(content)
    form = relocate.general(content, root)
    assert form is not None
    return form
