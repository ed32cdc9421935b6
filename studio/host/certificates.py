"""TLS for servers: a certificate that the person gives, or one that the Studio makes.

The Studio's own is self-signed: clients have to be told to trust it (its file, or its fingerprint).
It names the machine's addresses of the day, and is made anew when they change or it ends soon.
"""

import datetime
import hashlib
import ipaddress
import ssl
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from studio.domain.errors import BadInput
from studio.host.files import from_os_error, make_private, write_atomic

_DAYS = 397
"""The longest that browsers and Apple's libraries take."""
_RENEW_DAYS = 30
_CERTIFICATE, _KEY = "gateway.crt", "gateway.key"


def own_certificate(folder: Path, names: Sequence[str]) -> tuple[Path, Path]:
    """Return certificate and key of the Studio's own for these names and addresses.

    Made when there is none, when it names others, or when it ends within 30 days.
    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    certificate, key = folder / _CERTIFICATE, folder / _KEY
    if not _is_good(certificate, key, names):
        try:
            make_private(folder)
        except OSError as error:
            raise from_os_error(error, folder) from error
        made, secret = _make(names)
        write_atomic(key, secret, mode=0o600)
        write_atomic(certificate, made, mode=0o644)
    return certificate, key


def context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a server's TLS context. Raises: BadInput (`certificate-unusable`)."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    try:
        made.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise BadInput(
            "certificate-unusable",
            f"{certificate} with the key {key} cannot be used: {error}.",
            hint="Give a PEM certificate (with its chain) and its PEM key without a password.",
        ) from error
    return made


def fingerprint(certificate: Path) -> str | None:
    """Return the SHA-256 of a PEM file's first certificate as tools show it; None: unreadable."""
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError):
        return None
    digest = hashlib.sha256(found.public_bytes(serialization.Encoding.DER)).hexdigest().upper()
    return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))


def _no_password() -> bytes:
    raise ValueError("the key has a password")


def _is_good(certificate: Path, key: Path, names: Sequence[str]) -> bool:
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        extension = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        secret = serialization.load_pem_private_key(key.read_bytes(), password=None)
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    if secret.public_key() != found.public_key():
        return False
    named = {str(name.value) for name in extension.value}
    ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=_RENEW_DAYS)
    return named == set(names) and found.not_valid_after_utc > ends


def _make(names: Sequence[str]) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Weir Studio gateway")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return made.public_bytes(serialization.Encoding.PEM), secret


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
