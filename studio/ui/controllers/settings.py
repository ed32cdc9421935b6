"""The settings page at work: each part asks for what it shows, each choice goes to its owner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtWidgets import QSystemTrayIcon

from studio.domain.alarms import AlarmList
from studio.domain.errors import BadInput, ErrorInfo
from studio.domain.events import AlarmChanged, Event, GatewayChanged
from studio.domain.gateway import GatewayChange
from studio.domain.library import RootChange
from studio.domain.logs import LogLimits
from studio.domain.network import NetworkChange
from studio.domain.scrape import ScrapeAction, ScrapeRequest
from studio.domain.self_update import UpdateStatus
from studio.domain.service import AutostartRequest, SleepPolicy, SleepRequest, UnitRequest
from studio.domain.settings import CareChange
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.controllers.settings_adopt import AdoptPart
from studio.ui.controllers.settings_linux import LinuxPart
from studio.ui.controllers.settings_more import adjust_wish, demand_wish, program_wish
from studio.ui.controllers.settings_takeover import TakeoverPart
from studio.ui.controllers.settings_turns import Turns
from studio.ui.controllers.settings_window import WindowPart
from studio.ui.desk import Controller, Desk
from studio.ui.language import t
from studio.ui.pages.settings import SettingsPage
from studio.ui.state import Known, Link
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import (
    ON,
    CardView,
    Edit,
    Machine,
    Section,
    SectionView,
    Verb,
    section_view,
    with_problem,
)
from studio.ui.viewmodels.settings_demand import demand_cards
from studio.ui.viewmodels.settings_engine import engine_cards, monitor_cards, update_cards
from studio.ui.viewmodels.settings_gateway import EVERYWHERE, gateway_cards
from studio.ui.viewmodels.settings_linux import linux_cards
from studio.ui.viewmodels.settings_machine import (
    NOTHING,
    folder_cards,
    network_cards,
    service_cards,
)
from studio.ui.viewmodels.settings_window import privacy_cards, window_cards

if TYPE_CHECKING:
    from studio.control.client import ControlClient

    Question = Callable[[ControlClient], Awaitable[object]]
    Wish = tuple[str, Question] | ErrorInfo
    """Which field of `Machine` the answer is, and how it is asked for; or why it is not asked."""

_CARDS: Mapping[Section, Callable[[Machine], tuple[CardView, ...]]] = {
    Section.FOLDERS: folder_cards,
    Section.NETWORK: network_cards,
    Section.GATEWAY: lambda machine: (*gateway_cards(machine), *demand_cards(machine)),
    Section.SERVICE: service_cards,
    Section.LINUX: linux_cards,
    Section.ENGINE: engine_cards,
    Section.MONITOR: monitor_cards,
    Section.UPDATES: update_cards,
    Section.PRIVACY: privacy_cards,
}
_READS: Mapping[Section, tuple[str, ...]] = {
    Section.WINDOW: (),
    Section.FOLDERS: ("host", "roots", "place"),
    Section.NETWORK: ("network",),
    Section.GATEWAY: ("gateway", "demand", "adjustments"),
    Section.SERVICE: ("unit",),
    Section.LINUX: ("wsl", "gateway"),
    Section.ENGINE: ("care",),
    Section.MONITOR: ("care", "history", "alarms", "logs", "scrape"),
    Section.UPDATES: ("updates", "program", "care"),
    Section.PRIVACY: ("network", "store", "care", "program"),
}
"""Which fields of `Machine` a section is made of."""
_TOLD_BY = {Section.GATEWAY: GatewayChanged, Section.MONITOR: AlarmChanged}
"""After which event a section is read again."""
_OF_THIS_SIDE = ("wsl",)
"""Fields that need no service."""
_LINKS = {"gateway.keys": PageId.KEYS, "updates.open": PageId.RUNTIMES}


class SettingsArea(Area):
    """What the service said of its settings, and what is being changed."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.machine = Machine()
        self.section = Section.WINDOW
        self._refused: dict[str, Edit] = {}
        """The last wish for each setting that was refused, for a yes."""

    def read(self, section: Section) -> None:
        """Ask for what a section shows."""
        for field in _READS[section]:
            if section is Section.LINUX and not (self.machine.is_live or field in _OF_THIS_SIDE):
                continue
            self.ask(
                f"read-{field}", _question(field), self._taker(field), self._failer(section),
                put=self._put_of(field),
            )  # fmt: skip

    def set_known(self, known: Known) -> None:
        """Take up what every page knows."""
        self._keep(
            is_live=known.link is Link.LIVE,
            folder=known.service.home if known.service is not None else None,
            keys=known.keys,
            presets=known.presets,
            adopted=known.engine.adopted,
            host=self.machine.host or known.host,
        )

    def wish(self, edit: Edit, field: str, question: Question) -> None:
        """Change a setting; its answer is what then holds for `field`."""
        took = self._taker(field)

        def taken(value: object) -> None:
            self._settle(edit.row)
            took(value)

        def refused(error: ErrorInfo) -> None:
            self._refused[edit.row] = edit
            self._settle(edit.row, error)

        if edit.row not in self.pending:
            self._keep(pending=self.machine.pending | {edit.row}, problems=self._without(edit.row))
            self.ask(edit.row, question, taken, refused, put=self._put_of(field))

    def refuse(self, row: str, error: ErrorInfo) -> None:
        """Say why a wish was not even asked."""
        self._settle(row, error)
        self.changed.emit()

    def ask_first(self, edit: Edit, question: ErrorInfo) -> None:
        """Put a question below a setting; a yes brings `edit` back."""
        self._refused[edit.row] = edit
        self.refuse(edit.row, question)

    def settle(self, row: str, **found: object) -> None:
        """Take what came of a longer deed about a setting."""
        self._keep(**found)
        self.dismiss_row(row)

    def rest(self, row: str) -> None:
        """Let a setting rest while something longer than one question is done about it."""
        self._keep(pending=self.machine.pending | {row}, problems=self._without(row))
        self.changed.emit()

    def rested(self, row: str, found: UpdateStatus | ErrorInfo) -> None:
        """Take what came of it."""
        if isinstance(found, UpdateStatus):
            self._keep(program=found)
        self._settle(row, found if isinstance(found, ErrorInfo) else None)
        self.changed.emit()

    def refused(self, row: str) -> Edit | None:
        """Return the wish for a setting that was refused."""
        return self._refused.get(row)

    def dismiss_row(self, row: str) -> None:
        """Close what stands below a setting."""
        self._settle(row)
        self.changed.emit()

    def _settle(self, row: str, error: ErrorInfo | None = None) -> None:
        problems = self._without(row)
        if error is not None:
            problems[row] = error
        self._keep(pending=self.machine.pending - {row}, problems=problems)

    def _without(self, row: str) -> dict[str, ErrorInfo]:
        return {name: one for name, one in self.machine.problems.items() if name != row}

    def _put_of(self, field: str) -> Callable[..., None]:
        if field in _OF_THIS_SIDE:
            return self._bridge.ask_here
        return self._bridge.ask_program if field == "program" else self.put

    def _taker(self, field: str) -> Callable[[object], None]:
        def taken(value: object) -> None:
            self._keep(**{field: value})

        return taken

    def _failer(self, section: Section) -> Callable[[ErrorInfo], None]:
        def failed(error: ErrorInfo) -> None:
            self._keep(problems={**self.machine.problems, section.value: error})

        return failed

    def _keep(self, **fields: object) -> None:
        self.machine = msgspec.structs.replace(self.machine, **fields)


