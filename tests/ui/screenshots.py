"""Write pictures of every page in every state: `python -m tests.ui.screenshots FOLDER`.

`make screenshots` does it. Runs the real window against the fake service, in both themes and in
three sizes; wants a display
(Xvfb will do). `QT_SCALE_FACTOR=2` gives the pictures for dense screens.
"""

import functools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QDeadlineTimer, QEventLoop
from PySide6.QtWidgets import QApplication, QWidget

from studio.domain.errors import ErrorInfo
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.metrics import Tick
from studio.domain.pool import PoolReport, Room
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.bridge import Bridge
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.logs import LogsController
from studio.ui.controllers.table import CONTROLLERS
from studio.ui.language import speak
from studio.ui.pages.log_desk import Part
from studio.ui.session import Session
from studio.ui.settings import WindowSettings
from studio.ui.state import Link
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_clients import FakeClients
from tests.ui.fake_records import FakeRecords
from tests.ui.fake_service import (
    BOOT_FAILED,
    CONSENT,
    DEMO,
    FAST,
    HOST,
    KEY,
    PORT_TAKEN,
    FakeService,
    booting,
    line,
)
from tests.ui.fake_serving import POOL_REPORT, SMALLER, SPILLS, offered, recorded_plan
from tests.ui.fake_settings import FakeSettings
from tests.ui.screenshots_monitor import key_pages, monitor_pages, prepare
from tests.ui.screenshots_settings import help_sheet, settings_pages, tray_signs
from tests.ui.screenshots_stores import model_pages, runtime_pages
from tests.ui.shots_plan import FIRST_RUNS, plan_pages, planning

ASSETS = Path(__file__).resolve().parents[2] / "assets"
LOG_WORDS = (
    ("info", "Starting to load model /home/ada/weir/models/smollm2-135m-instruct..."),
    ("info", "Loading weights took 1.84 seconds"),
    ("warning", "Casting torch.bfloat16 to torch.float32."),
    ("info", "GPU KV cache size: 68,605 tokens"),
    ("none", "Loading safetensors checkpoint shards: 100% Completed | 1/1 [00:00<00:00,  4.1it/s]"),
    ("error", "Request cmpl-81f2 was refused: prompt of 3,120 tokens is longer than the context."),
    ("info", "Avg prompt throughput: 1240.2 tokens/s, Avg generation throughput: 132.4 tokens/s"),
    ("debug", "EngineCore loop active."),
)


def stopped(service: FakeService) -> None:
    """Show a fresh machine."""
    service.engine = EngineSnapshot()


def installing(service: FakeService) -> None:
    """Show a runtime that is being fetched."""
    service.engine = EngineSnapshot(state=EngineState.PREPARING, preset=DEMO.id)
    service.stages = (
        StageProgress(
            of_up=True,
            stage=Stage.DETECT,
            state=StageState.DONE,
            title="Look at this machine",
            note="16 cores, 64.00 GiB, no NVIDIA card",
        ),
        StageProgress(
            of_up=True,
            stage=Stage.RUNTIME,
            state=StageState.RUNNING,
            title="Install the runtime",
            note="torch 2.13.0 (37 of 84 packages)",
            done=241_000_000,
            total=613_000_000,
            unit="bytes",
            rate=42_300_000,
        ),
        StageProgress(
            of_up=True,
            stage=Stage.MODEL,
            state=StageState.RUNNING,
            title="Get the model",
            note="SmolLM2-135M-Instruct",
            done=12_400_000,
            unit="bytes",
        ),
    )


def starting(service: FakeService) -> None:
    """Show a boot under way."""
    done = (
        (Stage.DETECT, "Look at this machine", StageState.DONE),
        (Stage.RUNTIME, "Install the runtime", StageState.SKIPPED),
        (Stage.MODEL, "Get the model", StageState.SKIPPED),
        (Stage.BOOT, "Boot the engine", StageState.RUNNING),
    )
    service.stages = tuple(
        StageProgress(of_up=True, stage=stage, state=state, title=title)
        for stage, title, state in done
    )
    service.engine = booting(6, elapsed_s=39.4)


def in_step(pool: PoolReport, last: Tick) -> PoolReport:
    """Return a pool whose two requests hold what the last second shows."""
    used, first = last.pool_used_tokens or 0, 13_000
    one, two = pool.residents
    return msgspec.structs.replace(
        pool,
        used_tokens=used,
        residents=(
            msgspec.structs.replace(one, prompt_tokens=first - one.generated_tokens),
            msgspec.structs.replace(two, prompt_tokens=used - first),
        ),
    )


