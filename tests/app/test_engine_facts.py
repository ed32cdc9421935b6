"""What is known of the engine for the gateway: read from its command and its model's folder."""

import json
from pathlib import Path

import pytest

from studio.app.engine_facts import EngineFacts, template_of
from studio.host.http_client import Upstream
from studio.serving.command import Launch
from studio.serving.supervisor import Target


def argv(model: Path, *more: str) -> tuple[str, ...]:
    """Return a command as serving/command.py writes it."""
    return ("python", "-m", "vllm", "serve", str(model), "--uds", "/run/e.sock", *more)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"chat_template.jinja": "own", "tokenizer_config.json": '{"chat_template": "b"}'}, "own"),
        ({"tokenizer_config.json": '{"chat_template": "old"}'}, "old"),
        ({"tokenizer_config.json": json.dumps({"chat_template": [
            {"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]})}, "d"),
        ({"tokenizer_config.json": '{"chat_template": [1, {"name": "x"}]}'}, None),
        ({"tokenizer_config.json": "{}"}, None),
        ({"tokenizer_config.json": "nonsense"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_the_template_lies_where_models_keep_it(
    tmp_path: Path, files: dict[str, str], expected: str | None
) -> None:
    """A file of its own goes before the tokenizer's settings, as for the engine."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    assert template_of(argv(tmp_path)) == expected


def test_a_chosen_template_goes_before_the_models_own(tmp_path: Path) -> None:
    """Given as a file or as text."""
    (tmp_path / "chat_template.jinja").write_text("own")
    (tmp_path / "chosen.jinja").write_text("chosen")

    assert (
        template_of(argv(tmp_path, "--chat-template", str(tmp_path / "chosen.jinja"))) == "chosen"
    )
    assert template_of(argv(tmp_path, "--chat-template={{ x }}")) == "{{ x }}"
    assert template_of(argv(tmp_path, "--chat-template", str(tmp_path / "none"))) is None


def launch(command: tuple[str, ...]) -> Launch:
    """Return a launch with that command."""
    return Launch(
        argv=command, environment={}, preset="p", served_name="m", runtime="cpu-vllm-0.32.0",
        runtime_id="1", knobs={}, overrides={}, python="python", socket="/run/e.sock",
        ready_within_s=1, drain_s=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "context"),
    [
        (("--max-model-len", "2048"), 2048),
        (("--max-model-len=4096",), 4096),
        (("--max-model-len", "2048", "--max-model-len", "1024"), 1024),
        (("--max-model-len", "auto"), None),
        ((), None),
    ],
)
async def test_the_gateway_learns_of_each_start(
    tmp_path: Path, words: tuple[str, ...], context: int | None
) -> None:
    """Template, context and runtime are those of the engine of now."""
    (tmp_path / "chat_template.jinja").write_text("own")
    facts = EngineFacts()
    await facts.learn(launch(argv(tmp_path, *words)))
    target = Target(upstream=Upstream(port=1), key="k", served_name="m")

    seen = facts.target(target, None)

    assert (seen.template, seen.context_tokens, seen.runtime) == ("own", context, "cpu-vllm-0.32.0")
    assert (seen.key, seen.served_name) == ("k", "m")
    assert facts.target(None, None) is None
