"""The calls about the bench: a run under way, and the runs that are kept."""

import re
from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from studio.app.bench import Bench
from studio.control.calls import Query, Route, decoded, word
from studio.domain.bench import BenchRequest
from studio.domain.errors import BadInput


class Benches:
    """Answers for one bench."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def routes(self) -> list[Route]:
        """Return the calls."""
        run = r"/bench/runs/([^/]{1,256})"
        table: list[
            tuple[str, str, Callable[[Query, bytes, tuple[str, ...]], Awaitable[object]]]
        ] = [
            ("GET", "/bench", self._state),
            ("POST", "/bench", self._run),
            ("POST", "/bench/stop", self._stop),
            ("GET", "/bench/runs", self._runs),
            ("GET", run, self._one),
            ("GET", f"{run}/compare", self._compare),
            ("POST", f"{run}/remove", self._remove),
        ]
        return [(method, re.compile(path), call) for method, path, call in table]

    async def _state(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._bench.state()

    async def _run(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._bench.run(decoded(body, BenchRequest))

    async def _stop(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._bench.stop()

    async def _runs(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._bench.runs(word(query, "preset"))

    async def _one(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._bench.one(unquote(parts[0]))

    async def _compare(self, query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        other = word(query, "other")
        if other is None:
            raise BadInput("request-invalid", "`other` should name the run to compare with.")
        return await self._bench.compare(unquote(parts[0]), other)

    async def _remove(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._bench.remove(unquote(parts[0]))
