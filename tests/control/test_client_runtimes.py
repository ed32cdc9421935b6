"""Where calls about runtimes go."""

from studio.domain.runtimes import (
    CollectRequest,
    InstallRequest,
    PinRequest,
    RollbackRequest,
    VerifyRequest,
)
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """Names travel as one part of a path, whatever is in them."""
    await check(
        [
            (lambda c: c.runtimes(), "GET", "/runtimes", ""),
            (lambda c: c.runtime("cpu-1.0"), "GET", "/runtimes/cpu-1%2E0", ""),
            (lambda c: c.pin_runtime("a/b", PinRequest()), "POST", "/runtimes/a%2Fb/pin", ""),
            (
                lambda c: c.install_runtime("x", InstallRequest()),
                "POST",
                "/runtimes/x/install",
                "",
            ),
            (lambda c: c.stop_install("a/b"), "POST", "/runtimes/a%2Fb/stop", ""),
            (lambda c: c.verify_runtime("x", VerifyRequest()), "POST", "/runtimes/x/verify", ""),
            (lambda c: c.fetch_series("x"), "POST", "/runtimes/x/series", ""),
            (lambda c: c.repair_runtime("x"), "POST", "/runtimes/x/repair", ""),
            (lambda c: c.runtime_versions("x"), "GET", "/runtimes/x/versions", ""),
            (lambda c: c.roll_back("x", RollbackRequest()), "POST", "/runtimes/x/rollback", ""),
            (lambda c: c.collect_runtimes(CollectRequest()), "POST", "/runtimes/gc", ""),
        ]
    )
