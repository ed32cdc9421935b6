"""The gateway at its door: who may ask, what may be asked, and how it says no."""

import asyncio
import json

import httpx
import pytest

from studio.domain.errors import PortTaken
from studio.domain.keys import KeyLimits
from studio.gateway.service import Gateway
from studio.host.http_server import Exchange
from tests.gateway.recordings import recorded
from tests.host.http_support import client as raw_client

CHAT = "/v1/chat/completions"


def code_of(answer: httpx.Response) -> str:
    """Return our own error code."""
    return answer.headers["x-weir-error"]


async def test_anyone_may_ask_what_this_is_and_learns_nothing_more(setup):
    """A person who opens the address in a browser should not see a bare error."""
    async with setup.client(Accept="text/html") as client:
        answer = await client.get("/")

    assert answer.status_code == 200
    assert "Weir Studio" in answer.text
    assert "smollm2" not in answer.text
    assert setup.engine.received == []


@pytest.mark.parametrize("header", ["Authorization", "x-api-key"])
async def test_both_dialects_key_headers_are_taken_and_end_here(setup, header):
    """The engine knows one key, its own; a client's key must never reach its log."""
    value = f"bearer {setup.key}" if header == "Authorization" else setup.key
    async with setup.client(**{header: value}) as client:
        answer = await client.post(CHAT, json={"messages": []})

    assert answer.status_code == 200
    received = setup.engine.received[0]
    assert received.headers["authorization"] == "Bearer boot-key-of-this-engine"
    assert setup.key not in str(received)
    assert "x-api-key" not in received.headers


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"x-nothing": "1"}, "key-missing"),
        ({"Authorization": "Bearer"}, "key-missing"),
        ({"Authorization": "Basic dTpw"}, "key-missing"),
        ({"Authorization": "Bearer sk-weir-wrong"}, "key-refused"),
        ({"Authorization": "Bearer boot-key-of-this-engine"}, "key-refused"),
        ({"x-api-key": "sk-weir-wrong"}, "key-refused"),
    ],
)
@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/models"])
async def test_without_a_good_key_nothing_reaches_the_engine(setup, headers, code, path):
    """A key is needed on loopback too: every page and program of the machine can connect."""
    async with setup.client(**headers) as client:
        answer = await (
            client.get(path) if path == "/v1/models" else client.post(path, json={"messages": []})
        )

    assert (answer.status_code, code_of(answer)) == (401, code)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert setup.engine.received == []
    body = answer.json()
    if path == "/v1/messages":
        assert (body["type"], body["error"]["type"]) == ("error", "authentication_error")
    else:
        assert body["error"]["code"] == code


async def test_a_good_key_beside_a_bad_one_is_enough(setup):
    """Coding agents send an old token in one header and the key in the other."""
    headers = {"Authorization": "Bearer sk-ant-old", "x-api-key": setup.key}
    async with setup.client(**headers) as client:
        assert (await client.post("/v1/messages", json={})).status_code == 200


async def test_a_revoked_key_is_refused_from_now_on(setup):
    """Also on a connection that is open."""
    async with setup.client() as client:
        assert (await client.get("/v1/models")).status_code == 200
        await setup.keys.revoke("test")

        answer = await client.get("/v1/models")

    assert (answer.status_code, code_of(answer)) == (401, "key-refused")


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("localhost", True),
        ("LOCALHOST:9000", True),
        ("127.0.0.1", True),
        ("[::1]:18020", True),
        ("studio.example:80", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("evil.example:127.0.0.1", False),
        ("0.0.0.0", False),
        ("[::ffff:127.0.0.1]", False),
        ("localhost@evil.example", False),
        ("127.0.0.1:80@evil.example", False),
        ("127.0.0.1:evil", False),
        ("127.0.0.1:", False),
        ("", False),
    ],
)
async def test_only_known_hosts_are_answered(setup, host, is_allowed):
    """DNS rebinding: a page of evil.example whose name suddenly means 127.0.0.1."""
    async with setup.client(Authorization=f"Bearer {setup.key}", Host=host) as client:
        answer = await client.get("/v1/models")

    if is_allowed:
        assert answer.status_code == 200
    else:
        assert (answer.status_code, code_of(answer)) == (403, "host-refused")
        assert setup.engine.received == []


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:18020", ""])
async def test_a_page_that_is_not_allowed_gets_403_and_no_cors_header(setup, method, origin):
    """An answer that reflects the origin would open the gateway to every page."""
    headers = {"Authorization": f"Bearer {setup.key}", "Origin": origin}
    async with setup.client(**headers) as client:
        answer = await client.request(method, "/v1/models" if method == "GET" else CHAT)

    assert (answer.status_code, code_of(answer)) == (403, "origin-refused")
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert setup.engine.received == []


