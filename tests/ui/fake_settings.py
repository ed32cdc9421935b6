"""The fake service's settings: plugged in by `FakeSettings(service)`."""

from collections.abc import Callable

import msgspec

from studio.domain.alarms import AlarmList, Mute
from studio.domain.errors import ErrorInfo
from studio.domain.gateway import GatewayChange, GatewayReport, GatewaySettings
from studio.domain.history import HistoryState
from studio.domain.library import RootChange, RootInfo, RootKind, RootState
from studio.domain.logs import LogLimits
from studio.domain.network import (
    AuthorityInfo,
    MirrorInfo,
    NetworkChange,
    NetworkReport,
    ProxyInfo,
)
from studio.domain.runtimes import RuntimeUpdate, RuntimeUpdates, UpdateKind
from studio.domain.scrape import ScrapeAction, ScrapeInfo, ScrapeRequest
from studio.domain.secrets import StoreInfo, StoreKind
from studio.domain.service import (
    AutostartInfo,
    AutostartRequest,
    AutostartState,
    RunsAs,
    SleepInfo,
    SleepRequest,
    UnitInfo,
)
from studio.domain.settings import CareChange, CareSettings, OnDeath, OnStall
from studio.domain.uninstall import Belongings, Place, UninstallPlan
from studio.ui.viewmodels.settings_gateway import LOOPBACK
from studio.ui.viewmodels.settings_machine import OWN
from tests.ui.fake_demand import FakeDemand
from tests.ui.fake_service import START, FakeService

HOME = "/home/ada/.local/share/weir-studio"
GIB = 1 << 30
NETWORK = NetworkReport(
    offline=False,
    proxies=(
        ProxyInfo(
            scheme="https",
            url="http://proxy.example:3128",
            has_password=True,
            source="HTTPS_PROXY",
        ),
    ),
    no_proxy=("intranet.example", "10.0.0.0/8"),
    authorities=(AuthorityInfo(path="/etc/company/ca.pem", source="SSL_CERT_FILE"),),
    mirrors=(
        MirrorInfo(of="https://huggingface.co/", at="https://mirror.example/hf/", source=OWN),
    ),
    package_index="https://packages.example/simple",
    connections=4,
    connect_s=10.0,
    stall_s=30.0,
    tries=5,
    user_agent="weir-studio",
    settings_file=f"{HOME}/network.json",
    downloads_folder=f"{HOME}/cache/downloads",
)
PLACES = UninstallPlan(
    home=HOME,
    places=(
        Place(path=f"{HOME}/models", group=Belongings.MODELS, bytes=24 * GIB, files=31),
        Place(path=f"{HOME}/runtimes", group=Belongings.RUNTIMES, bytes=3 * GIB, files=212),
        Place(path=f"{HOME}/store", group=Belongings.RUNTIMES, bytes=9 * GIB, files=41_204),
        Place(path=f"{HOME}/cache", group=Belongings.CACHE, bytes=2 * GIB, files=96),
        Place(path=f"{HOME}/history.db", group=Belongings.HISTORY, bytes=61 << 20, files=3),
        Place(path=f"{HOME}/logs", group=Belongings.LOGS, bytes=19 << 20, files=9),
        Place(path=f"{HOME}/studio.db", group=Belongings.KEYS, bytes=4 << 20, files=3),
        Place(path=f"{HOME}/settings.json", group=Belongings.SETTINGS, bytes=812, files=1),
    ),
    keyring=(),
    foreign=(),
    notes=(),
)
ROOTS = (
    RootInfo(path=f"{HOME}/models", kind=RootKind.OWN, models=2, size_bytes=24 * GIB),
    RootInfo(path="/home/ada/.cache/huggingface/hub", kind=RootKind.CACHE, models=3),
    RootInfo(path="/media/ada/disk/models", kind=RootKind.FOLDER, models=7, size_bytes=181 * GIB),
    RootInfo(path="/mnt/nas/models", kind=RootKind.FOLDER, state=RootState.MISSING),
)
UNIT = UnitInfo(
    unit_file="/home/ada/.config/systemd/user/weir-studio.service",
    is_installed=True,
    enabled="enabled",
    active="active",
    has_linger=False,
    user="ada",
    runs_as=RunsAs.UNIT,
    pid=4200,
    autostart=AutostartInfo(state=AutostartState.SERVED, preset="cpu-demo"),
    sleep=SleepInfo(slept_at=START - 36_000, woke_at=START - 7_200, outcome="The engine answers."),
)
UPDATES = RuntimeUpdates(
    updates=(
        RuntimeUpdate(
            kind=UpdateKind.RECIPE,
            runtime="cpu-vllm-0.32.0",
            runtime_id="9f3c2ab1d0e4",
            target="cpu-vllm-0.32.0",
            title="vLLM 0.32.0 on the processor",
            usable=True,
            fetch_bytes=41 << 20,
        ),
    )
)
EXPOSED = ErrorInfo(
    code="gateway-exposed",
    message="Everybody in every network that this machine is in could reach port 18020 and try "
    "keys. Keys and prompts travel unencrypted; `--tls` changes that.",
    hint="Say yes with `--expose`.",
    exit_status=4,
    data={"what": "0.0.0.0"},
)
BAD_PROXY = ErrorInfo(
    code="proxy-invalid",
    message="socks5://127.0.0.1:9050 is a SOCKS proxy, which downloads cannot use.",
    hint="Name an HTTP proxy, or `direct`.",
    exit_status=3,
)


