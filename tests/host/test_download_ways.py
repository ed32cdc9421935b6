"""The way to a file: redirects, proxies, certificates, mirrors, no network at all."""

from pathlib import Path

import pytest

from studio.domain.network import Mirror
from studio.host.download import Wanted
from studio.host.network import Proxy, SourcedMirror
from tests.fakes import hostile
from tests.fakes.hostile import Hostile
from tests.host.downloads import (
    DATA,
    LARGE,
    LARGE_SHA256,
    NAME,
    SHA256,
    fetch,
    names,
    refused,
    trusting,
    wanted,
)


async def test_redirects_are_followed_once_for_all_parts(server: Hostile, tmp_path: Path) -> None:
    """Release files of large projects lie behind one; four parts need it once."""
    server.next.append(hostile.redirect("/large?signed=1"))
    one = Wanted(url=server.url("/elsewhere"), sha256=LARGE_SHA256)

    assert await fetch(one, tmp_path / "f") == LARGE
    assert [request.target for request in server.requests].count("/elsewhere") == 1


async def test_an_address_that_expired_is_asked_for_anew(server: Hostile, tmp_path: Path) -> None:
    """Signed addresses are good for minutes, a large file takes hours."""

    def signs(exchange: hostile.Exchange) -> bool:
        if exchange.request.target == "/elsewhere":
            return hostile.redirect(f"/large?signed={len(server.requests)}")(exchange)
        age = len(server.requests) - int(exchange.request.target.split("=")[1])
        return hostile.status("403 Expired")(exchange) if age > 6 else hostile.good(exchange)

    server.always = signs
    one = Wanted(url=server.url("/elsewhere"), sha256=LARGE_SHA256)

    assert await fetch(one, tmp_path / "f") == LARGE
    assert [request.target for request in server.requests].count("/elsewhere") > 1


async def test_a_circle_of_redirects_is_left(server: Hostile, tmp_path: Path) -> None:
    """At once, and not after twenty."""
    server.always = hostile.redirect(NAME)

    error = await refused(wanted(server), tmp_path / "f")

    assert "circle" in error.message
    assert len(server.requests) == 1


async def test_endless_redirects_are_left(server: Hostile, tmp_path: Path) -> None:
    """Each to another address, so it is no circle."""

    def on(exchange: hostile.Exchange) -> bool:
        return hostile.redirect(f"/{len(server.requests)}")(exchange)

    server.always = on

    error = await refused(wanted(server), tmp_path / "f")

    assert "more than 10 times" in error.message


async def test_a_redirect_out_of_protection_is_not_followed(
    server: Hostile, tmp_path: Path
) -> None:
    """From https to http anybody in between could choose the file."""
    with hostile.serving({NAME: DATA}, is_tls=True) as safe:
        safe.always = hostile.redirect(server.url(NAME))

        error = await refused(wanted(safe), tmp_path / "f", policy=trusting())

    assert "protected" in error.message
    assert server.requests == []


async def test_a_certificate_that_nobody_knows_is_named(tmp_path: Path) -> None:
    """Behind a company's proxy: which remedy helps stands in the hint."""
    with hostile.serving({NAME: DATA}, is_tls=True) as safe:
        error = await refused(wanted(safe), tmp_path / "f")

        assert error.code == "certificate-untrusted"
        assert "self-signed certificate" in error.message
        assert "weir network --set ca=" in (error.hint or "")
        assert safe.requests == []

        assert await fetch(wanted(safe), tmp_path / "f", policy=trusting()) == DATA


async def test_a_certificate_for_another_name_is_refused(tmp_path: Path) -> None:
    """Trusted, but not this server's."""
    with hostile.serving({NAME: DATA}, is_tls=True) as safe, hostile.serving({}) as proxy:
        proxy.always = hostile.proxy_to(safe)
        policy = trusting(proxies={"https": Proxy(url=proxy.url(""), source="test")})

        error = await refused(wanted("https://other.test/f"), tmp_path / "f", policy=policy)

    assert error.code == "certificate-untrusted"


@pytest.mark.parametrize("is_tls", [False, True])
async def test_a_proxy_is_used(tmp_path: Path, *, is_tls: bool) -> None:
    """For open addresses and through a tunnel; with a password that the proxy gets to see."""
    with hostile.serving({NAME: DATA}, is_tls=is_tls) as far, hostile.serving({}) as proxy:
        proxy.always = hostile.proxy_to(far)
        scheme = "https" if is_tls else "http"
        address = proxy.url("").replace("://", "://me:pass@")
        policy = trusting(proxies={scheme: Proxy(url=address, source="test")})

        found = await fetch(wanted(f"{scheme}://files.test{NAME}"), tmp_path / "f", policy=policy)

    assert found == DATA
    assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_refuses_is_named(tmp_path: Path, scheme: str) -> None:
    """Its password has expired: the proxy is the culprit, not the server; nothing leaks."""
    with hostile.serving({}) as proxy:
        proxy.always = hostile.status("407 Proxy Authentication Required")
        address = proxy.url("").replace("://", "://me:hidden@")
        policy = trusting(proxies={scheme: Proxy(url=address, source="test")})

        error = await refused(wanted(f"{scheme}://files.test/f"), tmp_path / "f", policy=policy)

    assert error.code == "proxy-refused"
    assert "407" in error.message
    assert "hidden" not in f"{error.message} {error.hint}"


