"""What the fake service knows of keys beside making and revoking them: `FakeKeys(service)`."""

import datetime
import urllib.parse

import msgspec

from studio.domain.control import KeyInfo, KeyRequest, NewKey
from studio.domain.errors import ErrorInfo
from studio.domain.events import KeysChanged
from studio.domain.keys import (
    LimitsChange,
    PromptEntry,
    PromptLogRequest,
    PromptLogState,
    RenameRequest,
    UsageBy,
    UsageRow,
)
from studio.domain.secrets import StoreKind
from tests.ui.fake_service import FakeService

SECRET = "weir-7kQmT0pXb2vVnYkLr8sHdQ9wE1uZ"
PROMPT = PromptEntry(
    at="2026-11-29T15:20:40+00:00",
    request_id="req-1",
    route="/v1/chat/completions",
    body_bytes=44,
    body='{"messages":[{"role":"user","content":"hi"}]}',
)


def usage_row(key_id: str, key: str, prompt: int, **fields: object) -> UsageRow:
    """Return what was used in one span."""
    base = UsageRow(
        key_id=key_id,
        key=key,
        begins_at=None,
        requests=prompt // 900 + 1,
        errors=prompt % 3,
        estimated=0,
        prompt_tokens=prompt,
        cached_tokens=prompt // 2,
        generated_tokens=prompt // 5,
        ttft_p50_s=0.17,
        ttft_p95_s=0.42,
        tok_s_p50=96.4,
    )
    return msgspec.structs.replace(base, **fields)


class FakeKeys:
    """Changes `service.keys` as the real one does; `asked` is what came."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.asked: list[tuple[str, object]] = []
        self.refusal: ErrorInfo | None = None
        self.prompts: tuple[PromptEntry, ...] = (PROMPT,)
        service.areas.append(self.answer)
        service.queried.append(self.asked_for)

    def asked_for(self, route: str, query: str) -> object:
        """Return use and prompts."""
        values = dict(urllib.parse.parse_qsl(query))
        if route == "/keys/usage":
            return self._usage(UsageBy(values["by"]), values.get("key"))
        if route.startswith("/keys/") and route.endswith("/prompts"):
            return self.prompts
        return None

    def answer(self, method: str, route: str, body: bytes) -> object:
        """Return what is done to keys; None: it is something else."""
        if method != "POST" or not route.startswith("/keys"):
            return None
        if route == "/keys":
            return self._create(msgspec.json.decode(body, type=KeyRequest))
        _, _, key_id, deed = [*route.split("/", 3), ""][:4]
        place = next((n for n, key in enumerate(self.service.keys) if key.id == key_id), None)
        if place is None or deed == "revoke":
            return None
        return self._change(place, deed, body)

    def _create(self, request: KeyRequest) -> object:
        self.asked.append(("create", request))
        if self.refusal is not None:
            return self.refusal
        info = KeyInfo(
            id=f"k{len(self.service.keys) + 1}",
            name=request.name,
            prefix="weir-7kQm",
            created_at="2026-11-29T15:24:00+00:00",
            limits=request.limits,
            stored=StoreKind.FILE if request.store else None,
        )
        self.service.keys.append(info)
        self.service.publish(KeysChanged())
        return NewKey(info=info, key=SECRET)

    def _change(self, place: int, deed: str, body: bytes) -> object:
        key, replace = self.service.keys[place], msgspec.structs.replace
        self.asked.append((deed, body))
        match deed:
            case "rotate" | "reveal":
                return NewKey(info=key, key=SECRET)
            case "limits":
                key = replace(key, limits=msgspec.json.decode(body, type=LimitsChange).limits)
            case "rename":
                key = replace(key, name=msgspec.json.decode(body, type=RenameRequest).name)
            case "prompts":
                seconds = msgspec.json.decode(body, type=PromptLogRequest).seconds
                until = "2026-11-29T16:24:00+00:00" if seconds else None
                self.service.keys[place] = replace(key, prompts_until=until)
                return PromptLogState(key_id=key.id, key=key.name, until=until)
            case "prompts/clear":
                self.prompts = ()
                return PromptLogState(key_id=key.id, key=key.name)
        self.service.keys[place] = key
        return key

    def _usage(self, by: UsageBy, key_id: str | None) -> list[UsageRow]:
        keys = [key for key in self.service.keys if key_id in (None, key.id)]
        if by is UsageBy.MODEL:
            names = ("smollm2-135m", "qwen3.6-27b", None)
            return [usage_row("", "", 90_000 // n, model=one) for n, one in enumerate(names, 1)]
        if by is UsageBy.KEY:
            return [usage_row(key.id, key.name, 700_000 // n) for n, key in enumerate(keys, 1)]
        today = datetime.datetime.now().astimezone().date()
        return [
            usage_row(
                key.id,
                key.name,
                (back * 7_919 + number * 3_001) % 90_000,
                begins_at=(today - datetime.timedelta(days=back)).isoformat(),
            )
            for back in range(60)
            for number, key in enumerate(keys)
            if (back + number) % 6
        ]
