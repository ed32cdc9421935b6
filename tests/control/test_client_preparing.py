"""Where calls about getting models ready go."""

from studio.domain.preparing import PrepareRequest
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """A name travels as one part of a path."""
    await check(
        [
            (lambda c: c.missing("a b"), "GET", "/models/missing/a%20b", ""),
            (lambda c: c.missing("a", listed=True), "GET", "/models/missing/a", "listed=1"),
            (lambda c: c.prepare(PrepareRequest(name="a")), "POST", "/models/prepare", ""),
        ]
    )
