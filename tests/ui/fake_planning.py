"""The fake service's planner and presets of the person's own: plugged in by `FakePlanning`.

Plans and the preset are recordings of the real planner for a host of the catalogue.
"""

import threading
from pathlib import Path

import msgspec

from studio.domain.control import PresetInfo
from studio.domain.errors import ErrorInfo
from studio.domain.hosts import HostEntry
from studio.domain.manifests import Origin
from studio.domain.plans import Plan, PlanRequest
from studio.domain.presets import (
    ChangeKind,
    CopyRequest,
    EditRequest,
    ImportPresetRequest,
    PresetDetail,
    PresetDiff,
    PresetRemoved,
    PresetText,
    RetitleRequest,
    UpdateRequest,
    ValueChange,
)
from tests.ui.fake_service import FakeService
from tests.ui.fake_serving import DATA, recorded_plan

HOSTS = (
    HostEntry(id="rtx4090-linux", title="One RTX 4090 on bare Linux"),
    HostEntry(id="v100-32x4-linux", title="Four V100 with 32 GB and NVLink"),
)
CHAT = PresetInfo(
    id="27b-dflash2",
    title="Chat, fast",
    expert="S2 · Qwen3.8-27B W4A16, bfloat16 KV, DFlash2 k=7, prefix cache, 64k",
    summary="Fast answers for one person or a few, up to 64k tokens.",
    runtime="cu13-hyperqwen-0.31.0",
    model="Qwen3.8-27B W4A16, fast variant",
    licence="Apache-2.0",
    origin="Qwen",
    usable=True,
    download_bytes=25_617_288_307,
    is_best=True,
    rank=100,
)
LONG = msgspec.structs.replace(
    CHAT,
    id="27b-long",
    title="Long documents, 150k",
    expert="S4 · Qwen3.8-27B W4A16, fp8 KV (FlashInfer), MTP k=3, 150k",
    summary="Reads up to 150,000 tokens on 24 GB at nearly the speed of a chat.",
    download_bytes=24_427_288_307,
    is_best=False,
    rank=70,
)
MTP = msgspec.structs.replace(
    CHAT,
    id="27b-mtp",
    title="Chat, without a drafter",
    expert="S1 · Qwen3.8-27B W4A16, bfloat16 KV, MTP k=4, 64k",
    summary="Answers chats of up to 64k tokens; no second model to fetch.",
    download_bytes=24_427_288_307,
    is_best=False,
    rank=90,
)
MINE = msgspec.structs.replace(
    CHAT, id="my-27b-dflash2", title="For the reading group", is_own=True, is_best=False, rank=60
)
UPDATED = PresetDiff(
    mine=MINE.id,
    theirs=CHAT.id,
    is_three_way=True,
    changes=(
        ValueChange(name="max_model_len", kind=ChangeKind.YOURS, base=65_536, mine=32_768,
                    theirs=65_536),
        ValueChange(name="max_num_seqs", kind=ChangeKind.CONFLICT, base=8, mine=4, theirs=6),
        ValueChange(name="attention_backend", kind=ChangeKind.UPDATE, base="FLASH_ATTN",
                    mine="FLASH_ATTN", theirs="FLASHINFER"),
        ValueChange(name="tools", kind=ChangeKind.BOTH, base=True, mine=False, theirs=False),
    ),
)  # fmt: skip
NO_NUMBER = ErrorInfo(
    code="knob-value",
    message="`max_model_len` of the preset `27b-dflash2` should be a whole number, found `abc`.",
    hint="Context length: prompt and answer of one request together.",
    exit_status=2,
)


def recorded_detail() -> PresetDetail:
    """Return what the real service says of `27b-dflash2` on an RTX 4090 under WSL2."""
    return msgspec.json.decode((DATA / "preset-dflash2-wsl2.json").read_bytes(), type=PresetDetail)


def recorded_diff() -> PresetDiff:
    """Return in what two presets of the catalogue differ."""
    return msgspec.json.decode((DATA / "diff-mtp.json").read_bytes(), type=PresetDiff)