class SettingsController(Controller):
    """Asks for a part when it is brought to the front; nothing is followed by the clock."""

    def __init__(self, desk: Desk) -> None:
        self.view = SettingsPage(desk.look)
        super().__init__(desk, self.view)
        self.area = SettingsArea(desk.bridge)
        self.window_part = WindowPart(desk)
        turns = Turns(desk, self.area)
        self.takeover = TakeoverPart(desk, self.area, turns)
        self.adopting = AdoptPart(desk, self.area, self.view)
        self.linux = LinuxPart(desk, self.area, turns)
        self.view.offer(Section.LINUX, is_there=desk.bridge.has_here)
        self._is_front = False
        self._was_live = False
        self.area.changed.connect(self._show)
        self.view.section_chosen.connect(self.choose)
        self.view.edited.connect(self._on_edited)
        desk.bridge.arrived.connect(self._on_events)
        desk.look.changed.connect(self._show)
        desk.guide.manners_changed.connect(self._show)

    def show_known(self, known: Known) -> None:
        """Ask again when the service is back."""
        self.area.set_known(known)
        is_live = known.link is Link.LIVE
        if is_live and not self._was_live and self._is_front:
            self.area.dismiss_row(self.area.section.value)
            self.area.read(self.area.section)
        self._was_live = is_live
        if self._is_front:
            self._show()

    def enter(self) -> None:
        """Show what holds now."""
        self._is_front = True
        self.choose(self.area.section)

    def carried(self) -> object:
        """Return the part in front."""
        return self.area.section

    def carry(self, what: object) -> None:
        """Bring that part to the front."""
        if isinstance(what, Section):
            self.area.section = what

    def leave(self) -> None:
        """Let it be."""
        self._is_front = False

    def show_what(self, what: str) -> None:
        """Bring a part to the front by its id."""
        if what in list(Section):
            self.choose(Section(what))

    def choose(self, section: Section) -> None:
        """Bring a part to the front and ask for what it shows."""
        self.area.section = section
        self.area.dismiss_row(section.value)
        if self._was_live or section is Section.LINUX:
            self.area.read(section)
        self._show()

    def _show(self) -> None:
        self.view.show_section(self._section())

    def _section(self) -> SectionView:
        section, machine = self.area.section, self.area.machine
        if section is Section.WINDOW:
            has_tray = QSystemTrayIcon.isSystemTrayAvailable()
            cards = window_cards(self.window_part.choices(has_tray=has_tray))
            return section_view(section, machine, cards, needs_service=False)
        needs_service = section is not Section.LINUX
        cards = _CARDS[section](machine)
        view = section_view(section, machine, cards, needs_service=needs_service)
        error = machine.problems.get(section.value)
        return view if error is None else with_problem(view, error)

    def _on_events(self, events: tuple[Event, ...]) -> None:
        if not self._is_front:
            return
        told = _TOLD_BY.get(self.area.section)
        if told is not None and any(isinstance(event, told) for event in events):
            self.area.read(self.area.section)

    def _on_edited(self, edit: Edit) -> None:
        match edit.verb:
            case Verb.DISMISS:
                self.area.dismiss_row(edit.row)
            case Verb.CONSENT:
                before = self.area.refused(edit.row)
                if before is not None and not self._is_taken(before, agreed=True):
                    self._carry_out(before, agreed=True)
            case _ if edit.row in _LINKS:
                self.desk.go_to(_LINKS[edit.row])
            case _ if self.window_part.takes(edit):
                self._show()
            case _ if self._is_taken(edit, agreed=False) or self.adopting.takes(edit):
                pass
            case _:
                self._carry_out(edit)

    def _is_taken(self, edit: Edit, *, agreed: bool) -> bool:
        """Tell whether a wish is of a part that asks first and does more than one call."""
        return self.takeover.takes(edit, agreed=agreed) or self.linux.takes(edit, agreed=agreed)

    def _carry_out(self, edit: Edit, *, agreed: bool = False) -> None:
        group, _, name = edit.row.partition(".")
        made = _WISHES[group](name, edit, self.area.machine, agreed)
        if isinstance(made, ErrorInfo):
            self.area.refuse(edit.row, made)
        else:
            field, question = made
            self.area.wish(edit, field, question)


