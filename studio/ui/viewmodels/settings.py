"""The settings page: what it is made of, and which parts it has. Pure."""

import enum
from collections.abc import Mapping

import msgspec

from studio.domain.alarms import AlarmList
from studio.domain.control import KeyInfo, PresetInfo
from studio.domain.demand import DemandReport
from studio.domain.errors import ErrorInfo
from studio.domain.gateway import AdjustmentList, GatewayReport
from studio.domain.hardware import HostSnapshot
from studio.domain.history import HistoryState
from studio.domain.library import RootInfo
from studio.domain.logs import LogLimits
from studio.domain.network import NetworkReport
from studio.domain.runtimes import RuntimeUpdates
from studio.domain.scrape import ScrapeInfo
from studio.domain.secrets import StoreInfo
from studio.domain.self_update import UpdateStatus
from studio.domain.server import AdoptedInfo
from studio.domain.service import UnitInfo
from studio.domain.settings import CareSettings
from studio.domain.uninstall import UninstallPlan
from studio.domain.wsl import WslReport
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.problem import needs_consent
from studio.ui.viewmodels.words import Text


class Section(enum.StrEnum):
    """The parts of the page, in their order."""

    WINDOW = "window"
    FOLDERS = "folders"
    NETWORK = "network"
    GATEWAY = "gateway"
    SERVICE = "service"
    LINUX = "linux"
    """On Windows only."""
    ENGINE = "engine"
    MONITOR = "monitor"
    UPDATES = "updates"
    PRIVACY = "privacy"


class Kind(enum.StrEnum):
    """How a setting is chosen."""

    TEXT = "text"
    CHOICE = "choice"
    """One of a few, side by side."""
    PICK = "pick"
    """One of many, in a list that opens."""
    SWITCH = "switch"
    FACT = "fact"
    """Nothing to choose."""
    LIST = "list"
    """Entries that are added and taken away."""
    DEED = "deed"
    """Something to do: a button."""


class Verb(enum.StrEnum):
    """What a person does to a setting."""

    SET = "set"
    RESET = "reset"
    """Let the default hold again."""
    REMOVE = "remove"
    """Take an entry out of a list."""
    CONSENT = "consent"
    """Say yes to what was asked."""
    DISMISS = "dismiss"


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One wish: what to do to the setting `row`."""

    row: str
    verb: Verb
    value: str = ""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One of several."""

    value: str
    text: str
    tooltip: str = ""


class RowProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a setting was not taken, below it; `consent` is the word of the button that says yes."""

    text: str
    code: str
    consent: str = ""
    lines: tuple[str, ...] = ()
    """What a yes would change, run or lose, as it stands in a terminal."""


class RowView(msgspec.Struct, frozen=True, kw_only=True):
    """One setting."""

    id: str
    title: str
    kind: Kind = Kind.FACT
    about: str = ""
    value: str = ""
    tooltip: str = ""
    placeholder: str = ""
    note: str = ""
    """Who decided it, or how it stands, in quiet words."""
    options: tuple[Option, ...] = ()
    items: tuple[Option, ...] = ()
    button: str = ""
    """Of a text, a list, a deed."""
    remove: str = ""
    """Of each entry of a list."""
    can_reset: bool = False
    is_enabled: bool = True
    is_mono: bool = False
    is_short: bool = False
    """A number: its field needs no width."""
    is_warning: bool = False
    problem: RowProblem | None = None


class CardView(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that belong together."""

    id: str
    title: str
    about: str = ""
    rows: tuple[RowView, ...] = ()


class SectionView(msgspec.Struct, frozen=True, kw_only=True):
    """What is in front; `empty` where nothing is known of it yet."""

    section: Section
    title: str
    about: str
    cards: tuple[CardView, ...] = ()
    empty: str = ""


class WindowChoices(msgspec.Struct, frozen=True, kw_only=True):
    """What the window itself remembers."""

    language: str | None = None
    theme: str = "system"
    motion: str = "system"
    notifies: bool = True
    to_tray: bool = True
    has_tray: bool = False
    system_is_reduced: bool = False
    """Whether the system asks for less motion."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What the service said; None: not asked, or not answered yet."""

    is_live: bool = False
    place: UninstallPlan | None = None
    roots: tuple[RootInfo, ...] | None = None
    host: HostSnapshot | None = None
    network: NetworkReport | None = None
    gateway: GatewayReport | None = None
    demand: DemandReport | None = None
    adjustments: AdjustmentList | None = None
    unit: UnitInfo | None = None
    care: CareSettings | None = None
    history: HistoryState | None = None
    logs: LogLimits | None = None
    alarms: AlarmList | None = None
    scrape: ScrapeInfo | None = None
    updates: RuntimeUpdates | None = None
    program: UpdateStatus | None = None
    store: StoreInfo | None = None
    keys: tuple[KeyInfo, ...] | None = None
    presets: tuple[PresetInfo, ...] | None = None
    wsl: WslReport | None = None
    """Of the Linux inside Windows, as this side knows it."""
    wsl_written: bool = False
    """Whether its memory was written just now."""
    adopted: AdoptedInfo | None = None
    """The vLLM of others that serves; None: none does."""
    folder: str | None = None
    pending: frozenset[str] = frozenset()
    """Settings that are being changed."""
    problems: Mapping[str, ErrorInfo] = {}
    """By setting; by section where it could not even be read."""


