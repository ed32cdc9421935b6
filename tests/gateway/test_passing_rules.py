"""Rules, doctor and kept prompts in the running gateway: each where it belongs, and visible."""

import json

from studio.gateway import traps
from studio.gateway.adjust import Adjuster
from studio.gateway.cache_doctor import CacheDoctor
from studio.gateway.prompt_log import PromptLog
from studio.gateway.service import Gateway
from studio.host.paths import bundled_root
from tests.gateway.prompt_support import SYSTEM, talk

RULES = traps.load(bundled_root() / "runtimes" / "client_traps.toml")


async def opened(setup, tmp_path) -> tuple[Gateway, CacheDoctor, PromptLog]:
    """Replace the gateway by one with everything."""
    await setup.gateway.close()
    doctor, prompts = CacheDoctor(), PromptLog(tmp_path / "prompts")
    setup.gateway = Gateway(
        setup.keys,
        upstream=lambda: setup.target,
        on_record=setup.records.append,
        adjuster=Adjuster(RULES),
        doctor=doctor,
        prompts=prompts,
    )
    await setup.gateway.open()
    return setup.gateway, doctor, prompts


async def test_the_engine_gets_what_it_takes_and_the_list_says_so(setup, tmp_path):
    """A client sees no difference, a person does."""
    await opened(setup, tmp_path)

    answer = await setup.post("/v1/chat/completions", {"tools": [], "messages": talk(1)})

    assert answer.status_code == 200
    assert "tools" not in setup.engine.received[0].json
    (record,) = setup.records
    assert record.adjusted == ("tools-empty: tools left out",)
    (entry,) = await setup.keys.requests(key_id=None, count=1, errors_only=False)
    assert entry.adjusted == record.adjusted


async def test_a_request_that_nothing_fits_arrives_byte_for_byte(setup, tmp_path):
    """Spaces, order and numbers of its own."""
    await opened(setup, tmp_path)
    raw = b'{"model":"smollm2",  "temperature": 1.00, "messages":[ {"content":"x","role":"user"}]}'

    async with setup.client() as client:
        await client.post("/v1/chat/completions", content=raw)

    assert setup.engine.received[0].body == raw
    assert setup.records[0].adjusted == ()


async def test_the_doctor_hears_of_answers_and_of_nothing_else(setup, tmp_path):
    """With the program's name, as the engine got it."""
    _, doctor, _ = await opened(setup, tmp_path)
    heard = []
    doctor.hear = heard.append

    body = {"model": "smollm2", "max_tokens": 5, "system": SYSTEM, "messages": talk(2)}
    async with setup.client() as client:
        await client.post("/v1/messages", json=body, headers={"User-Agent": "claude-cli/2.1"})
        await client.get("/v1/models")
        await client.post("/v1/nothing", json=body)

    (case,) = heard
    assert (case.agent, case.route, case.model) == ("claude-cli", "/v1/messages", "smollm2")
    assert (case.prompt_tokens, case.cached_tokens) == (37, 0)
    assert json.loads(case.body) == body
    assert case.engine is setup.target.upstream


async def test_prompts_are_kept_for_the_key_that_has_it_on(setup, tmp_path):
    """As the client sent them."""
    _, _, prompts = await opened(setup, tmp_path)
    await setup.post("/v1/chat/completions", {"messages": talk(1), "tools": []})
    (key,) = setup.keys.list()
    prompts.switch(key.id, 60)

    await setup.post("/v1/chat/completions", {"messages": talk(0), "tools": []})

    (entry,) = prompts.entries(key.id, 5)
    assert json.loads(entry.body) == {"messages": talk(0), "tools": []}
    assert entry.route == "/v1/chat/completions"
