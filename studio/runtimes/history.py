"""Which installations of a runtime were used, in order; reads and writes two small files.

    <home>/runtimes/<name>/current    the id of the one that is used; its change is the switch
    <home>/runtimes/<name>/history    the ids in the order of their use, one a line

The history is written before `current` and does without the newest entry, which is `current` when
it is not in the list. So a kill between the two never leaves one ahead that was not used yet.
"""

from pathlib import Path

from studio.host.files import write_atomic

CURRENT_FILE = "current"
HISTORY_FILE = "history"


def current(home: Path) -> str | None:
    """Return the id that is used in the folder of a runtime's installations, or None."""
    try:
        identity = (home / CURRENT_FILE).read_text("utf-8").strip()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return None
    return identity if identity.isalnum() else None


def read(home: Path) -> tuple[str, ...]:
    """Return the ids in the order of their use, with the one that is used."""
    try:
        lines = (home / HISTORY_FILE).read_text("utf-8").split()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        lines = []
    known = tuple(dict.fromkeys(line for line in lines if line.isalnum()))
    now = current(home)
    return known if now is None or now in known else (*known, now)


def is_held(home: Path, identity: str) -> bool:
    """Tell whether a person went back to this installation: then no newer recipe replaces it."""
    known = read(home)
    return current(home) == identity and identity in known[:-1]


def activate(home: Path, identity: str) -> None:
    """Make a new installation the one that is used; what was ahead of the present one is forgotten.

    Raises: HostLacks (`disk-full`, `not-writable`).
    """
    now, known = current(home), read(home)
    if now != identity:
        behind = known[: known.index(now) + 1] if now is not None else known
        _write(home, tuple(one for one in behind if one != identity))
    write_atomic(home / CURRENT_FILE, f"{identity}\n".encode())


def switch(home: Path, identity: str) -> None:
    """Use another installation of the history.

    Raises: HostLacks (`disk-full`, `not-writable`).
    """
    _write(home, read(home))
    write_atomic(home / CURRENT_FILE, f"{identity}\n".encode())


def _write(home: Path, identities: tuple[str, ...]) -> None:
    write_atomic(home / HISTORY_FILE, "".join(f"{one}\n" for one in identities).encode())
