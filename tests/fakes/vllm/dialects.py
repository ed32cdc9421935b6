"""The shapes of answers, recorded from vLLM 0.32.0: OpenAI's three dialects and Anthropic's."""

import dataclasses
import json
import secrets
import time
from collections.abc import Mapping

from tests.fakes.vllm.http import Json, compact

FINGERPRINT = "vllm-0.32.0-9673b7d5"
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."
DONE = b"data: [DONE]\n\n"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request asks for, whatever its dialect."""

    model: str
    request_id: str
    prompt_tokens: int
    cached_tokens: int
    max_tokens: int
    shows_cached_tokens: bool
    with_usage: bool
    with_continuous_usage: bool
    temperature: float


class Dialect:
    """One dialect's way of saying an answer: events of a stream, or one document."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.created = int(time.time())
        self.tokens = 0
        self.text = ""

    def begin(self) -> bytes:
        """Return what comes before the first token."""
        return b""

    def piece(self, text: str, tokens: int) -> bytes:
        """Return one token; `tokens` were generated so far."""
        raise NotImplementedError

    def end(self, reason: str, last: str = "") -> bytes:
        """Return what comes after the last token; `last` is one that ran into the limit."""
        raise NotImplementedError

    def died(self) -> bytes:
        """Return how a stream ends whose engine died; nothing: it is cut off."""
        error = {"message": DEAD, "type": "InternalServerError", "param": None, "code": 500}
        return b"data: " + json.dumps({"error": error}).encode() + b"\n\n" + DONE

    def whole(self, reason: str) -> Json:
        """Return the answer in one piece."""
        raise NotImplementedError

    def add(self, text: str, tokens: int) -> None:
        """Remember a token."""
        self.text += text
        self.tokens = tokens


def _event(document: Mapping[str, object]) -> bytes:
    return b"data: " + compact(document) + b"\n\n"


def _named(name: str, document: Mapping[str, object]) -> bytes:
    return f"event: {name}\n".encode() + _event(document)


class Chat(Dialect):
    """`/v1/chat/completions`."""

    kind = "chat.completion"
    prefix = "chatcmpl"

    @property
    def _id(self) -> str:
        return f"{self.prefix}-{self.asked.request_id}"

    def _usage(self, *, streamed: bool) -> Json:
        asked = self.asked
        usage: Json = {
            "prompt_tokens": asked.prompt_tokens,
            "total_tokens": asked.prompt_tokens + self.tokens,
            "completion_tokens": self.tokens,
        }
        details = {"cached_tokens": asked.cached_tokens, "created_cache_tokens": 0}
        if not streamed:
            shown = {**details, "multimodal_tokens": None} if asked.shows_cached_tokens else None
            return {**usage, "prompt_tokens_details": shown, "completion_tokens_details": None}
        if asked.shows_cached_tokens:
            usage["prompt_tokens_details"] = details
        return usage

    def _chunk(self, choices: list[Json], **more: object) -> bytes:
        document: Json = {
            "id": self._id,
            "object": f"{self.kind}.chunk",
            "created": self.created,
            "model": self.asked.model,
            "choices": choices,
        }
        if self.asked.with_continuous_usage and choices:
            usage = self._usage(streamed=True)
            usage.pop("prompt_tokens_details", None)
            document["usage"] = {**usage, "completion_tokens_details": None}
        return _event({**document, **more})

    def begin(self) -> bytes:
        """Return the chunk with the role."""
        choice: Json = {
            "index": 0,
            "delta": {"role": "assistant", "content": ""},
            "logprobs": None,
            "finish_reason": None,
        }
        return self._chunk([choice], prompt_token_ids=None, prompt_text=None)

    def piece(self, text: str, tokens: int) -> bytes:
        """Return a chunk with one token."""
        self.add(text, tokens)
        choice: Json = {
            "index": 0,
            "delta": {"content": text},
            "logprobs": None,
            "finish_reason": None,
            "token_ids": None,
        }
        return self._chunk([choice])

    def end(self, reason: str, last: str = "") -> bytes:
        """Return the finish, the usage where it was asked for, and the end mark."""
        self.text += last
        choice: Json = {
            "index": 0,
            "delta": {"content": last} if last else {},
            "logprobs": None,
            "finish_reason": reason,
            "stop_reason": None,
            "token_ids": None,
        }
        data = self._chunk([choice])
        if self.asked.with_usage:
            usage = self._usage(streamed=True)
            data += self._chunk([], usage=usage, system_fingerprint=FINGERPRINT)
        return data + DONE

    def whole(self, reason: str) -> Json:
        """Return a `chat.completion`."""
        message: Json = {"role": "assistant", "content": self.text, "refusal": None}
        message |= dict.fromkeys(("annotations", "audio", "function_call", "reasoning"))
        choice: Json = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": reason,
            "stop_reason": None,
            "token_ids": None,
            "routed_experts": None,
        }
        return {
            **self._frame(choice),
            "prompt_logprobs": None,
            "prompt_token_ids": None,
            "prompt_text": None,
            **dict.fromkeys(("kv_transfer_params", "ec_transfer_params", "metrics")),
        }

    def _frame(self, choice: Json) -> Json:
        return {
            "id": self._id,
            "object": self.kind,
            "created": self.created,
            "model": self.asked.model,
            "choices": [choice],
            "service_tier": None,
            "system_fingerprint": FINGERPRINT,
            "usage": self._usage(streamed=False),
        }


