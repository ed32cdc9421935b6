"""The gateway attacks itself: a twin with a stand-in for the engine, and the live address.

The twin has the gateway's own code and rules, keys of its own and short time limits; what reaches
the stand-in was let through. The live address is attacked without a valid key.
"""

import asyncio
import contextlib
import dataclasses
import re
import secrets
import ssl
import tempfile
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from pathlib import Path

from studio.domain.selftest import AttackResult, Defence, Place
from studio.gateway.attacks import MARK, Attack, Ground, Manner, attacks
from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.host import files
from studio.host.http_client import Upstream
from studio.host.http_server import Exchange, Limits, serve

_AT_ONCE = 24
"""Attacks under way at the same time; each has a connection."""
_LATE_S = 1.0
"""The twin's time limits. Its server looks at them about once a second."""
_SLACK_S = 2.5
_QUIET_S = 0.6
"""After an answer, so long without another byte ends the wait for a second one."""
_LIMIT_S = 8.0
_BODY_BYTES = 64 << 10
_DRIP_S = 0.1
_READ_BYTES = 65_536
_ENGINE_KEY = "key-of-the-stand-in"
_ENDLESS = 1 << 30
_TAKES_ALL = Limits(header_bytes=_ENDLESS, header_count=_ENDLESS)
"""Of the stand-in: what is refused, the gateway itself refused."""
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
_ALLOWED = re.compile(rb"\r\naccess-control-allow-origin: *([^\r\n]*)", re.IGNORECASE)


@dataclasses.dataclass(slots=True)
class _Sink:
    """The stand-in for the engine: remembers what reached it."""

    seen: list[tuple[str, list[tuple[bytes, bytes]]]] = dataclasses.field(default_factory=list)

    async def handle(self, exchange: Exchange) -> None:
        """Remember a request, and answer like an engine that has nothing to say."""
        await exchange.body(_ENDLESS)
        mark = exchange.header(MARK.encode()) or b""
        self.seen.append((mark.decode("latin-1"), exchange.headers))
        exchange.respond(200, [(b"content-type", b"application/json")], b'{"data":[]}')

    def of(self, attack: Attack) -> list[list[tuple[bytes, bytes]]]:
        """Return the headers of what an attack brought here."""
        return [headers for mark, headers in self.seen if mark == attack.code]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What came back for one attack."""

    raw: bytes
    is_over: bool
    """The gateway answered or hung up; else we gave up waiting."""

    @property
    def statuses(self) -> list[int]:
        """Return the statuses of all answers on the connection."""
        return [int(status) for status in _STATUS.findall(self.raw)]


async def attack_twin(without: Collection[Defence] = ()) -> list[AttackResult]:
    """Attack a gateway that lacks the defences `without`; tests only name any.

    Raises: HostLacks, when no file of keys can be made.
    """
    missing = frozenset(without)
    return [*await _on_twin(missing, is_hurried=False), *await _on_twin(missing, is_hurried=True)]


async def attack_live(
    port: int,
    *,
    address: str = "127.0.0.1",
    is_encrypted: bool = False,
    place: Place = Place.LIVE,
    mark: str = "",
) -> list[AttackResult]:
    """Attack what listens there with all that needs no valid key.

    The control API takes other paths and another key, and has to repel the same before it looks at
    either. With the `mark` of `Gateway.attacked` the gateway keeps no list of it.
    """
    limits = Limits()
    ground = Ground(
        address=address,
        port=port,
        key=f"sk-weir-{secrets.token_hex(16)}",
        head_bytes=limits.header_bytes,
        head_count=limits.header_count,
        body_bytes=_BODY_BYTES,
        mark=mark,
    )
    keyless = [attack for attack in attacks(ground) if not attack.needs_key]
    tls = _trusting() if is_encrypted else None
    return await _run(keyless, ground, place, None, tls)


async def _on_twin(without: frozenset[Defence], *, is_hurried: bool) -> list[AttackResult]:
    """Attack a twin: the slow attacks one in a hurry, the others one with the usual patience.

    On a busy machine a hurried one would take an honest client for a slow one.
    """
    sink = _Sink()
    async with _twin(sink, without, is_hurried=is_hurried) as ground:
        chosen = [one for one in attacks(ground) if (one.defence is Defence.TIME) is is_hurried]
        return await _run(chosen, ground, Place.TWIN, sink)


@contextlib.asynccontextmanager
async def _twin(
    sink: _Sink, without: frozenset[Defence], *, is_hurried: bool
) -> AsyncIterator[Ground]:
    is_endless = Defence.TIME in without
    usual = Limits()
    limits = Limits(
        header_timeout_s=_patience_s(usual.header_timeout_s, is_endless, is_hurried),
        body_timeout_s=_patience_s(usual.body_timeout_s, is_endless, is_hurried),
        header_bytes=_ENDLESS if Defence.HEAD_SIZE in without else Limits().header_bytes,
        header_count=_ENDLESS if Defence.HEAD_SIZE in without else Limits().header_count,
        without=without,
    )
    with _scratch() as folder:
        keys = KeyStore(folder / "keys.db")
        await keys.open()
        engine = await serve(sink.handle, limits=_TAKES_ALL)
        upstream = Upstream(port=engine.port)
        key = (await keys.create("selftest")).key
        target = EngineTarget(upstream=upstream, key=_ENGINE_KEY, served_name="selftest")
        gateway = Gateway(
            keys,
            upstream=lambda: target,
            body_limit_bytes=_ENDLESS if Defence.BODY_SIZE in without else _BODY_BYTES,
            limits=limits,
            key_for_all=key if Defence.KEY in without else None,
        )
        try:
            await gateway.open()
            yield Ground(
                port=gateway.info().port or 0,
                key=key,
                head_bytes=Limits().header_bytes,
                head_count=Limits().header_count,
                body_bytes=_BODY_BYTES,
            )
        finally:
            await gateway.close()
            upstream.close()
            await engine.close()
            await keys.close()


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="weir-selftest-", ignore_cleanup_errors=True)
    except OSError as error:
        raise files.from_os_error(error, Path(tempfile.gettempdir())) from error
    with folder as name:
        yield Path(name)


def _patience_s(usual_s: float, is_endless: bool, is_hurried: bool) -> float:
    if is_endless:
        return _ENDLESS
    return _LATE_S if is_hurried else usual_s


async def _run(
    chosen: Sequence[Attack],
    ground: Ground,
    place: Place,
    sink: _Sink | None,
    tls: ssl.SSLContext | None = None,
) -> list[AttackResult]:
    room = asyncio.Semaphore(_AT_ONCE)
    results: dict[str, AttackResult] = {}

    async def run(attack: Attack) -> None:
        async with room:
            answer = await _sent(attack, ground, tls)
        found = _let_through(attack, answer, ground, sink)
        results[attack.code] = AttackResult(
            code=attack.code,
            title=attack.title,
            defence=attack.defence,
            place=place,
            is_repelled=found is None,
            found=found or _words(answer),
        )

    async with asyncio.TaskGroup() as tasks:
        for attack in chosen:
            tasks.create_task(run(attack))
    return [results[attack.code] for attack in chosen]


def _trusting() -> ssl.SSLContext:
    """Return TLS that asks for no certificate: it is our own address that we attack."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def _sent(attack: Attack, ground: Ground, tls: ssl.SSLContext | None) -> _Answer:
    """Send an attack and return what comes back until the end, or until nothing more comes."""
    try:
        reader, writer = await asyncio.open_connection(ground.address, ground.port, ssl=tls)
    except OSError:
        return _Answer(raw=b"", is_over=True)
    raw = bytearray()
    limit_s = _LIMIT_S if attack.manner is Manner.AT_ONCE else _LATE_S + _SLACK_S
    try:
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(_write(attack, writer))
            is_over = await _read(reader, raw, limit_s)
            writing.cancel()
    finally:
        writer.transport.abort()
    return _Answer(raw=bytes(raw), is_over=is_over)


