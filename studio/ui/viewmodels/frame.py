"""The frame around the pages: who serves, in what state, under which address."""

import enum

import msgspec

from studio.domain.events import StageProgress, StageState
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import duration_text
from studio.ui.language import marked, t, told
from studio.ui.state import Action, Known, Link, elapsed_s, is_busy, is_under_way
from studio.ui.viewmodels.badges import BadgesView, badges_view
from studio.ui.viewmodels.problem import needs_consent
from studio.ui.viewmodels.words import PHASE_WORDS, PRODUCT, ButtonView, Role, Shape, Text


class PageId(enum.StrEnum):
    """The pages, in the order of the rail."""

    SERVE = "serve"
    PLAN = "plan"
    MONITOR = "monitor"
    KEYS = "keys"
    CONNECT = "connect"
    MODELS = "models"
    RUNTIMES = "runtimes"
    LOGS = "logs"
    SETTINGS = "settings"


def page_words(page: PageId) -> Text:
    """Return the word of a page and what it holds, with its key."""
    word, holds = _PAGES[page]
    number = list(PageId).index(page) + 1
    return Text(
        text=t(word), tooltip=t("{holds} (Ctrl+{number})").format(holds=t(holds), number=number)
    )


_PAGES: dict[PageId, tuple[str, str]] = {
    PageId.SERVE: (marked("Serve"), marked("Preset, state, pool and speed")),
    PageId.PLAN: (marked("Plan"), marked("What fits, and what each knob changes")),
    PageId.MONITOR: (marked("Monitor"), marked("Pool, spill and speed over time")),
    PageId.KEYS: (marked("Keys"), marked("Keys for chat clients, and their use")),
    PageId.CONNECT: (marked("Connect"), marked("Set up chat clients, and try it")),
    PageId.MODELS: (marked("Models"), marked("What lies on the disk, and downloads")),
    PageId.RUNTIMES: (marked("Runtimes"), marked("Engines: install, check, update, roll back")),
    PageId.LOGS: (marked("Logs"), marked("What the engine and the service say")),
    PageId.SETTINGS: (marked("Settings"), marked("Folders, network, language, theme")),
}

_THEMES: dict[str, Text] = {
    "system": Text(
        text=marked("System theme"),
        tooltip=marked("Colours follow the system (Ctrl+T changes them)"),
    ),
    "dark": Text(text=marked("Dark"), tooltip=marked("Dark colours (Ctrl+T changes them)")),
    "light": Text(text=marked("Light"), tooltip=marked("Light colours (Ctrl+T changes them)")),
}


def theme_words(choice: str) -> Text:
    """Return the word of a theme, and what changes it."""
    words = _THEMES[choice]
    return Text(text=t(words.text), tooltip=t(words.tooltip))


class StateView(msgspec.Struct, frozen=True, kw_only=True):
    """The state in words, with a sign that needs no colour."""

    text: str
    role: Role
    shape: Shape
    tooltip: str = ""


class BannerView(msgspec.Struct, frozen=True, kw_only=True):
    """A calm line under the strip; no button when there is nothing to press."""

    text: str
    button: str | None = None


class FrameView(msgspec.Struct, frozen=True, kw_only=True):
    """The strip above every page."""

    window_title: str
    title: str
    expert: str
    state: StateView
    badges: BadgesView
    address: Text
    can_copy_address: bool
    start: ButtonView
    stop: ButtonView
    restart: ButtonView
    switch: ButtonView
    banner: BannerView | None
    version: Text
    place: Text | None = None
    """Which machine is shown; None: this one."""


_PLAIN = {
    EngineState.FAILED: StateView(text=marked("Failed"), role=Role.HARM, shape=Shape.CROSS),
    EngineState.BACKING_OFF: StateView(
        text=marked("Failed, trying again soon"), role=Role.WARN, shape=Shape.TRIANGLE
    ),
    EngineState.DRAINING: StateView(
        text=marked("Finishing the last answers"), role=Role.WATER, shape=Shape.HALF
    ),
    EngineState.STOPPING: StateView(text=marked("Stopping"), role=Role.WATER, shape=Shape.HALF),
    EngineState.ADOPTED: StateView(text=marked("Adopted"), role=Role.OK, shape=Shape.DOT),
    EngineState.GONE: StateView(
        text=marked("Adopted, and gone"), role=Role.HARM, shape=Shape.CROSS
    ),
}
"""States that say all by themselves."""