class Completion(Chat):
    """`/v1/completions`."""

    kind = "text_completion"
    prefix = "cmpl"

    def _usage(self, *, streamed: bool) -> Json:
        usage = super()._usage(streamed=streamed)
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict):
            if streamed:
                del details["created_cache_tokens"]
            else:
                details["created_cache_tokens"] = None
        return usage

    def _text_chunk(self, text: str, reason: str | None) -> bytes:
        choice: Json = {
            "index": 0,
            "text": text,
            **dict.fromkeys(("logprobs",)),
            "finish_reason": reason,
            **dict.fromkeys(("stop_reason", "prompt_token_ids", "token_ids")),
        }
        return self._chunk([choice])

    def _chunk(self, choices: list[Json], **more: object) -> bytes:
        return super()._chunk(choices, **more).replace(b"text_completion.chunk", b"text_completion")

    def begin(self) -> bytes:
        """Return nothing: the first chunk holds the first token."""
        return b""

    def piece(self, text: str, tokens: int) -> bytes:
        """Return a chunk with one token."""
        self.add(text, tokens)
        return self._text_chunk(text, None)

    def end(self, reason: str, last: str = "") -> bytes:
        """Return the finish, the usage where it was asked for, and the end mark."""
        self.text += last
        data = self._text_chunk(last, reason)
        if self.asked.with_usage:
            usage = self._usage(streamed=True)
            data += self._chunk([], usage=usage, system_fingerprint=FINGERPRINT)
        return data + DONE

    def whole(self, reason: str) -> Json:
        """Return a `text_completion`."""
        choice: Json = {
            "index": 0,
            "text": self.text,
            "logprobs": None,
            "finish_reason": reason,
            **dict.fromkeys(("stop_reason", "token_ids", "prompt_logprobs", "prompt_token_ids")),
            "routed_experts": None,
        }
        tail = dict.fromkeys(("kv_transfer_params", "ec_transfer_params", "metrics"))
        return {**self._frame(choice), **tail}


class Messages(Dialect):
    """Anthropic's `/v1/messages`."""

    _REASONS: Mapping[str, str] = {"stop": "end_turn", "length": "max_tokens"}

    def _usage(self) -> Json:
        usage: Json = {"input_tokens": self.asked.prompt_tokens, "output_tokens": self.tokens}
        if self.asked.shows_cached_tokens:
            usage["cache_creation_input_tokens"] = 0
            usage["cache_read_input_tokens"] = self.asked.cached_tokens
        return usage

    def begin(self) -> bytes:
        """Return the beginning of the message and of its text."""
        message: Json = {
            "id": f"chatcmpl-{self.asked.request_id}",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": self.asked.model,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self.asked.prompt_tokens, "output_tokens": 0},
        }
        block = {"type": "text", "text": ""}
        return _named("message_start", {"type": "message_start", "message": message}) + _named(
            "content_block_start",
            {"type": "content_block_start", "content_block": block, "index": 0},
        )

    def piece(self, text: str, tokens: int) -> bytes:
        """Return one token."""
        self.add(text, tokens)
        delta = {"type": "text_delta", "text": text}
        event = {"type": "content_block_delta", "delta": delta, "index": 0}
        return _named("content_block_delta", event)

    def end(self, reason: str, last: str = "") -> bytes:
        """Return the end of text and message."""
        delta = {"stop_reason": self._REASONS.get(reason, reason), "stop_sequence": None}
        return (
            (self.piece(last, self.tokens) if last else b"")
            + _named("content_block_stop", {"type": "content_block_stop", "index": 0})
            + _named(
                "message_delta",
                {"type": "message_delta", "delta": delta, "usage": self._usage()},
            )
            + _named("message_stop", {"type": "message_stop"})
        )

    def died(self) -> bytes:
        """Return Anthropic's error event."""
        error = {"type": "internal_error", "message": DEAD}
        return _named("error", {"type": "error", "error": error})

    def whole(self, reason: str) -> Json:
        """Return a message."""
        return {
            "id": f"chatcmpl-{self.asked.request_id}",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": self.text}],
            "model": self.asked.model,
            "stop_reason": self._REASONS.get(reason, reason),
            "usage": self._usage(),
        }