def _question(field: str) -> Question:
    """Return how a field of `Machine` is asked for."""
    questions: dict[str, Question] = {
        "host": lambda client: client.host(),
        "place": lambda client: client.uninstall_plan(),
        "roots": lambda client: client.model_roots(),
        "network": lambda client: client.network(),
        "gateway": lambda client: client.gateway(),
        "demand": lambda client: client.on_demand(),
        "adjustments": lambda client: client.adjustments(),
        "program": lambda client: client.update_status(),
        "unit": lambda client: client.unit(),
        "care": lambda client: client.settings(),
        "history": lambda client: client.history_state(),
        "alarms": lambda client: client.alarms(),
        "logs": lambda client: client.log_limits(),
        "scrape": lambda client: client.scrape(),
        "updates": lambda client: client.runtime_updates(),
        "store": lambda client: client.secret_store(),
        "wsl": lambda client: client.wsl_report(),
    }
    return questions[field]


def _folders(_name: str, edit: Edit, _machine: Machine, _agreed: bool) -> Wish:
    change = (
        RootChange(remove=edit.value) if edit.verb is Verb.REMOVE else RootChange(add=edit.value)
    )
    return "roots", lambda client: client.change_model_roots(change)


def _network(name: str, edit: Edit, _machine: Machine, _agreed: bool) -> Wish:
    change = (
        NetworkChange(forget=(name,))
        if edit.verb is Verb.RESET
        else NetworkChange(values={name: edit.value})
    )
    return "network", lambda client: client.change_network(change)


def _care(name: str, edit: Edit, _machine: Machine, _agreed: bool) -> Wish:
    change = (
        CareChange(forget=(name,))
        if edit.verb is Verb.RESET
        else CareChange(values={name: edit.value})
    )
    return "care", lambda client: client.change_settings(change)