def ready(service: FakeService) -> None:
    """Show an afternoon of work."""
    service.be_ready(seconds=301)
    service.host = HOST
    service.serving.pool = in_step(POOL_REPORT, service.history[-1])
    FakeClients(service)
    FakeRecords(service)
    settings = FakeSettings(service)
    service.areas.remove(settings.answer)
    service.areas.insert(0, settings.answer)
    service.keys = [
        KEY,
        msgspec.structs.replace(KEY, id="k2", name="Cline on the laptop", prefix="weir-8KdR"),
        msgspec.structs.replace(
            KEY, id="k3", name="Old phone", prefix="weir-Zz01", revoked_at="2026-11-28T09:00:00Z"
        ),
    ]
    prepare(service)
    service.log = [
        line(seq, LOG_WORDS[seq % len(LOG_WORDS)][1], level=LOG_WORDS[seq % len(LOG_WORDS)][0])
        for seq in range(400)
    ]


def spilling(service: FakeService) -> None:
    """Show spill, and a pool nearly full."""
    ready(service)
    last = service.history[-1]
    service.history[-1] = msgspec.structs.replace(
        last, spill_bytes=3 << 30, waiting=3, pool_used_tokens=67_100
    )


def choosing_card(service: FakeService) -> None:
    """Show a plan on one card under WSL2, with the line of spill."""
    service.host = HOST
    replace = msgspec.structs.replace
    fast = replace(
        FAST, usable=True, reasons=(), model="Qwen3.8-27B-W4A16-AutoRound",
        origin="dbirks and syvai on Hugging Face", download_bytes=round(23.86 * (1 << 30)),
        summary="Long talks at high speed, on one card with 24 GiB.",
    )  # fmt: skip
    long = replace(
        fast, id="long", title="Long documents", expert="DFlash2, fp8 KV, 128k",
        summary="Twice the context on the same card, a little slower.",
    )  # fmt: skip
    service.presets = [fast, long, DEMO]
    service.serving.plan = recorded_plan("card-wsl2")


def alarming(service: FakeService) -> None:
    """Show requests in the pool, and an alarm with its remedy."""
    spilling(service)
    service.serving.alarms = (SPILLS,)
    service.serving.offered = (offered(1, SPILLS.code, SMALLER),)
    service.areas.clear()  # the failure of another picture has remedies of its own


def idle(service: FakeService) -> None:
    """Show an engine that nobody asks anything."""
    service.be_ready(seconds=301, load=False)
    room = Room(tokens=68_605, sentence="Room for three more conversations of 20k tokens.")
    service.serving.pool = PoolReport(at=1_796_000_000.0, tokens=68_605, used_tokens=0, room=room)


def with_problem(error: ErrorInfo) -> Callable[[FakeService], None]:
    """Return a state in which the next `up` ends with `error`."""

    def state(service: FakeService) -> None:
        service.on_up = lambda _request: service.fail(error)

    return state


STATES: dict[str, Callable[[FakeService], None]] = {
    "stopped": stopped,
    "installing": installing,
    "starting": starting,
    "choosing-card": choosing_card,
    "ready": ready,
    "alarming": alarming,
    "spilling": spilling,
    "idle": idle,
    "failed": with_problem(BOOT_FAILED),
    "port-taken": with_problem(PORT_TAKEN),
    "consent": with_problem(CONSENT),
}


PROBLEMS = {"failed", "port-taken", "consent"}


class Studio:
    """One window with its fake service."""

    def __init__(self, look: Look, folder: Path, state: Callable[[FakeService], None]) -> None:
        self.service = FakeService()
        state(self.service)
        bridge = Bridge(self.service.connect)
        self.session = Session(bridge)
        settings = WindowSettings(folder)
        self.window = MainWindow(look, self.session, bridge, settings)
        self.window.show()
        self.session.begin()
        wait_until(lambda: self.session.known.link is Link.LIVE)

    def close(self) -> None:
        """End both."""
        self.session.end()
        self.service.close()
        self.window.close()
        self.window.deleteLater()


def wait_until(condition: Callable[[], bool]) -> None:
    """Run the event loop until `condition` holds."""
    deadline = QDeadlineTimer(10_000)
    loop = QEventLoop()
    while not condition():
        if deadline.hasExpired():
            raise TimeoutError
        loop.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
    loop.processEvents()


def has_problem(studio: Studio) -> bool:
    """Tell whether the attempt has failed, and nothing is under way any more."""
    known = studio.session.known
    return known.problem is not None and not known.pending


def shoot(studio: Studio, path: Path) -> None:
    """Write one picture."""
    area = studio.window.home.area
    wait_until(lambda: not area.pending or studio.session.known.link is not Link.LIVE)
    if not studio.window.grab().save(str(path)):
        raise OSError(path)


