"""Where the service of a home says that it is: its address, its token, its lock.

Apart from the service, whose modules a command that only talks to it need not load.
"""

from pathlib import Path
from typing import Annotated

import msgspec

from studio.domain.errors import Damaged
from studio.host import files, synced
from studio.host.documents import read_json
from studio.host.paths import Paths

_PROBE_BYTES = 16 << 10


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """`service/service.json`: where the running service listens."""

    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    pid: int
    version: str
    started_at: float


def address_file(paths: Paths) -> Path:
    """Return where the running service writes its address."""
    return paths.service / "service.json"


def token_file(paths: Paths) -> Path:
    """Return where the running service writes its token (mode 0600)."""
    return paths.service / "token"


def lock_file(paths: Paths) -> Path:
    """Return the file whose lock the running service holds."""
    return paths.service / "lock"


def read_address(paths: Paths) -> tuple[Address, str] | None:
    """Return the address and the token that lie in `service/`, which may be stale.

    None when there are none, or none that can be understood: then no service can be reached either.
    """
    try:
        address = read_json(address_file(paths), Address)
        token = token_file(paths).read_text(encoding="ascii").strip()
    except (Damaged, FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return None
    return (address, token) if address is not None and token else None


def require_writable(paths: Paths) -> None:
    """Raise HostLacks (`not-writable`, `disk-full`, `folder-synced`) unless it can be written."""
    synced.require_own(paths.home)
    try:
        files.make_private(paths.service)
        files.write_atomic(
            paths.service / "probe", bytes(_PROBE_BYTES)
        )  # an empty file always fits
        (paths.service / "probe").unlink(missing_ok=True)
    except OSError as error:
        raise files.from_os_error(error, paths.service) from error
