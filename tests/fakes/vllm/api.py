"""The fake engine's routes: who may ask, what is refused and how, and the answers."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable

from tests.fakes.vllm.dialects import (
    DEAD,
    Asked,
    Chat,
    Completion,
    Dialect,
    Messages,
    Responses,
)
from tests.fakes.vllm.engine import PARIS, STORY, Engine, EngineDied, words
from tests.fakes.vllm.http import Json, Reply, Request, phrase
from tests.fakes.vllm.log import write

CHAT_FRAME_TOKENS = 30
"""What SmolLM2's chat template adds to a conversation of one message."""

_SCALE_OUT = (
    "Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them."
)
_EMPTY_PROMPT = "Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)"

_DIALECTS: dict[str, tuple[type[Dialect], tuple[str, ...]]] = {
    "/v1/chat/completions": (Chat, ("messages",)),
    "/v1/completions": (Completion, ()),
    "/v1/messages": (Messages, ("model", "messages", "max_tokens")),
    "/v1/messages/count_tokens": (Messages, ("model", "messages")),
    "/v1/responses": (Responses, ("input",)),
}
_POST_ONLY = (*_DIALECTS, "/invocations", "/tokenize", "/detokenize", "/is_scaling_elastic_ep")


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, *, kind: str, param: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.param = param


