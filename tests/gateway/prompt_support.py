"""Prompts as clients send them, and shapes of them, for the tests of the prefix-cache doctor."""

import json
from typing import Any

from studio.gateway.prompt_shape import Built, Hasher, Slices, Spot, build

HASHER = Hasher(b"a secret of the tests")
SYSTEM = "".join(f"Rule {number}: be brief, be right, be kind.\n" for number in range(60))


def body(messages: list[dict[str, Any]], *, system: Any = SYSTEM, **more: Any) -> bytes:
    """Return a request in the Anthropic dialect."""
    return json.dumps({"model": "m", "system": system, "messages": messages, **more}).encode()


def talk(turns: int, **more: Any) -> list[dict[str, Any]]:
    """Return a conversation that ends with a question of its own."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Question {turn}: what is {turn} + {turn}?"})
        messages.append({"role": "assistant", "content": f"It is {2 * turn}, as you may know."})
    return [*messages, {"role": "user", "content": f"Question {turns}, the last one?", **more}]


def built(raw: bytes, route: str = "/v1/messages", spot: Spot | None = None) -> Built:
    """Return the shape of a body, with its texts; there has to be one."""
    slices = build(raw, route, HASHER, spot)
    whole = _whole(slices)
    assert whole is not None
    return whole


def _whole(slices: Slices) -> Built | None:
    while True:
        try:
            next(slices)
        except StopIteration as ended:
            return ended.value
