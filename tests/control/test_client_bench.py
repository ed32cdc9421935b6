"""Where calls about the bench go."""

from studio.domain.bench import BenchRequest
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """References travel as one part of a path, whatever is in them."""
    await check(
        [
            (lambda c: c.bench(BenchRequest()), "POST", "/bench", ""),
            (lambda c: c.bench_state(), "GET", "/bench", ""),
            (lambda c: c.stop_bench(), "POST", "/bench/stop", ""),
            (lambda c: c.bench_runs(), "GET", "/bench/runs", ""),
            (lambda c: c.bench_runs("a b"), "GET", "/bench/runs", "preset=a%20b"),
            (lambda c: c.bench_run("../x"), "GET", "/bench/runs/%2E%2E%2Fx", ""),
            (lambda c: c.compare_bench("a", "b"), "GET", "/bench/runs/a/compare", "other=b"),
            (lambda c: c.remove_bench("a"), "POST", "/bench/runs/a/remove", ""),
        ]
    )
