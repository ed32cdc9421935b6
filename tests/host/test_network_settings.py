"""What a person sets about the network: checked before it is kept, all of it or nothing."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput
from studio.domain.network import Mirror, NetworkChange, NetworkSettings
from studio.host.network import read_settings
from studio.host.network_settings import change, changed
from studio.host.paths import Paths
from tests.fakes.hostile import CERTIFICATE

EMPTY = NetworkSettings()


def setting(before: NetworkSettings = EMPTY, **values: str) -> NetworkSettings:
    """Return `before` with these values set."""
    return changed(before, NetworkChange(values=values))


def test_everything_can_be_set_and_forgotten(tmp_path: Path) -> None:
    """And is in the file afterwards, which nobody else may read: it may hold a password."""
    paths = Paths(home=tmp_path / "new ü", catalogue=tmp_path)
    values = {
        "proxy": "me:pw@proxy:3128",
        "no-proxy": "a.test, 10.0.0.0/8 b",
        "CA": str(CERTIFICATE),
        "offline": "ON",
        "connections": "8",
        "mirror": "https://a/=https://b/a/ https://c/=/mnt/my stick/",
    }

    after = change(paths, NetworkChange(values=values))

    assert after == NetworkSettings(
        proxy="http://me:pw@proxy:3128",
        no_proxy=("a.test", "10.0.0.0/8", "b"),
        ca_file=str(CERTIFICATE),
        offline=True,
        connections=8,
        mirrors=(
            Mirror(of="https://a/", at="https://b/a/"),
            Mirror(of="https://c/", at="/mnt/my stick/"),
        ),
    )
    assert read_settings(paths) == after
    assert paths.network_settings.stat().st_mode & 0o777 == 0o600
    assert change(paths, NetworkChange(forget=tuple(values))) == EMPTY


def test_mirrors_add_up_and_none_stands_twice() -> None:
    """One at a time is how people find out what works."""
    once = setting(mirror="https://a/=https://b/")
    twice = setting(setting(once, mirror="https://a/=/mnt/c/"), mirror="https://a/=https://b/")

    assert [mirror.at for mirror in twice.mirrors] == ["/mnt/c/", "https://b/"]


def test_forgetting_comes_before_setting() -> None:
    """To replace all mirrors by one is one step."""
    before = setting(mirror="https://a/=https://b/")

    after = changed(
        before, NetworkChange(values={"mirror": "https://a/=https://c/"}, forget=("mirror",))
    )

    assert [mirror.at for mirror in after.mirrors] == ["https://c/"]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("proxy", "ftp://proxy", "proxy-invalid"),
        ("proxy", "socks5://proxy:1080", "proxy-invalid"),
        ("ca", "/none.pem", "ca-file-invalid"),
        ("ca", "/etc/hosts", "ca-file-invalid"),
        ("ca", "/", "ca-file-invalid"),
        ("offline", "perhaps", "network-setting-invalid"),
        ("connections", "0", "network-setting-invalid"),
        ("connections", "17", "network-setting-invalid"),
        ("connections", "²", "network-setting-invalid"),
        ("mirror", "https://a/", "network-setting-invalid"),
        ("mirror", "a=b", "network-setting-invalid"),
        ("mirror", "https://a/=relative", "network-setting-invalid"),
        ("mirror", "https://[a/=https://b/", "network-setting-invalid"),
        ("prxy", "x", "network-setting-unknown"),
        ("", "x", "network-setting-unknown"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_kept(
    tmp_path: Path, name: str, value: str, code: str
) -> None:
    """Also the good half of a request: a person corrects one line and repeats it."""
    paths = Paths(home=tmp_path, catalogue=tmp_path)

    with pytest.raises(BadInput) as caught:
        change(paths, NetworkChange(values={"no-proxy": "a", name: value}))

    assert caught.value.code == code
    assert not paths.network_settings.exists()


def test_a_file_of_authorities_is_named_as_windows_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command there hands its path on to the service in the Linux."""
    monkeypatch.setenv("WSL_DISTRO_NAME", "weir-studio")

    with pytest.raises(BadInput) as caught:
        change(Paths(home=tmp_path, catalogue=tmp_path), NetworkChange(values={"ca": r"D:\ca.pem"}))

    assert caught.value.message.startswith("/mnt/d/ca.pem is no file")


def test_a_password_is_not_repeated_in_a_refusal() -> None:
    """Errors end in logs."""
    for value in ("socks5://me:hidden@proxy", "ftp://me:hidden@proxy"):
        with pytest.raises(BadInput) as caught:
            setting(proxy=value)
        assert "hidden" not in f"{caught.value.message} {caught.value.hint}"


def test_a_slip_is_guessed() -> None:
    """The names are few."""
    with pytest.raises(BadInput, match="`no-proxy`"):
        setting(noproxy="x")
