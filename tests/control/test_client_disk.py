"""Where the call about the disk goes."""

from tests.control.test_client import check


async def test_the_call_goes_where_the_document_says() -> None:
    """One question, no words."""
    await check([(lambda c: c.disk(), "GET", "/disk", "")])
