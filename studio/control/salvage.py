"""The calls that need neither a service nor a home in order: logs and reports, from what is there.

When everything is broken, these two have to work.
"""

from studio.app.logs import Logs
from studio.app.report import Reports, opened
from studio.app.settings import SettingsFile
from studio.control.calls import answered
from studio.control.records import Records
from studio.host.paths import Paths


class Salvage:
    """Answers for one home without opening it."""

    def __init__(self, paths: Paths) -> None:
        logs = Logs(paths.logs, lambda: SettingsFile(paths.settings_file))
        self._records = Records(logs, Reports(paths, opened(paths), has_service=False))

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON body; every `StudioError` becomes an answer too."""
        return await answered(self._records.routes(), method, path, query, body)
