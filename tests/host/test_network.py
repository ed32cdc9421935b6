"""Which proxy, which certificates, which mirrors: who wins, and what helpers are told."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged
from studio.domain.network import Mirror, NetworkSettings
from studio.host import network, pip_config
from studio.host.documents import write_json
from studio.host.network import NetworkPolicy, Proxy, policy_of, proxy_address, redacted
from studio.host.paths import Paths
from studio.host.pip_config import PackageSources
from studio.host.uv_config import UvFile

FROM_ENVIRONMENT = {"https_proxy": "http://env-s:1", "HTTP_PROXY": "env:1", "NO_PROXY": "a.test, b"}


def policy(
    environ: Mapping[str, str] | None = None,
    *,
    settings: NetworkSettings | None = None,
    sources: PackageSources | None = None,
    uv_file: UvFile | None = None,
) -> NetworkPolicy:
    """Return the policy of a machine on which nothing else is set."""
    return policy_of(
        settings or NetworkSettings(), environ or {}, sources or PackageSources(),
        uv_file or UvFile(),
    )  # fmt: skip


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the system's certificate store lie where a test can remove it."""
    place = tmp_path / "store.crt"
    place.touch()
    monkeypatch.setattr(pip_config, "_SYSTEM_STORES", (str(place),))
    return place


# -- who wins ------------------------------------------------------------------------------------


def test_settings_win_over_environment_over_uv_over_pip() -> None:
    """What a person chose for the Studio is meant for it; the others are meant for all."""
    pip = PackageSources(proxy="pip:1")
    uv = UvFile(path=Path("/uv.toml"), https_proxy="http://uv:1")
    chosen = NetworkSettings(proxy="chosen:1")

    found = [
        policy(FROM_ENVIRONMENT, settings=chosen, sources=pip, uv_file=uv),
        policy(FROM_ENVIRONMENT, sources=pip, uv_file=uv),
        policy(sources=pip, uv_file=uv),
        policy(sources=pip),
        policy(),
    ]

    assert [one.proxies.get("https") for one in found] == [
        Proxy(url="http://chosen:1", source="the Studio's settings"),
        Proxy(url="http://env-s:1", source="https_proxy"),
        Proxy(url="http://uv:1", source="/uv.toml"),
        Proxy(url="http://pip:1", source="pip"),
        None,
    ]
    assert found[1].proxies["http"].url == "http://env:1"
    assert found[1].no_proxy == ("a.test", "b")


def test_one_variable_set_and_the_other_not_is_meant() -> None:
    """Then pip's proxy is not used for the other scheme either."""
    found = policy({"https_proxy": "http://env:1"}, sources=PackageSources(proxy="pip:1"))

    assert set(found.proxies) == {"https"}


def test_direct_takes_every_proxy_back() -> None:
    """Also from helpers, which inherit the variables."""
    found = policy(FROM_ENVIRONMENT, settings=NetworkSettings(proxy="direct"))

    assert found.proxies == {}
    told = found.variables(FROM_ENVIRONMENT)
    assert {name: told[name] for name in ("https_proxy", "HTTP_PROXY")} == {
        "https_proxy": "",
        "HTTP_PROXY": "",
    }


def test_a_proxy_that_is_none_is_said_and_left_out() -> None:
    """A misspelt variable must not end every command, and must not be silent."""
    found = policy({"https_proxy": "http://:bad port"})

    assert found.proxies == {}
    assert "https_proxy" in found.notes[0]


@pytest.mark.parametrize(
    ("environ", "settings", "uv_offline", "source"),
    [
        ({}, None, False, None),
        ({"WEIR_OFFLINE": "1"}, None, False, "WEIR_OFFLINE"),
        ({"WEIR_OFFLINE": "0"}, None, False, None),
        ({"UV_OFFLINE": "true"}, None, False, "UV_OFFLINE"),
        ({}, None, True, "/uv.toml"),
        ({}, True, False, "the Studio's settings"),
        ({"WEIR_OFFLINE": "1"}, False, True, None),
    ],
)
def test_who_switched_the_network_off_is_known(
    environ: dict[str, str], settings: bool | None, uv_offline: bool, source: str | None
) -> None:
    """The message has to say where to switch it on again."""
    uv = UvFile(path=Path("/uv.toml"), offline=uv_offline)

    found = policy(environ, settings=NetworkSettings(offline=settings), uv_file=uv)

    assert found.offline_source == source
    assert found.offline is (source is not None)


