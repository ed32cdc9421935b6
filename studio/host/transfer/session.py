"""One file from one source: the first answer tells what the server can do, then blocks in order.

Blocks of the file are handed to a few connections, the next missing one first. A server that
ignores ranges, or answers with other ones, gets one request for everything instead.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable

import httpx

from studio.domain.units import bytes_text
from studio.host.network import NetworkPolicy
from studio.host.transfer.answers import Answer, Empty, judge, may_be_conditional
from studio.host.transfer.faults import Fault, FileChanged, Kind, RangesUseless
from studio.host.transfer.part import PartFile
from studio.host.transfer.source import Source
from studio.host.transfer.spans import Span
from studio.host.transfer.throttle import Throttle

_SMALL_BYTES = 4 << 20
"""A file that is known to be no larger is asked for at once."""
_LEAST_BLOCK = 1 << 20
_GAIN_BYTES = 64 << 10
"""A try that brought less has brought nothing."""
_MOST_CHANGES = 3
_JITTER = random.SystemRandom()


class Budget:
    """How many failures one file may have in all, whatever its sources."""

    def __init__(self, most: int) -> None:
        self.left = most


class Session:
    """One source at work on one part."""

    def __init__(
        self,
        source: Source,
        part: PartFile,
        policy: NetworkPolicy,
        *,
        name: str,
        expected: int | None,
        is_pinned: bool,
        is_last: bool,
        budget: Budget,
        on_note: Callable[[str], None],
        on_size: Callable[[], None],
        throttle: Throttle | None = None,
    ) -> None:
        """`expected` is the size where it is known, `is_pinned` whether a digest will decide.

        `is_last`: there is no other source to go to.

        Without a digest the source's own marks (ETag, time of change) tell versions apart. With
        one they are not asked: machines behind one address give the same file different marks.
        """
        self._source = source
        self._part = part
        self._policy = policy
        self._name = name
        self._expected = expected
        self._tries_midway = policy.tries_midway if is_last else policy.tries
        self._budget = budget
        self._is_pinned = is_pinned
        self._on_note = on_note
        self._on_size = on_size
        self._throttle = throttle
        self._only_stream = False
        self._ranges_worked = False
        self._is_known = asyncio.Event()
        self._is_handed_out = asyncio.Event()
        self._is_first = True
        self._validator = None if is_pinned else part.validator(source.digest)
        self._incidents = 0
        self._in_a_row = 0
        self._has_gained = False
        self._best = part.present

    async def run(self) -> None:
        """Bring all that is missing.

        Raises: Fault when this source is no good (any more), OSError for the disk.
        """
        changes = 0
        while not self._part.is_complete:
            try:
                if self._only_stream:
                    await self._one_stream()
                else:
                    await self._in_blocks()
            except RangesUseless:
                self._only_stream = True
            except FileChanged:
                changes += 1
                if changes > _MOST_CHANGES:
                    raise Fault("the file changes while it is fetched") from None
                self._on_note("the server has another version now; beginning anew")
                self._begin_anew()

    def _begin_anew(self) -> None:
        self._part.reset(size=self._expected)
        self._validator = None
        self._is_first = True

    # -- blocks --------------------------------------------------------------------------------

    async def _in_blocks(self) -> None:
        self._is_known.clear()
        self._is_handed_out.clear()
        try:
            async with asyncio.TaskGroup() as workers:
                for number in range(self._policy.connections):
                    workers.create_task(self._work(number))
        except ExceptionGroup as failed:
            raise _gravest(failed) from None

    async def _work(self, number: int) -> None:
        """Fetch block after block; all but the first worker wait until the server is known."""
        if number:
            await self._is_known.wait()
        try:
            while (span := self._part.claim(self._block_bytes())) is not None:
                is_crowded = False
                try:
                    await self._fetch(span, is_extra=number > 0)
                except _Crowded:
                    is_crowded = True
                finally:
                    self._part.release(span)
                if is_crowded and await self._stand_back():
                    return
            self._is_handed_out.set()
        finally:
            self._is_known.set()

    async def _stand_back(self) -> bool:
        """Let the others go on alone for a while: the server wants fewer connections.

        Returns whether they need no help any more.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._policy.back_off_most_s):
                await self._is_handed_out.wait()
        return self._is_handed_out.is_set()

    async def _fetch(self, span: Span, *, is_extra: bool) -> None:
        """Fetch what a worker has claimed, in as many tries as the policy allows."""
        start, end = span
        while start < end and not self._part.is_complete:
            incidents = self._incidents
            try:
                start = await self._request((start, end))
                size = self._part.size
                end = end if size is None else min(end, size)
            except Fault as fault:
                if is_extra and fault.crowded:
                    raise _Crowded from None
                start = self._reached(start)
                await self._again(fault, incidents)
                if self._only_stream:
                    raise RangesUseless from None

    def _reached(self, start: int) -> int:
        """Return up to where the bytes from `start` on are here."""
        return next((e for s, e in self._part.spans() if s <= start <= e), start)

    def _block_bytes(self) -> int:
        size, missing = self._part.size, self._part.missing()
        if size is None or missing is None:
            return self._policy.block_bytes
        if size <= _SMALL_BYTES:
            return size
        share = missing // (2 * self._policy.connections)
        return min(self._policy.block_bytes, max(_LEAST_BLOCK, share))

    async def _paid(self, span: Span) -> tuple[Span, bool]:
        """Return what of a range may be asked for now, and whether it was waited for."""
        if self._throttle is None or not self._throttle.is_metered:
            return span, False
        start, end = span
        end = min(end, start + self._throttle.piece_bytes)
        await self._throttle.take(end - start)
        return (start, end), True

    async def _request(self, whole_span: Span) -> int:
        """Ask for a range, or the piece of it that is let through; return how far it came."""
        span, is_paid = await self._paid(whole_span)
        is_all = span == (0, self._part.size)
        headers = {"Accept-Encoding": "identity"}
        if not is_all:
            headers["Range"] = f"bytes={span[0]}-{span[1] - 1}"
            if self._validator is not None and may_be_conditional(self._validator):
                headers["If-Range"] = self._validator
        try:
            async with self._source.open(headers) as response:
                answer = judge(response, None if is_all else span, self._name, self._expected)
                if isinstance(answer, Empty):
                    return self._nothing_there(answer, span)
                self._take_note(answer, asked_for_part=not is_all)
                return await self._body(response, answer, is_paid=is_paid)
        except RangesUseless:
            if not self._ranges_worked:
                raise
            # One machine of many, or a bad moment: what is here is not given up for it.
            raise Fault("it answers with another range than asked for", again=True) from None

    def _nothing_there(self, answer: Empty, span: Span) -> int:
        """The server says that the file ends before the range does."""
        if answer.total is None:
            raise RangesUseless
        self._check_size(answer.total)
        if answer.total == 0 and not self._part.present:
            self._part.expect(0)
            return span[1]
        raise FileChanged

    def _take_note(self, answer: Answer, *, asked_for_part: bool) -> None:
        """Learn from an answer what the server can do and which version of the file it has.

        Raises: Fault, RangesUseless, FileChanged.
        """
        known = self._validator
        if known is not None and answer.validator not in (None, known):
            raise FileChanged
        if answer.is_whole and self._part.present:
            raise RangesUseless
        if answer.is_whole and asked_for_part:
            self._only_stream = True
        if answer.total is not None:
            self._check_size(answer.total)
            if self._part.size not in (None, answer.total):
                raise FileChanged
            self._part.expect(answer.total)
            self._on_size()
        if self._is_first:
            self._is_first = False
            self._validator = None if self._is_pinned else answer.validator
            self._part.comes_from(self._source.digest, answer.validator)
        self._ranges_worked |= not answer.is_whole
        if not self._only_stream:
            self._is_known.set()

    def _check_size(self, total: int) -> None:
        if self._expected is not None and total != self._expected:
            raise Fault(
                f"it holds another file: {total:,} bytes, {self._expected:,} are expected",
                kind=Kind.WRONG,
            )

    # -- one stream ----------------------------------------------------------------------------

    async def _one_stream(self) -> None:
        """Fetch everything in one answer; after a break it begins anew."""
        while not self._part.is_complete:
            incidents = self._incidents
            self._begin_anew()
            try:
                async with self._source.open({"Accept-Encoding": "identity"}) as response:
                    answer = judge(response, None, self._name, self._expected)
                    assert isinstance(answer, Answer)
                    self._take_note(answer, asked_for_part=False)
                    await self._body(response, answer, is_paid=False)
            except Fault as fault:
                await self._again(fault, incidents)

    # -- bodies --------------------------------------------------------------------------------

    async def _body(self, response: httpx.Response, answer: Answer, *, is_paid: bool) -> int:
        """Write a body where it belongs; return its end.

        A limit that is set meanwhile ends it early: the rest is asked for in pieces.
        """
        at = answer.start
        most = answer.end if answer.end is not None else self._expected
        async for chunk in self._chunks(response, decode=answer.decode):
            if most is not None and at + len(chunk) > most:
                self._too_long(answer)
            self._part.write(at, chunk)
            at += len(chunk)
            if not is_paid and self._is_piecemeal:
                return at
        if answer.end is None and self._expected is None:
            self._part.expect(at)
        elif most is not None and at < most:
            raise Fault(
                f"the transfer broke off at {bytes_text(at)} of {bytes_text(most)}", again=True
            )
        return at

    @property
    def _is_piecemeal(self) -> bool:
        """Return whether a limit is kept by what is asked for; a stream is held back itself."""
        return self._throttle is not None and self._throttle.is_metered and not self._only_stream

    def _too_long(self, answer: Answer) -> None:
        if not answer.is_whole:
            raise RangesUseless
        raise Fault("what it sends is longer than the file should be", kind=Kind.WRONG)

    async def _chunks(self, response: httpx.Response, *, decode: bool) -> AsyncIterator[bytes]:
        """Yield a body as it comes, unless it crawls."""
        clock = asyncio.get_running_loop().time
        since, came = clock(), 0
        async for chunk in response.aiter_bytes() if decode else response.aiter_raw():
            yield chunk
            came += len(chunk)
            if self._throttle is not None and self._only_stream:
                since += await self._throttle.take(len(chunk))
            now = clock()
            if now - since >= self._policy.stall_s:
                if came < self._policy.crawl_bytes_per_s * (now - since):
                    rate = bytes_text(came / (now - since))
                    raise Fault(f"it sends {rate} a second and less", again=True)
                since, came = now, 0

    # -- patience ------------------------------------------------------------------------------

    async def _again(self, fault: Fault, incidents: int) -> None:
        """Wait before another try. Raises: Fault when there is none.

        Several connections that break at the same time are one incident.
        """
        may_pass = fault.again or (fault.refusal and (self._ranges_worked or self._has_gained))
        if not may_pass or (fault.wait_s or 0) > self._policy.wait_most_s:
            raise fault
        if incidents == self._incidents:
            self._count(fault)
        doubled = self._policy.back_off_s * 2.0**self._in_a_row
        pause = min(self._policy.back_off_most_s, doubled) * _JITTER.uniform(0.5, 1.0)
        pause = max(pause, fault.wait_s or 0.0)
        self._on_note(f"{fault.reason}; trying again in {pause:.0f} s")
        await asyncio.sleep(pause)

    def _count(self, fault: Fault) -> None:
        self._incidents += 1
        self._budget.left -= 1
        gained = self._part.present >= self._best + _GAIN_BYTES
        self._best = max(self._best, self._part.present)
        self._has_gained |= gained
        self._in_a_row = 0 if gained else self._in_a_row + 1
        most = self._tries_midway if self._has_gained else self._policy.tries
        if self._in_a_row >= most or self._budget.left <= 0:
            raise fault


class _Crowded(Exception):
    """An extra connection is one too many for the server."""


def _gravest(failed: ExceptionGroup[Exception]) -> Exception:
    """Return the one of several failures that decides what happens next."""
    order = (FileChanged, RangesUseless, Fault)
    found = list(failed.exceptions)
    return min(
        found,
        key=lambda error: next(
            (place for place, kind in enumerate(order, 1) if isinstance(error, kind)), 0
        ),
    )
