"""Tasks that belong together: one error, as it is, and nobody left behind."""

import asyncio

import pytest

from studio.host.tasks import beside, together


async def _fail() -> None:
    await asyncio.sleep(0)
    raise LookupError("mine")


async def test_the_first_error_ends_the_others_and_stays_itself() -> None:
    """A group of errors would be caught by nobody who knows the error."""
    ended: list[str] = []

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("long")

    with pytest.raises(LookupError, match="mine"):
        await together([long, _fail])

    assert ended == ["long"]


async def test_helpers_end_with_the_work() -> None:
    """A ticker goes on for ever by itself."""
    ended: list[str] = []

    async def helper() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("helper")

    async def work() -> None:
        await asyncio.sleep(0)

    await beside(work, helper)
    with pytest.raises(LookupError):
        await beside(_fail, helper)

    assert ended == ["helper", "helper"]


async def test_a_helper_that_fails_ends_the_work() -> None:
    """A disk that cannot be flushed is a reason to stop."""

    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(LookupError, match="mine"):
        await beside(work, _fail)
