"""The control API's calls about presets, plans and boots."""

from studio.control.transport import Calls, part, query_text
from studio.domain.boots import BootHistory, PinResult
from studio.domain.control import (
    PresetInfo,
)
from studio.domain.plans import MadePreset, MakeRequest, Plan, PlanRequest
from studio.domain.presets import (
    ArgvRequest,
    ArgvResult,
    CopyRequest,
    EditRequest,
    ImportPresetRequest,
    PresetDetail,
    PresetDiff,
    PresetRemoved,
    PresetText,
    RetitleRequest,
    UpdateRequest,
)


class PresetCalls(Calls):
    """Presets, plans and boots."""

    async def presets(self, host: str | None = None) -> list[PresetInfo]:
        """Return every preset with its verdict for this machine, or for a host in a file."""
        return await self.call("GET", f"/presets{query_text(host=host)}", list[PresetInfo])

    async def preset(self, preset_id: str, host: str | None = None) -> PresetDetail:
        """Return everything about one preset."""
        path = f"/presets/{part(preset_id)}{query_text(host=host)}"
        return await self.call("GET", path, PresetDetail)

    async def preset_text(self, preset_id: str) -> PresetText:
        """Return a preset's file."""
        return await self.call("GET", f"/presets/{part(preset_id)}/text", PresetText)

    async def preset_diff(self, preset_id: str, other: str | None = None) -> PresetDiff:
        """Return how a preset differs from another one, or from what it came from."""
        path = f"/presets/{part(preset_id)}/diff{query_text(other=other)}"
        return await self.call("GET", path, PresetDiff)

    async def copy_preset(self, preset_id: str, request: CopyRequest) -> PresetText:
        """Make a preset of the person's own from another one."""
        path = f"/presets/{part(preset_id)}/copy"
        return await self.call("POST", path, PresetText, body=request)

    async def import_preset(self, request: ImportPresetRequest) -> PresetText:
        """Take over a preset that somebody else wrote."""
        return await self.call("POST", "/presets", PresetText, body=request)

    async def edit_preset(self, preset_id: str, request: EditRequest) -> PresetText:
        """Change a preset of the person's own, or one under the id of a bundled one."""
        path = f"/presets/{part(preset_id)}/edit"
        return await self.call("POST", path, PresetText, body=request)

    async def retitle_preset(self, preset_id: str, title: str) -> PresetText:
        """Give a preset of the person's own another title."""
        path = f"/presets/{part(preset_id)}/title"
        return await self.call("POST", path, PresetText, body=RetitleRequest(title=title))

    async def remove_preset(self, preset_id: str) -> PresetRemoved:
        """Delete a preset of the person's own."""
        return await self.call("POST", f"/presets/{part(preset_id)}/remove", PresetRemoved)

    async def update_preset(self, preset_id: str, request: UpdateRequest) -> PresetText:
        """Bring a preset of the person's own up to its original, as that is now."""
        path = f"/presets/{part(preset_id)}/update"
        return await self.call("POST", path, PresetText, body=request)

    async def pin_preset(self, preset_id: str) -> PinResult:
        """Keep the pool of a preset's last warm boot, from its next start on."""
        return await self.call("POST", f"/presets/{part(preset_id)}/pin", PinResult)

    async def unpin_preset(self, preset_id: str) -> PinResult:
        """Leave the size of a preset's pool to the engine again."""
        return await self.call("POST", f"/presets/{part(preset_id)}/unpin", PinResult)

    async def boots(self, *, preset: str | None = None, limit: int = 20) -> BootHistory:
        """Return the newest boots of this machine, oldest first."""
        path = f"/boots{query_text(preset=preset, limit=str(limit))}"
        return await self.call("GET", path, BootHistory)

    async def argv(self, request: ArgvRequest) -> ArgvResult:
        """Return the command that would serve a preset; starts nothing."""
        return await self.call("POST", "/argv", ArgvResult, body=request)

    async def plan(self, request: PlanRequest) -> Plan:
        """Return what a preset, or a model's folder, comes to."""
        return await self.call("POST", "/plan", Plan, body=request)

    async def make_preset(self, request: MakeRequest) -> MadePreset:
        """Make a preset of a model folder, with values that the planner chooses."""
        return await self.call("POST", "/presets/make", MadePreset, body=request, patient=True)