def test_certificates_add_up_and_missing_ones_are_named(tmp_path: Path) -> None:
    """A variable that points nowhere is the usual cause of a refused certificate."""
    mine = tmp_path / "mine.pem"
    mine.touch()
    found = policy(
        {
            "SSL_CERT_FILE": str(mine),
            "CURL_CA_BUNDLE": "/gone.pem",
            "REQUESTS_CA_BUNDLE": str(mine),
        },
        settings=NetworkSettings(ca_file="/own.pem"),
        sources=PackageSources(cert="/pip.pem"),
    )

    assert [(str(one.path), one.source) for one in found.authorities] == [
        ("/own.pem", "the Studio's settings"),
        (str(mine), "SSL_CERT_FILE"),
        ("/gone.pem", "CURL_CA_BUNDLE"),
        ("/pip.pem", "pip"),
    ]
    assert [note.split(",")[0] for note in found.notes] == ["/own.pem", "/gone.pem", "/pip.pem"]


def test_the_settings_file_is_read(tmp_path: Path) -> None:
    """And a damaged one is named, not taken for an empty one."""
    paths = Paths(home=tmp_path, catalogue=tmp_path)
    environ = {"PIP_CONFIG_FILE": "/dev/null", "UV_NO_CONFIG": "1"}
    write_json(paths.network_settings, NetworkSettings(proxy="http://p:1", connections=2))

    found = network.in_force(paths, environ)

    assert found.proxies["http"].url == "http://p:1"
    assert found.connections == 2
    assert network.in_force(None, environ).proxies == {}
    paths.network_settings.write_text("{")
    with pytest.raises(Damaged):
        network.in_force(paths, environ)


# -- where a request goes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "url", "is_direct"),
    [
        ("files.test", "http://files.test/f", True),
        ("files.test", "http://FILES.test/f", True),
        (".files.test", "http://a.files.test/f", True),
        ("*.files.test", "http://a.files.test/f", True),
        ("files.test", "http://a.files.test/f", True),
        ("files.test", "http://otherfiles.test/f", False),
        ("files.test:8080", "http://files.test:8080/f", True),
        ("files.test:8080", "http://files.test/f", False),
        ("files.test:443", "https://files.test/f", True),
        ("10.0.0.0/8", "http://10.1.2.3/f", True),
        ("10.0.0.0/8", "http://11.1.2.3/f", False),
        ("10.1.2.3", "http://10.1.2.3/f", True),
        ("fd00::/8", "http://[fd00::1]/f", True),
        ("[fd00::1]:80", "http://[fd00::1]/f", True),
        ("*", "http://files.test/f", True),
        ("", "http://files.test/f", False),
    ],
)
def test_exceptions_are_read_as_other_programs_read_them(
    entry: str, url: str, is_direct: bool
) -> None:
    """curl and Go: names with all below them, ports, networks."""
    proxies = {name: Proxy(url="http://p:1", source="t") for name in ("http", "https")}
    found = NetworkPolicy(proxies=proxies, no_proxy=(entry,))

    assert (found.proxy_for(url) is None) is is_direct


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_this_machine_is_never_reached_through_a_proxy(host: str) -> None:
    """A proxy elsewhere would reach itself."""
    found = NetworkPolicy(proxies={"http": Proxy(url="http://p:1", source="t")})

    assert found.proxy_for(f"http://{host}:8000/f") is None


def test_mirrors_come_before_what_they_mirror() -> None:
    """Several for one address, in their order; each address once."""
    settings = NetworkSettings(
        mirrors=(
            Mirror(of="https://a.test/", at="https://m1.test/a/"),
            Mirror(of="https://a.test/x/", at="/mnt/stick/"),
            Mirror(of="https://b.test/", at="https://m1.test/b/"),
        )
    )
    found = policy(settings=settings)

    assert found.addresses("https://a.test/x/f") == (
        "https://m1.test/a/x/f",
        "/mnt/stick/f",
        "https://a.test/x/f",
    )
    assert found.addresses("https://c.test/f") == ("https://c.test/f",)


