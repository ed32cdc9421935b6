"""Whose token it is: a wrong one is found when it is given."""

from pathlib import Path

import pytest

from studio.domain.downloads import HubName
from studio.domain.errors import BadInput
from studio.hub.access import Token
from studio.hub.whoami import account
from tests.fakes import hub as fake
from tests.fakes.hub import Hub
from tests.hub.test_get import SECRET, a_hub, access

TOKEN = Token(text=SECRET, source="weir models login")


@pytest.mark.parametrize("hub", list(HubName))
async def test_a_hub_says_whose_token_it_is(hub: HubName, tmp_path: Path) -> None:
    """Both in their own way; a token of another account explains a refusal."""
    with fake.running(a_hub(token_names={SECRET: "mia"})) as one:
        found = await account(access(one, tmp_path), hub, TOKEN)

    assert (found.name, found.note) == ("mia", None)
    assert found.role == ("read" if hub is HubName.HUGGING_FACE else None)


@pytest.mark.parametrize("hub", list(HubName))
async def test_a_token_that_the_hub_does_not_know_is_refused(hub: HubName, tmp_path: Path) -> None:
    """Its text is in no sentence."""
    with fake.running(a_hub()) as one, pytest.raises(BadInput) as caught:
        await account(access(one, tmp_path), hub, TOKEN)

    assert caught.value.code == "hub-token-refused"
    assert SECRET not in f"{caught.value.message}{caught.value.hint}{caught.value.evidence}"


@pytest.mark.parametrize("answer", [(503, {}, b""), (200, {}, b"<html>"), (302, {}, b"")])
async def test_a_hub_that_says_nothing_proves_nothing(
    answer: tuple[int, dict[str, str], bytes], tmp_path: Path
) -> None:
    """Neither that it is right nor that it is wrong."""
    with fake.running(a_hub(faults={"/api/whoami-v2": [answer]})) as one:
        found = await account(access(one, tmp_path), HubName.HUGGING_FACE, TOKEN)

    assert found.name is None
    assert "not proven" in str(found.note)


async def test_a_machine_without_network_keeps_the_token_unproven(tmp_path: Path) -> None:
    """For a stick that will be carried to one that has a network."""
    found = await account(
        access(Hub(files={}, url="http://127.0.0.1:9"), tmp_path), HubName.HUGGING_FACE, TOKEN
    )

    assert "does not answer" in str(found.note)
