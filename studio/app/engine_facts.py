"""What the gateway has to know of the engine beside its address: template, context, runtime."""

import asyncio
import dataclasses
import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec

from studio.gateway.engine import EngineTarget
from studio.serving.adopted import Adopted
from studio.serving.command import Launch
from studio.serving.life import Target
from studio.serving.supervisor import Supervisor

_MOST_BYTES = 32 << 20

logger = logging.getLogger(__name__)


class _Tokenizer(msgspec.Struct):
    chat_template: object = None


class EngineFacts:
    """Read before each start; of an engine that is adopted only its context is known."""

    def __init__(self) -> None:
        self._template: str | None = None
        self._context_tokens: int | None = None
        self._runtime: str | None = None

    async def learn(self, launch: Launch) -> None:
        """Read what a launch says and what lies in its model's folder."""
        self._runtime = launch.runtime
        self._context_tokens = _context(launch.argv)
        self._template = await asyncio.to_thread(template_of, launch.argv)

    def target(self, target: Target | None, engine: Supervisor | Adopted) -> EngineTarget | None:
        """Return the engine as the gateway sees it."""
        if target is None:
            return None
        seen = EngineTarget(
            upstream=target.upstream,
            key=target.key or None,
            served_name=target.served_name,
            preset=target.preset,
        )
        if isinstance(engine, Adopted):
            length = engine.snapshot().max_model_len
            return dataclasses.replace(seen, context_tokens=length)
        return dataclasses.replace(
            seen,
            template=self._template,
            context_tokens=self._context_tokens,
            runtime=self._runtime,
        )


def template_of(argv: Sequence[str]) -> str | None:
    """Return the chat template that a command serves with; None: not found, or not readable."""
    chosen = _value(argv, "--chat-template")
    try:
        if chosen is not None:
            return chosen if "{" in chosen else _read(Path(chosen)).decode("utf-8", "replace")
        model = _model(argv)
        if model is None:
            return None
        own = model / "chat_template.jinja"
        if own.is_file():
            return _read(own).decode("utf-8", "replace")
        settings = msgspec.json.decode(_read(model / "tokenizer_config.json"), type=_Tokenizer)
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        logger.info("the model's template is not known: %s", error)
        return None
    return _default(settings.chat_template)


def _default(template: object) -> str | None:
    """Return a template, or of several the one for chats."""
    if isinstance(template, str):
        return template
    named = {
        one.get("name"): one.get("template")
        for one in (template if isinstance(template, list) else [])
        if isinstance(one, dict)
    }
    found = named.get("default")
    return found if isinstance(found, str) else None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES)


def _context(argv: Sequence[str]) -> int | None:
    text = _value(argv, "--max-model-len")
    return int(text) if text is not None and text.isdecimal() and int(text) > 0 else None


def _model(argv: Sequence[str]) -> Path | None:
    """Return the model's folder, which stands before the socket (serving/command.py)."""
    if "--uds" not in argv or not argv.index("--uds"):
        return None
    return Path(argv[argv.index("--uds") - 1])


def _value(argv: Sequence[str], option: str) -> str | None:
    """Return the value of an option: of several the last one, as the engine takes it."""
    found = None
    for at, word in enumerate(argv):
        if word == option and at + 1 < len(argv):
            found = argv[at + 1]
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
    return found