def frame_view(
    known: Known, now_s: float, *, chosen: str | None, choosing: bool, home: bool = False
) -> FrameView:
    """Return the strip; `chosen` is the preset marked on the serve page, `home` that page is shown.

    The chooser has its own Start, so at home the strip has none.
    """
    title, expert = _titles(known, chosen)
    state = state_view(known, now_s)
    running = known.engine.is_serving
    start = _start(known, chosen)
    return FrameView(
        window_title=" · ".join([*([title, state.text] if running else ()), *_place_words(known)]),
        title=title,
        expert=expert,
        state=state,
        badges=badges_view(known.engine.badges if known.link is Link.LIVE else ()),
        address=_address(known),
        can_copy_address=_has_address(known),
        start=msgspec.structs.replace(start, visible=start.visible and not home),
        stop=_stop(known),
        restart=_restart(known),
        switch=_switch(known, choosing=choosing),
        banner=banner_view(known),
        version=_version(known),
        place=_place(known),
    )


def state_view(known: Known, now_s: float) -> StateView:
    """Return the engine's state in a few words."""
    if known.link is not Link.LIVE:
        text = t("Service ended") if known.link is Link.ENDED else t("Looking for the service")
        return StateView(text=text, role=Role.QUIET, shape=Shape.RING)
    engine = known.engine
    match engine.state:
        case EngineState.READY:
            return StateView(text=_ready_words(engine), role=Role.OK, shape=Shape.DOT)
        case EngineState.STARTING:
            return _starting(known, now_s)
        case EngineState.PREPARING | EngineState.STOPPED:
            return _at_rest_or_preparing(known)
        case state:
            return msgspec.structs.replace(_PLAIN[state], text=t(_PLAIN[state].text))


def _place_words(known: Known) -> tuple[str, ...]:
    return (known.place, PRODUCT) if known.place is not None else (PRODUCT,)


def _place(known: Known) -> Text | None:
    if known.place is None:
        return None
    return Text(
        text=known.place,
        tooltip=t(
            "This window shows the Studio on {place}. Folders, files and addresses are that "
            "machine's."
        ).format(place=known.place),
    )


def banner_view(known: Known) -> BannerView | None:
    """Return the line about the service, None while it answers."""
    if known.place is not None:
        return _far_banner(known, known.place)
    match known.link:
        case Link.LIVE:
            return None
        case Link.CONNECTING:
            return BannerView(text=t("Looking for the service, and starting it if none runs."))
        case Link.LOST:
            reason = f" {told(known.farewell)}" if known.farewell else ""
            return BannerView(
                text=t("The service does not answer; trying again.{reason}").format(reason=reason)
            )
        case Link.ENDED:
            reason = f": {told(known.farewell).rstrip('.。')}" if known.farewell else ""
            return BannerView(
                text=t("The service has ended{reason}.").format(reason=reason),
                button=t("Start it again"),
            )


def _far_banner(known: Known, place: str) -> BannerView | None:
    """Return the line about a service that is never started from here."""
    reason = f" {told(known.farewell)}" if known.farewell else ""
    match known.link:
        case Link.LIVE:
            return None
        case Link.CONNECTING:
            return BannerView(text=t("Looking for the service on {place}.").format(place=place))
        case Link.LOST:
            return BannerView(
                text=t("{place} does not answer; trying again.{reason}").format(
                    place=place, reason=reason
                )
            )
        case Link.ENDED:
            return BannerView(
                text=t(
                    "The service on {place} has ended; the window waits for its return.{reason}"
                ).format(place=place, reason=reason)
            )


def _titles(known: Known, chosen: str | None) -> tuple[str, str]:
    adopted = known.engine.adopted
    if adopted is not None:
        return adopted.name, adopted.url
    identity = known.engine.preset or chosen
    for preset in known.presets or ():
        if preset.id == identity:
            return told(preset.title), preset.expert
    return identity or t("No preset chosen"), ""


def _ready_words(engine: EngineSnapshot) -> str:
    if engine.boot_s is None:
        return t("Ready")
    return t("Ready, booted in {boot_s}").format(boot_s=duration_text(engine.boot_s))