class FakePlanning:
    """Presets that can be copied, changed and removed; plans by what was changed."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        service.presets[:] = [CHAT, MTP, LONG, *service.presets]
        self.untouched = recorded_plan("card-wsl2")
        self.changed = recorded_plan("changed-wsl2")
        self.plans: dict[str, Plan] = {
            MTP.id: recorded_plan("mtp-wsl2"),
            LONG.id: recorded_plan("long-wsl2"),
            "cpu-demo": recorded_plan("processor"),
        }
        self.refusal: ErrorInfo | None = None
        self.asked: list[tuple[str, object]] = []
        self.gate = threading.Event()
        """Plans wait for it: clear it for a slow API."""
        self.gate.set()
        service.areas.append(self.answer)

    @property
    def requests(self) -> list[PlanRequest]:
        """Return which plans were asked for."""
        return [one for _, one in self.asked if isinstance(one, PlanRequest)]

    def add_mine(self) -> None:
        """Give the person a preset of their own, whose original has changed."""
        self.service.presets.append(MINE)

    def answer(self, method: str, route: str, body: bytes) -> object:
        """Return what is asked of plans and presets; None: it is something else."""
        if route == "/plan":
            return self._plan(msgspec.json.decode(body, type=PlanRequest))
        if route == "/hosts":
            return HOSTS
        if not route.startswith("/presets"):
            return None
        _, _, rest = route.removeprefix("/presets").partition("/")
        preset_id, _, verb = rest.partition("/")
        preset_id = preset_id.replace("%2E", ".")
        if method == "GET":
            return self._get(preset_id, verb)
        if not preset_id:
            return self._take(msgspec.json.decode(body, type=ImportPresetRequest))
        return self._change(preset_id, verb, body)

    def _plan(self, request: PlanRequest) -> object:
        self.asked.append(("plan", request))
        self.gate.wait(10)
        if request.overrides.get("max_model_len") == "abc":
            return NO_NUMBER
        if request.preset in self.plans:
            return self.plans[request.preset]
        return self.changed if request.overrides else self.untouched

    def _get(self, preset_id: str, verb: str) -> object:
        if not preset_id:
            return None
        if verb == "diff":
            return UPDATED if preset_id == MINE.id else recorded_diff()
        info = next((one for one in self.service.presets if one.id == preset_id), None)
        if info is None:
            return ErrorInfo(code="preset-unknown", message=f"There is no preset `{preset_id}`.")
        detail = recorded_detail()
        origin = Origin(id=CHAT.id, digest="0" * 64) if info.is_own else None
        preset = msgspec.structs.replace(
            detail.preset,
            id=info.id,
            title=info.title,
            is_own=info.is_own,
            origin=origin,
        )
        return msgspec.structs.replace(detail, preset=preset)

    def _change(self, preset_id: str, verb: str, body: bytes) -> object:
        kinds = {
            "copy": CopyRequest,
            "edit": EditRequest,
            "title": RetitleRequest,
            "update": UpdateRequest,
        }
        request = msgspec.json.decode(body, type=kinds[verb]) if verb in kinds else None
        self.asked.append((verb, request))
        if self.refusal is not None:
            return self.refusal
        match request:
            case CopyRequest():
                made = msgspec.structs.replace(
                    self._info(preset_id), id=request.id, title=request.title or "", is_own=True
                )
                self.service.presets.append(made)
                return self._text(request.id)
            case RetitleRequest():
                self._replace(preset_id, title=request.title)
        if verb == "remove":
            gone = self._text(preset_id)
            self.service.presets[:] = [one for one in self.service.presets if one.id != preset_id]
            return PresetRemoved(id=preset_id, path=gone.path, text=gone.text)
        return self._text(preset_id)

    def _take(self, request: ImportPresetRequest) -> object:
        self.asked.append(("import", request))
        self.service.presets.append(msgspec.structs.replace(MINE, id=request.id or ""))
        return self._text(request.id or "")

    def _info(self, preset_id: str) -> PresetInfo:
        return next(one for one in self.service.presets if one.id == preset_id)

    def _replace(self, preset_id: str, **fields: object) -> None:
        self.service.presets[:] = [
            msgspec.structs.replace(one, **fields) if one.id == preset_id else one
            for one in self.service.presets
        ]

    def _text(self, preset_id: str) -> PresetText:
        path = str(Path("/home/ada/weir/presets") / f"{preset_id}.toml")
        return PresetText(id=preset_id, path=path, is_own=True, text=f'id = "{preset_id}"\n')
