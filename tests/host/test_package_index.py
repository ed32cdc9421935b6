"""Which file uv would take for a pin, asked of uv itself."""

import os
import sys
from pathlib import Path

import pytest

from studio.host.network import NetworkPolicy
from studio.host.package_index import Listed, look_up
from studio.host.pip_config import PackageSources
from tests.fakes.hostile import status
from tests.fakes.package_index import index_of
from tests.fakes.wheels import make_wheel, wheel_sha256


@pytest.fixture(autouse=True)
def _no_other_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "WEIR_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


async def _look_up(folder: Path, line: str, url: str) -> tuple[Listed, ...]:
    requirements = folder / "pins of ä.lock"
    requirements.write_text(f"{line}\n", "utf-8")
    sources = PackageSources(index_url=url)
    policy = NetworkPolicy(sources=sources)
    return await look_up(requirements, Path(sys.executable), folder / "cache", policy=policy)


@pytest.mark.parametrize("speaks_json", [True, False])
async def test_a_pin_has_an_address_and_the_sha256_of_its_index(
    tmp_path: Path, speaks_json: bool
) -> None:
    """In both forms that an index has; the wheel itself is not read."""
    line = make_wheel(tmp_path / "wheels", "weirone", {"weirone/__init__.py": b""})
    with index_of(tmp_path / "wheels", speaks_json=speaks_json) as server:
        (found,) = await _look_up(tmp_path, line, server.url("/simple"))

        assert (found.name, found.version) == ("weirone", "1.0")
        assert found.url == server.url("/files/weirone-1.0-py3-none-any.whl")
        assert found.sha256 == wheel_sha256(line)
        assert found.headers == {}
        assert not any(request.target.startswith("/files/") for request in server.requests)


async def test_the_password_of_an_index_goes_to_its_own_server_only(tmp_path: Path) -> None:
    """Files of other hosts that it lists must not learn it."""
    line = make_wheel(tmp_path / "wheels", "weirone", {"weirone/__init__.py": b""})
    with index_of(tmp_path / "wheels") as server, index_of(tmp_path / "wheels") as other:
        place = server.url("/simple").replace("http://", "http://weir:se%20cret@")
        (found,) = await _look_up(tmp_path, line, place)
        assert found.headers == {"Authorization": "Basic d2VpcjpzZSBjcmV0"}

        page = f'<a href="{other.url("/files/weirone-1.0-py3-none-any.whl")}#sha256='
        page += f'{wheel_sha256(line)}">weirone-1.0-py3-none-any.whl</a>'
        server.always = status("200 OK", {"Content-Type": "text/html"}, page.encode())
        (elsewhere,) = await _look_up(tmp_path / "wheels", line, place)
        assert elsewhere.url.startswith(other.url("/"))
        assert elsewhere.headers == {}


async def test_an_index_that_is_none_lists_nothing(tmp_path: Path) -> None:
    """Dead, empty, or a login page: the installation that follows says so."""
    line = make_wheel(tmp_path / "wheels", "weirone", {"weirone/__init__.py": b""})
    (tmp_path / "none").mkdir()
    with index_of(tmp_path / "none") as server:
        assert await _look_up(tmp_path, line, server.url("/simple")) == ()
        login = b"<html><form action=login></form></html>"
        server.always = status("200 OK", {"Content-Type": "text/html"}, login)
        assert await _look_up(tmp_path, line, server.url("/other")) == ()
    assert await _look_up(tmp_path, line, "http://127.0.0.1:1/simple") == ()
