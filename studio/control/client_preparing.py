"""The control API's calls about getting models ready."""

from studio.control.transport import Calls, part, query_text
from studio.domain.preparing import PrepareRequest, PresetStanding


class PreparingCalls(Calls):
    """What models need, and getting them there."""

    async def missing(self, name: str, *, listed: bool = False) -> PresetStanding:
        """Return what a preset's models, or one model, still need.

        With `listed`, hubs are asked for names and sizes.
        """
        query = query_text(listed="1" if listed else None)
        return await self.call("GET", f"/models/missing/{part(name)}{query}", PresetStanding)

    async def prepare(self, request: PrepareRequest) -> PresetStanding:
        """Fetch and prepare; returns when the models can be served."""
        return await self.call(
            "POST", "/models/prepare", PresetStanding, body=request, patient=True
        )
