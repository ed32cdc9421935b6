"""The calls about the library of models."""

from studio.app.library import ModelLibrary
from studio.control.calls import Query, Route, decoded, plain_routes, word
from studio.domain.errors import BadInput
from studio.domain.library import (
    CheckRequest,
    ImportState,
    ModelImport,
    RemoveRequest,
    RootChange,
)


class ModelRoutes:
    """Answers for the library of one home."""

    def __init__(self, library: ModelLibrary) -> None:
        self._library = library

    def routes(self) -> list[Route]:
        """Return the calls."""
        return plain_routes(
            [
                ("GET", "/models", self._all),
                ("GET", "/models/one", self._one),
                ("GET", "/models/roots", self._roots),
                ("POST", "/models/roots", self._change_roots),
                ("POST", "/models/import", self._import),
                ("GET", "/models/import", self._importing),
                ("POST", "/models/remove", self._remove),
                ("GET", "/models/checks", self._checks),
                ("POST", "/models/checks", self._check),
                ("POST", "/models/checks/stop", self._stop_check),
            ]
        )

    async def _all(self, _query: Query, _body: bytes) -> object:
        return await self._library.all()

    async def _one(self, query: Query, _body: bytes) -> object:
        name = word(query, "name")
        if name is None:
            raise BadInput("request-invalid", "`name` is missing: which model is meant?")
        return await self._library.one(name)

    async def _roots(self, _query: Query, _body: bytes) -> object:
        return await self._library.roots()

    async def _change_roots(self, _query: Query, body: bytes) -> object:
        return await self._library.change_roots(decoded(body, RootChange))

    async def _import(self, _query: Query, body: bytes) -> object:
        return await self._library.take(decoded(body, ModelImport))

    async def _importing(self, _query: Query, _body: bytes) -> object:
        return ImportState(current=self._library.importing())

    async def _remove(self, _query: Query, body: bytes) -> object:
        return await self._library.remove(decoded(body, RemoveRequest))

    async def _checks(self, _query: Query, _body: bytes) -> object:
        return self._library.checks()

    async def _check(self, _query: Query, body: bytes) -> object:
        return await self._library.check(decoded(body, CheckRequest))

    async def _stop_check(self, _query: Query, body: bytes) -> object:
        request = decoded(body, CheckRequest)
        if request.name is None:
            raise BadInput("request-invalid", "`name` is missing: whose check is meant?")
        return await self._library.stop_check(request.name)