async def test_an_allowed_page_gets_its_own_name_and_no_star(setup):
    """What a person allowed must work: preflight, answer, and errors that the page can read."""
    origin = {"Origin": "https://app.example"}
    async with setup.client(**origin) as client:
        preflight = await client.options(CHAT)
        refused = await client.post(CHAT, json={})
    setup.engine.name = "chat"
    answer = await setup.post(CHAT, **origin)

    assert preflight.status_code == 204
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    assert refused.status_code == 401
    for each in (preflight, refused, answer):
        assert each.headers["access-control-allow-origin"] == "https://app.example"
    assert "origin" not in setup.engine.received[0].headers


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/metrics", 404, None),
        ("POST", "/invocations", 404, None),
        ("GET", "/v1/chat/completions/", 404, None),
        ("GET", CHAT, 405, "POST"),
        ("DELETE", "/v1/models", 405, "GET, HEAD"),
        ("POST", "/", 405, "GET, HEAD"),
        ("OPTIONS", CHAT, 405, "POST"),
        ("HEAD", CHAT, 405, "POST"),
    ],
)
async def test_other_paths_and_methods_are_refused(setup, method, path, status, allow):
    """What is not on the list does not exist."""
    async with setup.client() as client:
        answer = await client.request(method, path)

    assert answer.status_code == status
    assert answer.headers.get("allow") == allow
    assert setup.engine.received == []


async def test_the_list_of_models_hides_where_their_files_lie(setup):
    """Whoever was given a key need not know the owner's folders."""
    async with setup.client() as client:
        answer = await client.get("/v1/models")
        head = await client.head("/v1/models")

    engine = json.loads(recorded("models").body)
    assert "/srv/models" in json.dumps(engine)
    assert "/srv/models" not in answer.text
    assert [model["id"] for model in answer.json()["data"]] == ["smollm2", "demo"]
    assert answer.json()["data"][0]["max_model_len"] == 2048
    assert (head.status_code, head.content) == (200, b"")


async def test_one_model_is_answered_from_the_list(setup):
    """The engine has no such route, and clients ask for it."""
    async with setup.client() as client:
        found = await client.get("/v1/models/demo")
        missing = await client.get("/v1/models/gpt-4o")

    assert (found.status_code, found.json()["id"]) == (200, "demo")
    assert (missing.status_code, code_of(missing)) == (404, "model-unknown")
    assert "smollm2, demo" in missing.json()["error"]["message"]


@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
async def test_a_body_over_the_limit_gets_413(setup, path):
    """In the dialect's own words, and nothing of it reaches the engine."""
    answer = await setup.post(path, {"messages": "x" * (2 << 20)})

    assert (answer.status_code, code_of(answer)) == (413, "body-too-large")
    assert setup.engine.received == []
    if path == "/v1/messages":
        assert answer.json()["error"]["type"] == "request_too_large"


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/models"])
async def test_without_an_engine_the_answer_is_503_and_when_to_try_again(setup, path):
    """While a model boots, clients that honour Retry-After come back by themselves."""
    setup.target = None
    async with setup.client() as client:
        answer = await (
            client.get(path) if path == "/v1/models" else client.post(path, json={"messages": []})
        )

    assert (answer.status_code, code_of(answer)) == (503, "engine-not-ready")
    assert int(answer.headers["retry-after"]) > 0


async def test_a_key_over_its_limit_gets_429_while_others_go_on(setup):
    """One runaway agent must not take all seats."""
    limited = (await setup.keys.create("limited", KeyLimits(max_concurrent=1))).key
    running, release = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        running.set()
        await release.wait()
        answer = recorded("chat")
        exchange.respond(200, answer.headers, answer.body)

    setup.engine.act = slow
    async with (
        setup.client(Authorization=f"Bearer {limited}") as client,
        asyncio.TaskGroup() as group,
    ):
        first = group.create_task(client.post(CHAT, json={}))
        await running.wait()
        assert setup.gateway.info().in_flight == 1
        idle = group.create_task(setup.gateway.wait_idle())

        second = await client.post(CHAT, json={})
        assert (second.status_code, code_of(second)) == (429, "key-busy")
        assert "may have 1 request at a time" in second.text
        assert second.headers["retry-after"] == "1"

        assert not idle.done()
        release.set()
        assert (await first).status_code == 200
        await idle
        assert (await client.post(CHAT, json={})).status_code == 200


async def test_every_answer_carries_a_request_id_and_a_good_one_is_kept(setup):
    """It joins a client's report with the engine's log."""
    kept = await setup.post(CHAT, **{"X-Request-Id": "studio-1"})
    made = await setup.post(CHAT, **{"X-Request-Id": "no spaces, please"})

    assert kept.headers["x-request-id"] == "studio-1"
    assert len(made.headers["x-request-id"]) == 16
    assert [each.headers["x-request-id"] for each in setup.engine.received] == [
        "studio-1",
        made.headers["x-request-id"],
    ]


