"""The control API's calls about the bench."""

from studio.control.transport import Calls, part, query_text
from studio.domain.bench import (
    BenchComparison,
    BenchRemoved,
    BenchReport,
    BenchRequest,
    BenchRuns,
    BenchState,
    BenchStopped,
)


class BenchCalls(Calls):
    """A run of the bench, and those that are kept."""

    async def bench(self, request: BenchRequest) -> BenchReport:
        """Measure the engine that serves; returns when it is over, also when it was stopped."""
        return await self.call("POST", "/bench", BenchReport, body=request, patient=True)

    async def bench_state(self) -> BenchState:
        """Return how far the run under way is; asking keeps a watched one going."""
        return await self.call("GET", "/bench", BenchState)

    async def stop_bench(self) -> BenchStopped:
        """End the run under way; returns when what it measured is kept."""
        return await self.call("POST", "/bench/stop", BenchStopped, patient=True)

    async def bench_runs(self, preset: str | None = None) -> BenchRuns:
        """Return the kept runs, oldest first."""
        return await self.call("GET", f"/bench/runs{query_text(preset=preset)}", BenchRuns)

    async def bench_run(self, reference: str) -> BenchReport:
        """Return a kept run: by its id, the beginning of one, or `last`."""
        return await self.call("GET", f"/bench/runs/{part(reference)}", BenchReport)

    async def compare_bench(self, reference: str, other: str) -> BenchComparison:
        """Return a kept run beside another one."""
        path = f"/bench/runs/{part(reference)}/compare{query_text(other=other)}"
        return await self.call("GET", path, BenchComparison)

    async def remove_bench(self, reference: str) -> BenchRemoved:
        """Remove a kept run."""
        return await self.call("POST", f"/bench/runs/{part(reference)}/remove", BenchRemoved)
