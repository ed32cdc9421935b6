"""What an attacker would send to the gateway, as bytes, and which answer repels it. Pure.

Each attack is aimed at one defence and goes past all others, so that its success names what is
missing. Sources: RFC 9110 and 9112 (framing, targets, Host), the request-smuggling variants known
as CL.TE, TE.CL and TE.TE, DNS rebinding and CSRF as pages in a browser can do them.
"""

import base64
import dataclasses
import enum
from collections.abc import Iterator

from studio.domain.selftest import Defence
from studio.host.addresses import in_url

MARK = "x-weir-attack"
"""Names the attack to the stand-in for the engine, which must never see it."""
_CHAT = "/v1/chat/completions"
_BODY = b'{"messages":[]}'
_EVIL = "http://evil.example"


class Manner(enum.Enum):
    """How the bytes are sent."""

    AT_ONCE = "at-once"
    DRIP = "drip"
    """The head, byte by byte, without an end."""
    SILENT = "silent"
    """All that there is, and then nothing: the rest never comes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where an attack takes place."""

    address: str = "127.0.0.1"
    port: int
    key: str
    """A key of the gateway; at the live one, a key that nobody has."""
    head_bytes: int
    """Most that a head may hold."""
    head_count: int
    body_bytes: int
    mark: str = ""
    """Tells the gateway that an attack is its own; none on the twin."""

    @property
    def host(self) -> str:
        """Return the name that the gateway answers to."""
        return f"{in_url(self.address)}:{self.port}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attack. Repelled: the first answer has one of `statuses` and there is no second."""

    code: str
    title: str
    defence: Defence
    sent: bytes
    statuses: frozenset[int]
    manner: Manner = Manner.AT_ONCE
    needs_key: bool = False
    """Says nothing without a valid key."""
    may_reach: bool = False
    """Is an honest request but for its headers: it may reach the engine, cleaned."""


def attacks(ground: Ground) -> tuple[Attack, ...]:
    """Return all attacks, in the order in which they are told."""
    return (
        *_host(ground),
        *_origin(ground),
        *_key(ground),
        *_routes(ground),
        *_sizes(ground),
        *_framing(ground),
        *_lines(ground),
        *_target(ground),
        *_headers(ground),
        *_time(ground),
    )


def _attack(
    code: str,
    title: str,
    defence: Defence,
    sent: bytes,
    statuses: tuple[int, ...],
    *,
    manner: Manner = Manner.AT_ONCE,
    needs_key: bool = False,
    may_reach: bool = False,
) -> Attack:
    return Attack(
        code=code,
        title=title,
        defence=defence,
        sent=sent.replace(b"@CODE@", code.encode()),
        statuses=frozenset(statuses),
        manner=manner,
        needs_key=needs_key,
        may_reach=may_reach,
    )


def _request(
    ground: Ground,
    *headers: str,
    method: str = "POST",
    target: str = _CHAT,
    host: str | None = None,
    key: bool = True,
    body: bytes | None = None,
    closes: bool = True,
) -> bytes:
    """Return a request that is honest but for what is given."""
    if body is None:
        body = _BODY if method == "POST" else b""
    lines = [
        f"{method} {target} HTTP/1.1",
        f"host: {host or ground.host}",
        f"{MARK}: {ground.mark}@CODE@",
    ]
    if key:
        lines.append(f"authorization: Bearer {ground.key}")
    if method == "POST":
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    if closes:
        lines.append("connection: close")
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def _raw(
    ground: Ground, *headers: str, rest: bytes = b"", end: str = "\r\n", target: str = _CHAT
) -> bytes:
    """Return a request whose framing headers are `headers`, and what stands behind its head."""
    lines = [
        f"POST {target} HTTP/1.1",
        f"host: {ground.host}",
        f"{MARK}: {ground.mark}@CODE@",
        f"authorization: Bearer {ground.key}",
        "content-type: application/json",
        *headers,
        "",
        "",
    ]
    return end.join(lines).encode("latin-1") + rest


def _inner(ground: Ground) -> bytes:
    """Return the request that is smuggled inside another one's body."""
    return _request(ground)


