"""Where calls about keys, the gateway and engines of others go."""

from studio.domain.control import KeyRequest
from studio.domain.gateway import GatewayChange
from studio.domain.keys import KeyLimits, UsageBy
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """Names travel as one part of a path, whatever is in them."""
    await check(
        [
            (lambda c: c.keys(), "GET", "/keys", ""),
            (lambda c: c.create_key(KeyRequest(name="x")), "POST", "/keys", ""),
            (lambda c: c.revoke_key("ab12"), "POST", "/keys/ab12/revoke", ""),
            (lambda c: c.rotate_key("a/b"), "POST", "/keys/a%2Fb/rotate", ""),
            (lambda c: c.rename_key("ab", "x"), "POST", "/keys/ab/rename", ""),
            (lambda c: c.limit_key("ab", KeyLimits()), "POST", "/keys/ab/limits", ""),
            (
                lambda c: c.usage(key_id="a", seconds=9, by=UsageBy.DAY),
                "GET",
                "/keys/usage",
                "key=a&seconds=9&by=day",
            ),
            (lambda c: c.requests(lines=5), "GET", "/requests", "lines=5"),
            (lambda c: c.gateway(), "GET", "/gateway", ""),
            (lambda c: c.change_gateway(GatewayChange()), "POST", "/gateway", ""),
            (lambda c: c.gateway_selftest(), "POST", "/gateway/selftest", ""),
            (lambda c: c.adopted(), "GET", "/adopted", ""),
            (lambda c: c.forget_adopted(), "POST", "/adopted/forget", ""),
        ]
    )
