"""What the last whole check of a model found, kept with its date beside no file of the model."""

from pathlib import Path

from studio.domain.errors import StudioError
from studio.host.documents import read_json, write_json
from studio.models.proof import sidecar
from studio.models.state import Checked

CHECKS = ".checks"


def read_checked(place: Path, models: Path) -> Checked | None:
    """Return what was found; None when it was never checked, or that cannot be read."""
    try:
        return read_json(sidecar(place, models, CHECKS), Checked)
    except StudioError:
        return None


def write_checked(place: Path, models: Path, checked: Checked) -> None:
    """Keep what was found. Raises: HostLacks (`disk-full`, `not-writable`)."""
    write_json(sidecar(place, models, CHECKS), checked)


def forget_checked(place: Path, models: Path) -> None:
    """Remove what was kept of a model that is gone."""
    sidecar(place, models, CHECKS).unlink(missing_ok=True)
