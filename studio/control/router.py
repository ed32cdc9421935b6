"""The control API without its transport: method, path, query and body to an answer.

The server (HTTP) and the offline client (in-process) stand on this one table.
"""

import re
from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from studio.app.studio import Studio
from studio.control.alarms import AlarmRoutes
from studio.control.benches import Benches
from studio.control.calls import Query, Route, answered
from studio.control.calls import decoded as _read
from studio.control.calls import number as _number
from studio.control.calls import word as _word
from studio.control.clients import ClientRoutes
from studio.control.disks import DiskRoutes
from studio.control.downloads import DownloadRoutes
from studio.control.installing import InstallRoutes
from studio.control.live import Live
from studio.control.models import ModelRoutes
from studio.control.monitoring import Monitoring
from studio.control.preparing import PreparingRoutes
from studio.control.preset_changes import PresetChanges
from studio.control.records import Records
from studio.control.traffic import TrafficRoutes
from studio.control.uninstalling import UninstallRoutes
from studio.control.updating import UpdateRoutes
from studio.domain.adopt import AdoptRequest
from studio.domain.bundles import ExportRequest, ImportRequest, TrustRequest
from studio.domain.control import KeyRequest, UpRequest
from studio.domain.demand import DemandChange
from studio.domain.diagnosis import FixRequest
from studio.domain.errors import BadInput
from studio.domain.gateway import GatewayChange
from studio.domain.keys import LimitsChange, RenameRequest, RevokeRequest, UsageBy
from studio.domain.network import NetworkChange
from studio.domain.plans import MakeRequest, PlanRequest
from studio.domain.presets import ArgvRequest, CopyRequest, EditRequest, ImportPresetRequest
from studio.domain.runtimes import (
    CollectRequest,
    InstallRequest,
    PinRequest,
    RollbackRequest,
    VerifyRequest,
)
from studio.domain.service import AutostartRequest, SleepRequest, UnitRequest
from studio.domain.settings import CareChange

BODY_LIMIT_BYTES = 1 << 20
_MOST_LINES = 20_000
_MOST_SECONDS = 3_600
_USAGE_S = 30 * 86_400
_MOST_USAGE_S = 400 * 86_400
_OF_THE_SERVER = {"/events": "GET", "/keep": "POST"}