def _gateway(name: str, edit: Edit, _machine: Machine, agreed: bool) -> Wish:
    change = _gateway_change(name, edit, agreed=agreed)
    if isinstance(change, ErrorInfo):
        return change
    return "gateway", lambda client: client.change_gateway(change)


def _gateway_change(name: str, edit: Edit, *, agreed: bool) -> GatewayChange | ErrorInfo:
    if edit.verb is Verb.REMOVE:
        return GatewayChange(forget=(edit.value,))
    match name:
        case "port":
            port = _whole(edit.value)
            return port if isinstance(port, ErrorInfo) else GatewayChange(port=port)
        case "address":
            return GatewayChange(address=edit.value, expose=agreed)
        case "tls":
            return GatewayChange(tls=edit.value == ON, expose=agreed)
        case "certificate":
            return _certificate(edit.value, agreed=agreed)
        case "hosts":
            return GatewayChange(hosts=(edit.value,))
        case "origins":
            return GatewayChange(origins=(edit.value,))
    alias, _, meant = edit.value.partition("=")
    return GatewayChange(aliases={alias.strip(): meant.strip()})


def _answer_others(machine: Machine, *, agreed: bool) -> Wish:
    """Let the gateway in the Linux answer whoever comes through Windows."""
    hosts = machine.wsl.lan_hosts if machine.wsl is not None else ()
    change = GatewayChange(address=EVERYWHERE, hosts=hosts, expose=agreed)
    return "gateway", lambda client: client.change_gateway(change)


def _certificate(text: str, *, agreed: bool) -> GatewayChange:
    """Take a certificate with its key; the service says what is wrong with either."""
    certificate, _, key = (part.strip() for part in text.partition("="))
    return GatewayChange(certificate=certificate, private_key=key, tls=True, expose=agreed)


def _service(name: str, edit: Edit, machine: Machine, agreed: bool) -> Wish:
    match name:
        case "autostart":
            preset = None if edit.value == NOTHING else edit.value
            return "unit", _then_unit(
                lambda client: client.choose_autostart(AutostartRequest(preset=preset))
            )
        case "sleep":
            policy = SleepPolicy(edit.value)
            return "unit", _then_unit(
                lambda client: client.choose_sleep(SleepRequest(policy=policy))
            )
    request = UnitRequest(force=agreed)
    if machine.unit is not None and machine.unit.is_installed:
        return "unit", lambda client: client.uninstall_unit(request)
    return "unit", lambda client: client.install_unit(request)


def _then_unit(question: Question) -> Question:
    """Do one thing, then ask how the service stands."""

    async def ask(client: ControlClient) -> object:
        await question(client)
        return await client.unit()

    return ask


def _logs(name: str, edit: Edit, machine: Machine, _agreed: bool) -> Wish:
    number = _whole(edit.value)
    if isinstance(number, ErrorInfo):
        return number
    before = machine.logs or LogLimits()
    after = (
        LogLimits(file_mib=number, files=before.files)
        if name == "file-mib"
        else LogLimits(file_mib=before.file_mib, files=number)
    )
    return "logs", lambda client: client.limit_logs(after)


def _scrape(_name: str, edit: Edit, _machine: Machine, _agreed: bool) -> Wish:
    request = ScrapeRequest(action=ScrapeAction.ON if edit.value == ON else ScrapeAction.OFF)
    return "scrape", lambda client: client.change_scrape(request)


def _alarms(_name: str, edit: Edit, _machine: Machine, _agreed: bool) -> Wish:
    async def unmute(client: ControlClient) -> AlarmList:
        return await client.unmute_alarm(edit.value)

    return "alarms", unmute


def _whole(text: str) -> int | ErrorInfo:
    """Return a number, or why it is none: the service takes numbers only."""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return int(text)
    error = BadInput(
        "not-a-number",
        t("“{text}” is no whole number.").format(text=text),
        hint=t("Write it with digits only."),
    )
    return error.info


_WISHES: Mapping[str, Callable[[str, Edit, Machine, bool], Wish]] = {
    "folders": _folders,
    "network": _network,
    "care": _care,
    "gateway": _gateway,
    "demand": lambda name, edit, _machine, _agreed: demand_wish(name, edit, _whole),
    "adjust": lambda name, edit, _machine, _agreed: adjust_wish(name, edit),
    "program": lambda name, _edit, _machine, _agreed: program_wish(name),
    "service": _service,
    "linux": lambda _name, _edit, machine, agreed: _answer_others(machine, agreed=agreed),
    "logs": _logs,
    "scrape": _scrape,
    "alarms": _alarms,
}
"""What a wish becomes, by the first part of the setting's name."""
