"""Where calls about removing the Studio go."""

from studio.domain.uninstall import Belongings, UninstallRequest
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """The groups travel in the body."""
    request = UninstallRequest(remove=(Belongings.CACHE,))
    await check(
        [
            (lambda c: c.uninstall_plan(), "GET", "/uninstall", ""),
            (lambda c: c.uninstall(request), "POST", "/uninstall", ""),
        ]
    )
