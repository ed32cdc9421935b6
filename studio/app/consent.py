"""When a download wants a yes, and how that is said."""

from studio.domain.errors import NeedsConsent
from studio.domain.units import GIB, bytes_text

ASK_ABOVE_BYTES = 2 * GIB
"""Downloads larger than this want a yes."""


def ask(what: str, download_bytes: int, disk_bytes: int | None, *, consent: bool) -> None:
    """Raise unless a download is small or agreed to.

    Raises: NeedsConsent (`large-download`).
    """
    if consent or download_bytes <= ASK_ABOVE_BYTES:
        return
    raise NeedsConsent(
        "large-download",
        f"{what} needs {bytes_text(download_bytes)} from the network.",
        hint="Run it again with `--yes` to agree.",
        data={"what": what, "download_bytes": download_bytes, "disk_bytes": disk_bytes},
    )