class Api:
    """Answers requests for one engine."""

    def __init__(self, engine: Engine, *, on_first_request: Callable[[], None]) -> None:
        self._engine = engine
        self._settings = engine.settings
        self._on_first_request = on_first_request
        self._created = int(time.time())
        self.in_flight = 0

    async def handle(self, request: Request, reply: Reply) -> None:
        """Answer one request and log it."""
        self.in_flight += 1
        try:
            await self._answer(request, reply)
        finally:
            self.in_flight -= 1
        if self._settings.logs_access:
            write(
                f'INFO:     {request.client} - "{request.method} {request.path} HTTP/1.1"'
                f" {reply.status} {phrase(reply.status)}\n"
            )

    async def _answer(self, request: Request, reply: Reply) -> None:
        path = request.path
        if not self._may(request):
            await reply.send(401, b'{"error":"Unauthorized"}', varies=False)
        elif path in _POST_ONLY and request.method != "POST":
            await reply.send_json(405, {"detail": "Method Not Allowed"}, headers={"allow": "POST"})
        elif path in _DIALECTS or path == "/invocations":
            await self._generate(request, reply, path)
        elif path == "/tokenize":
            await self._tokenize(request, reply)
        elif path in _FIXED:
            await self._fixed(request, reply)
        elif path == "/metrics" and request.method == "GET":
            text = self._engine.metrics.text().encode()
            await reply.send(200, text, kind="text/plain; version=1.0.0; charset=utf-8")
        elif path == "/v1/chat/completions/render":
            refusal = Refused(403, _SCALE_OUT, kind="PermissionDeniedError", param=None)
            await self._refuse(reply, refusal, anthropic=False)
        else:
            await reply.send_json(404, {"detail": "Not Found"})

    def _may(self, request: Request) -> bool:
        """Return whether the key is right; patched, every path but /health asks for one."""
        key = self._settings.key
        if self._settings.is_patched:
            is_open = request.path == "/health"
        else:
            is_open = not request.path.startswith(("/v1", "/inference"))
        if key is None or is_open:
            return True
        return secrets.compare_digest(
            request.headers.get("authorization", "").encode(), f"Bearer {key}".encode()
        )

    async def _fixed(self, request: Request, reply: Reply) -> None:
        methods = _FIXED[request.path]
        if request.method not in methods:
            allow = {"allow": ", ".join(methods)}
            await reply.send_json(405, {"detail": "Method Not Allowed"}, headers=allow)
            return
        match request.path:
            case "/health":
                await reply.send(503 if self._engine.is_dead else 200)
            case "/ping":
                await reply.send(200)
            case "/version":
                await reply.send_json(200, {"version": "0.32.0"})
            case "/load":
                await reply.send_json(200, {"server_load": 0})
            case "/v1/models":
                models = [self._model(name) for name in self._settings.served_names]
                await reply.send_json(200, {"object": "list", "data": models})
            case _:
                await reply.send_json(200, {})

    def _model(self, name: str) -> Json:
        permission: Json = {
            "id": f"modelperm-{secrets.token_hex(8)}",
            "object": "model_permission",
            "created": self._created,
            "allow_create_engine": False,
            "allow_sampling": True,
            "allow_logprobs": True,
            "allow_search_indices": False,
            "allow_view": True,
            "allow_fine_tuning": False,
            "organization": "*",
            "group": None,
            "is_blocking": False,
        }
        return {
            "id": name,
            "object": "model",
            "created": self._created,
            "owned_by": "vllm",
            "root": self._settings.model,
            "parent": None,
            "max_model_len": self._settings.max_model_len,
            "permission": [permission],
        }

    async def _generate(self, request: Request, reply: Reply, path: str) -> None:
        path = "/v1/chat/completions" if path == "/invocations" else path
        kind, required = _DIALECTS[path]
        is_anthropic = kind is Messages
        try:
            body = _read_body(request, required)
            if kind is Responses and "model" not in body:
                body["model"] = self._settings.served_names[0]
            self._check_model(body)
            prompt = _prompt(body, kind)
            if path.endswith("/count_tokens"):
                counted = {"original_input_tokens": len(prompt)}
                document = {"input_tokens": len(prompt), "context_management": counted}
                await reply.send_json(200, document)
                return
            asked = self._asked(request, body, prompt)
        except Refused as refusal:
            await self._refuse(reply, refusal, anthropic=is_anthropic)
            return
        self._on_first_request()
        dialect = kind(asked)
        pieces, reason = self._pieces(body, asked)
        if body.get("stream"):
            await self._stream(reply, dialect, pieces, reason)
        else:
            await self._whole(reply, dialect, pieces, reason)

    async def _tokenize(self, request: Request, reply: Reply) -> None:
        try:
            body = _read_body(request, ())
            self._check_model(body)
            prompt = _prompt(body, Chat if "messages" in body else Completion)
        except Refused as refusal:
            await self._refuse(reply, refusal, anthropic=False)
            return
        document = {
            "count": len(prompt),
            "max_model_len": self._settings.max_model_len,
            "tokens": list(range(len(prompt))),
            "token_strs": None,
        }
        await reply.send_json(200, document)

    def _check_model(self, body: Json) -> None:
        name = body.get("model")
        if name is None or name in self._settings.served_names:
            return
        known = ", ".join(self._settings.served_names)
        raise Refused(
            404,
            f"The model `{name}` does not exist. Valid aliases: {known}.",
            kind="NotFoundError",
            param="model",
        )

    def _asked(self, request: Request, body: Json, prompt: list[str]) -> Asked:
        limit = self._settings.max_model_len
        temperature = _number(body.get("temperature"), 1.0)
        if temperature < 0:
            raise _bad(
                "temperature", f"temperature must be non-negative, got {temperature}.", temperature
            )
        asked_for = body.get("max_completion_tokens") or body.get("max_tokens")
        asked_for = asked_for or body.get("max_output_tokens")
        most = int(_number(asked_for, 0))
        if most > limit:
            raise _bad(
                "max_tokens",
                f"max_tokens={most} cannot be greater than max_model_len={limit}. "
                "Please request fewer output tokens.",
                most,
            )
        if len(prompt) > limit:
            raise _bad(
                "input_tokens",
                f"This model's maximum context length is {limit} tokens. However, your prompt "
                f"contains at least {limit + 1} input tokens, which exceeds this limit even "
                "without any output tokens. Please reduce the length of the input prompt.",
                limit + 1,
            )
        options = body.get("stream_options")
        options = options if isinstance(options, dict) else {}
        model = body.get("model")
        return Asked(
            model=model if isinstance(model, str) else self._settings.served_names[0],
            request_id=request.headers.get("x-request-id") or secrets.token_hex(8),
            prompt_tokens=len(prompt),
            cached_tokens=self._engine.cached_tokens(prompt, str(body.get("cache_salt") or "")),
            max_tokens=min(most or limit, max(1, limit - len(prompt))),
            shows_cached_tokens=self._settings.shows_cached_tokens,
            with_usage=bool(options.get("include_usage")),
            with_continuous_usage=bool(options.get("continuous_usage_stats")),
            temperature=temperature,
        )

    def _pieces(self, body: Json, asked: Asked) -> tuple[list[str], str]:
        """Return the answer's tokens and why it ends; an answer that stops has an end token."""
        is_question = "What is the capital of France?" in json.dumps(body)
        wanted = len(PARIS) + 1 if is_question else self._settings.tokens
        if body.get("ignore_eos"):
            wanted = asked.max_tokens
        source = PARIS if is_question else STORY
        count = min(wanted, asked.max_tokens)
        pieces = [source[index % len(source)] for index in range(count)]
        if wanted > asked.max_tokens or body.get("ignore_eos"):
            return pieces, "length"
        pieces[-1] = ""
        return pieces, "stop"

    async def _stream(self, reply: Reply, dialect: Dialect, pieces: list[str], reason: str) -> None:
        await reply.begin_stream()
        asked = dialect.asked
        tokens = self._engine.generate(asked.prompt_tokens, asked.cached_tokens, pieces, reason)
        try:
            if start := dialect.begin():
                await reply.stream(start)
            async for text, count, end in tokens:
                if reply.client_left:
                    break
                dialect.tokens = count
                if end is None:
                    await reply.stream(dialect.piece(text, count))
                elif end == "abort" and "hang-on-stop" in self._settings.faults:
                    await asyncio.Event().wait()
                else:
                    await reply.stream(dialect.end(end, text))
        except EngineDied:
            if not (last_words := dialect.died()):
                reply.cut()
                return
            await reply.stream(last_words)
        finally:
            await tokens.aclose()
        await reply.end_stream()

    async def _whole(self, reply: Reply, dialect: Dialect, pieces: list[str], reason: str) -> None:
        asked = dialect.asked
        tokens = self._engine.generate(asked.prompt_tokens, asked.cached_tokens, pieces, reason)
        ended = reason
        try:
            async for text, count, end in tokens:
                dialect.add(text, count)
                ended = end or ended
                if reply.client_left:
                    return
        except EngineDied:
            refusal = Refused(500, DEAD, kind="InternalServerError", param=None)
            await self._refuse(reply, refusal, anthropic=isinstance(dialect, Messages))
            return
        finally:
            await tokens.aclose()
        await reply.send_json(200, dialect.whole(ended))

    async def _refuse(self, reply: Reply, refusal: Refused, *, anthropic: bool) -> None:
        """Send an error; what the framework itself refuses has OpenAI's shape everywhere."""
        error: Json = {"message": refusal.message, "type": refusal.kind}
        if anthropic and refusal.kind != "Bad Request":
            error = {"type": refusal.kind, "message": refusal.message}
            await reply.send_json(refusal.status, {"type": "error", "error": error})
            return
        error |= {"param": refusal.param, "code": refusal.status}
        await reply.send_json(refusal.status, {"error": error})


