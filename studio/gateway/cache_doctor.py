"""Finds clients whose prompts are computed anew each turn, and what changes in them.

Requests are looked at when they are over, in slices between which everybody else goes first, so
that no stream waits. Hashes are kept in memory only, under a secret that ends with the process; of
a finding what is kept holds neither text nor hashes.
"""

import asyncio
import collections
import dataclasses
import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from studio.domain.cache import CacheFinding, CacheReport, ChangeKind
from studio.gateway import cache_clients
from studio.gateway.cache_clients import Client, ClientName, Turn, Verdict
from studio.gateway.cache_marks import Marks
from studio.gateway.prompt_shape import Built, Hasher, Slices, build, is_wanted

MOST_FINDINGS = 50
_MOST_WAITING_BYTES = 32 << 20
_MOST_WAITING = 64
_SLICE_S = 0.000_5
_REST = 4.0
"""So many times as long as it worked it lets others: at most a fifth of one core."""
_LEAST_BODY_BYTES = 1_500
"""A prompt as short as this is read in no time."""
_SPEEDS = 50
_LEAST_SPEED_TOKENS = 512
_SHOWN_AGENT = 40
_LATE_SYSTEM_ADJUSTMENT = "late-system-message"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request that is over, as the engine got it."""

    at: float
    key_id: str
    agent: str | None
    route: str
    model: str
    body: bytes
    prompt_tokens: int | None
    cached_tokens: int | None
    ttft_s: float | None
    engine: object
    """The same object as long as it is the same engine."""
    is_too_large: bool = False
    """Its prompt was not taken along."""
    merges_systems: bool = False
    """The engine moves system messages from the middle to the head."""


class Clock(Protocol):
    """What time it is, for slices."""

    def __call__(self) -> float:
        """Return seconds."""


class CacheDoctor:
    """Watches; one event loop."""

    def __init__(
        self,
        marks: Marks | None = None,
        *,
        on_finding: Callable[[CacheFinding], None] = lambda _finding: None,
        findings: tuple[CacheFinding, ...] = (),
        clock: Clock = time.perf_counter,
    ) -> None:
        """`findings`: those of an earlier run; `on_finding` hears of each that begins."""
        self._marks = marks or Marks()
        self._on_finding = on_finding
        self._clock = clock
        self._hasher = Hasher(secrets.token_bytes(32))
        self._clients: dict[ClientName, Client] = {}
        self._findings = {one.id: one for one in findings}
        self._waiting: collections.deque[Case] = collections.deque()
        self._waiting_bytes = 0
        self._slices: Slices | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._speeds: collections.deque[float] = collections.deque(maxlen=_SPEEDS)
        self._engine: object = None
        self._boot = 0
        self.not_compared = 0

    def hear(self, case: Case) -> None:
        """Take up a request that is over; it is looked at soon."""
        self._measure(case)
        if case.engine is not self._engine:
            self._engine, self._boot = case.engine, self._boot + 1
        client = self._client(case)
        client.count(case.prompt_tokens, case.cached_tokens, case.at)
        if case.is_too_large:
            self.not_compared += is_wanted(case.route, 0)
            return
        if len(case.body) < _LEAST_BODY_BYTES:
            return
        is_full = (
            len(self._waiting) >= _MOST_WAITING
            or self._waiting_bytes + len(case.body) > _MOST_WAITING_BYTES
        )
        if is_full or not is_wanted(case.route, len(case.body)):
            self.not_compared += is_wanted(case.route, 0)
            return
        self._waiting.append(case)
        self._waiting_bytes += len(case.body)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(0.001, self._work)

    def close(self) -> None:
        """Forget what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._waiting.clear()
        self._waiting_bytes = 0
        self._slices = None

    @property
    def is_idle(self) -> bool:
        """Return whether all that was heard has been looked at."""
        return self._timer is None

    @property
    def findings(self) -> tuple[CacheFinding, ...]:
        """Return the findings, those that still are first, then the newest."""
        ordered = sorted(
            self._findings.values(), key=lambda one: (one.ended_at is not None, -one.last_seen)
        )
        return tuple(ordered)

    def report(self, names: Mapping[str, str]) -> CacheReport:
        """Return all of it; `names` are those of the keys."""
        clients = sorted(self._clients.values(), key=lambda one: -one.prompt_tokens)
        return CacheReport(
            findings=tuple(renamed(one, names) for one in self.findings),
            clients=tuple(one.info(names.get(one.name.key_id, one.name.key_id)) for one in clients),
            prefill_tokens_per_s=self.prefill_tokens_per_s,
            not_compared=self.not_compared,
            is_live=True,
        )

    def forget(self, key_id: str | None = None) -> None:
        """Forget the findings of a key that is gone; None: all of them."""
        self._findings = {
            name: one
            for name, one in self._findings.items()
            if key_id is not None and one.key_id != key_id
        }
        self._clients = {
            name: one
            for name, one in self._clients.items()
            if key_id is not None and name.key_id != key_id
        }

    @property
    def prefill_tokens_per_s(self) -> float | None:
        """Return how fast prompts are read here: the median of the last ones that took a while."""
        if not self._speeds:
            return None
        return sorted(self._speeds)[len(self._speeds) // 2]

    # -- one slice after the other ---------------------------------------------------------

    def _work(self) -> None:
        """Work for half a millisecond, then let the loop go on for four times as long."""
        self._timer = None
        began = self._clock()
        while self._waiting and self._clock() - began < _SLICE_S:
            self._step()
        if self._waiting:
            rest_s = max(0.001, _REST * (self._clock() - began))
            self._timer = asyncio.get_running_loop().call_later(rest_s, self._work)

    def _step(self) -> None:
        case = self._waiting[0]
        if self._slices is None:
            spot = self._client(case).spot
            self._slices = build(case.body, case.route, self._hasher, spot)
        try:
            next(self._slices)
        except StopIteration as ended:
            self._slices = None
            self._waiting.popleft()
            self._waiting_bytes -= len(case.body)
            if ended.value is not None:
                self._compare(case, ended.value)

    def _compare(self, case: Case, built: Built) -> None:
        client = self._client(case)
        turn = client.take(
            built.shape,
            at=case.at,
            prompt=case.prompt_tokens,
            cached=case.cached_tokens,
            boot=self._boot,
            merges_systems=case.merges_systems,
        )
        if turn is None:
            return
        verdict = client.verdict()
        self._end_others(client.name, verdict, case.at)
        if verdict is not None and turn.change is not None and verdict.turn is turn:
            self._find(client.name, case, built, turn, verdict)

    def _find(
        self, name: ClientName, case: Case, built: Built, turn: Turn, verdict: Verdict
    ) -> None:
        change = turn.change
        assert change is not None
        text = built.text(change.spot.message) if change.spot is not None else ""
        tokens = case.cached_tokens  # the engine's own word for how far the prompt was the same
        if tokens is None:
            tokens = cache_clients.tokens_before(change, case.prompt_tokens, built.shape)
        place = cache_clients.place(change, tokens=tokens, text=text)
        mark = None
        if place.characters is not None and place.within is not None:
            mark = self._marks.at(text, place.characters, place.within)
        if mark is not None:
            place = msgspec.structs.replace(place, looks_like=mark.id)
        adjustment = mark.adjustment if mark is not None else None
        if change.kind is ChangeKind.LATE_SYSTEM:
            adjustment = _LATE_SYSTEM_ADJUSTMENT
        speed = self.prefill_tokens_per_s
        lost = verdict.lost_tokens
        found_id = _id(name, change.kind)
        before = self._findings.get(found_id)
        is_new = before is None or before.ended_at is not None
        finding = CacheFinding(
            id=found_id,
            key_id=name.key_id,
            key=name.key_id,
            agent=name.agent,
            model=name.model,
            route=name.route,
            place=place,
            changed=verdict.changed,
            compared=verdict.compared,
            is_between_conversations=turn.is_between,
            lost_tokens=lost,
            lost_s=lost / speed if lost is not None and speed else None,
            prefill_tokens_per_s=speed,
            first_seen=case.at if before is None else before.first_seen,
            last_seen=case.at,
            adjustment=adjustment,
        )
        self._findings[found_id] = finding
        while len(self._findings) > MOST_FINDINGS:
            del self._findings[min(self._findings.values(), key=lambda one: one.last_seen).id]
        if is_new:
            self._on_finding(finding)

    def _end_others(self, name: ClientName, verdict: Verdict | None, at: float) -> None:
        """End the findings of a client that its last turns no longer bear out."""
        change = verdict.turn.change if verdict is not None else None
        kept = _id(name, change.kind) if change is not None else None
        for kind in ChangeKind:
            found = self._findings.get(_id(name, kind))
            if found is not None and found.ended_at is None and found.id != kept:
                self._findings[found.id] = msgspec.structs.replace(found, ended_at=at)

    def _client(self, case: Case) -> Client:
        name = ClientName(case.key_id, case.agent, case.model, case.route)
        client = self._clients.get(name)
        if client is None:
            if len(self._clients) >= cache_clients.MOST_CLIENTS:
                del self._clients[cache_clients.oldest(list(self._clients.values())).name]
            client = self._clients[name] = Client(name)
            client.last_seen = case.at
        return client

    def _measure(self, case: Case) -> None:
        """Learn how fast prompts are read: what was not cached, until the first token came."""
        if case.ttft_s is None or case.prompt_tokens is None or case.cached_tokens is None:
            return
        computed = case.prompt_tokens - case.cached_tokens
        if computed >= _LEAST_SPEED_TOKENS and case.ttft_s > 0:
            self._speeds.append(computed / case.ttft_s)


def agent_of(header: bytes | None) -> str | None:
    """Return which program a user agent names, without its version: `claude-cli`, `OpenAI`."""
    text = (header or b"").decode("latin-1").strip()
    name = text.split("/", 1)[0].split(" ", 1)[0]
    name = "".join(one for one in name if one.isascii() and one.isprintable())[:_SHOWN_AGENT]
    return name or None


def renamed(finding: CacheFinding, names: Mapping[str, str]) -> CacheFinding:
    """Return a finding with the name of its key, as it is called now."""
    return msgspec.structs.replace(finding, key=names.get(finding.key_id, finding.key))


def _id(name: ClientName, kind: ChangeKind) -> str:
    """Return what a finding is called: the same client and kind give the same, in every run."""
    words = "\x1f".join((name.key_id, name.agent or "", name.model, name.route, kind.value))
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:10]