async def test_a_mistake_of_ours_is_a_500_in_the_dialect_with_an_id(setup, monkeypatch, caplog):
    """The log has the traceback, the client has the id."""

    def broken(self, exchange):
        raise ZeroDivisionError("inner detail")

    monkeypatch.setattr(Gateway, "_check_key", broken)
    answer = await setup.post("/v1/messages")

    assert answer.status_code == 500
    assert answer.json()["error"]["type"] == "api_error"
    assert "inner detail" not in answer.text
    incident = answer.json()["error"]["message"].rpartition("[")[2].rstrip("].")
    assert incident in caplog.text


async def test_what_is_not_http_is_refused_in_json(setup):
    """Clients parse every error body."""
    async with raw_client(setup.port) as raw:
        await raw.send(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        answer = await raw.answer()

    assert answer.status == 400
    assert json.loads(answer.body)["error"]["code"] == "host-header"


async def test_usage_is_counted_for_the_key_and_in_all(setup):
    """Each dialect and way, streamed or not, to the token."""
    bodies = [
        (CHAT, {"messages": []}),
        (CHAT, {"messages": [], "stream": True}),
        ("/v1/completions", {"prompt": "x", "stream": True}),
        ("/v1/responses", {"input": "x", "stream": True}),
        ("/v1/messages", {"messages": [], "stream": True}),
        ("/v1/messages", {"messages": []}),
    ]
    for path, body in bodies:
        assert (await setup.post(path, body)).status_code == 200
    setup.engine.name = "err-400-too-long"
    assert (await setup.post(CHAT)).status_code == 400

    info = setup.keys.list()[0]
    counters = setup.gateway.counters
    assert (info.requests, info.errors) == (7, 1)
    assert (info.prompt_tokens, info.generated_tokens) == (37 * 5 + 5, 8 * 6)
    assert (counters.prompt_tokens, counters.generated_tokens) == (37 * 5 + 5, 8 * 6)
    assert (counters.requests, counters.errors, counters.in_flight) == (7, 1, 0)
    assert counters.ttft_count == 4
    assert [record.is_stream for record in setup.records] == [False, True, True, True, True] + [
        False
    ] * 2
    assert all(record.ttft_s is not None for record in setup.records if record.is_stream)
    assert setup.records[-1].status == 400


async def test_refusals_are_recorded_with_their_code(setup):
    """The request log shows why somebody cannot get in."""
    async with setup.client(Authorization="Bearer wrong") as client:
        await client.post(CHAT, json={})

    record = setup.records[0]
    assert (record.status, record.code, record.key_id) == (401, "key-refused", None)
    assert setup.gateway.counters.refused == 1


async def test_the_address_is_known_while_open_and_gone_after(setup):
    """The window shows it with a copy button."""
    info = setup.gateway.info()
    assert info.base_url == f"http://127.0.0.1:{info.port}/v1"

    with pytest.raises(PortTaken):
        await Gateway(setup.keys, upstream=lambda: None).open("127.0.0.1", info.port)
    await setup.gateway.close()

    assert setup.gateway.info().base_url is None
    await setup.gateway.open("127.0.0.1", info.port)
    assert setup.gateway.info().port == info.port


async def test_an_alias_is_listed_asked_and_shown(setup):
    """A client whose menu knows only other names works without a change."""
    setup.gateway.allow(aliases={"gpt-4o": "", "gone": "other"})
    async with setup.client() as client:
        listed = [one["id"] for one in (await client.get("/v1/models")).json()["data"]]
        shown = (await client.get("/v1/models/gpt-4o")).json()
        answer = await client.post(CHAT, json={"model": "gpt-4o", "messages": []})

    assert listed == ["smollm2", "demo", "gpt-4o"]
    assert shown["max_model_len"] > 0
    assert answer.status_code == 200
    assert setup.engine.received[-1].json["model"] == "smollm2"
    assert setup.records[-1].model == "gpt-4o"


@pytest.mark.parametrize(
    "path", ["/v1/rerank", "/v1/score", "/pooling", "/classify", "/tokenize", "/detokenize"]
)
async def test_what_some_engines_serve_passes_and_others_say_they_do_not(setup, path):
    """The stand-in is a chat model."""
    answer = await setup.post(path, {"input": "x"})

    assert (answer.status_code, code_of(answer)) == (404, "route-not-served")


async def test_a_recording_goes_to_the_engine_as_it_came(setup):
    """Forms are no JSON; nothing is appended to them."""

    async def heard(exchange: Exchange) -> None:
        exchange.respond(200, [(b"content-type", b"application/json")], b'{"text": "hello"}')

    setup.engine.act = heard
    async with setup.client() as client:
        answer = await client.post(
            "/v1/audio/transcriptions", files={"file": ("a.wav", b"RIFF")}, data={"model": "w"}
        )

    assert answer.json() == {"text": "hello"}
    received = setup.engine.received[-1]
    assert received.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b"RIFF" in received.body