def _host(ground: Ground) -> Iterator[Attack]:
    port = ground.port
    names = {
        "rebinding": ("A page's own name, pointed at this machine", f"evil.example:{port}"),
        "rebinding-suffix": ("A name that begins like ours", f"127.0.0.1.evil.example:{port}"),
        "rebinding-localhost": ("A name that ends like ours", f"evil.localhost:{port}"),
        "rebinding-user": ("A name hidden behind a user", f"127.0.0.1:{port}@evil.example"),
        "rebinding-unspecified": ("The address that is none", f"0.0.0.0:{port}"),
    }
    for code, (title, host) in names.items():
        yield _attack(code, title, Defence.HOST, _request(ground, host=host), (400, 403))


def _origin(ground: Ground) -> Iterator[Attack]:
    for code, title, origin in (
        ("origin-foreign", "A page of another origin", _EVIL),
        ("origin-null", "A page without an origin (a file, a sandbox)", "null"),
        ("origin-alike", "An origin that begins like ours", f"http://{ground.host}.evil.example"),
    ):
        sent = _request(ground, f"origin: {origin}")
        yield _attack(code, title, Defence.ORIGIN, sent, (403,))
    preflight = _request(
        ground,
        f"origin: {_EVIL}",
        "access-control-request-method: POST",
        "access-control-request-headers: authorization",
        method="OPTIONS",
        key=False,
    )
    title = "A page asks whether it may"
    yield _attack("origin-preflight", title, Defence.ORIGIN, preflight, (403,))


def _key(ground: Ground) -> Iterator[Attack]:
    key, defence = ground.key, Defence.KEY
    basic = base64.b64encode(f"user:{key}".encode()).decode()
    missing = _request(ground, key=False)
    yield _attack("key-missing", "No key", defence, missing, (401,))
    unknown = _request(ground, "authorization: Bearer sk-weir-nobody", key=False)
    yield _attack("key-unknown", "A key that nobody has", defence, unknown, (401,))
    empty = _request(ground, "authorization: Bearer ", "x-api-key:", key=False)
    yield _attack("key-empty", "An empty key", defence, empty, (401,))
    models = _request(ground, key=False, method="GET", target="/v1/models")
    yield _attack("key-for-models", "The list of models without a key", defence, models, (401,))
    places = {
        "key-in-query": ("A key in the address", (), f"{_CHAT}?api_key={key}&key={key}"),
        "key-in-header": ("A key in another header", (f"api-key: {key}",), _CHAT),
        "key-in-cookie": ("A key in a cookie", (f"cookie: key={key}; token={key}",), _CHAT),
        "key-basic": ("A key as a password", (f"authorization: Basic {basic}",), _CHAT),
        "key-cut": ("A key without its end", (f"authorization: Bearer {key[:-1]}",), _CHAT),
    }
    for code, (title, headers, target) in places.items():
        sent = _request(ground, *headers, key=False, target=target)
        yield _attack(code, title, defence, sent, (401,), needs_key=True)


_CLOSED = (
    "/metrics", "/invocations", "/generative_scoring", "/kv_event_sources", "/health", "/version",
    "/docs", "/openapi.json", "/server_info", "/sleep", "/scale_elastic_ep",
    "/v1/load_lora_adapter", "/control/v1/status", "/control/v1/keys", "/control/v1/events", "/v1",
)  # fmt: skip
"""What engines leave open, or the Studio has elsewhere."""
_TRICKS = {
    "double-slash": "//v1/chat/completions",
    "double-slash-inside": "/v1//chat/completions",
    "dot": "/./v1/chat/completions",
    "dot-dot": "/v1/chat/completions/../../../metrics",
    "encoded-dots": "/v1/%2e%2e/metrics",
    "encoded-slash": "/v1%2fchat%2fcompletions",
    "encoded-twice": "/v1/%252e%252e/metrics",
    "encoded-letter": "/v1/chat/completion%73",
    "capitals": "/V1/Chat/Completions",
    "trailing-slash": "/v1/chat/completions/",
    "parameter": "/v1/chat/completions;x=1",
    "encoded-end": "/v1/chat/completions%00",
    "backslash": "/v1\\chat\\completions",
    "behind-a-model": "/v1/models/../../metrics",
}


def _routes(ground: Ground) -> Iterator[Attack]:
    for path in _CLOSED:
        for method in ("GET", "POST"):
            code = f"closed{path.replace('/', '-')}-{method.lower()}".replace("_", "-")
            sent = _request(ground, method=method, target=path)
            title = f"{method} {path}"
            yield _attack(code, title, Defence.ROUTES, sent, (400, 404, 405), needs_key=True)
    for name, path in _TRICKS.items():
        sent = _request(ground, target=path)
        title = f"Path trick: {path}"
        statuses = (400, 404, 405)
        yield _attack(f"path-{name}", title, Defence.ROUTES, sent, statuses, needs_key=True)
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        sent = _request(ground, method=method)
        title = f"{method} where only POST is taken"
        code = f"method-{method.lower()}"
        yield _attack(code, title, Defence.ROUTES, sent, (400, 404, 405), needs_key=True)


