"""What is shown of the network policy: all that is in force, and no secret."""

from pathlib import Path

import pytest

from studio.app.network import Network
from studio.domain.errors import BadInput
from studio.domain.network import MirrorInfo, NetworkChange, ProxyInfo
from studio.host.paths import Paths

ENVIRON = {
    "PIP_CONFIG_FILE": "/dev/null",
    "UV_NO_CONFIG": "1",
    "https_proxy": "http://me:hidden@proxy.test:3128",
    "NO_PROXY": "a.test",
    "SSL_CERT_FILE": "/gone.pem",
    "PIP_INDEX_URL": "https://me:hidden@index.test/simple",
    "PIP_EXTRA_INDEX_URL": "https://token:hidden@more.test/simple",
    "WEIR_PYTHON_MIRROR": "https://me:hidden@mirror.test/pbs",
}


def network(home: Path, **environ: str) -> Network:
    """Return the network of a home."""
    return Network(Paths(home=home, catalogue=home), {**ENVIRON, **environ})


async def test_the_policy_in_force_is_shown_without_secrets(tmp_path: Path) -> None:
    """It goes into bug reports."""
    report = await network(tmp_path).report()

    assert report.proxies == (
        ProxyInfo(
            scheme="https",
            url="http://proxy.test:3128",
            has_password=True,
            source="https_proxy",
        ),
    )
    assert report.no_proxy == ("a.test",)
    assert report.authorities[0].problem == "it does not exist"
    assert "/gone.pem" in report.notes[0]
    assert report.package_index == "https://index.test/simple"
    assert report.package_extra_indexes == ("https://more.test/simple",)
    assert report.mirrors[0].at == "https://mirror.test/pbs"
    assert report.mirrors[0].source == "WEIR_PYTHON_MIRROR"
    assert not report.offline
    assert "hidden" not in repr(report)


async def test_uvs_own_index_is_the_one_in_force(tmp_path: Path) -> None:
    """It wins at installing, so it is the one to show."""
    report = await network(tmp_path, UV_DEFAULT_INDEX="https://uv.test/simple").report()

    assert report.package_index == "https://uv.test/simple"


async def test_a_change_counts_at_once_and_for_good(tmp_path: Path) -> None:
    """The answer is the policy as it then is, and so is the next one."""
    values = {"offline": "on", "mirror": "https://a/=https://me:hidden@b/"}

    after = await network(tmp_path).change(NetworkChange(values=values))

    assert after.offline_source == "the Studio's settings"
    assert after.mirrors[-1] == MirrorInfo(
        of="https://a/", at="https://b/", source="the Studio's settings"
    )
    assert await network(tmp_path).report() == after


async def test_a_bad_change_changes_nothing(tmp_path: Path) -> None:
    """And is an error of the request."""
    with pytest.raises(BadInput):
        await network(tmp_path).change(NetworkChange(values={"offline": "on", "x": "y"}))

    assert not (await network(tmp_path).report()).offline
