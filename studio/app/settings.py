"""What the person chose, kept between runs: one small JSON file, written whole."""

from pathlib import Path

import msgspec

from studio.domain.errors import Damaged
from studio.domain.gateway import GatewaySettings
from studio.host.documents import read_json, write_json

DEFAULT_PORT = 18020


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The choices. Unknown keys of a newer version are ignored."""

    schema_version: int = 1
    port: int = DEFAULT_PORT
    preset: str | None = None
    """What `weir up` serves when no preset is named: the last one that served."""
    overrides: dict[str, str] = {}
    gpus: tuple[int, ...] | None = None
    """As they were numbered when they were chosen."""
    gpu_uuids: tuple[str, ...] | None = None
    """The chosen cards' own ids, which count; None: nothing was chosen, or they have none."""
    gpu_names: dict[str, str] = {}
    """Id to name, for the day when one is missing."""
    care: dict[str, str] = {}
    """What follows a death, a standstill, an early request: by name, as checked (app/care.py)."""
    gateway: GatewaySettings = GatewaySettings()
    boots_s: dict[str, float] = {}
    """`preset runtime-id` to the seconds of the last boot: the next one's forecast."""


class SettingsFile:
    """The settings and their file."""

    def __init__(self, path: Path) -> None:
        """Raises: Damaged (`settings-damaged`), HostLacks (`not-readable`)."""
        self._path = path
        try:
            self.now = read_json(path, Settings) or Settings()
        except Damaged as error:
            raise Damaged(
                "settings-damaged",
                error.message,
                hint="Put it right, or delete it: then the defaults hold.",
            ) from error

    def change(self, **changes: object) -> None:
        """Replace fields and write the file when anything changed."""
        after = msgspec.structs.replace(self.now, **changes)
        if after != self.now:
            write_json(self._path, after, mode=0o600)
            self.now = after
