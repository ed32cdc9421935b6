"""A vLLM that others run, in the supervisor's place: where it is, and whether it still is.

What it says of itself is asked for when it is found and whenever it returns.
It is asked and never told: nothing here starts, stops or changes it.
"""

import asyncio
import dataclasses
import re
import ssl
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, EngineNotReady, ErrorInfo, StudioError
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.host.http_client import Upstream
from studio.serving.life import Target

LOOK_S = 0.5
"""Between two looks. Whoever refuses a connection, breaks it off or says that it cannot serve is
gone at the next one: within the goal of 2 s."""
LATE_S = 2.0
"""How long one look waits for an answer."""
MISSES = 4
"""So many looks in a row that nothing answered mean that it is gone: 10 s. A server that computes a
long prompt on the processors that should answer, or compiles, is silent for seconds."""
_ANSWER_S = 10.0
_NAME_LIMIT = 256
_LIMIT_BYTES = 4 << 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where it listens."""

    url: str
    host: str = ""
    port: int | None = None
    socket_path: Path | None = None
    is_tls: bool = False
    prefix: str = ""

    @property
    def is_here(self) -> bool:
        """Tell whether it is on this machine, as far as its address tells."""
        return self.socket_path is not None or self.host in ("127.0.0.1", "localhost", "::1")

    @property
    def name(self) -> str:
        """Return what to call it when nobody says."""
        return self.socket_path.name if self.socket_path else f"{self.host}:{self.port}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a vLLM said of itself."""

    version: str | None
    models: tuple[str, ...]
    max_model_len: int | None
    pool_tokens: int | None
    has_metrics: bool


class _Model(msgspec.Struct):
    id: str
    owned_by: str | None = None
    max_model_len: int | None = None
    parent: str | None = None
    """Set for an adapter, which is served beside its base."""


class _Models(msgspec.Struct):
    data: list[_Model]


class _Version(msgspec.Struct):
    version: str


