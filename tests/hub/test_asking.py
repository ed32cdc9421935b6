"""Questions to a hub: to whom a token is told, and what each refusal means."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from studio.domain.downloads import HubName
from studio.domain.errors import StudioError
from studio.hub.access import Access
from studio.hub.asking import Asking, Subject, opened
from tests.fakes import hub as fake
from tests.fakes.hub import NAME, Hub
from tests.hub.test_get import SECRET, a_hub, access

ANSWER = (200, {"Content-Type": "application/json"}, b"[]")
SUBJECT = Subject(repository=NAME, revision="main")
FILE = Subject(repository=NAME, revision="main", file="config.json")
Answer = tuple[int, dict[str, str], bytes]


@contextlib.asynccontextmanager
async def asking(
    tmp_path: Path, *answers: Answer, hub: HubName = HubName.HUGGING_FACE, **environ: str
) -> AsyncIterator[tuple[Asking, Hub, list[str]]]:
    """Yield one who asks a hub that answers so first, and the notes."""
    notes: list[str] = []
    with fake.running(a_hub(faults={"/question": list(answers)})) as one:
        way = access(one, tmp_path, **environ)
        async with opened(way, hub, notes.append) as made:
            yield made, one, notes


async def refused(
    tmp_path: Path, *answers: Answer, subject: Subject = SUBJECT, **environ: str
) -> StudioError:
    """Ask in vain."""
    async with asking(tmp_path, *answers, **environ) as (one, hub, _notes):
        with pytest.raises(StudioError) as caught:
            await one.get(f"{hub.url}/question", subject)
    assert SECRET not in str(caught.value.info)
    return caught.value


def holders(hub: Hub) -> set[str]:
    """Return the hosts that were told the token in whatever way."""
    return {host for host, path, headers in hub.asked if SECRET in f"{path}{headers}"}


async def test_a_redirect_to_another_host_goes_without_the_token(tmp_path: Path) -> None:
    """Another port is another host: whoever listens there is not the hub."""
    async with asking(tmp_path, HF_TOKEN=SECRET) as (one, hub, _notes):
        elsewhere = {"Location": f"{hub.cdn}/question"}
        hub.faults["/question"] += [(302, elsewhere, b""), ANSWER]
        await one.get(f"{hub.url}/question", SUBJECT)

        assert [host for host, _path, _headers in hub.asked] == [hub.url, hub.cdn]
        assert holders(hub) == {hub.url}


async def test_a_redirect_to_the_hub_itself_keeps_the_token(tmp_path: Path) -> None:
    """Renamed repositories are answered so, gated ones as well."""
    async with asking(tmp_path, HF_TOKEN=SECRET) as (one, hub, _notes):
        hub.faults["/question"] += [(307, {"Location": "/question/2"}, b""), ANSWER]
        await one.get(f"{hub.url}/question", SUBJECT)

        told = [SECRET in str(headers) for _host, _path, headers in hub.asked]
        assert told == [True, True]


async def test_a_question_to_another_host_goes_without_the_token(tmp_path: Path) -> None:
    """A list's next page is an address that the answer names."""
    async with asking(tmp_path, ANSWER, HF_TOKEN=SECRET) as (one, hub, _notes):
        await one.get(f"{hub.cdn}/question", SUBJECT)

        assert holders(hub) == set()


async def test_modelscope_gets_its_token_as_its_own_program_sends_it(tmp_path: Path) -> None:
    """Its API reads the cookie; the token of the other hub is not told."""
    named = {"MODELSCOPE_API_TOKEN": SECRET, "HF_TOKEN": "hf_other"}
    scope = HubName.MODEL_SCOPE
    async with asking(tmp_path, ANSWER, hub=scope, **named) as (one, hub, _notes):
        await one.get(f"{hub.url}/question", SUBJECT)

        headers = {name.lower(): text for name, text in hub.asked[0][2].items()}
        assert headers["cookie"] == f"m_session_id={SECRET}"
        assert "hf_other" not in str(headers)


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        ("https://huggingface.co/api", True),
        ("https://huggingface.co", True),
        ("http://huggingface.co/api", False),
        ("https://huggingface.co:8443/api", False),
        ("https://huggingface.co@evil.example/api", False),
        ("https://huggingface.co.evil.example/api", False),
        ("https://evil.example/huggingface.co", False),
        ("https://evilhuggingface.co/", False),
        ("https://huggingface.co\\@evil.example/", False),
        ("//huggingface.co/api", False),
    ],
)
async def test_only_scheme_host_and_port_together_are_the_hub(
    url: str, is_own: bool, tmp_path: Path
) -> None:
    """Look-alikes are how tokens are stolen."""
    way = access(Hub(files={}, url="https://huggingface.co"), tmp_path)
    async with opened(way, HubName.HUGGING_FACE) as one:
        assert one.is_own(url) is is_own


