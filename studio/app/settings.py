"""What the person chose, kept between runs: one small JSON file, written whole."""

from pathlib import Path
from typing import Annotated

import msgspec

from studio.domain.demand import DemandSettings
from studio.domain.errors import Damaged
from studio.domain.gateway import GatewaySettings
from studio.domain.service import SleepPolicy
from studio.host.documents import read_json, write_json

DEFAULT_PORT = 18020


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a preset's pool, as a boot here had it."""

    bytes: int
    """On each card."""
    runtime_id: str
    cards: str
    """The cards' own ids, joined with `+`; the pin is of these and of this runtime only."""
    pool_tokens: int | None = None


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
    demand: DemandSettings = DemandSettings()
    """What requests may start (app/on_demand.py)."""
    pins: dict[str, Pin] = {}
    """Preset to the size that its pool keeps."""
    on_sleep: SleepPolicy = SleepPolicy.KEEP
    """What becomes of the engine when the machine sleeps."""
    model_folders: tuple[str, ...] = ()
    """Folders that are searched for models, beside our own and the hub's cache."""
    model_references: tuple[str, ...] = ()
    """Single models that stay where they are."""
    log_file_mib: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 5
    """How large a file of the engine's log gets."""
    log_files: Annotated[int, msgspec.Meta(ge=1, le=100)] = 5
    """How many of them are kept, the one that is written included."""


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