class Adopted:
    """One adopted vLLM. `watch` must be running for a loss or a return to be seen."""

    def __init__(
        self,
        place: Place,
        *,
        name: str,
        key: str | None,
        tls: ssl.SSLContext | None,
        read_pool: Callable[[bytes], int | None],
        publish: Callable[[EngineSnapshot], None],
    ) -> None:
        """`read_pool` finds the size of the pool in what `/metrics` says."""
        self._place = place
        self.name = name
        self._key = key
        self._read_pool = read_pool
        self._publish = publish
        self._upstream = Upstream(
            socket_path=place.socket_path,
            host=place.host or "127.0.0.1",
            port=place.port,
            tls=tls,
            prefix=place.prefix,
        )
        self._found: Found | None = None
        self._is_there = False
        self._is_watched = False
        self._seen_at: float | None = None
        self._missed = 0
        self._error: ErrorInfo | None = None

    @property
    def state(self) -> EngineState:
        """Whether it answers."""
        return EngineState.ADOPTED if self._is_there else EngineState.GONE

    @property
    def target(self) -> Target | None:
        """The engine to send new requests to; None while it is gone."""
        if self._found is None or not self._is_there:
            return None
        return Target(
            upstream=self._upstream, key=self._key or "", served_name=self._found.models[0]
        )

    def snapshot(self) -> EngineSnapshot:
        """Return it as it was seen last."""
        found = self._found
        return EngineSnapshot(
            state=self.state,
            served_name=found.models[0] if found else None,
            pool_tokens=found.pool_tokens if found else None,
            max_model_len=found.max_model_len if found else None,
            error=self._error,
            note=self._note(),
            adopted=AdoptedInfo(
                name=self.name,
                url=self._place.url,
                version=found.version if found else None,
                models=found.models if found else (),
                has_metrics=found.has_metrics if found else None,
                seen_at=self._seen_at,
            ),
        )

    async def probe(self) -> Found:
        """Ask it who it is; from then on it is there.

        Raises: EngineNotReady (`adopt-unreachable`), BadInput (`adopt-key-refused`,
        `adopt-not-vllm`).
        """
        models = await self._models()
        version = await self._version()
        if version is None and not any(one.owned_by == "vllm" for one in models):
            raise _not_vllm(self._place.url, "it says neither a version nor that vLLM serves it")
        metrics = await self._optional("/metrics")
        pool = self._read_pool(metrics) if metrics is not None else None
        first = next((one for one in models if one.parent is None), models[0])
        self._found = Found(
            version=version,
            models=(first.id, *(one.id for one in models if one is not first)),
            max_model_len=first.max_model_len,
            pool_tokens=pool,
            has_metrics=metrics is not None,
        )
        self._see()
        return self._found

    async def watch(self) -> None:
        """Look whether it is there, until cancelled."""
        self._is_watched = True
        while True:
            try:
                if self._is_there:
                    await self._look()
                    self._seen_at = time.time()
                    self._count(0)
                else:
                    await self.probe()
            except StudioError as error:
                self._miss(error)
            await asyncio.sleep(LOOK_S)

    def close(self) -> None:
        """Let go: answers under way are cut off, each with a word of ours."""
        self._upstream.cut_off_all()
        self._upstream.close()

    async def _look(self) -> None:
        """Raise unless it is there. vLLM answers `/health` with 503 when its engine is dead."""
        status, _ = await self._get("/health", LATE_S)
        if status in (404, 405):  # hidden by a proxy that passes only /v1
            status, _ = await self._get("/v1/models", LATE_S)
        if status >= 500:
            raise EngineNotReady(
                "adopt-unhealthy",
                f"`{self.name}` answers that it cannot serve (status {status}).",
                hint=f"Look at its own log where it runs; the Studio only asks it. {_RETURNS}",
            )

    async def _models(self) -> list[_Model]:
        status, body = await self._get("/v1/models", _ANSWER_S)
        if status in (401, 403):
            raise BadInput(
                "adopt-key-refused",
                f"The vLLM at {self._place.url} wants {'another' if self._key else 'a'} key.",
                hint="Give it with `--key-file FILE`, or `--key-file -` to read it from standard "
                "input.",
            )
        if status >= 500:
            raise EngineNotReady(
                "adopt-unreachable",
                f"What is at {self._place.url} answers with status {status}: it is starting, or "
                "what is behind it is gone.",
                hint="Wait until it serves, then run it again.",
            )
        if status != 200:
            raise _not_vllm(self._place.url, f"`/v1/models` answers with status {status}")
        try:
            models = msgspec.json.decode(body, type=_Models).data
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise _not_vllm(self._place.url, "its list of models cannot be understood") from None
        if not models:
            raise _not_vllm(self._place.url, "it lists no models")
        if not all(_can_be_shown(one.id) for one in models):
            raise _not_vllm(self._place.url, "its models have names that cannot be shown")
        return models

    async def _version(self) -> str | None:
        body = await self._optional("/version")
        try:
            said = msgspec.json.decode(body, type=_Version).version if body is not None else None
            return said if said is not None and _can_be_shown(said) else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    async def _optional(self, path: str) -> bytes | None:
        """Return what it says there; None where it says nothing."""
        status, body = await self._get(path, _ANSWER_S)
        return body if status == 200 else None

    async def _get(self, path: str, timeout_s: float) -> tuple[int, bytes]:
        headers = [(b"authorization", b"Bearer " + self._key.encode())] if self._key else []
        try:
            status, _, body = await self._upstream.fetch(
                "GET", path, headers, timeout_s=timeout_s, limit_bytes=_LIMIT_BYTES
            )
        except StudioError as error:
            raise EngineNotReady(
                "adopt-unreachable",
                f"The vLLM at {self._place.url} cannot be reached: {_reason(error, self._place)}.",
                hint=f"See whether it runs there{_between(self._place)}. "
                + (_RETURNS if self._is_watched else "Nothing was adopted."),
            ) from error
        return status, body

    def _see(self) -> None:
        self._seen_at = time.time()
        if not self._is_there:
            self._is_there, self._error = True, None
            self._publish(self.snapshot())

    def _miss(self, error: StudioError) -> None:
        """Count a look that came to nothing; one that was only late is no loss by itself."""
        if self._is_there and _is_late(error) and self._missed + 1 < MISSES:
            self._count(self._missed + 1)
        else:
            self._missed = 0
            self._lose(error.info)

    def _count(self, missed: int) -> None:
        if missed != self._missed:
            self._missed = missed
            self._publish(self.snapshot())

    def _note(self) -> str | None:
        if not self._missed:
            return None
        looks = "look" if self._missed == 1 else f"{self._missed} looks"
        return f"It has not answered the last {looks}; after {MISSES} in a row it counts as gone."

    def _lose(self, error: ErrorInfo) -> None:
        was_there, before = self._is_there, self._error
        self._is_there, self._error = False, error
        if was_there or before != error:
            self._publish(self.snapshot())


