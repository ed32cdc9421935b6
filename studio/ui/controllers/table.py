"""Which pages there are, in the order of the rail; a new page is one more line here."""

from collections.abc import Callable

from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.keys import KeysController
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.models import ModelsController
from studio.ui.controllers.monitor import MonitorController
from studio.ui.controllers.plan import PlanController
from studio.ui.controllers.runtimes import RuntimesController
from studio.ui.controllers.serve import ServeController
from studio.ui.controllers.settings import SettingsController
from studio.ui.desk import Controller, Desk
from studio.ui.viewmodels.frame import PageId

CONTROLLERS: dict[PageId, Callable[[Desk], Controller]] = {
    PageId.SERVE: ServeController,
    PageId.PLAN: PlanController,
    PageId.MONITOR: MonitorController,
    PageId.KEYS: KeysController,
    PageId.CONNECT: ConnectController,
    PageId.MODELS: ModelsController,
    PageId.RUNTIMES: RuntimesController,
    PageId.LOGS: LogsController,
    PageId.SETTINGS: SettingsController,
}
"""In the order of `PageId`; a page that is not here is not in the rail."""
