"""Every misbehaviour at random, in any order: what arrives is right, or nothing arrives."""

import asyncio
import contextlib
import random
from pathlib import Path

import pytest

from studio.domain.errors import StudioError
from studio.host import download
from studio.host.download import Wanted
from tests.fakes import hostile
from tests.fakes.hostile import Exchange, Hostile, Trick
from tests.host.downloads import DATA, LARGE, LARGE_SHA256, NAME, names, trusting

PATIENT = trusting(tries=40, most_tries=60, stall_s=0.2, back_off_s=0.001, back_off_most_s=0.01)


def trick(choice: random.Random, server: Hostile) -> Trick | None:
    """Return some misbehaviour, or none."""
    size = choice.randrange(0, 1_200_000)
    return choice.choice(
        [
            None,
            None,
            None,
            hostile.broken_off(size),
            hostile.broken_off(size, abruptly=True),
            hostile.stalled(size),
            hostile.wrong_range(choice.choice((-7, 1, 4096))),
            hostile.status(choice.choice(("429 Slow", "500 Oops", "503 Busy", "408 Late"))),
            hostile.packed_for_the_way,
            hostile.redirect(f"/large?{size}"),
            hostile.status("206 Partial", {"Content-Range": "bytes 0-9/10"}, b"0123456789"),
            hostile.status("206 Partial", {"Content-Range": "rubbish"}, b"0123456789"),
            hostile.status("416 Range", {"Content-Range": f"bytes */{len(LARGE)}"}),
            _without_length,
        ]
    )


def _without_length(exchange: Exchange) -> bool:
    """Answer with everything and do not say how much it is."""
    exchange.head("200 OK", {"Connection": "close"})
    exchange.send(exchange.body)
    return False


async def torture(tmp_path: Path, seed: int, *, sha256: str | None) -> None:
    """Fetch from a server that misbehaves at random, stop at random, and fetch once more."""
    choice = random.Random(seed)
    target = tmp_path / "f"
    with hostile.serving({NAME: DATA, "/large": LARGE}) as server:
        # With neither digest nor size, a server that tells of another file can only be believed.
        size = len(LARGE) if sha256 is None else choice.choice((None, len(LARGE)))
        one = Wanted(url=server.url("/large"), sha256=sha256, bytes=size)
        server.next.extend(trick(choice, server) for _ in range(choice.randrange(1, 30)))
        for _run in range(3):
            with contextlib.suppress(StudioError, TimeoutError):
                async with asyncio.timeout(choice.uniform(0.05, 1.0)):
                    await download.fetch(one, target, policy=PATIENT)
            assert not target.exists() or target.read_bytes() == LARGE
        server.next.clear()

        await download.fetch(one, target, policy=PATIENT)

    assert target.read_bytes() == LARGE
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize("sha256", [LARGE_SHA256, None])
@pytest.mark.parametrize("seed", range(6))
async def test_what_arrives_is_right(tmp_path: Path, seed: int, sha256: str | None) -> None:
    """A dozen of the thousand that the soak runs."""
    await torture(tmp_path, seed, sha256=sha256)


@pytest.mark.soak
@pytest.mark.parametrize("sha256", [LARGE_SHA256, None])
@pytest.mark.parametrize("seed", range(6, 500))
async def test_what_arrives_is_right_a_thousand_times(
    tmp_path: Path, seed: int, sha256: str | None
) -> None:
    """Seeds are fixed, so a failure can be repeated."""
    await torture(tmp_path, seed, sha256=sha256)
