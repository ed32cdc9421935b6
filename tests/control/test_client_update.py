"""Where calls about updates of the Studio go."""

from studio.domain.self_update import UpdateApplyRequest, UpdateCheckRequest
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """The request travels in the body."""
    ask = UpdateCheckRequest()
    await check(
        [
            (lambda c: c.update_status(), "GET", "/update", ""),
            (lambda c: c.update_check(ask), "POST", "/update/check", ""),
            (lambda c: c.update_get(ask), "POST", "/update/get", ""),
            (lambda c: c.update_apply(UpdateApplyRequest()), "POST", "/update/apply", ""),
            (lambda c: c.update_rollback(), "POST", "/update/rollback", ""),
        ]
    )