def _starting(known: Known, now_s: float) -> StateView:
    engine = known.engine
    words = t(PHASE_WORDS[engine.phase]) if engine.phase else t("Starting")
    passed = duration_text(elapsed_s(known, now_s))
    if engine.expected_boot_s is None:
        text = f"{words}, {passed}"
    else:
        text = t("{words}, {passed} of about {expected_boot_s}").format(
            words=words, passed=passed, expected_boot_s=duration_text(engine.expected_boot_s)
        )
    return StateView(text=text, role=Role.WATER, shape=Shape.HALF)


def _at_rest_or_preparing(known: Known) -> StateView:
    stage = _running_stage(known.stages)
    asked = known.pending & {Action.UP, Action.SWITCH}
    if known.engine.state is EngineState.PREPARING or asked or is_under_way(known):
        text = told(stage.title) if stage is not None else t("Preparing")
        return StateView(text=text, role=Role.WATER, shape=Shape.HALF)
    if known.problem is not None and needs_consent(known.problem):
        return StateView(text=t("Waits for your yes"), role=Role.WARN, shape=Shape.TRIANGLE)
    if known.problem is not None:
        return StateView(text=t("Stopped after a problem"), role=Role.HARM, shape=Shape.CROSS)
    return StateView(text=t("Stopped"), role=Role.QUIET, shape=Shape.RING)


def _running_stage(stages: tuple[StageProgress, ...]) -> StageProgress | None:
    running = [one for one in stages if one.of_up and one.state is StageState.RUNNING]
    return running[-1] if running else None


def _has_address(known: Known) -> bool:
    return known.link is Link.LIVE and known.gateway.base_url is not None


def _address(known: Known) -> Text:
    if _has_address(known):
        return Text(
            text=known.gateway.base_url or "",
            tooltip=t("The base URL for chat clients. Copy it with Ctrl+Shift+C."),
        )
    return Text(tooltip=t("The address appears when the gateway is open."))


def _start(known: Known, chosen: str | None) -> ButtonView:
    is_taken = known.engine.state is EngineState.READY or known.engine.adopted is not None
    visible = not is_busy(known) and not is_taken
    if known.link is not Link.LIVE:
        return ButtonView(
            text=t("Start"), enabled=False, tooltip=t("The service does not answer yet.")
        )
    preset = next((item for item in known.presets or () if item.id == chosen), None)
    if preset is None:
        tooltip = t("Choose a preset first.")
        return ButtonView(text=t("Start"), visible=visible, enabled=False, tooltip=tooltip)
    if not preset.usable:
        tooltip = " ".join(told(one) for one in preset.reasons) or t(
            "This machine does not meet the preset's needs."
        )
        return ButtonView(text=t("Start"), visible=visible, enabled=False, tooltip=tooltip)
    tooltip = t("Serve “{title}” (Ctrl+Return)").format(title=told(preset.title))
    return ButtonView(text=t("Start"), visible=visible, tooltip=tooltip)


def _stop(known: Known) -> ButtonView:
    stopping = Action.STOP in known.pending or known.engine.state is EngineState.STOPPING
    can_be = is_busy(known) or known.engine.state is EngineState.READY
    visible = known.link is Link.LIVE and can_be and known.engine.adopted is None
    return ButtonView(
        text=t("Stopping") if stopping else t("Stop"),
        visible=visible,
        enabled=not stopping,
        tooltip=t("Let the answers under way finish, then stop the engine (Ctrl+.)"),
    )


def _restart(known: Known) -> ButtonView:
    ready = known.link is Link.LIVE and known.engine.state is EngineState.READY
    return ButtonView(
        text=t("Restart"),
        visible=ready,
        enabled=ready and not is_busy(known),
        tooltip=t("Stop the engine and start it with the same preset and settings (Ctrl+R)"),
    )


def _switch(known: Known, *, choosing: bool) -> ButtonView:
    ready = known.link is Link.LIVE and known.engine.state is EngineState.READY
    return ButtonView(
        text=t("Back to the weir") if choosing else t("Switch"),
        visible=ready and known.presets is not None,
        enabled=ready and not is_busy(known),
        tooltip=t("Show the pool and the speed again")
        if choosing
        else t("Serve another preset; address and keys stay (Ctrl+P)"),
    )


def _version(known: Known) -> Text:
    if known.service is None:
        return Text(tooltip=t("The service's version appears when it answers."))
    service = known.service
    return Text(
        text=service.version,
        tooltip=t("Service {version}, process {pid}, folder {home}").format(
            version=service.version, pid=service.pid, home=service.home
        ),
    )
