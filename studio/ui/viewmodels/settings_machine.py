"""The settings of folders, network and service, made of what the service said. Pure."""

from collections.abc import Sequence

from studio.domain.library import RootInfo, RootKind, RootState
from studio.domain.network import NetworkReport
from studio.domain.service import AutostartInfo, AutostartState, RunsAs, SleepPolicy, UnitInfo
from studio.domain.uninstall import Belongings, Place
from studio.domain.units import UNKNOWN, bytes_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.dates import epoch_text
from studio.ui.viewmodels.settings import (
    ADD,
    SET,
    CardView,
    Kind,
    Machine,
    Option,
    RowView,
    fact,
    switch,
)
from studio.ui.viewmodels.words import listed, plural

OWN = "the Studio's settings"
"""How the service names its own file as the source of a value (`host/network.py`)."""
NOTHING = "off"

_GROUPS = {
    Belongings.MODELS: marked("Models"),
    Belongings.RUNTIMES: marked("Runtimes"),
    Belongings.CACHE: marked("Downloads and caches"),
    Belongings.HISTORY: marked("History and measurements"),
    Belongings.LOGS: marked("Logs"),
    Belongings.KEYS: marked("Keys and their usage"),
    Belongings.SETTINGS: marked("Settings and presets"),
    Belongings.SERVICE: marked("Service and gateway"),
    Belongings.PROGRAM: marked("The program"),
}


def folder_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return where things lie and how large they are."""
    if machine.folder is None and machine.place is None:
        return ()
    home = machine.place.home if machine.place is not None else machine.folder or UNKNOWN
    free = machine.host.disk_free_bytes if machine.host is not None else None
    unknown = t("The service has not said it yet.")
    top = CardView(
        id="home",
        title=t("The Studio's folder"),
        about=t("Another one: set WEIR_HOME before the service starts, for example in its unit."),
        rows=(
            fact("folders.home", t("Folder"), home, is_mono=True),
            fact(
                "folders.free",
                t("Free on its disk"),
                bytes_text(free),
                tooltip=unknown if free is None else "",
            ),
        ),
    )
    roots = () if machine.roots is None else (_roots(machine.roots),)
    return (top, *roots, _sizes(machine))


_ROOTS = {
    RootKind.OWN: marked("The Studio's own"),
    RootKind.CACHE: marked("Hugging Face's cache"),
}
"""Folders that are searched whatever a person chooses."""


def _roots(roots: Sequence[RootInfo]) -> CardView:
    rows = [
        fact(f"folders.root-{number}", t(_ROOTS[one.kind]), _root(one), note=told(one.note or ""))
        for number, one in enumerate(roots)
        if one.kind in _ROOTS
    ]
    rows.append(
        RowView(
            id="folders.roots",
            title=t("Of yours"),
            kind=Kind.LIST,
            about=t("Searched too; nothing in them is changed or moved."),
            placeholder="/media/disk/models",
            items=tuple(
                Option(value=one.path, text=_root(one), tooltip=told(one.note or "") or one.path)
                for one in roots
                if one.kind not in _ROOTS
            ),
            button=t(ADD),
            remove=t("Forget"),
        )
    )
    return CardView(id="roots", title=t("Where models are looked for"), rows=tuple(rows))


def _root(root: RootInfo) -> str:
    if root.state is RootState.MISSING:
        return t("{path} · not there").format(path=root.path)
    if root.state is RootState.UNREADABLE:
        return t("{path} · cannot be read").format(path=root.path)
    count = plural(root.models, "model", "models")
    return f"{root.path} · {count}, {bytes_text(root.size_bytes)}"


def _sizes(machine: Machine) -> CardView:
    title = t("What lies there")
    if machine.place is None:
        away = t("Not known until the service answers.")
        counting = t("Counting; large folders take a moment.")
        return CardView(id="sizes", title=title, about=counting if machine.is_live else away)
    places = machine.place.places
    rows = [
        _group(group, tuple(one for one in places if one.group is group))
        for group in _GROUPS
        if any(one.group is group for one in places)
    ]
    total = sum(one.bytes for one in places)
    rows.append(fact("folders.total", t("All together"), bytes_text(total)))
    return CardView(
        id="sizes",
        title=title,
        about=t("What runtimes share is counted once. `weir uninstall` lists every file."),
        rows=tuple(rows),
    )


def _group(group: Belongings, places: tuple[Place, ...]) -> RowView:
    count = plural(sum(one.files for one in places), "file", "files")
    return fact(
        f"folders.{group.value}",
        t(_GROUPS[group]),
        f"{bytes_text(sum(one.bytes for one in places))} · {count}",
        tooltip="\n".join(one.path for one in places),
    )


def network_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return how the Studio goes out."""
    report = machine.network
    if report is None:
        return ()
    out = CardView(
        id="out",
        title=t("Going out"),
        about=t("Holds from the next download on; what is under way goes on as it began."),
        rows=(
            _offline(report),
            _proxy(report, is_live=machine.is_live),
            RowView(
                id="network.no-proxy",
                title=t("Not through the proxy"),
                kind=Kind.TEXT,
                about=t("Names with all below them, networks, or `*`; commas between them."),
                value=", ".join(report.no_proxy),
                button=t(SET),
                can_reset=bool(report.no_proxy),
                is_mono=True,
            ),
            _authority(report),
            RowView(
                id="network.connections",
                title=t("Parts of a file at a time"),
                kind=Kind.TEXT,
                about=t("From 1 to 16. One where a network dislikes more."),
                value=str(report.connections),
                button=t(SET),
                can_reset=True,
                is_short=True,
            ),
            *(
                fact(f"network.note-{number}", t("To note"), told(note), is_warning=True)
                for number, note in enumerate(report.notes)
            ),
        ),
    )
    return (out, _mirrors(report), _by_hand(report))


