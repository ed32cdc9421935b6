"""What passes the gateway, joined: when a key goes, nothing that was kept of it stays."""

from pathlib import Path

from studio.app.report_collect import collect
from studio.app.traffic import Traffic
from studio.app.wiring import Parts
from studio.domain.control import KeyRequest
from studio.domain.gateway import AdjustmentChange
from studio.domain.keys import PromptLogRequest, RevokeRequest
from tests.app.running import fake_paths


async def test_all_that_is_kept_of_a_key_goes_with_it(tmp_path: Path) -> None:
    """Prompts, choices and findings; and no report ever holds a prompt."""
    with fake_paths(tmp_path) as paths:
        parts = Parts(paths)
        traffic = Traffic(parts, lambda _event: None)
        key = (await traffic.keys.create(KeyRequest(name="laptop"))).info
        await traffic.prompts.switch(key.id, PromptLogRequest(seconds=600))
        parts.prompts.keep(key.id, "r1", "/v1/messages", 0.0, b"a prompt of a person")
        change = AdjustmentChange(id="attribution-line", is_on=True, key=key.id)
        traffic.adjustments.change(change)
        assert [one.prompts_until is not None for one in await traffic.keys.all()] == [True]
        assert await traffic.prompts.entries(key.id, 1)

        report = await collect(paths, None, has_service=False, problem=None)
        assert "a prompt of a person" not in str(report)

        await traffic.keys.revoke(key.id, RevokeRequest())

        assert await traffic.prompts.entries(key.id, 1) == []
        assert [one.prompts_until for one in await traffic.keys.all()] == [None]
        assert parts.settings.now.gateway.adjust_keys == {}
        traffic.begin()
        await traffic.close()
