"""Reports of the gateway's self-test, as the service gives them."""

from studio.domain.selftest import AttackResult, Defence, Place, SelftestReport

_HELD = AttackResult(
    code="key-missing",
    title="No key",
    defence=Defence.KEY,
    place=Place.TWIN,
    is_repelled=True,
    found="answered 401",
)
_THROUGH = AttackResult(
    code="rebinding",
    title="A page's own name, pointed at this machine",
    defence=Defence.HOST,
    place=Place.LIVE,
    is_repelled=False,
    found="answered 200, where 403 was due",
)
SAFE = SelftestReport(version="0.1.0", is_safe=True, attacks=(_HELD,), took_s=1.6)
OPEN = SelftestReport(
    version="0.1.0",
    address="http://127.0.0.1:18020/v1",
    is_safe=False,
    open_defences=(Defence.HOST,),
    attacks=(_HELD, _THROUGH),
    took_s=1.6,
)
