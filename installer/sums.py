"""`SHA256SUMS`, and its Ed25519 signature where a release key is at hand.

The key: a PEM or OpenSSH file without a passphrase, named by `WEIR_RELEASE_KEY`. The signature
covers a purpose and the file, as all of the Studio's signatures do (`studio/host/signing.py`).
"""

import base64
import os
from pathlib import Path

from installer.manifest import digest
from studio.host import signing

PURPOSE = b"weir-studio release sums v1"
SUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"


def write(out: Path, files: list[Path]) -> tuple[Path, str | None]:
    """Write the sums of `files`; return their file, and the signer's fingerprint if one signed."""
    lines = [f"{digest(path)}  {path.relative_to(out)}" for path in sorted(files)]
    sums = out / SUMS
    sums.write_text("\n".join(lines) + "\n", encoding="utf-8")
    key = os.environ.get("WEIR_RELEASE_KEY")
    (out / SIGNATURE).unlink(missing_ok=True)
    if not key:
        return sums, None
    signer = signing.load(Path(key))
    signature = signer.sign(PURPOSE, sums.read_bytes())
    text = base64.b64encode(signer.public_key + signature).decode("ascii")
    (out / SIGNATURE).write_text(text + "\n", encoding="ascii")
    return sums, signer.fingerprint


def is_signed_by(out: Path, fingerprint: str) -> bool:
    """Tell whether the holder of the key with `fingerprint` signed the sums in a folder."""
    raw = base64.b64decode((out / SIGNATURE).read_text(encoding="ascii"))
    public_key, signature = raw[: signing.PUBLIC_KEY_BYTES], raw[signing.PUBLIC_KEY_BYTES :]
    known = signing.fingerprint(public_key) == fingerprint
    return known and signing.is_valid(public_key, signature, PURPOSE, (out / SUMS).read_bytes())