_FIXED: dict[str, tuple[str, ...]] = {
    "/health": ("GET",),
    "/ping": ("GET", "POST"),
    "/version": ("GET",),
    "/load": ("GET",),
    "/v1/models": ("GET",),
    "/kv_event_sources": ("GET",),
}


def _bad(param: str, message: str, value: float) -> Refused:
    text = f"{message} (parameter={param}, value={value})"
    return Refused(400, text, kind="BadRequestError", param=param)


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _invalid(kind: str, place: str, message: str, size: int, more: str = "") -> Refused:
    text = (
        f"1 validation error:\n  {{'type': '{kind}', 'loc': 'body.{place}', 'msg': '{message}', "
        f"'input': '<dict of {size} items>'{more}}}"
    )
    return Refused(400, text, kind="Bad Request", param=f"body.{place}")


def _read_body(request: Request, required: tuple[str, ...]) -> Json:
    if not request.headers.get("content-type", "").startswith("application/json"):
        message = (
            "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed"
        )
        raise Refused(400, message, kind="Bad Request", param=None)
    try:
        body = json.loads(request.body)
    except json.JSONDecodeError as error:
        context = f", 'ctx': {{'error': {error.msg!r}}}"
        raise _invalid("json_invalid", str(error.pos), "JSON decode error", 0, context) from error
    except UnicodeDecodeError as error:
        raise _invalid("json_invalid", "0", "JSON decode error", 0) from error
    if not isinstance(body, dict):
        raise _invalid("model_attributes_type", "", "Input should be a valid dictionary", 0)
    for name in required:
        if name not in body:
            raise _invalid("missing", name, "Field required", len(body))
    return body


def _prompt(body: Json, kind: type[Dialect]) -> list[str]:
    if kind is Completion:
        prompt = body.get("prompt")
        if not prompt:
            raise Refused(400, _EMPTY_PROMPT, kind="BadRequestError", param="prompt")
        return words(prompt if isinstance(prompt, str) else json.dumps(prompt))
    said = body.get("input") if kind is Responses else body.get("messages")
    frame = ["<|im_start|>"] * CHAT_FRAME_TOKENS
    return frame + words(" ".join(_texts(said)) + " " + " ".join(_texts(body.get("system"))))


def _texts(said: object) -> list[str]:
    """Return every text in a message list, whatever its dialect."""
    if isinstance(said, str):
        return [said]
    if isinstance(said, list):
        return [text for part in said for text in _texts(part)]
    if isinstance(said, dict):
        return _texts(said.get("content") or said.get("text"))
    return []