_BROKE_OFF = (ConnectionResetError, ConnectionAbortedError, TimeoutError)
_RETURNS = "Its return is noticed by itself."


def _is_late(error: StudioError) -> bool:
    """Tell whether nothing answered, which is not the same as being refused."""
    cause = error.__cause__
    if not isinstance(cause, StudioError):
        return False  # it answered, and said that it cannot serve
    return cause.code == "engine-late" or isinstance(cause.__cause__, TimeoutError)


def _between(place: Place) -> str:
    return "" if place.is_here else ", and whether a firewall is between"


def _can_be_shown(text: str) -> bool:
    """Tell whether a stranger's word may go to a terminal: it could move the cursor there."""
    return text.isprintable() and 0 < len(text) <= _NAME_LIMIT


def _reason(error: StudioError, place: Place) -> str:
    match error.code:
        case "engine-late":
            return "it does not answer in time"
        case "engine-cut-off":
            return "it closed the connection"
        case "engine-unreachable":
            cause = error.__cause__
            if isinstance(cause, ssl.SSLCertVerificationError):
                return f"its certificate is not trusted ({cause.verify_message})"
            if isinstance(cause, ssl.SSLError) or (place.is_tls and isinstance(cause, _BROKE_OFF)):
                return "it does not agree on TLS, and may speak plain http"
            return str(getattr(cause, "strerror", None) or "nothing answers").lower()
        case _:
            return "what answers does not speak HTTP"


def _not_vllm(url: str, why: str) -> BadInput:
    return BadInput(
        "adopt-not-vllm",
        f"What answers at {url} is no vLLM: {why}.",
        hint="Give the address of the vLLM server itself, for example http://127.0.0.1:8000.",
    )


def read_place(text: str) -> Place:
    """Return the place that an address names.

    Raises: BadInput (`adopt-address`), also for one that holds a password.
    """
    scheme, separator, rest = text.strip().partition(":")
    if scheme == "unix" and separator:
        path = Path("/" + rest.lstrip("/")) if rest.startswith("/") else Path(rest)
        if not path.is_absolute():
            raise _no_address(text, "a socket is named by its whole path")
        return Place(url=f"unix:{path}", socket_path=path)
    if not separator or (scheme not in ("http", "https") and rest.partition("/")[0].isdecimal()):
        # `host:8000`, as people say it. Without a port any word would be one: no vLLM is at 80.
        if not re.search(r":\d+$", text.strip().partition("/")[0]):
            raise _no_address(text, "it names neither a port nor `http://`")
        return read_place(f"http://{text.strip()}")
    try:
        parts = urllib.parse.urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _no_address(text, str(error)) from None
    if parts.scheme not in ("http", "https") or not host:
        raise _no_address(text, "it has no host")
    if not host.isascii() or any(one.isspace() for one in host + parts.path):
        raise _no_address(text, "it holds characters that no address has")
    if parts.username is not None or parts.password is not None or parts.query:
        raise BadInput(
            "adopt-address",
            "The address holds a name, a password or a query; a key does not belong there.",
            hint="Give the key with `--key-file FILE`.",
        )
    is_tls = parts.scheme == "https"
    port = port if port is not None else 443 if is_tls else 80
    prefix = parts.path.rstrip("/").removesuffix("/v1")
    shown = f"[{host}]" if ":" in host else host
    return Place(
        url=f"{parts.scheme}://{shown}:{port}{prefix}",
        host=host,
        port=port,
        is_tls=is_tls,
        prefix=urllib.parse.quote(prefix, safe="/%"),
    )


def _no_address(text: str, why: str) -> BadInput:
    return BadInput(
        "adopt-address",
        f"`{text}` is no address of a vLLM: {why}.",
        hint="Write it like http://127.0.0.1:8000, https://HOST or unix:/run/vllm.sock.",
    )
