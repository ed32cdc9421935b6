"""Certificates: made once, kept, made anew when they no longer fit."""

import ssl
from pathlib import Path

import httpx
import pytest

from studio.domain.errors import BadInput
from studio.host import certificates
from studio.host.http_server import Exchange, serve

NAMES = ["127.0.0.1", "localhost", "fd00::2", "box.local"]


def test_a_certificate_is_kept_as_long_as_it_fits(tmp_path: Path) -> None:
    """Clients that were told to trust it must not be told again at each start."""
    folder = tmp_path / "höme"
    certificate, key = certificates.own_certificate(folder, NAMES)
    first = certificates.fingerprint(certificate)

    assert key.stat().st_mode & 0o077 == 0
    assert certificates.own_certificate(folder, list(reversed(NAMES))) == (certificate, key)
    assert certificates.fingerprint(certificate) == first
    certificates.own_certificate(folder, [*NAMES, "192.168.1.7"])
    assert certificates.fingerprint(certificate) != first


@pytest.mark.parametrize("damage", ["certificate", "key", "swapped"])
def test_a_damaged_pair_is_made_anew(tmp_path: Path, damage: str) -> None:
    """A half-synced folder, or one file put back from a backup."""
    certificate, key = certificates.own_certificate(tmp_path / "a", NAMES)
    _other, other_key = certificates.own_certificate(tmp_path / "b", NAMES)
    if damage == "swapped":
        key.write_bytes(other_key.read_bytes())
    else:
        {"certificate": certificate, "key": key}[damage].write_bytes(b"")

    certificates.context(*certificates.own_certificate(tmp_path / "a", NAMES))


def test_files_that_are_no_pair_are_refused_with_what_is_needed(tmp_path: Path) -> None:
    """Before the old door is closed."""
    certificate, _key = certificates.own_certificate(tmp_path / "a", NAMES)
    _other, other_key = certificates.own_certificate(tmp_path / "b", NAMES)

    for pair in ((certificate, other_key), (certificate, tmp_path / "missing")):
        with pytest.raises(BadInput) as caught:
            certificates.context(*pair)
        assert caught.value.code == "certificate-unusable"
        assert "PEM" in (caught.value.hint or "")
    assert certificates.fingerprint(tmp_path / "missing") is None


async def test_a_client_that_trusts_it_is_served_and_plain_http_is_not(tmp_path: Path) -> None:
    """Real TLS, by name and by address."""

    async def answer(exchange: Exchange) -> None:
        exchange.respond(200, [], b"hello")

    certificate, key = certificates.own_certificate(tmp_path, NAMES)
    server = await serve(answer, tls=certificates.context(certificate, key))
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with httpx.AsyncClient(verify=trusting, trust_env=False) as client:
        for host in ("127.0.0.1", "localhost"):
            assert (await client.get(f"https://{host}:{server.port}/")).text == "hello"
    async with httpx.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"https://127.0.0.1:{server.port}/")
        with pytest.raises(httpx.RequestError):
            await client.get(f"http://127.0.0.1:{server.port}/")
    await server.close()