class Responses(Dialect):
    """`/v1/responses`."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._item = f"msg_{secrets.token_hex(8)}"
        self._number = 0

    def _say(self, name: str, **fields: object) -> bytes:
        document = {**fields, "sequence_number": self._number, "type": name}
        self._number += 1
        return _named(name, dict(sorted(document.items())) if "item_id" in fields else document)

    def _message(self, status: str, content: list[Json]) -> Json:
        return {
            "id": self._item,
            "content": content,
            "role": "assistant",
            "status": status,
            "type": "message",
            "phase": None,
        }

    def _part(self) -> Json:
        return {"annotations": [], "text": self.text, "type": "output_text", "logprobs": None}

    def _response(self, status: str, output: list[Json], usage: Json | None) -> Json:
        unknown = dict.fromkeys(("kv_transfer_params", "ec_transfer_params"))
        reason = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            "id": f"resp_{self.asked.request_id}",
            "created_at": self.created,
            "incomplete_details": reason,
            "instructions": None,
            "metadata": None,
            "model": self.asked.model,
            "object": "response",
            "output": output,
            "parallel_tool_calls": True,
            "temperature": self.asked.temperature,
            "tool_choice": "none",
            "tools": [],
            "top_p": 1.0,
            "background": False,
            "max_output_tokens": self.asked.max_tokens,
            **dict.fromkeys(("max_tool_calls", "previous_response_id", "prompt", "reasoning")),
            "service_tier": "auto",
            "status": status,
            "text": None,
            "top_logprobs": None,
            "truncation": "disabled",
            "usage": usage,
            "user": None,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            **unknown,
            "input_messages": None,
            "output_messages": None,
        }

    def begin(self) -> bytes:
        """Return the beginning of response, item and part."""
        self._number = 0
        part: Json = {"annotations": [], "text": "", "type": "output_text", "logprobs": []}
        started = self._response("in_progress", [], None)
        return (
            self._say("response.created", response=started)
            + self._say("response.in_progress", response=started)
            + self._say(
                "response.output_item.added",
                item=self._message("in_progress", []),
                output_index=0,
            )
            + self._say(
                "response.content_part.added",
                content_index=0,
                item_id=self._item,
                output_index=0,
                part=part,
            )
        )

    def piece(self, text: str, tokens: int) -> bytes:
        """Return one token."""
        self.add(text, tokens)
        return self._say(
            "response.output_text.delta",
            content_index=0,
            delta=text,
            item_id=self._item,
            logprobs=[],
            output_index=0,
        )

    def end(self, reason: str, last: str = "") -> bytes:
        """Return the end of part, item and response."""
        data = self.piece(last, self.tokens) if last else b""
        place: Json = {"content_index": 0, "item_id": self._item, "output_index": 0}
        item = self._message("completed", [self._part()])
        return (
            data
            + self._say("response.output_text.done", **place, logprobs=[], text=self.text)
            + self._say("response.content_part.done", **place, part=self._part())
            + self._say("response.output_item.done", item=item, output_index=0)
            + self._say("response.completed", response=self.whole(reason))
        )

    def died(self) -> bytes:
        """Return nothing, as seen with 0.32.0."""
        return b""

    def whole(self, reason: str) -> Json:
        """Return a response."""
        usage: Json = {
            "input_tokens": self.asked.prompt_tokens,
            "input_tokens_details": {
                "cached_tokens": self.asked.cached_tokens,
                "cache_write_tokens": 0,
                "input_tokens_per_turn": [],
                "cached_tokens_per_turn": [],
            },
            "output_tokens": self.tokens,
            "output_tokens_details": {
                "reasoning_tokens": 0,
                "tool_output_tokens": 0,
                "output_tokens_per_turn": [],
                "tool_output_tokens_per_turn": [],
            },
            "total_tokens": self.asked.prompt_tokens + self.tokens,
        }
        status = "incomplete" if reason == "length" else "completed"
        return self._response(status, [self._message("completed", [self._part()])], usage)
