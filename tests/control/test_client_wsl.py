"""Where calls about the Studio's Linux go."""

from studio.domain.wsl import WslConfigRequest, WslRemoveRequest, WslSetupRequest
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """The request travels in the body."""
    await check(
        [
            (lambda c: c.wsl_report(), "GET", "/wsl", ""),
            (lambda c: c.wsl_setup(WslSetupRequest()), "POST", "/wsl/setup", ""),
            (lambda c: c.wsl_memory(WslConfigRequest()), "POST", "/wsl/memory", ""),
            (lambda c: c.wsl_compact(), "POST", "/wsl/compact", ""),
            (lambda c: c.wsl_remove(WslRemoveRequest()), "POST", "/wsl/remove", ""),
        ]
    )