@pytest.mark.parametrize(
    ("status", "headers", "subject", "code"),
    [
        (401, {"X-Error-Code": "GatedRepo"}, SUBJECT, "model-gated"),
        (403, {"X-Error-Code": "GatedRepo"}, FILE, "model-gated"),
        (401, {"X-Error-Code": "RepoNotFound"}, SUBJECT, "model-unknown"),
        (404, {"X-Error-Code": "RepoNotFound"}, FILE, "model-unknown"),
        (404, {}, SUBJECT, "model-unknown"),
        (404, {}, FILE, "model-file-unknown"),
        (404, {"X-Error-Code": "EntryNotFound"}, SUBJECT, "model-file-unknown"),
        (404, {"X-Error-Code": "RevisionNotFound"}, FILE, "revision-unknown"),
        (401, {}, SUBJECT, "hub-login"),
        (401, {"X-Error-Message": "Invalid credentials in Authorization header"}, FILE,
         "hub-login"),
        (403, {}, SUBJECT, "hub-refused"),
        (451, {}, FILE, "hub-refused"),
        (407, {}, SUBJECT, "proxy-refused"),
        (511, {}, SUBJECT, "login-page"),
    ],
)  # fmt: skip
async def test_each_refusal_has_its_own_meaning(
    status: int, headers: dict[str, str], subject: Subject, code: str, tmp_path: Path
) -> None:
    """Each of them has another remedy; none of them is asked a second time."""
    error = await refused(tmp_path, (status, headers, b"{}"), subject=subject, HF_TOKEN=SECRET)

    assert error.code == code
    assert error.info.hint


async def test_a_gated_model_leads_to_its_page_and_says_whether_a_token_was_used(
    tmp_path: Path,
) -> None:
    """Most people have an account and forgot the licence."""
    answer = (403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "ask the owner"}, b"")
    with_token = await refused(tmp_path, answer, HF_TOKEN=SECRET)
    without = await refused(tmp_path, answer)

    assert str(with_token.info.data["url"]).endswith(f"/{NAME}")
    assert with_token.info.evidence == ("ask the owner",)
    assert "The token in use" in with_token.message
    assert "without a token" in without.message


@pytest.mark.parametrize(
    ("body", "evidence"),
    [
        (b'{"error": "said so"}', ("said so",)),
        (b'{"Code": 1, "Message": "said so"}', ("said so",)),
        (b'{"error": ["no text"]}', ()),
        (b"<html>", ()),
        (b"\xff" * 100, ()),
        (b"[" * 100_000, ()),
        (json.dumps({"error": "x" * 9_000}).encode(), ("x" * 300,)),
    ],
)
async def test_what_a_hub_says_is_kept_as_evidence_and_never_trusted(
    body: bytes, evidence: tuple[str, ...], tmp_path: Path
) -> None:
    """Its own sentence is often the best one; it may be anything too."""
    assert (await refused(tmp_path, (403, {}, body))).info.evidence == evidence


async def test_a_busy_hub_is_asked_again_and_that_is_said(tmp_path: Path) -> None:
    """Else a pause looks like a hang."""
    busy: list[Answer] = [(429, {"Retry-After": "0"}, b""), (503, {}, b"")]
    async with asking(tmp_path, *busy, ANSWER) as (one, hub, notes):
        found = await one.get(f"{hub.url}/question", SUBJECT)

    assert found.body == b"[]"
    assert len(notes) == 2
    assert "429" in notes[0]


async def test_a_hub_that_stays_busy_is_left_alone(tmp_path: Path) -> None:
    """As often as the policy says, and not at all when it asks for a quarter of an hour."""
    async with asking(tmp_path, *[(503, {}, b"")] * 9) as (one, hub, _notes):
        with pytest.raises(StudioError) as caught:
            await one.get(f"{hub.url}/question", SUBJECT)
        assert len(hub.asked) == 3
        hub.faults["/question"] = [(429, {"Retry-After": "900"}, b"")]
        with pytest.raises(StudioError):
            await one.get(f"{hub.url}/question", SUBJECT)
        assert len(hub.asked) == 4

    assert caught.value.code == "hub-unreachable"
    assert "--hub modelscope" in str(caught.value.info.hint)


async def test_asking_for_a_byte_stops_before_the_delivery_network(tmp_path: Path) -> None:
    """Whether one may is the hub's word; the bytes come later."""
    async with asking(tmp_path) as (one, hub, _notes):
        await one.may_fetch(f"{hub.url}/{NAME}/resolve/main/model.safetensors", FILE)

        assert [host for host, _path, _headers in hub.asked] == [hub.url]
        assert hub.asked[0][2]["Range"] == "bytes=0-0"


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"a": "\xff"}', b"[" * 100_000])
async def test_an_answer_of_another_shape_is_said_to_be_one(body: bytes, tmp_path: Path) -> None:
    """A proxy's page with status 200 and a wrong type."""
    async with asking(tmp_path, (200, {}, body)) as (one, hub, _notes):
        answer = await one.get(f"{hub.url}/question", SUBJECT)
    with pytest.raises(StudioError) as caught:
        answer.decoded(list[str])

    assert caught.value.code == "hub-answer"


async def test_nothing_is_asked_while_the_network_is_switched_off(tmp_path: Path) -> None:
    """Not even whether the token is good."""
    with fake.running(a_hub()) as hub:
        way = access(hub, tmp_path)
        policy = msgspec.structs.replace(way.policy, offline_source="WEIR_OFFLINE")
        off = Access(paths=way.paths, policy=policy, environ=way.environ)
        with pytest.raises(StudioError) as caught:
            async with asyncio.timeout(30), opened(off, HubName.HUGGING_FACE):
                pass

    assert caught.value.code == "offline"
    assert hub.asked == []
