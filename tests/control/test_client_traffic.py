"""The client's calls about traffic: what goes over the wire."""

import httpx
import msgspec

from studio.control.client import PREFIX, ControlClient
from studio.domain.keys import PromptLogState


async def test_a_keys_id_is_one_part_of_the_path_whatever_it_holds() -> None:
    """Names of keys are what people type; a slash must not become another call."""
    asked: list[tuple[str, bytes]] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.raw_path.decode(), request.content))
        return httpx.Response(200, content=msgspec.json.encode(PromptLogState(key_id="k", key="k")))

    client = ControlClient("http://x", "t", transport=httpx.MockTransport(answer))
    await client.log_prompts("../a/b", 60)
    await client.clear_prompts("a b")
    await client.close()

    assert asked == [
        (f"{PREFIX}/keys/%2E%2E%2Fa%2Fb/prompts", b'{"seconds":60}'),
        (f"{PREFIX}/keys/a%20b/prompts/clear", b""),
    ]