async def test_a_proxy_that_is_away_is_named(tmp_path: Path) -> None:
    """Else the server would be looked at."""
    policy = trusting(proxies={"http": Proxy(url="http://me:hidden@127.0.0.1:1", source="test")})

    error = await refused(wanted("http://files.test/f"), tmp_path / "f", policy=policy)

    assert "through the proxy http://127.0.0.1:1" in error.message
    assert "hidden" not in error.message


async def test_a_socks_proxy_is_said_to_be_no_use(tmp_path: Path) -> None:
    """And not with a traceback about a missing library."""
    policy = trusting(proxies={"http": Proxy(url="socks5://127.0.0.1:1", source="test")})

    error = await refused(wanted("http://files.test/f"), tmp_path / "f", policy=policy)

    assert error.code == "proxy-refused"
    assert "SOCKS" in error.message


async def test_mirrors_of_the_policy_are_asked_first(server: Hostile, tmp_path: Path) -> None:
    """A company's own store of large files."""
    mirror = Mirror(of="https://files.test/", at=server.url("/"))
    policy = trusting(mirrors=(SourcedMirror(mirror=mirror, source="test"),))

    found = await fetch(wanted(f"https://files.test{NAME}"), tmp_path / "f", policy=policy)

    assert found == DATA


async def test_switched_off_nothing_is_asked(server: Hostile, tmp_path: Path) -> None:
    """What is here is used; what is missing is named with all that is needed to bring it."""
    policy = trusting(offline_source="WEIR_OFFLINE")

    error = await refused(wanted(server), tmp_path / "f", policy=policy)
    (tmp_path / "g").write_bytes(DATA)
    await fetch(wanted(server), tmp_path / "g", policy=policy)
    (tmp_path / "stick").write_bytes(DATA)
    await fetch(wanted(str(tmp_path / "stick")), tmp_path / "h", policy=policy)

    assert error.code == "offline"
    assert SHA256 in (error.hint or "")
    assert str(tmp_path) in (error.hint or "")
    assert server.requests == []


async def test_headers_reach_the_address_and_no_other_host(server: Hostile, tmp_path: Path) -> None:
    """A token for a site must not go to the storage that it redirects to, nor to mirrors."""
    with hostile.serving({NAME: DATA}) as storage:
        server.always = hostile.redirect(f"http://localhost:{storage.port}{NAME}")
        one = Wanted(
            url=server.url("/x"), sha256=SHA256, headers={"Authorization": "Bearer secret"}
        )

        assert await fetch(one, tmp_path / "f") == DATA

        assert server.requests[0].headers["authorization"] == "Bearer secret"
        assert "authorization" not in storage.requests[0].headers


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/f",
        "http://weir.invalid/f",
        "ftp://127.0.0.1/f",
        "http://[bad/f",
        "http:///f",
        "http://a\x00b/f",
        "/no/f",
        "file:///no/f",
    ],
)
async def test_an_address_that_leads_nowhere(tmp_path: Path, url: str) -> None:
    """No server, no such name, another protocol, nonsense, no such file: one kind of error."""
    error = await refused(wanted(url), tmp_path / "f")

    assert error.code == "download-failed"
    assert names(tmp_path) == []


async def test_addresses_do_not_reach_the_log(
    server: Hostile, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The service keeps all that libraries say of themselves; signatures are among it."""
    caplog.set_level("INFO")

    await fetch(wanted(f"{server.url(NAME)}?sig=hidden"), tmp_path / "f")

    assert "hidden" not in caplog.text


async def test_a_password_in_the_address_is_not_shown(server: Hostile, tmp_path: Path) -> None:
    """Messages end in logs and reports, journals in copies of the folder."""
    server.next.append(hostile.broken_off(500_000))
    server.always = hostile.status("403 Forbidden")
    url = server.url(NAME).replace("http://", "http://me:hidden@") + "?sig=hidden"
    server.files[f"{NAME}"] = DATA

    error = await refused(wanted(url), tmp_path / "f")

    assert "hidden" not in f"{error.message} {error.hint} {error.data}"
    assert b"hidden" not in (tmp_path / "f.part.journal").read_bytes()


@pytest.mark.parametrize("as_address", [True, False])
async def test_a_file_on_disk_is_copied_and_checked(tmp_path: Path, *, as_address: bool) -> None:
    """A mirror may be a folder on a stick."""
    source = tmp_path / "stick ü" / "f+1"
    source.parent.mkdir()
    source.write_bytes(DATA)
    url = source.as_uri() if as_address else str(source)

    assert await fetch(wanted(url), tmp_path / "out" / "f") == DATA
    for wrong in (DATA[:-1], DATA[::-1]):
        source.write_bytes(wrong)
        error = await refused(wanted(url), tmp_path / "out" / "g")
        assert error.code == "download-hash"
    assert names(tmp_path / "out") == ["f"]