async def _write(attack: Attack, writer: asyncio.StreamWriter) -> None:
    # A gateway that hangs up while we still send is what is wanted.
    with contextlib.suppress(ConnectionError):
        writer.write(attack.sent)
        await writer.drain()
        while attack.manner is Manner.DRIP:
            await asyncio.sleep(_DRIP_S)
            writer.write(b"a")
            await writer.drain()


async def _read(reader: asyncio.StreamReader, raw: bytearray, limit_s: float) -> bool:
    """Read into `raw`; tells whether anything came, be it only the end."""
    try:
        async with asyncio.timeout(limit_s):
            while True:
                async with asyncio.timeout(_QUIET_S if raw else None):
                    data = await reader.read(_READ_BYTES)
                if not data:
                    return True
                raw += data
    except TimeoutError:
        return bool(raw)
    except ConnectionError:
        return True


def _let_through(attack: Attack, answer: _Answer, ground: Ground, sink: _Sink | None) -> str | None:
    """Return what went wrong, or None when the attack was repelled."""
    statuses = answer.statuses
    reached = sink.of(attack) if sink is not None else []
    if attack.may_reach:
        return _steered(reached, ground)
    if reached:
        return f"reached the engine, {_words(answer)}"
    if len(statuses) > 1:
        return f"was taken for {len(statuses)} requests, {_words(answer)}"
    if attack.manner is not Manner.AT_ONCE:
        return None if answer.is_over else "held its connection beyond the limit"
    allowed = _ALLOWED.search(answer.raw)
    if allowed is not None:
        return f"the answer lets {allowed[1].decode('latin-1')} read it, {_words(answer)}"
    if not statuses or statuses[0] not in attack.statuses:
        wanted = " or ".join(str(status) for status in sorted(attack.statuses))
        return f"{_words(answer)}, where {wanted} was due"
    return None


def _steered(reached: Sequence[list[tuple[bytes, bytes]]], ground: Ground) -> str | None:
    """Return what of a client's headers came through to the engine that must not."""
    if len(reached) != 1:
        return f"the honest request reached the engine {len(reached)} times"
    headers = reached[0]
    if (b"authorization", b"Bearer " + _ENGINE_KEY.encode()) not in headers:
        return "the engine's own key was taken off"
    key = ground.key.encode()
    leaked = {name for name, value in headers if key in value}
    leaked |= {b"cookie", b"proxy-authorization", b"forwarded"} & {name for name, _ in headers}
    if leaked:
        return f"the engine got {b', '.join(sorted(leaked)).decode()}"
    return None


def _words(answer: _Answer) -> str:
    statuses = answer.statuses
    if not statuses:
        return "no answer" if not answer.raw else "an answer that is not HTTP"
    return "answered " + ", ".join(str(status) for status in statuses)