def _sizes(ground: Ground) -> Iterator[Attack]:
    many = ground.body_bytes + 1
    declared = _raw(ground, f"content-length: {many}", "connection: close")
    yield _attack(
        "body-declared", "A body that says it is too large", Defence.BODY_SIZE, declared, (413,),
        needs_key=True,
    )  # fmt: skip
    chunk = b"%x\r\n" % many + b" " * many + b"\r\n0\r\n\r\n"
    chunked = _raw(ground, "transfer-encoding: chunked", "connection: close", rest=chunk)
    yield _attack(
        "body-chunked", "A body that is too large and does not say so", Defence.BODY_SIZE, chunked,
        (413,), needs_key=True,
    )  # fmt: skip
    defence = Defence.HEAD_SIZE
    large = _request(ground, f"x-filler: {'a' * (ground.head_bytes + 1)}")
    yield _attack("head-large", "A header that is too large", defence, large, (400, 431))
    fillers = [f"x-filler-{number}: a" for number in range(ground.head_count + 1)]
    yield _attack("head-many", "Too many headers", defence, _request(ground, *fillers), (400, 431))
    target = f"{_CHAT}?{'a' * (ground.head_bytes + 1)}"
    long = _request(ground, target=target)
    yield _attack("head-target", "An address that is too long", defence, long, (400, 414, 431))
    endless = _raw(ground, f"x-endless: {'a' * (2 * ground.head_bytes)}")[:-4]
    yield _attack("head-endless", "A header that never ends", defence, endless, (400, 431))


def _framing(ground: Ground) -> Iterator[Attack]:
    defence, smuggled = Defence.FRAMING, _inner(ground)
    chunked = "transfer-encoding: chunked"
    ends = b"0\r\n\r\n"
    variants: dict[str, tuple[str, tuple[str, ...], bytes]] = {
        "cl-te": (
            "CL.TE: a length and chunks, the length counts",
            (f"content-length: {len(ends) + len(smuggled)}", chunked),
            ends + smuggled,
        ),
        "te-cl": (
            "TE.CL: chunks and a length, the chunks count",
            (chunked, "content-length: 4"),
            b"%x\r\n" % len(smuggled) + smuggled + b"\r\n" + ends,
        ),
        "te-te": (
            "TE.TE: a second coding that nobody knows",
            (chunked, "transfer-encoding: identity"),
            ends + smuggled,
        ),
        "te-list": ("Chunks, and then not", ("transfer-encoding: chunked, identity",), ends),
        "te-unknown": ("A coding that is none", ("transfer-encoding: xchunked",), ends + smuggled),
        "te-gzip": ("A coding before the chunks", ("transfer-encoding: gzip, chunked",), ends),
        "te-quoted": ("A coding in quotes", ('transfer-encoding: "chunked"',), ends + smuggled),
        "cl-twice": (
            "Two lengths",
            ("content-length: 0", f"content-length: {len(smuggled)}"),
            smuggled,
        ),
        "cl-twice-alike": ("The same length twice", ("content-length: 2",) * 2, b"{}"),
        "cl-list": ("A list of lengths", ("content-length: 2, 2",), b"{}"),
        "cl-plus": ("A length with a sign", ("content-length: +2",), b"{}"),
        "cl-negative": ("A length below zero", ("content-length: -1",), smuggled),
        "cl-hex": ("A length in another base", ("content-length: 0x2",), b"{}"),
        "cl-endless": ("A length beyond all numbers", ("content-length: " + "9" * 30,), b"{}"),
        "chunk-sign": ("A chunk below zero", (chunked,), b"-2\r\n{}\r\n" + ends),
        "chunk-hex": ("A chunk size with a prefix", (chunked,), b"0x2\r\n{}\r\n" + ends),
        "chunk-endless": ("A chunk beyond all numbers", (chunked,), b"f" * 17 + b"\r\n{}\r\n"),
        "chunk-overrun": ("A chunk longer than it says", (chunked,), b"2\r\n{}XX" + ends),
    }
    for code, (title, headers, rest) in variants.items():
        sent = _raw(ground, *headers, rest=rest)
        yield _attack(f"smuggle-{code}", title, defence, sent, (400, 413, 501))
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield _attack("protocol-2", "HTTP/2 without being asked", defence, preface, (400, 505))
    yield _attack("protocol-0-9", "HTTP/0.9", defence, b"GET /v1/models\r\n\r\n", (400, 505))
    old = _raw(ground, chunked, rest=ends + smuggled).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    yield _attack("protocol-1-0-chunks", "Chunks in HTTP/1.0", defence, old, (400,))


