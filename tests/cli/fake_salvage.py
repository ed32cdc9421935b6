"""What works in a broken home, for the fake service."""

from typing import TYPE_CHECKING

import httpx

from studio.control.salvage import Salvage

if TYPE_CHECKING:
    from tests.cli.fake_service import FakeConnector


class FakeSalvage:
    """What works in a broken home, but for what is read out of logs: that the fake answers."""

    def __init__(self, connector: "FakeConnector", files: Salvage) -> None:
        self._connector = connector
        self._files = files

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON body."""
        if not path.endswith("/diagnose"):
            return await self._files.answer(method, path, query, body)
        self._connector.diagnosed_in_files += 1
        request = httpx.Request(method, f"http://127.0.0.1{path}", content=body)
        response = await self._connector.service.handle(request)
        return response.status_code, response.content
