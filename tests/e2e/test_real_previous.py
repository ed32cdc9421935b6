"""The release before, for real: installed from its own lock, booted, asked, named in the list."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from studio.host.paths import bundled_root
from tests.conftest import INSTALL_LIMIT_S
from tests.fakes.weir import Weir, weir_home

pytestmark = pytest.mark.real

NAME, PRESET = "cpu-vllm-0.31.0", "cpu-previous"


@pytest.fixture
def previous(tmp_path: Path) -> Iterator[Weir]:
    """Return a `weir` whose home has the demo preset on the release before."""
    with weir_home(tmp_path / "wéir home", None) as made:
        cache = Path(os.environ.get("WEIR_TEST_CACHE", "~/.cache/weir-studio-tests")).expanduser()
        (cache / "uv").mkdir(parents=True, exist_ok=True)
        made.paths.cache.mkdir(parents=True)
        (made.paths.cache / "uv").symlink_to(cache / "uv")
        text = (bundled_root() / "presets" / "cpu-demo.toml").read_text("utf-8")
        text = text.replace('id = "cpu-demo"', f'id = "{PRESET}"')
        made.paths.user_presets.mkdir(parents=True)
        own = made.paths.user_presets / f"{PRESET}.toml"
        own.write_text(text.replace("cpu-vllm-0.32.0", NAME), "utf-8")
        yield made


def test_the_release_before_is_installed_and_answers(previous: Weir) -> None:
    """Going back is only real when what one goes back to boots and says the same."""
    result = previous.json("up", PRESET, "--detach", limit_s=INSTALL_LIMIT_S)

    reply = httpx.post(
        f"{result['base_url']}/chat/completions",
        headers={"Authorization": f"Bearer {result['api_key']}"},
        json={
            "model": "smollm2",
            "temperature": 0,
            "messages": [{"role": "user", "content": "What is the capital of France?"}],
        },
        timeout=60.0,
        trust_env=False,
    )
    listed = {one["name"]: one for one in previous.json("runtime", "list")["runtimes"]}
    previous.run("down")

    assert reply.json()["choices"][0]["message"]["content"] == "The capital of France is Paris."
    assert (result["runtime"], result["pool_tokens"]) == (NAME, 23_296)
    assert listed[NAME]["state"] == "installed"
    assert listed[NAME]["runtime_id"] == result["runtime_id"]
    assert listed["cpu-vllm-0.32.0"]["state"] == "available"