class FakeSettings:
    """Keeps the settings, and what was asked."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.network = NETWORK
        self.gateway = GatewayReport(
            settings=GatewaySettings(aliases={"gpt-4o": ""}, origins=("http://localhost:3000",)),
            port=18020,
            is_open=True,
            urls=("http://127.0.0.1:18020/v1",),
        )
        self.unit = UNIT
        self.care = CareSettings()
        self.logs = LogLimits()
        self.alarms = AlarmList(mutes=(Mute(code="throttled-heat"),), is_watched=True)
        self.scrape = ScrapeInfo()
        self.roots = ROOTS
        self.updates: RuntimeUpdates | ErrorInfo = UPDATES
        self.asked: list[tuple[str, object]] = []
        self.more = FakeDemand(self.asked)
        service.areas.append(self.answer)

    def answer(self, method: str, route: str, body: bytes) -> object:
        """Return a record for what is asked of settings; None: it is something else."""
        if method == "POST":
            return self._post(route, body) or self.more.post(route, body)
        reads: dict[str, object] = {
            "/host": self.service.host,
            "/uninstall": PLACES,
            "/models/roots": self.roots,
            "/network": self.network,
            "/gateway": self.gateway,
            "/service": self.unit,
            "/settings": self.care,
            "/history/state": HistoryState(
                file=f"{HOME}/history.db",
                bytes=61 << 20,
                most_bytes=256 << 20,
                oldest_at=START - 86_400 * 40,
            ),
            "/alarms": self.alarms,
            "/logs/limits": self.logs,
            "/scrape": self.scrape,
            "/runtimes/updates": self.updates,
            "/secrets": StoreInfo(kind=StoreKind.KEYRING, where="the Secret Service"),
        }
        return reads.get(route) or self.more.reads().get(route)

    def _post(self, route: str, body: bytes) -> object:
        writes: dict[str, Callable[[bytes], object]] = {
            "/models/roots": self._on_roots,
            "/network": self._on_network,
            "/gateway": self._on_gateway,
            "/settings": self._on_care,
            "/service/autostart": self._on_autostart,
            "/service/sleep": self._on_sleep,
            "/service/uninstall": self._on_uninstall,
            "/logs/limits": self._on_logs,
            "/scrape": self._on_scrape,
            "/alarms/throttled-heat/unmute": self._on_unmute,
        }
        return writes[route](body) if route in writes else None

    def _on_roots(self, body: bytes) -> object:
        change = msgspec.json.decode(body, type=RootChange)
        self.asked.append(("roots", change))
        self.roots = tuple(one for one in self.roots if one.path != change.remove)
        if change.add is not None:
            self.roots = (*self.roots, RootInfo(path=change.add, kind=RootKind.FOLDER))
        return self.roots

    def _on_network(self, body: bytes) -> object:
        change = msgspec.json.decode(body, type=NetworkChange)
        self.asked.append(("network", change))
        proxy = change.values.get("proxy")
        if proxy is not None and proxy.startswith("socks"):
            return BAD_PROXY
        if proxy is not None:
            made = ProxyInfo(scheme="https", url=proxy, source=OWN)
            self.network = msgspec.structs.replace(self.network, proxies=(made,))
        if "offline" in change.values:
            is_on = change.values["offline"] == "on"
            self.network = msgspec.structs.replace(self.network, offline=is_on, offline_source=OWN)
        if "mirror" in change.forget:
            self.network = msgspec.structs.replace(self.network, mirrors=())
        return self.network

    def _on_gateway(self, body: bytes) -> object:
        change = msgspec.json.decode(body, type=GatewayChange)
        self.asked.append(("gateway", change))
        before = self.gateway.settings
        if change.address not in (None, LOOPBACK) and not change.expose:
            return EXPOSED
        settings = msgspec.structs.replace(
            before,
            address=change.address or before.address,
            tls=before.tls if change.tls is None else change.tls,
            hosts=(*before.hosts, *change.hosts),
            origins=tuple(
                one for one in (*before.origins, *change.origins) if one not in change.forget
            ),
            aliases={**before.aliases, **change.aliases},
        )
        self.gateway = msgspec.structs.replace(
            self.gateway, settings=settings, port=change.port or self.gateway.port
        )
        return self.gateway

    def _on_care(self, body: bytes) -> object:
        change = msgspec.json.decode(body, type=CareChange)
        self.asked.append(("care", change))
        values: dict[str, object] = dict(change.values)
        kept = msgspec.structs.asdict(self.care)
        for name, value in values.items():
            field = name.replace("-", "_")
            kinds: dict[str, Callable[[str], object]] = {
                "on_death": OnDeath, "on_stall": OnStall,
            }  # fmt: skip
            kept[field] = kinds.get(field, float)(str(value))
            kept["chosen"] = (*self.care.chosen, name)
        for name in change.forget:
            kept[name.replace("-", "_")] = None
            kept["chosen"] = tuple(one for one in self.care.chosen if one != name)
        self.care = CareSettings(**kept)
        return self.care

    def _on_autostart(self, body: bytes) -> object:
        preset = msgspec.json.decode(body, type=AutostartRequest).preset
        self.asked.append(("autostart", preset))
        state = AutostartState.NEXT if preset else AutostartState.OFF
        info = AutostartInfo(state=state, preset=preset)
        self.unit = msgspec.structs.replace(self.unit, autostart=info)
        return info

    def _on_sleep(self, body: bytes) -> object:
        policy = msgspec.json.decode(body, type=SleepRequest).policy
        self.asked.append(("sleep", policy))
        info = msgspec.structs.replace(self.unit.sleep, policy=policy)
        self.unit = msgspec.structs.replace(self.unit, sleep=info)
        return info

    def _on_uninstall(self, _body: bytes) -> object:
        self.asked.append(("uninstall", None))
        self.unit = msgspec.structs.replace(self.unit, is_installed=False)
        return self.unit

    def _on_logs(self, body: bytes) -> object:
        self.logs = msgspec.json.decode(body, type=LogLimits)
        return self.logs

    def _on_scrape(self, body: bytes) -> object:
        is_on = msgspec.json.decode(body, type=ScrapeRequest).action is ScrapeAction.ON
        self.scrape = ScrapeInfo(
            is_on=is_on, url="http://127.0.0.1:18021/metrics" if is_on else None
        )
        return self.scrape

    def _on_unmute(self, _body: bytes) -> object:
        self.alarms = AlarmList(is_watched=True)
        return self.alarms
