"""What is said about runtimes that travel as one file, and about who may sign them."""

import msgspec


class ExportRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Write an installed runtime into one signed file."""

    to: str
    """Absolute path, on the service's machine, of a new file or of a folder for it.

    With a slash at its end it is a folder, which must be there: a stick that is not plugged in
    would become a file of that name.
    """
    key: str | None = None
    """Absolute path of an Ed25519 private key; None: the Studio's own, made when there is none."""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What an export wrote."""

    runtime: str
    runtime_id: str
    path: str
    files: int
    bytes: int
    """Of the files inside."""
    file_bytes: int
    """Of the file that was written."""
    sha256: str
    """Of that file."""
    fingerprint: str
    """Of the key that signed it: to be compared by the person who imports it."""
    public_key: str
    """The public half, 64 hex digits."""
    is_new_key: bool
    """The Studio's own key was made by this export."""
    seconds: float


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Install a runtime out of one signed file."""

    path: str
    """Absolute path on the service's machine."""
    trust: str | None = None
    """Fingerprint of a signer to trust from now on, if it is the one that signed the file."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import installed."""

    runtime: str
    runtime_id: str
    files: int
    bytes: int
    fingerprint: str
    signer: str | None = None
    """What the signer is called here."""
    was_there: bool = False
    """The same runtime was installed and whole; nothing was written."""
    is_catalogued: bool
    """This machine's catalogue makes the same runtime; otherwise it carries another version."""
    seconds: float


class Signer(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody whose runtimes may be installed here."""

    fingerprint: str
    name: str | None = None
    trusted_at: str | None = None
    """ISO 8601; None for the Studio's own key."""
    is_own: bool = False


class SignerList(msgspec.Struct, frozen=True, kw_only=True):
    """Everybody whose runtimes may be installed here, the Studio itself included."""

    signers: tuple[Signer, ...] = ()


class TrustRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Trust a signer."""

    fingerprint: str
    name: str | None = None
