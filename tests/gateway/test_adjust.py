"""Requests that break are changed by rule, visibly; all others pass byte for byte."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.gateway import traps
from studio.gateway.adjust import Adjusted, Adjuster
from studio.gateway.engine import EngineTarget
from studio.host.http_client import Upstream
from studio.host.paths import bundled_root

DATA = Path(__file__).resolve().parents[1] / "data" / "engine"
RULES = traps.load(bundled_root() / "runtimes" / "client_traps.toml")
CASES: list[dict[str, Any]] = json.loads((DATA / "client-traps.json").read_text(encoding="utf-8"))
TEMPLATE = (DATA / "qwen-like.jinja").read_text(encoding="utf-8")
ENGINE = EngineTarget(
    upstream=Upstream(port=1), key=None, served_name="m", template=TEMPLATE, context_tokens=2_048,
    runtime="cpu-vllm-0.32.0",
)  # fmt: skip
PLAIN = dataclasses.replace(ENGINE, template=None)
OF_TEMPLATES = {rule.id for rule in RULES if rule.template_has}
CHAT = "/v1/chat/completions"
LINE = "x-anthropic-billing-header: cc_version=2.1.1; cch=abc12;"


def adjuster(**chosen: bool) -> Adjuster:
    """Return one with all rules; `attribution_line=True` allows that one."""
    made = Adjuster(RULES)
    made.choose({name.replace("_", "-"): is_on for name, is_on in chosen.items()}, {})
    return made


def adjust(body: Any, route: str = CHAT, *, by: Adjuster | None = None, key: str | None = None,
           engine: EngineTarget = ENGINE) -> Adjusted:  # fmt: skip
    """Return what becomes of a body."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    return (by or adjuster()).adjust(raw, fields, route, engine, key)


@pytest.mark.parametrize("case", CASES, ids=lambda one: one["name"])
def test_what_is_refused_becomes_what_is_taken(case: dict[str, Any]) -> None:
    """Each was tried against the real engine, before and after (tests/e2e)."""
    engine = ENGINE if case["rule"] in OF_TEMPLATES else PLAIN
    done = adjust(case["body"], case["route"], engine=engine)

    assert json.loads(done.body) == case["becomes"]
    assert any(note.startswith(f"{case['rule']}: ") for note in done.notes)


@pytest.mark.parametrize("case", CASES, ids=lambda one: one["name"])
def test_what_is_taken_is_left_alone_byte_for_byte(case: dict[str, Any]) -> None:
    """Also by all other rules, and the second time."""
    raw = json.dumps(case["becomes"], indent=1).encode()

    done = adjust(raw, case["route"])

    assert done.body is raw
    assert done.notes == ()


@pytest.mark.parametrize("case", CASES, ids=lambda one: one["name"])
def test_with_its_rule_off_it_goes_on_as_it_came(case: dict[str, Any]) -> None:
    """One by one, and all together."""
    for off in ({case["rule"]: False}, {"all": False}):
        one = Adjuster(RULES)
        one.choose(off, {})
        done = adjust(case["body"], case["route"], by=one)
        assert not any(note.startswith(f"{case['rule']}: ") for note in done.notes)
    assert done.body == json.dumps(case["body"]).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["system", "", "high", "x"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["role", "content", "type", "tools", "stop", "arguments", "function"]),
        inner, max_size=3,
    ),
    max_leaves=12,
)  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from([
            "messages", "input", "tools", "tool_choice", "stop", "stream_options", "max_tokens",
            "reasoning_effort", "response_format", "system", "output_config", "thinking",
        ]),
        JSON, max_size=6,
    ),
    st.sampled_from([CHAT, "/v1/messages", "/v1/responses", "/v1/completions"]),
)  # fmt: skip
def test_nonsense_is_never_made_worse(body: dict, route: str) -> None:
    """A client that sends anything gets the engine's answer, not ours: no rule may raise."""
    done = adjust(body, route)

    assert isinstance(json.loads(done.body), dict)
    if not done.notes:
        assert done.body == json.dumps(body).encode()


def test_the_attribution_line_goes_only_where_it_is_allowed() -> None:
    """It is text of a prompt, though nobody's words."""
    body = {"system": [{"type": "text", "text": LINE}, {"type": "text", "text": "Be brief."}],
            "messages": [{"role": "user", "content": "Hi"}]}  # fmt: skip

    assert adjust(body, "/v1/messages").notes == ()
    done = adjust(body, "/v1/messages", by=adjuster(attribution_line=True))
    assert json.loads(done.body)["system"] == [{"type": "text", "text": "Be brief."}]
    assert done.notes == ("attribution-line: 1 line taken out",)


