"""The disk over the control API's router."""

from pathlib import Path

import msgspec

from studio.app.disk import DiskUsage
from studio.app.uninstall import Uninstall
from studio.control.calls import answered
from studio.control.disks import DiskRoutes
from studio.control.transport import PREFIX
from studio.domain.disk import DiskReport
from studio.host.own_program import OwnProgram
from studio.host.paths import Paths, bundled_root


async def test_the_report_comes_as_its_record(tmp_path: Path) -> None:
    """What the window's meter is drawn from."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    uninstall = Uninstall(paths, environ={"HOME": str(tmp_path)}, program=OwnProgram)
    routes = DiskRoutes(DiskUsage(paths, uninstall)).routes()

    status, body = await answered(routes, "GET", f"{PREFIX}/disk", "", b"")

    assert status == 200
    assert msgspec.json.decode(body, type=DiskReport).home == str(tmp_path)
