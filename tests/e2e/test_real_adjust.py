"""Rules and the prefix-cache doctor against the real vLLM: refused without, taken with."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import RealEngine, Serving
from tests.fakes import waiting

pytestmark = pytest.mark.real

DATA = Path(__file__).resolve().parents[1] / "data" / "engine" / "client-traps.json"
OF_TEMPLATES = ("effort-unknown", "system-twice", "system-late")
"""The demo's template refuses nothing; what those do is tested in tests/gateway."""
CASES = [
    one for one in json.loads(DATA.read_text(encoding="utf-8")) if one["rule"] not in OF_TEMPLATES
]
LINE = "x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch={:05x};"
RULES = "".join(f"Rule {number}: be brief, be right, be kind to people.\n" for number in range(60))


def short(case: dict[str, Any]) -> dict[str, Any]:
    """Return a request of a case that ends soon where it is taken."""
    body = {"model": "smollm2", **case["body"]}
    if case["route"] == "/v1/chat/completions":
        body.setdefault("max_tokens", 2)
    return body


def direct(engine: RealEngine) -> httpx.Client:
    """Return a client of the engine itself."""
    return httpx.Client(
        transport=httpx.HTTPTransport(uds=engine.socket),
        base_url="http://engine",
        headers={"Authorization": f"Bearer {engine.key}"},
        timeout=60,
    )


def gate(serving: Serving) -> httpx.Client:
    """Return a client of the gateway."""
    return httpx.Client(
        base_url=serving.base_url.removesuffix("/v1"),
        headers={"Authorization": f"Bearer {serving.api_key}", "User-Agent": "claude-cli/2.1"},
        timeout=60,
        trust_env=False,
    )


def test_what_the_engine_refuses_is_taken_through_the_gateway(
    serving: Serving, real_engine: RealEngine
) -> None:
    """Every rule for this engine, both ways; a vLLM that takes one by itself shows here."""
    refused, taken = {}, {}
    with direct(real_engine) as engine, gate(serving) as gateway:
        for case in CASES:
            answer = engine.post(case["route"], json=short(case))
            refused[case["name"]] = (answer.status_code, case["refused"] in answer.text)
            through = gateway.post(case["route"], json=short(case))
            taken[case["name"]] = (through.status_code, through.text[:200])

    assert {name: one for name, one in refused.items() if one != (400, True)} == {}
    assert {name: one for name, one in taken.items() if one[0] != 200} == {}
    shown = serving.weir.json("requests", "-n", str(len(CASES)))
    rules = {note.split(":")[0] for one in shown for note in one["adjusted"]}
    assert {case["rule"] for case in CASES} <= rules


def talk(serving: Serving, turns: range, head: str) -> list[int]:
    """Let an agent take its turns; return how many tokens of each came from the cache."""
    cached = []
    with gate(serving) as client:
        for turn in turns:
            messages = [
                {"role": "user", "content": f"Question {number} of this long talk?"}
                if number % 2 == 0
                else {"role": "assistant", "content": f"Answer {number}."}
                for number in range(2 * turn + 1)
            ]
            body = {
                "model": "smollm2",
                "max_tokens": 1,
                "system": head.format(turn) + RULES,
                "messages": messages,
            }
            usage = client.post("/v1/messages", json=body).json()["usage"]
            cached.append(usage.get("cache_read_input_tokens") or 0)
    return cached


def findings(serving: Serving) -> list[dict[str, Any]]:
    """Return what the doctor has found about this client."""
    found = serving.weir.json("cache")["findings"]
    return [one for one in found if one["agent"] == "claude-cli" and one["ended_at"] is None]


def test_a_head_that_changes_is_found_by_what_the_engine_counts(serving: Serving) -> None:
    """The time of day above the rules costs the whole prompt; below a talk it costs nothing."""
    lost = talk(serving, range(5), "It is 12:{:02d} now.\n")

    waiting.until(lambda: bool(findings(serving)), "the doctor's finding")
    (found,) = findings(serving)
    assert found["place"]["kind"] == "system"
    assert (found["place"]["line"], found["place"]["looks_like"]) == (1, "time")
    assert found["lost_tokens"] > 500
    assert found["lost_s"] is None or found["lost_s"] > 0
    assert max(lost) < found["lost_tokens"]
    assert serving.weir.json("status")["cache_findings"] == 1

    kept = talk(serving, range(12), "It is noon.\n")
    assert min(kept[1:]) > 500
    waiting.until(lambda: not findings(serving), "the end of the finding")


def test_the_line_of_an_agent_costs_nothing_on_this_engine(serving: Serving) -> None:
    """vLLM takes it out by itself; where it no longer does, the rule for it is worth a word."""
    kept = talk(serving, range(4), LINE.replace("{:05x}", "{:05d}") + "\n")

    assert min(kept[1:]) > 500


def test_why_the_engine_refused_is_in_the_list(serving: Serving) -> None:
    """Without what was asked."""
    secret = "the words of a person"
    with gate(serving) as client:
        body = {"model": "smollm2", "messages": [{"role": "user", "content": secret}], "n": 0}
        assert client.post("/v1/chat/completions", json=body).status_code == 400

    (entry,) = serving.weir.json("requests", "-n", "1")
    assert "n must be at least 1" in entry["reason"]
    assert secret not in json.dumps(entry)