@pytest.mark.parametrize(
    ("route", "body", "expected"),
    [
        ("/v1/messages", {"system": f"{LINE}\nBe brief.", "messages": []},
         {"system": "Be brief.", "messages": []}),
        (CHAT, {"messages": [{"role": "system", "content": f"{LINE}\nBe brief."}]},
         {"messages": [{"role": "system", "content": "Be brief."}]}),
        ("/v1/responses", {"instructions": f"{LINE}\nBe brief.", "input": "Hi"},
         {"instructions": "Be brief.", "input": "Hi"}),
        (CHAT, {"messages": [{"role": "user", "content": f"{LINE}\nWhat is this?"}]}, None),
        (CHAT, {"messages": [{"role": "system", "content": f"Explain this: {LINE}"}]}, None),
    ],
)  # fmt: skip
def test_only_the_line_itself_goes_from_the_head_of_a_system_prompt(route, body, expected) -> None:
    """What a person asks about it is a question."""
    done = adjust(body, route, by=adjuster(attribution_line=True))

    assert json.loads(done.body) == (expected or body)


def test_a_key_may_be_another_case() -> None:
    """One agent's line goes, and everybody else's requests pass as they are."""
    one = adjuster()
    one.choose({}, {"k1": {"attribution-line": True}, "k2": {"all": False}})
    body = {"system": f"{LINE}\nBe brief.", "messages": [], "max_tokens": 99_999}

    assert [
        note.split(":")[0] for note in adjust(body, "/v1/messages", by=one, key="k1").notes
    ] == [
        "attribution-line",
        "answer-too-long",
    ]
    assert adjust(body, "/v1/messages", by=one, key="k2").notes == ()
    assert len(adjust(body, "/v1/messages", by=one, key="k3").notes) == 1


def test_what_has_to_be_shorter_than_an_answer_follows_it() -> None:
    """A budget for thinking above the new length would be the next refusal."""
    body = {"max_tokens": 32_000, "thinking": {"type": "enabled", "budget_tokens": 31_999},
            "messages": []}  # fmt: skip

    done = json.loads(adjust(body, "/v1/messages").body)

    assert (done["max_tokens"], done["thinking"]["budget_tokens"]) == (2_048, 2_047)


def test_notes_hold_no_words_of_a_person() -> None:
    """They stand in the list of requests, which holds no prompts."""
    secret = "the-words-of-a-person"
    body = {
        "tools": [{"type": secret, "name": secret}], "tool_choice": "auto", "stop": ["", secret],
        "max_tokens": 99_999, "stream_options": {secret: secret},
        "messages": [
            {"role": "system", "content": secret}, {"role": "system", "content": secret},
            {"role": "user", "content": [{"type": "input_text", "text": secret}]},
            {"role": "tool", "content": None, "tool_call_id": secret},
        ],
    }  # fmt: skip

    notes = adjust(body).notes

    assert len(notes) >= 6
    assert secret not in str(notes)


def test_rules_are_counted_and_known_by_engine() -> None:
    """`weir gateway adjust` shows which of them are of use here."""
    one = adjuster()
    adjust(CASES[0]["body"], by=one)
    adjust(CASES[0]["body"], by=one, engine=EngineTarget(upstream=ENGINE.upstream, key=None,
                                                         served_name="m"))  # fmt: skip

    assert one.times == {"effort-unknown": 1}
    assert "effort-unknown" in [rule.id for rule in one.fitting(ENGINE)]


def test_pictures_are_passed_over_and_a_body_of_them_is_changed_all_the_same() -> None:
    """What comes in pieces of a hundred megabytes is put together where it lies."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    body = {"tools": [], "messages": [{"role": "user", "content": [picture]}]}
    raw = bytearray(json.dumps(body).encode())
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])

    made = adjuster().adjust(raw, fields, CHAT, ENGINE, None)

    assert json.loads(made.body) == {"messages": body["messages"]}
    assert made.notes == ("tools-empty: tools left out",)


def test_what_is_too_large_to_be_held_twice_goes_on_as_it_is(monkeypatch) -> None:
    """The engine then says what it does not take."""
    monkeypatch.setattr("studio.gateway.adjust._MOST_BYTES", 1_000)
    body = {"tools": [], "messages": [{"role": "user", "content": "x" * 1_000}]}

    made = adjust(body)

    assert json.loads(made.body) == body
    assert made.notes == ()