# -- what helpers are told -----------------------------------------------------------------------


def test_certificates_and_proxy_reach_uv(tmp_path: Path) -> None:
    """Behind a company's proxy nothing works without them."""
    ca = tmp_path / "ca.pem"
    ca.touch()
    pip = PackageSources(cert=str(ca), client_cert="/me.pem", proxy="proxy:3128")

    told = policy(sources=pip).uv_variables({})
    own = {"SSL_CERT_FILE": str(ca), "https_proxy": "http://own", "HTTPS_PROXY": "http://own"}
    kept = policy(own, sources=pip).uv_variables(own)

    assert told["SSL_CERT_FILE"] == str(ca)
    assert told["SSL_CLIENT_CERT"] == "/me.pem"
    assert told["HTTPS_PROXY"] == told["http_proxy"] == "http://proxy:3128"
    assert not {"SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY"} & set(kept)


def test_a_machine_without_certificates_uses_uvs_own(store: Path) -> None:
    """Bare containers have no store; pointing uv at it would refuse every server."""
    with_store = policy().uv_variables({})
    store.unlink()
    folder = {"SSL_CERT_DIR": str(store.parent)}

    assert with_store["UV_SYSTEM_CERTS"] == "1"
    assert "UV_SYSTEM_CERTS" not in policy().uv_variables({})
    assert policy(folder).uv_variables(folder)["UV_SYSTEM_CERTS"] == "1"
    assert "UV_SYSTEM_CERTS" not in policy().uv_variables({"UV_NATIVE_TLS": "0", **folder})


def test_git_and_uv_are_told_of_exceptions_and_of_no_network(tmp_path: Path) -> None:
    """One policy for everything that goes out."""
    ca = tmp_path / "ca.pem"
    ca.touch()
    settings = NetworkSettings(no_proxy=("a.test",), ca_file=str(ca), offline=True)
    environ = {"NO_PROXY": "b.test"}
    found = policy(environ, settings=settings)

    told = found.variables(environ)

    assert told["no_proxy"] == told["NO_PROXY"] == "a.test,b.test"
    assert told["GIT_SSL_CAINFO"] == str(ca)
    assert found.uv_variables(environ)["UV_OFFLINE"] == "1"


# -- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("proxy:3128", "http://proxy:3128"),
        (" http://proxy ", "http://proxy"),
        ("https://u:p@proxy:1", "https://u:p@proxy:1"),
        ("socks5://proxy:1", "socks5://proxy:1"),
    ],
)
def test_addresses_of_proxies(text: str, expected: str) -> None:
    """A bare host and port is what people write."""
    assert proxy_address(text) == expected


@pytest.mark.parametrize("text", ["", "ftp://proxy", "http://", "http://proxy:x", "http://[bad"])
def test_what_is_no_proxy_is_refused(text: str) -> None:
    """Before every download fails with something else."""
    with pytest.raises(BadInput) as caught:
        proxy_address(text)

    assert caught.value.code == "proxy-invalid"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pw@host/p?sig=abc", "https://host/p?…"),
        ("http://me@host", "http://host"),
        ("host:3128", "host:3128"),
        ("me:pw@host:3128", "host:3128"),
        ("/plain/path", "/plain/path"),
    ],
)
def test_secrets_are_taken_out(url: str, shown: str) -> None:
    """Names, passwords and signatures of addresses end in logs otherwise."""
    assert redacted(url) == shown


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("the Studio's settings", "weir network --set offline=off"),
        ("UV_OFFLINE", "Unset UV_OFFLINE"),
        ("/uv.toml", "out of /uv.toml"),
        (None, None),
    ],
)
def test_who_is_switched_off_is_told_how_to_switch_on(source: str | None, said: str | None) -> None:
    """Whoever named it is where it is taken back."""
    found = NetworkPolicy(offline_source=source).switch_on

    assert found is None if said is None else said in (found or "")