def pages(studio: Studio, folder: Path, theme: str) -> None:
    """Write the pictures that need more than a state."""
    window, session = studio.window, studio.session
    window.show_page(PageId.LOGS)
    shoot(studio, folder / f"{theme}-logs.png")
    window.controller(PageId.LOGS).view.field.setText("throughput")
    shoot(studio, folder / f"{theme}-logs-search.png")
    window.controller(PageId.LOGS).view.field.clear()
    monitor_pages(window, lambda name: shoot(studio, folder / f"{theme}-{name}.png"), wait_until)
    key_pages(window, folder, theme, wait_until)
    window.show_page(PageId.KEYS)
    shoot(studio, folder / f"{theme}-keys.png")
    session.create_key("Zed")
    wait_until(lambda: session.known.secret is not None)
    shoot(studio, folder / f"{theme}-keys-made.png")
    window.show_page(PageId.SERVE)
    shoot(studio, folder / f"{theme}-ready-new-key.png")
    session.forget_secret()
    connect_page(studio, folder, theme)
    record_pages(studio, folder, theme)
    runtime_pages(studio, folder, theme, wait_until, shoot)
    model_pages(studio, folder, theme, wait_until, shoot)
    settings_pages(window, folder, theme, wait_until)
    help_sheet(window, folder, theme, wait_until)
    tray_signs(window.home.desk.look, folder, theme)
    other_pages(studio, folder, theme)
    for width, height in ((900, 600), (1600, 1000)):
        window.resize(width, height)
        for page in (PageId.SERVE, PageId.MONITOR, PageId.KEYS):
            window.show_page(page)
            name = "ready" if page is PageId.SERVE else page.value
            shoot(studio, folder / f"{theme}-{name}-{width}.png")
        window.show_page(PageId.SERVE)
    window.resize(1180, 760)
    studio.service.close()
    wait_until(lambda: session.known.link is Link.LOST)
    shoot(studio, folder / f"{theme}-lost.png")


def other_pages(studio: Studio, folder: Path, theme: str) -> None:
    """Write one picture of each page that none was written of, so that none is forgotten."""
    window = studio.window
    for page in CONTROLLERS:
        if page not in window.made:
            window.show_page(page)
            shoot(studio, folder / f"{theme}-{page.value}.png")
    window.show_page(PageId.SERVE)


def connect_page(studio: Studio, folder: Path, theme: str) -> None:
    """Write the pictures of the page that sets clients up."""
    window = studio.window
    window.show_page(PageId.CONNECT)
    page = window.controller(PageId.CONNECT)
    assert isinstance(page, ConnectController)
    area = page.area
    wait_until(lambda: area.plan is not None and not area.pending)
    shoot(studio, folder / f"{theme}-connect.png")
    area.write()
    wait_until(lambda: area.done is not None and not area.pending)
    shoot(studio, folder / f"{theme}-connected.png")
    area.choose("cline")
    wait_until(lambda: area.plan is not None and not area.pending)
    shoot(studio, folder / f"{theme}-connect-by-hand.png")
    window.show_page(PageId.SERVE)


def record_pages(studio: Studio, folder: Path, theme: str) -> None:
    """Write the pictures of files, diagnosis and boots."""
    window = studio.window
    window.show_page(PageId.LOGS)
    page = window.controller(PageId.LOGS)
    assert isinstance(page, LogsController)
    for part in (Part.ENGINE, Part.DIAGNOSIS, Part.BOOTS):
        page.choose(part)
        wait_until(lambda: not page.area.pending)
        shoot(studio, folder / f"{theme}-logs-{part.value}.png")
    page.choose(Part.LIVE)
    window.show_page(PageId.SERVE)


def plans(look: Look, home: Path, folder: Path, theme: str) -> None:
    """Write the pictures of the plan page and of the first run."""
    studio = Studio(look, home, planning)

    def shot(name: str, widget: QWidget | None = None) -> None:
        path = folder / f"{theme}-{name}.png"
        if widget is None:
            shoot(studio, path)
        elif not widget.grab().save(str(path)):
            raise OSError(path)

    plan_pages(studio.window, wait_until, shot)
    studio.close()
    for name, state in FIRST_RUNS.items():
        studio = Studio(look, home, state)
        first = studio.window.home.first
        wait_until(lambda first=first: first.doctor is not None and not first.pending)
        for width, height in ((1180, 760), (900, 600)):
            studio.window.resize(width, height)
            shoot(studio, folder / f"{theme}-{name}-{width}.png")
        studio.close()


def main(folder: Path, language: str = "en") -> None:
    """Write all pictures into `folder`, with the window's words in `language`."""
    folder.mkdir(parents=True, exist_ok=True)
    speak(language, ASSETS)
    application = QApplication([])
    look = Look(application, ASSETS, ThemeChoice.DARK)
    for theme in (ThemeChoice.DARK, ThemeChoice.LIGHT):
        look.choose(theme)
        with tempfile.TemporaryDirectory() as home:  # so that windows begin in their first size
            for name, state in STATES.items():
                studio = Studio(look, Path(home), state)
                if name in PROBLEMS:
                    studio.session.start(DEMO.id)
                    wait_until(functools.partial(has_problem, studio))
                shoot(studio, folder / f"{theme.value}-{name}.png")
                if name == "failed":
                    studio.window.home.view.problem.unfold()
                    shoot(studio, folder / f"{theme.value}-failed-unfolded.png")
                if name == "ready":
                    pages(studio, folder, theme.value)
                studio.close()
            plans(look, Path(home), folder, theme.value)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
