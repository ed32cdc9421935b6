"""The doctor at work: off the path of requests, bounded, and heard when it finds something."""

import asyncio
import dataclasses
import json

from studio.domain.cache import CacheFinding, ChangeKind
from studio.gateway import cache_doctor, cache_marks
from studio.gateway.cache_doctor import CacheDoctor, Case, agent_of
from studio.host.paths import bundled_root
from tests.fakes.waiting import until_async
from tests.gateway.prompt_support import SYSTEM, body, talk

MARKS = cache_marks.load(bundled_root() / "runtimes" / "cache_marks.toml")
LINE = "x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch={:05x};"
ENGINE = object()


def case(number: int, *, head: str = SYSTEM, **more) -> Case:
    """Return a request of Claude Code, its turn of that number."""
    given = {
        "at": 1_000.0 + number,
        "key_id": "k1",
        "agent": "claude-cli",
        "route": "/v1/messages",
        "model": "m",
        "body": body(talk(number), system=head),
        "prompt_tokens": 20_000,
        "cached_tokens": 16,
        "ttft_s": 13.3,
        "engine": ENGINE,
    }
    return Case(**(given | more))


async def look(doctor: CacheDoctor, *cases: Case) -> None:
    """Let the doctor look at some requests."""
    for one in cases:
        doctor.hear(one)
        await until_async(lambda: doctor.is_idle, "the doctor's leisure")


async def test_the_changing_line_of_an_agent_is_found_with_its_price_and_its_remedy():
    """The known case: 20,000 tokens a turn, thirteen seconds, for a line that means nothing."""
    heard: list[CacheFinding] = []
    doctor = CacheDoctor(MARKS, on_finding=heard.append)

    await look(doctor, *(case(n, head=f"{LINE.format(n * 7_919)}\n{SYSTEM}") for n in range(1, 8)))

    (finding,) = doctor.findings
    assert [one.id for one in heard] == [finding.id]
    assert finding.place.kind is ChangeKind.SYSTEM
    assert (finding.place.line, finding.place.tokens) == (1, 16)
    assert finding.place.looks_like == finding.adjustment == "attribution-line"
    assert (finding.lost_tokens, round(finding.prefill_tokens_per_s)) == (19_984, 1_503)
    assert 13 < finding.lost_s < 14
    assert (finding.changed, finding.compared, finding.ended_at) == (6, 6, None)


async def test_a_finding_ends_when_the_client_does_better_and_comes_back_with_a_word():
    """Who mends a client wants to see that it helped."""
    heard: list[CacheFinding] = []
    doctor = CacheDoctor(MARKS, on_finding=heard.append)
    await look(doctor, *(case(n, head=f"It is 1{n}:00.\n{SYSTEM}") for n in range(1, 6)))
    await look(doctor, *(case(n, cached_tokens=19_000) for n in range(6, 14)))
    assert [one.ended_at is None for one in doctor.findings] == [False]

    await look(doctor, *(case(n, head=f"It is {n}:00.\n{SYSTEM}") for n in range(14, 23)))

    assert [one.ended_at is None for one in doctor.findings] == [True]
    assert len(heard) == 2
    assert len({one.id for one in heard}) == 1


async def test_a_report_shows_how_each_client_fares():
    """Also those with which nothing is wrong."""
    doctor = CacheDoctor(MARKS)
    await look(
        doctor, case(1), case(2, cached_tokens=19_000), case(1, agent=None, cached_tokens=None)
    )

    report = doctor.report({"k1": "laptop"})

    assert [(one.key, one.agent, one.requests, one.cached_tokens) for one in report.clients] == [
        ("laptop", "claude-cli", 2, 19_016),
        ("laptop", None, 1, None),
    ]
    assert report.findings == ()


async def test_memory_and_work_are_bounded(monkeypatch):
    """A flood of long prompts is counted, not kept."""
    monkeypatch.setattr(cache_doctor, "_MOST_WAITING", 3)
    doctor = CacheDoctor(MARKS)
    for number in range(10):
        doctor.hear(case(number))
    doctor.hear(case(1, body=b"x" * (9 << 20)))
    doctor.hear(case(1, route="/v1/embeddings"))
    doctor.hear(dataclasses.replace(case(1), body=b"", is_too_large=True))

    assert doctor.not_compared == 9
    for number in range(200):
        doctor.hear(case(1, key_id=f"k{number}", body=b"short"))
    assert len(doctor.report({}).clients) <= 64
    doctor.close()
    assert doctor.is_idle


async def test_others_go_first_while_it_works():
    """A prompt of a megabyte is looked at in slices; the loop turns in between."""
    doctor = CacheDoctor(MARKS)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while not doctor.is_idle:
            turns += 1
            await asyncio.sleep(0)

    doctor.hear(case(1, head="A rule of the house, said at length.\n" * 20_000))
    async with asyncio.timeout(30):
        await others()

    assert turns > 10
    assert doctor.not_compared == 0


async def test_what_is_no_prompt_is_passed_over():
    """Engines answer nonsense with 200 now and then."""
    doctor = CacheDoctor(MARKS)

    await look(
        doctor, case(1, body=b"[" * 3_000), case(1, body=json.dumps({"a": "b" * 3_000}).encode())
    )

    assert doctor.findings == ()


async def test_what_is_known_of_a_key_goes_with_it():
    """A revoked key leaves nothing behind here."""
    doctor = CacheDoctor(MARKS)
    cases = [case(n, head=f"It is 1{n}:00.\n{SYSTEM}") for n in range(1, 6)]
    await look(doctor, *cases, *(case(n, key_id="k2") for n in range(1, 3)))
    assert doctor.findings

    doctor.forget("k1")

    assert doctor.findings == ()
    assert [one.key_id for one in doctor.report({}).clients] == ["k2"]
    doctor.forget()
    assert doctor.report({}).clients == ()


def test_a_program_is_called_by_its_name_without_a_version():
    """An update of a client is the same client; what a stranger writes is cut to a plain word."""
    assert agent_of(b"claude-cli/2.1.177 (external, cli)") == "claude-cli"
    assert agent_of(b"OpenAI/Python 1.2") == "OpenAI"
    assert agent_of(b"\x1b[31mred/1") == "[31mred"
    assert agent_of(b"x" * 500) == "x" * 40
    assert agent_of(b"") is None
    assert agent_of(None) is None