def _lines(ground: Ground) -> Iterator[Attack]:
    defence, smuggled = Defence.LINES, _inner(ground)
    length = f"content-length: {len(_BODY)}"
    sent = {
        "obs-fold": ("A folded header", _raw(ground, "x-a: 1\r\n 2", length, rest=_BODY)),
        "obs-fold-te": (
            "A folded coding",
            _raw(ground, "transfer-encoding:\r\n chunked", rest=b"0\r\n\r\n" + smuggled),
        ),
        "bare-lf": ("Line feeds alone", _raw(ground, length, end="\n", rest=_BODY)),
        "bare-lf-one": ("One bare line feed", _raw(ground, f"x-a: 1\n{length}", rest=_BODY)),
        "bare-cr": ("A bare carriage return", _raw(ground, f"x-a: 1\rx-b: 2\r\n{length}")),
        "space-before-colon": (
            "A blank before the colon",
            _raw(ground, "transfer-encoding : chunked", rest=b"0\r\n\r\n" + smuggled),
        ),
        "nul": ("A null in a header", _raw(ground, "x-a: 1\x002", length, rest=_BODY)),
        "vertical-tab": (
            "A tabulator in front of the coding",
            _raw(ground, "transfer-encoding: \x0bchunked", rest=b"0\r\n\r\n" + smuggled),
        ),
        "no-colon": ("A header without a colon", _raw(ground, "x-a 1", length, rest=_BODY)),
        "chunk-lf": (
            "A chunk that ends in a line feed",
            _raw(ground, "transfer-encoding: chunked", rest=b"2\n{}\r\n0\r\n\r\n"),
        ),
    }
    for code, (title, raw) in sent.items():
        yield _attack(f"lines-{code}", title, defence, raw, (400,))
    hosts = _request(ground, "host: evil.example")
    yield _attack("host-twice", "Two Host headers", Defence.TARGET, hosts, (400,))
    none = _request(ground).replace(f"host: {ground.host}\r\n".encode(), b"")
    yield _attack("host-missing", "No Host header", Defence.TARGET, none, (400,))


def _target(ground: Ground) -> Iterator[Attack]:
    for code, title, target in (
        ("absolute-own", "Our own address as the target", f"http://{ground.host}{_CHAT}"),
        ("absolute-foreign", "Another address as the target", "http://evil.example/v1/models"),
        ("absolute-metrics", "The engine's metrics by address", f"http://{ground.host}/metrics"),
    ):
        sent = _request(ground, target=target)
        yield _attack(f"target-{code}", title, Defence.TARGET, sent, (400,))
    connect = _request(ground, method="CONNECT", target="evil.example:443")
    title = "A tunnel to elsewhere"
    yield _attack("target-connect", title, Defence.TARGET, connect, (400, 405))


def _headers(ground: Ground) -> Iterator[Attack]:
    steering = _request(
        ground,
        "connection: authorization, x-request-id",
        "cookie: session=1",
        "proxy-authorization: Basic eDp5",
        "x-api-key: " + ground.key,
        "forwarded: for=127.0.0.1",
    )
    yield _attack(
        "headers-steering", "Headers that steer what the engine gets", Defence.HEADERS, steering,
        (200,), needs_key=True, may_reach=True,
    )  # fmt: skip


def _time(ground: Ground) -> Iterator[Attack]:
    defence = Defence.TIME
    drip = _raw(ground, "x-drip: ")[:-4]
    yield _attack(
        "slow-head", "A head that comes byte by byte", defence, drip, (408,), manner=Manner.DRIP,
        needs_key=True,
    )  # fmt: skip
    late = _raw(ground, "content-length: 100", rest=b"{")
    yield _attack(
        "slow-body", "A body that never comes", defence, late, (408,), manner=Manner.SILENT,
        needs_key=True,
    )  # fmt: skip
    yield _attack(
        "slow-silence", "A connection that says nothing", defence, b"", (408,),
        manner=Manner.SILENT, needs_key=True,
    )  # fmt: skip
