"""Where calls about alarms go."""

from studio.domain.alarms import MuteRequest
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """A code travels as one part of a path, whatever is in it."""
    await check(
        [
            (lambda c: c.alarms(), "GET", "/alarms", ""),
            (lambda c: c.mute_alarm("a/b", MuteRequest()), "POST", "/alarms/a%2Fb/mute", ""),
            (lambda c: c.unmute_alarm("card-lost"), "POST", "/alarms/card-lost/unmute", ""),
        ]
    )
