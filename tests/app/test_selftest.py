"""The self-test as the service runs it: the twin always, the open address where there is one."""

from pathlib import Path

from studio.app.selftest import Selftest
from studio.domain.control import GatewayInfo
from studio.domain.selftest import Place
from tests.app.running import fake_paths, running


async def test_without_an_open_address_the_twin_alone_is_attacked() -> None:
    """It works before anything was installed."""
    report = await Selftest(GatewayInfo).run()

    assert report.is_safe
    assert report.open_defences == ()
    assert report.address is None
    assert {one.place for one in report.attacks} == {Place.TWIN}


async def test_the_open_address_is_attacked_too(tmp_path: Path) -> None:
    """What counts is what clients reach."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as made:
            await made.studio.open_gateway(made.parts.settings.now.port, take_next=True)
            report = await made.studio.selftest.run()

    assert report.is_safe
    assert report.address is not None
    assert {one.place for one in report.attacks} == {Place.TWIN, Place.LIVE}
