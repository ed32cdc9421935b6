"""What is said where a disk fills up while a model comes: how much is still missing. Pure."""

from pathlib import Path

from studio.domain.errors import HostLacks
from studio.domain.units import bytes_text

CODE = "disk-full"


def full(
    error: HostLacks, *, repository: str, folder: Path, missing_bytes: int, free_bytes: int | None
) -> HostLacks:
    """Return a full disk's error with what of a repository is missing and what is free.

    Other errors are returned as they are. `free_bytes` None: not known.
    """
    if error.code != CODE:
        return error
    free = "" if free_bytes is None else f"; {bytes_text(free_bytes)} is free"
    missing = (
        f"{bytes_text(missing_bytes)} of {repository} is missing{free}"
        if missing_bytes
        else f"every file of {repository} is here, what says so has no room{free}"
    )
    return HostLacks(
        CODE,
        f"The disk that holds {folder} is full: {missing}.",
        hint="Free some space there and run it again: what has come stays, and it goes on from "
        "there. Or choose another disk: HF_HOME for the cache, `--into` for a folder.",
        evidence=error.evidence,
        data={"missing_bytes": missing_bytes, "free_bytes": free_bytes},
    )
