"""The control API's calls about the library of models."""

from studio.control.transport import Calls, query_text
from studio.domain.library import (
    CheckList,
    CheckRequest,
    ImportState,
    Library,
    ModelDetail,
    ModelImport,
    ModelImported,
    RemovePlan,
    RemoveRequest,
    RootChange,
    RootInfo,
)


class ModelCalls(Calls):
    """Models that lie on the service's machine."""

    async def models(self) -> Library:
        """Return every model as it lies now."""
        return await self.call("GET", "/models", Library)

    async def model(self, name: str) -> ModelDetail:
        """Return one model with its files."""
        return await self.call("GET", f"/models/one{query_text(name=name)}", ModelDetail)

    async def model_roots(self) -> list[RootInfo]:
        """Return every folder that is searched for models."""
        return await self.call("GET", "/models/roots", list[RootInfo])

    async def change_model_roots(self, change: RootChange) -> list[RootInfo]:
        """Search a folder from now on, or no longer."""
        return await self.call("POST", "/models/roots", list[RootInfo], body=change)

    async def import_model(self, request: ModelImport) -> ModelImported:
        """Bring a model into the library; returns when it is there."""
        return await self.call("POST", "/models/import", ModelImported, body=request, patient=True)

    async def model_import(self) -> ImportState:
        """Return how far an import under way is."""
        return await self.call("GET", "/models/import", ImportState)

    async def remove_model(self, request: RemoveRequest) -> RemovePlan:
        """Remove a model, or say what that would free."""
        return await self.call("POST", "/models/remove", RemovePlan, body=request, patient=True)

    async def model_checks(self) -> CheckList:
        """Return the checks under way and over."""
        return await self.call("GET", "/models/checks", CheckList)

    async def check_models(self, request: CheckRequest) -> CheckList:
        """Queue the check of a model, or of all; without a service it is done when this returns."""
        return await self.call("POST", "/models/checks", CheckList, body=request, patient=True)

    async def stop_model_check(self, request: CheckRequest) -> CheckList:
        """End the check of a model; what was read stays read."""
        return await self.call("POST", "/models/checks/stop", CheckList, body=request)
