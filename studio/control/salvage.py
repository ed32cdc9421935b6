"""The calls that need neither a service nor a home in order, from what is there.

Logs, reports, what a log says of a failure, updates and the removal of it all: when everything is
broken, these have to work.
"""

from studio.app.diagnosis import Diagnoses
from studio.app.logs import Logs
from studio.app.report import Reports
from studio.app.report_collect import Asked
from studio.app.self_update import SelfUpdate
from studio.app.settings import SettingsFile
from studio.app.uninstall import Uninstall
from studio.app.wsl import WslSetup
from studio.control.calls import answered
from studio.control.records import Records
from studio.control.uninstalling import UninstallRoutes
from studio.control.updating import UpdateRoutes
from studio.control.wsl import WslRoutes
from studio.host.paths import Paths
from studio.serving import diagnose


def opened(paths: Paths) -> Asked:
    """Open a Studio of this home without a service, when one is asked. Raises: StudioError."""
    from studio.app.studio import Studio
    from studio.app.wiring import Parts

    return Studio(Parts(paths))


class Salvage:
    """Answers for one home without opening it."""

    def __init__(self, paths: Paths) -> None:
        logs = Logs(paths.logs, lambda: SettingsFile(paths.settings_file))
        reports = Reports(paths, lambda: opened(paths), has_service=False)
        catalogue = paths.catalogue / "runtimes" / "failures.toml"
        diagnoses = Diagnoses(paths, lambda: diagnose.load(catalogue))
        self._records = Records(logs, reports, diagnoses)
        self._uninstall = UninstallRoutes(Uninstall(paths))
        self._update = UpdateRoutes(SelfUpdate(paths))
        self._wsl = WslRoutes(WslSetup(paths))

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON body; every `StudioError` becomes an answer too."""
        routes = [
            *self._records.routes(), *self._uninstall.routes(), *self._update.routes(),
            *self._wsl.routes(),
        ]  # fmt: skip
        return await answered(routes, method, path, query, body)