def _offline(report: NetworkReport) -> RowView:
    source = report.offline_source
    note = t("Decided by {source}.").format(source=source) if source not in (None, OWN) else ""
    return switch(
        "network.offline",
        t("Offline"),
        is_on=report.offline,
        about=t("Asks nothing of the network; what is here already works."),
        note=note,
    )


def _proxy(report: NetworkReport, *, is_live: bool) -> RowView:
    own = next((one for one in report.proxies if one.source == OWN), None)
    other = next((one for one in report.proxies if one.source != OWN), None)
    note = ""
    if own is None and other is not None and is_live:
        note = t("Now {url}, by {source}.").format(url=other.url, source=other.source)
    return RowView(
        id="network.proxy",
        title=t("Proxy"),
        kind=Kind.TEXT,
        about=t("`direct` uses none, whatever the environment says. SOCKS cannot be used."),
        value=own.url if own is not None else "",
        placeholder="http://proxy.example:3128",
        note=note,
        button=t(SET),
        can_reset=own is not None,
        is_mono=True,
    )


def _authority(report: NetworkReport) -> RowView:
    own = next((one for one in report.authorities if one.source == OWN), None)
    others = [f"{one.path} ({one.source})" for one in report.authorities if one.source != OWN]
    return RowView(
        id="network.ca",
        title=t("Certificates of your own"),
        kind=Kind.TEXT,
        about=t("A file of authorities that is trusted beside the machine's and the public ones."),
        value=own.path if own is not None else "",
        placeholder="/etc/company/ca.pem",
        note=t("Trusted too: {paths}").format(paths=listed(others)) if others else "",
        button=t(SET),
        can_reset=own is not None,
        is_mono=True,
    )


def _mirrors(report: NetworkReport) -> CardView:
    own = [one for one in report.mirrors if one.source == OWN]
    others = [one for one in report.mirrors if one.source != OWN]
    rows = [
        RowView(
            id="network.mirror",
            title=t("Asked first"),
            kind=Kind.LIST,
            about=t("Asked before every address that begins so; a folder works too."),
            placeholder="https://a.example/=/mnt/a/",
            items=tuple(
                Option(value=f"{one.of}={one.at}", text=f"{one.of} → {one.at}") for one in own
            ),
            button=t(ADD),
            can_reset=bool(own),
            is_mono=True,
        )
    ]
    rows += [
        fact(
            f"network.mirror-{number}",
            t("Named elsewhere"),
            f"{one.of} → {one.at}",
            note=t("By {source}.").format(source=one.source),
        )
        for number, one in enumerate(others)
    ]
    return CardView(id="mirrors", title=t("Mirrors"), rows=tuple(rows))


def _by_hand(report: NetworkReport) -> CardView:
    packages = report.package_index or t("the public index")
    return CardView(
        id="by-hand",
        title=t("Packages, and files brought by hand"),
        rows=(
            fact(
                "network.index",
                t("Package index"),
                packages,
                note=t("As uv and pip are set up on this machine."),
            ),
            fact(
                "network.downloads",
                t("Put files into"),
                report.downloads_folder,
                note=t("They are checked like any other."),
                is_mono=True,
            ),
            fact("network.file", t("Kept in"), report.settings_file, is_mono=True),
        ),
    )


