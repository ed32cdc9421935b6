"""The calls about caches, changes of requests and kept prompts, through the real client."""

from pathlib import Path

import pytest

from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.domain.control import KeyRequest
from studio.domain.errors import StudioError
from studio.domain.gateway import AdjustmentChange
from tests.app.running import fake_paths
from tests.control.test_launcher import offline


async def test_everything_is_asked_for_and_answered(tmp_path: Path) -> None:
    """One round through every call, without a service."""
    with fake_paths(tmp_path) as paths:
        async with offline(paths) as client:
            key = (await client.create_key(KeyRequest(name="Bob's läptop"))).info

            listed = await client.adjust(
                AdjustmentChange(id="attribution-line", is_on=True, key=key.id)
            )
            assert [one.keys for one in listed.adjustments if one.id == "attribution-line"] == [
                {"Bob's läptop": True}
            ]
            assert (await client.adjustments()) == listed

            on = await client.log_prompts(key.id, 600)
            assert on.until is not None
            assert (await client.prompt_log(key.id)).until == on.until
            assert await client.prompts(key.id, lines=3) == []
            assert (await client.log_prompts(key.id, 0)).until is None
            assert (await client.clear_prompts(key.id)).kept == 0

            assert (await client.cache()).findings == ()
            assert (await client.clear_cache_findings()).is_live is False


async def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    """With the codes of the document."""
    with fake_paths(tmp_path) as paths:
        async with offline(paths) as client:
            with pytest.raises(StudioError, match="no key") as no_key:
                await client.prompt_log("nobody")
            with pytest.raises(StudioError) as no_rule:
                await client.adjust(AdjustmentChange(id="nothing", is_on=True))
            assert [no_key.value.code, no_rule.value.code] == ["key-unknown", "adjustment-unknown"]


def test_a_studio_can_be_made_of_parts(tmp_path: Path) -> None:
    """The facade hands the parts on under their names."""
    with fake_paths(tmp_path) as paths:
        studio = Studio(Parts(paths))

        assert studio.status().prompt_logs == ()
        assert studio.status().cache_findings == 0