SET = marked("Set")
ADD = marked("Add")
REMOVE = marked("Remove")

_SECTIONS: Mapping[Section, tuple[str, str]] = {
    Section.WINDOW: (marked("This window"), marked("Kept by the window, for this folder.")),
    Section.FOLDERS: (marked("Folders"), marked("Where everything lies, and how large it is.")),
    Section.NETWORK: (
        marked("Network"),
        marked("How the Studio goes out. One policy holds for everything that it fetches."),
    ),
    Section.GATEWAY: (marked("Gateway"), marked("Where chat clients reach the engine, and who.")),
    Section.SERVICE: (marked("Service"), marked("What goes on without this window.")),
    Section.LINUX: (
        marked("Linux"),
        marked("Where the engines of this Windows live: the Studio's own Linux inside WSL."),
    ),
    Section.ENGINE: (marked("Engine"), marked("What follows when something goes wrong.")),
    Section.MONITOR: (marked("Monitor"), marked("How often it looks, and what it keeps.")),
    Section.UPDATES: (marked("Updates"), marked("What could be newer. Nothing updates itself.")),
    Section.PRIVACY: (
        marked("Privacy"),
        marked("What the Studio asks of whom, and what it keeps here."),
    ),
}


def section_words(section: Section) -> Text:
    """Return the name of a section and what it is about."""
    title, about = _SECTIONS[section]
    return Text(text=t(title), tooltip=t(about))


def section_view(
    section: Section, machine: Machine, cards: tuple[CardView, ...], *, needs_service: bool = True
) -> SectionView:
    """Return a section with its cards; while a service is needed and silent, why it is empty."""
    words = section_words(section)
    empty = t("Looking.") if not cards else ""
    if not cards and needs_service:
        empty = (
            t("Asking the service.")
            if machine.is_live
            else t("The service does not answer yet; these settings are its own.")
        )
    return SectionView(
        section=section,
        title=words.text,
        about=words.tooltip,
        cards=tuple(_finished(card, machine, needs_service=needs_service) for card in cards),
        empty=empty,
    )


def with_problem(view: SectionView, error: ErrorInfo) -> SectionView:
    """Return a section of which something could not be read; what could be stays."""
    words = " ".join(told(part) for part in (error.message, error.hint) if part)
    if not view.cards:
        return msgspec.structs.replace(view, empty=words)
    row = fact(f"{view.section.value}.problem", t("Why not"), words, is_warning=True)
    card = CardView(id="unread", title=t("Not everything could be read"), rows=(row,))
    return msgspec.structs.replace(view, cards=(card, *view.cards))


def _finished(card: CardView, machine: Machine, *, needs_service: bool) -> CardView:
    """Add what holds for every setting: what was refused, what is under way, who can be asked."""
    rows = []
    for row in card.rows:
        is_enabled = row.is_enabled and row.id not in machine.pending
        if needs_service:
            is_enabled = is_enabled and machine.is_live
        error = machine.problems.get(row.id)
        problem = _row_problem(error) if error is not None else row.problem
        rows.append(msgspec.structs.replace(row, is_enabled=is_enabled, problem=problem))
    return msgspec.structs.replace(card, rows=tuple(rows))


def _row_problem(error: ErrorInfo) -> RowProblem:
    """Return an error in its place. Consent is a button here, so its hint about options is not."""
    if asks_consent(error):
        return RowProblem(
            text=told(error.message),
            code=error.code,
            consent=t("Yes, do it"),
            lines=error.evidence,
        )
    text = " ".join(told(part) for part in (error.message, error.hint) if part)
    return RowProblem(text=text, code=error.code)


_QUESTIONS = frozenset({"gateway-exposed", "unit-edited", "unit-of-another-home"})
"""Errors that a yes answers."""


def asks_consent(error: ErrorInfo) -> bool:
    """Tell whether a yes is what is missing."""
    return error.code in _QUESTIONS or needs_consent(error)


def fact(row_id: str, title: str, value: str, **more: object) -> RowView:
    """Return something to read."""
    view = RowView(id=row_id, title=title, value=value)
    return msgspec.structs.replace(view, **more)


def switch(row_id: str, title: str, *, is_on: bool, about: str = "", note: str = "") -> RowView:
    """Return a switch."""
    value = ON if is_on else OFF
    return RowView(id=row_id, title=title, kind=Kind.SWITCH, value=value, about=about, note=note)


ON, OFF = "on", "off"