def service_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return what goes on without the window."""
    unit = machine.unit
    if unit is None:
        return ()
    return (
        _unit(unit, is_live=machine.is_live),
        _autostart(unit.autostart, machine),
        _sleep(unit, is_live=machine.is_live),
    )


def _unit(unit: UnitInfo, *, is_live: bool) -> CardView:
    can = unit.problem is None
    value = t("systemd keeps the service.") if unit.is_installed else t("Nobody keeps the service.")
    if unit.is_edited:
        value = t("systemd keeps the service, by a unit that was changed by hand.")
    rows = [
        RowView(
            id="service.unit",
            title=t("At login"),
            kind=Kind.DEED,
            about=t(
                "Kept: started when you log in, and again should it ever die. A service that runs "
                "already goes on."
            ),
            value=value,
            note=unit.unit_file if unit.is_installed else "",
            button=t("Let it go") if unit.is_installed else t("Keep it running"),
            is_enabled=can or unit.is_installed,
        ),
        fact(
            "service.runs",
            t("Now"),
            _runs(unit) if is_live else t("Not known until the service answers."),
        ),
    ]
    if unit.has_linger is not None:
        rows.append(
            fact(
                "service.linger",
                t("Without a login"),
                t("Runs from the machine's start on.")
                if unit.has_linger
                else t("Ends with your last session."),
                note="" if unit.has_linger else t("`weir service install --linger` changes that."),
            )
        )
    if unit.problem is not None:
        words = " ".join(told(part) for part in (unit.problem.message, unit.problem.hint) if part)
        rows.append(fact("service.problem", t("In the way"), words, is_warning=True))
    rows += [
        fact(f"service.note-{number}", t("To note"), told(note))
        for number, note in enumerate(unit.notes)
    ]
    return CardView(id="unit", title=t("Keeping it running"), rows=tuple(rows))


def _runs(unit: UnitInfo) -> str:
    match unit.runs_as:
        case RunsAs.UNIT:
            return t("Kept by systemd, process {pid}.").format(pid=unit.pid)
        case RunsAs.HAND:
            return t("Started by a window or a terminal, process {pid}.").format(pid=unit.pid)
    return t("No service runs.")


_STATES = {
    AutostartState.OFF: marked("Nothing starts by itself."),
    AutostartState.NEXT: marked("Starts when systemd next starts the service."),
    AutostartState.CARDS: marked("Waits for the cards."),
    AutostartState.NETWORK: marked("Waits for the network."),
    AutostartState.TRYING: marked("Being started."),
    AutostartState.BACKING_OFF: marked("Did not start; tried again later."),
    AutostartState.SERVED: marked("Was started."),
    AutostartState.STOOD_DOWN: marked("Left alone: you started or stopped something meanwhile."),
    AutostartState.GAVE_UP: marked("Given up."),
}


def _autostart(info: AutostartInfo, machine: Machine) -> CardView:
    presets = [Option(value=one.id, text=told(one.title)) for one in machine.presets or ()]
    if info.preset is not None and all(one.value != info.preset for one in presets):
        presets.append(Option(value=info.preset, text=info.preset))
    state = t(_STATES[info.state]) if machine.is_live else t("Not known until the service answers.")
    if machine.is_live and info.state is AutostartState.BACKING_OFF and info.next_at is not None:
        state += " " + t("Next at {when}.").format(when=epoch_text(info.next_at))
    rows = [
        RowView(
            id="service.autostart",
            title=t("Served with it"),
            kind=Kind.PICK,
            about=t("Started with the service when systemd starts that."),
            value=info.preset or NOTHING,
            options=(Option(value=NOTHING, text=t("Nothing")), *presets),
            note=state,
        )
    ]
    if info.error is not None and info.state is not AutostartState.SERVED:
        rows.append(
            fact("service.autostart-error", t("Why not"), told(info.error.message), is_warning=True)
        )
    return CardView(id="autostart", title=t("Starting by itself"), rows=tuple(rows))


def _sleep(unit: UnitInfo, *, is_live: bool) -> CardView:
    sleep = unit.sleep
    outcome = ""
    if sleep.outcome is not None and is_live:  # it says how the engine is
        outcome = t("Last slept {begin} to {end}. {outcome}").format(
            begin=epoch_text(sleep.slept_at),
            end=epoch_text(sleep.woke_at),
            outcome=told(sleep.outcome),
        )
    return CardView(
        id="sleep",
        title=t("When the machine sleeps"),
        rows=(
            RowView(
                id="service.sleep",
                title=t("The engine"),
                kind=Kind.CHOICE,
                about=t(
                    "Stop it where the driver does not keep the memory of its cards through sleep."
                ),
                value=sleep.policy.value,
                options=(
                    Option(value=SleepPolicy.KEEP.value, text=t("Stays")),
                    Option(value=SleepPolicy.STOP.value, text=t("Stops, and starts after")),
                ),
                note=outcome,
            ),
        ),
    )
