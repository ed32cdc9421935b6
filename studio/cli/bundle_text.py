"""Exports, imports and signers to text, as pure functions; their words stand here too."""

import textwrap

from studio.cli.render import READABLE_WIDTH, labelled, moment_text, table
from studio.domain.bundles import Exported, Imported, SignerList
from studio.domain.units import bytes_text, duration_text

NO_SIGNERS = (
    "Nobody is trusted yet, and this Studio has no signing key: its first export makes one."
)
HEADINGS = ("FINGERPRINT", "NAME", "TRUSTED SINCE")
OWN = "this Studio's own key"
_ID_SHOWN = 12


def exported_text(done: Exported, width: int = READABLE_WIDTH) -> str:
    """Return what was written, and what the other machine has to be told."""
    head = (
        f"{done.runtime} ({done.runtime_id[:_ID_SHOWN]}) is exported: {done.files:,} files, "
        f"{bytes_text(done.bytes)} packed into {bytes_text(done.file_bytes)} in "
        f"{duration_text(done.seconds)}."
    )
    pairs = [
        ("File", done.path),
        ("sha256", done.sha256),
        ("Signed by", done.fingerprint),
        ("Public key", done.public_key),
    ]
    parts = [_wrapped(head, width), labelled(pairs)]
    if done.is_new_key:
        parts.append(
            _wrapped("The signing key was made just now; it stays on this machine.", width)
        )
    parts.append(
        _wrapped("On the other machine, after comparing the fingerprint:", width)
        + f"\nweir runtime import FILE --trust {done.fingerprint}"
    )
    return "\n\n".join(parts)


def imported_text(done: Imported, width: int = READABLE_WIDTH) -> str:
    """Return what was installed and whose it was."""
    name = f"{done.runtime} ({done.runtime_id[:_ID_SHOWN]})"
    signer = f"{done.signer}, {done.fingerprint}" if done.signer else done.fingerprint
    if done.was_there:
        said = f"{name} was installed and whole already. The file is signed by {signer}."
    else:
        said = (
            f"{name} is installed: {done.files:,} files, {bytes_text(done.bytes)}, signed by "
            f"{signer}, in {duration_text(done.seconds)}."
        )
    if not done.is_catalogued:
        said += " This version of the Studio would make another one of that name."
    return _wrapped(said, width)


def signers_text(found: SignerList, width: int = READABLE_WIDTH) -> str:
    """Return who is trusted: as a table, or one below the other where that is too wide."""
    if not found.signers:
        return _wrapped(NO_SIGNERS, width)
    rows = [HEADINGS]
    for one in found.signers:
        name = OWN if one.is_own else one.name or ""
        rows.append((one.fingerprint, name, moment_text(one.trusted_at) if one.trusted_at else ""))
    made = table(rows)
    if all(len(line) <= width for line in made.splitlines()):
        return made
    return "\n".join(
        _wrapped("  ".join(filter(None, row)), width).replace("\n", "\n  ") for row in rows[1:]
    )


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
