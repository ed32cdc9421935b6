"""The endpoint for Prometheus: off by default, a token of its own."""

from pathlib import Path

import pytest

from studio.app.scrape import Scrape
from studio.domain.errors import BadInput, Damaged, NotFound
from studio.domain.scrape import ScrapeAction, ScrapeInfo, ScrapeRequest

ON, OFF, ROTATE = (ScrapeRequest(action=action) for action in ScrapeAction)


def made(path: Path) -> Scrape:
    """Return the endpoint of a home."""
    return Scrape(path / "metrics.json", lambda: b"weir_build_info 1\n")


async def test_it_is_off_until_it_is_turned_on(tmp_path: Path) -> None:
    """Nothing is exposed that nobody asked for, and no token lies around."""
    scrape = made(tmp_path)

    assert await scrape.info() == ScrapeInfo()
    assert scrape.wanted_port is None
    with pytest.raises(NotFound):
        scrape.answer(b"")
    with pytest.raises(BadInput):
        await scrape.token()
    with pytest.raises(BadInput):
        await scrape.change(ROTATE)
    assert _names(tmp_path) == []


async def test_its_token_opens_it_and_nothing_else_does(tmp_path: Path) -> None:
    """Also not a part of it, nor another scheme."""
    scrape = made(tmp_path)
    await scrape.change(ON)
    token = (await scrape.token()).token.encode()

    assert scrape.answer(b"Bearer " + token) == b"weir_build_info 1\n"
    for wrong in (b"", b"Bearer ", b"Bearer " + token[:-1], token, b"Basic " + token):
        with pytest.raises(BadInput) as error:
            scrape.answer(wrong)
        assert error.value.code == "token-wrong"
    assert (tmp_path / "metrics.json").stat().st_mode & 0o777 == 0o600


async def test_a_new_token_ends_the_old_one_and_off_ends_both(tmp_path: Path) -> None:
    """At once; turned on again it is the last one, so that scrapers go on."""
    scrape = made(tmp_path)
    await scrape.change(ON)
    first = b"Bearer " + (await scrape.token()).token.encode()
    await scrape.change(ROTATE)
    second = b"Bearer " + (await scrape.token()).token.encode()

    with pytest.raises(BadInput):
        scrape.answer(first)
    assert scrape.answer(second)
    await scrape.change(OFF)
    with pytest.raises(NotFound):
        scrape.answer(second)
    await scrape.change(ON)
    assert scrape.answer(second)


async def test_the_port_is_kept_for_the_next_service(tmp_path: Path) -> None:
    """A scraper is configured once; the control port would change with each start."""
    scrape = made(tmp_path)
    scrape.open_port = 40_001
    on = await scrape.change(ON)
    assert (on.url, on.port, on.note) == ("http://127.0.0.1:40001/metrics", 40_001, None)

    again = made(tmp_path)
    assert again.wanted_port == 40_001
    again.open_port = 40_777  # it was taken
    assert "Port 40001" in ((await again.info()).note or "")
    moved = await again.change(ScrapeRequest(action=ScrapeAction.ON, port=19_999))
    assert moved.port == 19_999
    with pytest.raises(BadInput, match="80 cannot"):
        await again.change(ScrapeRequest(action=ScrapeAction.ON, port=80))


async def test_a_damaged_file_is_said_to_be(tmp_path: Path) -> None:
    """It is never taken for a permission."""
    (tmp_path / "metrics.json").write_text('{"is_on": "perhaps"}')

    with pytest.raises(Damaged):
        made(tmp_path).answer(b"Bearer x")


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())
