"""On demand with the real engine: nothing runs, a request comes, an answer goes."""

import httpx
import pytest

from studio.domain.server import EngineState
from tests.conftest import Serving

pytestmark = pytest.mark.real


def test_a_cold_request_is_answered(serving: Serving) -> None:
    """The engine that the other tests share is stopped as its idle time would, and comes back."""
    weir = serving.weir
    weir.json("gateway", "on-demand", "cpu-demo")
    weir.json("stop")
    weir.json("gateway", "on-demand", "--on")
    assert weir.engine_state() == EngineState.STOPPED

    try:
        answer = httpx.post(
            f"{serving.base_url}/chat/completions",
            json={
                "model": "cpu-demo",
                "stream": True,
                "max_tokens": 8,
                "messages": [{"role": "user", "content": "What is the capital of France?"}],
            },
            headers={"Authorization": f"Bearer {serving.api_key}"},
            timeout=300,
            trust_env=False,
        )
    finally:
        weir.json("gateway", "on-demand", "cpu-demo", "--remove")

    assert answer.status_code == 200
    assert ": cpu-demo is starting" in answer.text
    assert answer.text.rstrip().endswith("data: [DONE]")
    assert weir.engine_state() == EngineState.READY
