"""Starts the service through its systemd unit, where there is one of ours that is switched on.

Whoever installed the unit wants the service kept by it: the journal has its log, it outlives the
terminal, and it is started again. Whatever keeps the unit from being used is said, and the service
is started by hand instead.
"""

import os
import time
from collections.abc import Mapping

from studio.app.service_unit import ServiceUnit
from studio.domain.errors import HostLacks
from studio.domain.service import UnitStart
from studio.host import unit_file
from studio.host.paths import Paths
from studio.host.systemd import UserManager

_ASKED_S = 120.0
"""How long a start that somebody asked for may take to become a service: systemd gives up after
90 s."""


async def start(
    paths: Paths, *, environ: Mapping[str, str] = os.environ, manager: UserManager | None = None
) -> UnitStart | None:
    """Start the service of this home through its unit, and return when it can be reached.

    None: there is no unit for this home and catalogue, or it is switched off, so none is wanted.
    """
    manager = manager or UserManager(environ, uid=None)
    unit = ServiceUnit(paths, drain_s=lambda: 0.0, environ=environ, manager=manager)
    try:
        text = unit.read()
        if not text or unit_file.home_of(text) != str(paths.home):
            return None
        catalogue = environ.get("WEIR_CATALOGUE")
        if catalogue and unit_file.quoted(f"WEIR_CATALOGUE={catalogue}") not in text:
            return None  # a trial with other data, which the unit would not see
        await manager.version()
        state = await manager.state()
        if state.enabled != "enabled":
            return None
        if not unit_file.is_ours(text):
            return UnitStart(is_started=False, problem=_edited(unit).info)
        await _start(paths, manager)
    except HostLacks as error:
        return UnitStart(is_started=False, problem=error.info)
    return UnitStart(is_started=True)


async def _start(paths: Paths, manager: UserManager) -> None:
    mark = paths.service / "asked-for"
    mark.touch(mode=0o600)
    try:
        await manager.start()
    except HostLacks:
        mark.unlink(missing_ok=True)
        raise


def was_asked_for(paths: Paths) -> bool:
    """Tell, once, whether the unit was started by somebody who will say what to serve.

    Then nothing is started by itself: it would stand in the way of what is wanted.
    """
    mark = paths.service / "asked-for"
    try:
        is_fresh = time.time() - mark.stat().st_mtime < _ASKED_S
        mark.unlink(missing_ok=True)
    except OSError:
        return False
    return is_fresh


def _edited(unit: ServiceUnit) -> HostLacks:
    return HostLacks(
        "unit-edited",
        f"The unit {unit.file} was changed by hand, or was not written by the Studio.",
        hint="`weir service install` shows the difference; changes belong into a drop-in.",
    )