class Router:
    """Answers every call of docs/control-api.md but the event stream."""

    def __init__(self, studio: Studio, *, down: Callable[[], Awaitable[None]]) -> None:
        self._studio = studio
        self._down = down
        self._routes: list[Route] = [
            *Records(studio.logs, studio.reports, studio.diagnoses).routes(),
            *TrafficRoutes(studio.traffic).routes(),
            *Benches(studio.bench).routes(),
            *AlarmRoutes(studio.alarms).routes(),
            *ClientRoutes(studio.clients).routes(),
            *UninstallRoutes(studio.uninstalling).routes(),
            *UpdateRoutes(studio.self_update).routes(),
            *DownloadRoutes(studio.downloads).routes(),
            *DiskRoutes(studio.disk).routes(),
            *PreparingRoutes(studio.preparing).routes(),
            *ModelRoutes(studio.library).routes(),
            *Live(studio.cards).routes(),
            *InstallRoutes(studio.runtimes).routes(),
            *PresetChanges(studio.presets).routes(),
            *Monitoring(studio.insight).routes(),
            ("GET", re.compile(r"/status"), self._status),
            ("POST", re.compile(r"/up"), self._up),
            ("POST", re.compile(r"/switch"), self._switch),
            ("POST", re.compile(r"/restart"), self._restart),
            ("POST", re.compile(r"/stop"), self._stop),
            ("POST", re.compile(r"/down"), self._end),
            ("GET", re.compile(r"/presets"), self._presets),
            ("POST", re.compile(r"/plan"), self._plan),
            ("POST", re.compile(r"/presets"), self._import_preset),
            ("GET", re.compile(r"/presets/([^/]{1,256})"), self._preset),
            ("GET", re.compile(r"/presets/([^/]{1,256})/text"), self._preset_text),
            ("GET", re.compile(r"/presets/([^/]{1,256})/diff"), self._preset_diff),
            ("POST", re.compile(r"/presets/make"), self._make_preset),
            ("POST", re.compile(r"/presets/([^/]{1,256})/copy"), self._copy_preset),
            ("POST", re.compile(r"/presets/([^/]{1,256})/edit"), self._edit_preset),
            ("POST", re.compile(r"/presets/([^/]{1,256})/pin"), self._pin_preset),
            ("POST", re.compile(r"/presets/([^/]{1,256})/unpin"), self._unpin_preset),
            ("GET", re.compile(r"/boots"), self._boots),
            ("POST", re.compile(r"/argv"), self._argv),
            ("GET", re.compile(r"/runtimes"), self._runtimes),
            ("GET", re.compile(r"/runtimes/updates"), self._updates),
            ("GET", re.compile(r"/runtimes/([^/]{1,256})"), self._runtime),
            ("POST", re.compile(r"/runtimes/gc"), self._collect),
            ("POST", re.compile(r"/runtimes/import"), self._import_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/export"), self._export_runtime),
            ("GET", re.compile(r"/signers"), self._signers),
            ("POST", re.compile(r"/signers"), self._trust_signer),
            ("POST", re.compile(r"/signers/([^/]{1,1024})/forget"), self._forget_signer),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/pin"), self._pin_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/series"), self._fetch_series),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/install"), self._install_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/update"), self._update_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/verify"), self._verify_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/repair"), self._repair_runtime),
            ("GET", re.compile(r"/runtimes/([^/]{1,256})/versions"), self._versions),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/rollback"), self._roll_back),
            ("GET", re.compile(r"/host"), self._host),
            ("GET", re.compile(r"/hosts"), self._hosts),
            ("GET", re.compile(r"/doctor"), self._doctor),
            ("GET", re.compile(r"/remedies"), self._remedies),
            ("POST", re.compile(r"/remedies"), self._fix),
            ("GET", re.compile(r"/network"), self._network),
            ("POST", re.compile(r"/network"), self._change_network),
            ("GET", re.compile(r"/service"), self._unit),
            ("GET", re.compile(r"/service/unit"), self._unit_text),
            ("POST", re.compile(r"/service/install"), self._install_unit),
            ("POST", re.compile(r"/service/uninstall"), self._uninstall_unit),
            ("POST", re.compile(r"/service/autostart"), self._choose_autostart),
            ("POST", re.compile(r"/service/sleep"), self._choose_sleep),
            ("GET", re.compile(r"/adopted"), self._adopted),
            ("POST", re.compile(r"/adopted"), self._adopt),
            ("POST", re.compile(r"/adopted/forget"), self._forget_adopted),
            ("POST", re.compile(r"/gateway/selftest"), self._selftest),
            ("GET", re.compile(r"/settings"), self._settings),
            ("POST", re.compile(r"/settings"), self._change_settings),
            ("GET", re.compile(r"/ps"), self._ps),
            ("GET", re.compile(r"/logs"), self._logs),
            ("GET", re.compile(r"/history"), self._history),
            ("GET", re.compile(r"/keys"), self._keys),
            ("POST", re.compile(r"/keys"), self._create_key),
            ("GET", re.compile(r"/keys/usage"), self._usage),
            ("POST", re.compile(r"/keys/([^/]{1,1024})/revoke"), self._revoke_key),
            ("POST", re.compile(r"/keys/([^/]{1,1024})/rotate"), self._rotate_key),
            ("POST", re.compile(r"/keys/([^/]{1,1024})/reveal"), self._reveal_key),
            ("GET", re.compile(r"/secrets"), self._secrets),
            ("POST", re.compile(r"/keys/([^/]{1,1024})/rename"), self._rename_key),
            ("POST", re.compile(r"/keys/([^/]{1,1024})/limits"), self._limit_key),
            ("GET", re.compile(r"/requests"), self._requests),
            ("GET", re.compile(r"/gateway"), self._gateway),
            ("POST", re.compile(r"/gateway"), self._change_gateway),
            ("GET", re.compile(r"/gateway/on-demand"), self._on_demand),
            ("POST", re.compile(r"/gateway/on-demand"), self._change_on_demand),
            ("GET", re.compile(r"/gateway/queue"), self._queue),
        ]

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON body; every `StudioError` becomes an answer too.

        `path` is as it was sent, percent-encoding included.
        """
        return await answered(self._routes, method, path, query, body, _OF_THE_SERVER)

    async def _status(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._studio.status()

    async def _up(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.up(_read(body, UpRequest))

    async def _switch(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.starts.switch(_read(body, UpRequest))

    async def _restart(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.starts.restart()

    async def _stop(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.stop()

    async def _end(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        await self._down()
        return {"down": True}

    async def _presets(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.presets.all(_word(query, "host"))

    async def _preset(self, query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.presets.one(unquote(parts[0]), _word(query, "host"))

    async def _preset_text(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.presets.text(unquote(parts[0]))

    async def _preset_diff(self, query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.presets.diff(unquote(parts[0]), _word(query, "other"))

    async def _import_preset(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.presets.take(_read(body, ImportPresetRequest))

    async def _copy_preset(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.presets.copy(unquote(parts[0]), _read(body, CopyRequest))

    async def _edit_preset(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.presets.edit(unquote(parts[0]), _read(body, EditRequest))

    async def _pin_preset(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.boots.pins.pin(unquote(parts[0]))

    async def _unpin_preset(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.boots.pins.unpin(unquote(parts[0]))

    async def _boots(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        limit = _number(query, "limit", 20, most=_MOST_LINES)
        return await self._studio.boots.history(_word(query, "preset"), limit or 0)

    async def _argv(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.presets.argv(_read(body, ArgvRequest))

    async def _plan(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.plans.plan(_read(body, PlanRequest))

    async def _make_preset(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.my_models.make(_read(body, MakeRequest))

    async def _runtimes(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.all()

    async def _runtime(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.one(unquote(parts[0]))

    async def _pin_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.pin(unquote(parts[0]), _read(body, PinRequest))

    async def _fetch_series(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.series(unquote(parts[0]))

    async def _install_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.install(unquote(parts[0]), _read(body, InstallRequest))

    async def _updates(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.updates.offered()

    async def _update_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.updates.update(unquote(parts[0]), _read(body, InstallRequest))

    async def _verify_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        full = _read(body, VerifyRequest).full
        return await self._studio.runtimes.verify(unquote(parts[0]), full=full)

    async def _repair_runtime(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.repair(unquote(parts[0]))

    async def _versions(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.kept(unquote(parts[0]))

    async def _roll_back(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.rollback(unquote(parts[0]), _read(body, RollbackRequest))

    async def _collect(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        dry_run = _read(body, CollectRequest).dry_run
        return await self._studio.runtimes.collect(dry_run=dry_run)

    async def _host(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.host()

    async def _hosts(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.doctor.hosts()

    async def _doctor(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.doctor.report(next(iter(query.get("host", ())), None))

    async def _network(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.network.report()

    async def _selftest(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.selftest.run()

    async def _change_network(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.network.change(_read(body, NetworkChange))

    async def _remedies(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.remedies.offered()

    async def _fix(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.remedies.fix(_read(body, FixRequest))

    async def _settings(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.care.report()

    async def _change_settings(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.care.change(_read(body, CareChange))

    async def _export_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.bundles.export(unquote(parts[0]), _read(body, ExportRequest))

    async def _import_runtime(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.bundles.install(_read(body, ImportRequest))

    async def _signers(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.bundles.signers()

    async def _trust_signer(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.bundles.trust(_read(body, TrustRequest))

    async def _forget_signer(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.bundles.forget(unquote(parts[0]))

    async def _unit(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.life.info()

    async def _unit_text(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.life.unit.text()

    async def _install_unit(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.life.install(_read(body, UnitRequest))

    async def _uninstall_unit(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.life.uninstall(_read(body, UnitRequest))

    async def _choose_autostart(
        self, _query: Query, body: bytes, _parts: tuple[str, ...]
    ) -> object:
        return await self._studio.life.autostart.choose(_read(body, AutostartRequest))

    async def _choose_sleep(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return self._studio.life.sleep.choose(_read(body, SleepRequest))

    async def _adopted(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._studio.adopting.info()

    async def _adopt(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.adopting.adopt(_read(body, AdoptRequest))

    async def _forget_adopted(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.adopting.forget()

    async def _ps(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.ps()

    async def _logs(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        after = _number(query, "after", None, most=None)
        lines = _number(query, "lines", 200, most=_MOST_LINES)
        return self._studio.logs.newest(lines or 0, after)

    async def _history(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._studio.history(_number(query, "seconds", 300, most=_MOST_SECONDS) or 0)

    async def _keys(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.keys.all()

    async def _create_key(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.keys.create(_read(body, KeyRequest))

    async def _revoke_key(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.keys.revoke(unquote(parts[0]), _read(body, RevokeRequest))

    async def _rotate_key(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.keys.rotate(unquote(parts[0]))

    async def _reveal_key(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.keys.reveal(unquote(parts[0]))

    async def _secrets(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.keys.store_info()

    async def _rename_key(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.keys.rename(unquote(parts[0]), _read(body, RenameRequest))

    async def _limit_key(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.keys.limit(unquote(parts[0]), _read(body, LimitsChange))

    async def _usage(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        by = _word(query, "by") or UsageBy.KEY.value
        if by not in list(UsageBy):
            known = ", ".join(f"`{one}`" for one in UsageBy)
            raise BadInput("request-invalid", f"`by` should be one of {known}, found `{by}`.")
        seconds = _number(query, "seconds", _USAGE_S, most=_MOST_USAGE_S) or 0
        key_id = _word(query, "key")
        return await self._studio.keys.used(key_id=key_id, since_s=seconds, by=UsageBy(by))

    async def _requests(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.keys.requests(
            key_id=_word(query, "key"),
            count=_number(query, "lines", 200, most=_MOST_LINES) or 0,
            errors_only=_word(query, "errors") == "1",
        )

    async def _gateway(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.door.report()

    async def _change_gateway(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        await self._studio.keys.open()  # exposing it needs one
        return await self._studio.door.change(_read(body, GatewayChange))

    async def _on_demand(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.on_demand.report()

    async def _change_on_demand(
        self, _query: Query, body: bytes, _parts: tuple[str, ...]
    ) -> object:
        return await self._studio.on_demand.change(_read(body, DemandChange))

    async def _queue(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._studio.on_demand.queue()
