"""The calls about an installation under way."""

from pathlib import Path

import msgspec

from studio.app.runtimes import Runtimes
from studio.control.calls import answered
from studio.control.installing import InstallRoutes
from studio.control.transport import PREFIX
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import InstallStopped
from studio.host.paths import Paths, bundled_root
from studio.runtimes.catalog import Catalog

NAME = "cpu-vllm-0.32.0"


def routes(home: Path) -> InstallRoutes:
    """Return the calls over the shipped catalogue."""
    paths = Paths(home=home, catalogue=bundled_root())

    async def host() -> HostSnapshot:
        return HostSnapshot(system="linux", machine="x86_64", os_name="Debian")

    return InstallRoutes(Runtimes(paths, Catalog(paths), host, lambda _progress: None))


async def test_stopping_what_does_not_run_is_answered(tmp_path: Path) -> None:
    """As the record that the client reads; a name travels percent-encoded."""
    path = f"{PREFIX}/runtimes/cpu-vllm-0%2E32%2E0/stop"

    status, body = await answered(routes(tmp_path).routes(), "POST", path, "", b"", {})

    assert status == 200
    assert msgspec.json.decode(body, type=InstallStopped) == InstallStopped(
        runtime=NAME, was_running=False
    )


async def test_a_name_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    """A misspelt name must not look like an installation that was stopped."""
    path = f"{PREFIX}/runtimes/cpu-vllm/stop"

    status, body = await answered(routes(tmp_path).routes(), "POST", path, "", b"", {})

    assert (status, msgspec.json.decode(body)["code"]) == (404, "runtime-unknown")
