"""The one client: who it trusts, what it says of itself, and which way it takes."""

import ssl
from pathlib import Path

import httpx
import pytest

from studio.domain.errors import HostLacks
from studio.host import network_client
from studio.host.network import Authority, NetworkPolicy, Proxy
from tests.fakes import hostile

KNOWN = Authority(path=hostile.CERTIFICATE, source="test")


async def test_it_trusts_who_is_named_and_nobody_else() -> None:
    """A company's own authority beside the public ones."""
    with hostile.serving({"/f": b"data"}, is_tls=True) as server:
        async with network_client.client(NetworkPolicy()) as client:
            with pytest.raises(httpx.ConnectError, match="self-signed"):
                await client.get(server.url("/f"))
        async with network_client.client(NetworkPolicy(authorities=(KNOWN,))) as client:
            assert (await client.get(server.url("/f"))).content == b"data"


def test_authorities_that_cannot_be_used_do_not_end_everything(tmp_path: Path) -> None:
    """A stale variable: `weir network` names it, and what is trusted else still is."""
    rubbish = tmp_path / "rubbish.pem"
    rubbish.write_text("no certificate")
    found = [Authority(path=path, source="test") for path in (rubbish, tmp_path / "none", tmp_path)]

    context = network_client.trust(NetworkPolicy(authorities=(*found, KNOWN)))

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert any("localhost" in str(one["subject"]) for one in context.get_ca_certs())


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_client_certificate_that_cannot_be_used_is_named(
    tmp_path: Path, text: str | None
) -> None:
    """It was asked for, so going without would only fail later and stranger."""
    path = tmp_path / "me.pem"
    if text is not None:
        path.write_text(text)

    with pytest.raises(HostLacks) as caught:
        network_client.trust(NetworkPolicy(client_certificate=path))

    assert caught.value.code == "client-certificate-invalid"
    assert str(path) in caught.value.message


async def test_it_says_who_it_is_and_reads_no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy decides alone: else what `weir network` shows is not what happens."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", "/none")
    with hostile.serving({"/f": b"data"}) as server:
        async with network_client.client(NetworkPolicy(user_agent="weir/1")) as client:
            assert (await client.get(server.url("/f", host="localhost"))).status_code == 200

    assert server.requests[0].headers["user-agent"] == "weir/1"


async def test_each_request_takes_its_own_way() -> None:
    """An exception goes directly although the others go through the proxy."""
    with hostile.serving({"/f": b"far"}) as far, hostile.serving({}) as proxy:
        proxy.always = hostile.proxy_to(far)
        policy = NetworkPolicy(
            proxies={"http": Proxy(url=proxy.url(""), source="test")}, no_proxy=("direct.invalid",)
        )
        async with network_client.client(policy) as client:
            assert (await client.get("http://files.test/f")).content == b"far"
            with pytest.raises(httpx.ConnectError):
                await client.get("http://direct.invalid/f")

    assert [request.target for request in proxy.requests] == ["http://files.test/f"]
