"""The Studio's Linux inside Windows, after its set-up: memory, network, disk, end. Pure."""

from collections.abc import Mapping

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.units import GIB, UNKNOWN, bytes_text
from studio.domain.wsl import WslContents, WslReport, WslStep
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.settings import (
    CardView,
    Kind,
    Machine,
    Option,
    RowView,
    fact,
    switch,
)
from studio.ui.viewmodels.settings_gateway import EVERYWHERE

ENDS = frozenset({"linux.compact", "linux.renew", "linux.remove"})
"""What ends the service, or the Linux: one at a time, and nothing else meanwhile."""
_THERE = (WslStep.START, WslStep.READY)
_STATES: Mapping[WslStep, str] = {
    WslStep.NOT_WINDOWS: marked("This is no Windows: engines run right here."),
    WslStep.FIRMWARE: marked("Virtualization is switched off in this PC's firmware."),
    WslStep.INSTALL: marked("WSL is not installed."),
    WslStep.RESTART: marked("Windows has to be started anew."),
    WslStep.UPDATE: marked("WSL is too old."),
    WslStep.IMPORT: marked("The Studio's Linux is not there yet."),
    WslStep.START: marked("Set up; its service does not run."),
    WslStep.READY: marked("Set up, and its service runs."),
    WslStep.REFUSED: marked("It cannot go on by itself."),
}


def linux_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return what is known of it; nothing before the first look."""
    report = machine.wsl
    if report is None:
        return ()
    rows = tuple(_state(report, is_live=machine.is_live))
    state = CardView(id="linux-state", title=t("How it stands"), rows=rows)
    if report.step not in _THERE or report.is_compacting:
        return (state,)
    cards = (state, *_of_linux(report, machine))
    return tuple(map(_rested, cards)) if machine.pending & ENDS else cards


def _of_linux(report: WslReport, machine: Machine) -> tuple[CardView, ...]:
    """Return what can be changed once it is there."""
    memory = CardView(
        id="linux-memory",
        title=t("Its memory"),
        about=t("Half of the PC's, unless `.wslconfig` in your Windows folder says otherwise."),
        rows=tuple(_memory(report, machine)),
    )
    lan = CardView(id="linux-lan", title=t("Other machines"), rows=tuple(_lan(report, machine)))
    disk = CardView(
        id="linux-disk",
        title=t("Its disk image"),
        about=t("One file with engines and models. It grows, and does not shrink by itself."),
        rows=tuple(_disk(report)),
    )
    return (memory, lan, disk)


def _rested(card: CardView) -> CardView:
    """Return a card of which nothing can be pressed."""
    rows = tuple(msgspec.structs.replace(row, is_enabled=False) for row in card.rows)
    return msgspec.structs.replace(card, rows=rows)


def _state(report: WslReport, *, is_live: bool) -> list[RowView]:
    words = t(_STATES[report.step])
    is_silent = report.step is WslStep.READY and not is_live
    if is_silent:
        words = t("Set up; its service does not answer.")
    if report.is_compacting:
        words = t("Its disk image is being made smaller; it starts again when that is over.")
    rows = [fact("linux.state", t("State"), words)]
    if report.step not in (*_THERE, WslStep.NOT_WINDOWS):
        rows[0] = fact("linux.state", t("State"), words, note=t("The page “Serve” leads there."))
    if report.version is not None:
        rows.append(fact("linux.version", "WSL", report.version))
    if report.inside_version is not None:
        rows += _inside(report)
    if report.networking is not None:
        rows.append(fact("linux.network", t("Network mode"), report.networking))
    is_claim = is_silent and report.is_reachable
    if report.is_reachable is not None and report.address is not None and not is_claim:
        reached = t("{address} is reached from Windows.").format(address=report.address)
        if not report.is_reachable:
            reached = t(
                "{address} is not reached from Windows; `wsl --shutdown` often helps."
            ).format(address=report.address)
        is_warning = not report.is_reachable
        rows.append(fact("linux.reached", t("Localhost"), reached, is_warning=is_warning))
    if report.problem is not None:
        parts = (report.problem.message, report.problem.hint)
        problem = " ".join(told(part) for part in parts if part)
        rows.append(fact("linux.problem", t("What went wrong"), problem, is_warning=True))
    return rows


def _inside(report: WslReport) -> list[RowView]:
    """Return which version the service inside is, and the way to the newer one."""
    title, version = t("The service inside"), report.inside_version or UNKNOWN
    if not report.is_inside_older:
        return [fact("linux.inside", title, t("Version {version}").format(version=version))]
    words = t("Version {version}, older than this program.").format(version=version)
    renew = RowView(
        id="linux.renew",
        title=t("Next step"),
        kind=Kind.DEED,
        value=t("The service's next start brings the new one."),
        button=t("Start it anew"),
    )
    return [fact("linux.inside", title, words, is_warning=True), renew]


def _memory(report: WslReport, machine: Machine) -> list[RowView]:
    presets = machine.presets or ()
    pick = RowView(
        id="linux.preset",
        title=t("For which preset"),
        kind=Kind.PICK,
        about=t("The planner says what it takes of the PC's memory; 2 GiB are added for the Linux, "
                "and 4 GiB stay with Windows."),
        value=report.config_preset or "",
        options=tuple(Option(value=one.id, text=one.id, tooltip=one.title) for one in presets),
        is_enabled=machine.is_live and bool(presets),
        note="" if machine.is_live else t("The service has to answer: it knows the presets."),
    )  # fmt: skip
    proposed = proposed_gib(report)
    if proposed is not None:
        note = t("Proposed: {size}.").format(size=bytes_text(proposed * GIB))
    elif report.config_preset is not None:
        note = t("It has enough for {preset}.").format(preset=report.config_preset)
    else:
        note = t("Without a preset nothing is proposed.")
    if machine.wsl_written:
        note = t("Written. It holds after `wsl --shutdown`.")
    text = RowView(
        id="linux.memory",
        title=t("Memory, GiB"),
        kind=Kind.TEXT,
        about=t("The change is shown before anything is written."),
        placeholder=str(proposed) if proposed is not None else "",
        note=note,
        button=t("Show the change"),
        is_short=True,
    )
    rows = [pick, text]
    if proposed is not None:
        take = t("{size} instead of what it has").format(size=bytes_text(proposed * GIB))
        rows.append(
            RowView(
                id="linux.proposed",
                title=t("As proposed"),
                kind=Kind.DEED,
                value=take,
                button=t("Show the change"),
            )
        )
    return rows


def proposed_gib(report: WslReport) -> int | None:
    """Return the proposed memory; None: nothing is proposed."""
    for line in report.config:
        name, _, value = line.partition("=")
        if name == "memory" and value.removesuffix("GB").isdecimal():
            return int(value.removesuffix("GB"))
    return None


def _lan(report: WslReport, machine: Machine) -> list[RowView]:
    can_change = bool(report.lan) or report.is_lan_open
    row = switch(
        "linux.lan",
        t("May reach the gateway"),
        is_on=report.is_lan_open,
        about=t("A rule in Windows' firewall, and behind NAT a port proxy. Windows asks for the "
                "administrator."),
        note="" if can_change else t("WSL does not say how its network is reached."),
    )  # fmt: skip
    rows = [row if can_change else msgspec.structs.replace(row, is_enabled=False)]
    if not report.is_lan_open:
        return rows
    if report.is_lan_stale:
        words = t("The Linux has another address since; other machines are led nowhere.")
        rows.append(fact("linux.stale", t("Not reached"), words, is_warning=True))
        rows.append(
            RowView(
                id="linux.again",
                title=t("Next step"),
                kind=Kind.DEED,
                value=t("Windows asks for the administrator."),
                button=t("Lead them there again"),
            )
        )
    rows.append(_gateway(report, machine))
    return rows


def _gateway(report: WslReport, machine: Machine) -> RowView:
    """Return whether the gateway inside answers other machines, and what lets it."""
    title, names = t("The gateway"), ", ".join(report.lan_hosts)
    if machine.gateway is None:
        words = t("Once it has to listen in every network, and to answer to this PC's names: "
                  "{names}")  # fmt: skip
        return fact("linux.gateway", title, words.format(names=names or UNKNOWN))
    settings = machine.gateway.settings
    if settings.address == EVERYWHERE and set(report.lan_hosts) <= set(settings.hosts):
        return fact("linux.gateway", title, t("It answers other machines."))
    words = t("It does not answer other machines yet.")
    return RowView(
        id="linux.gateway",
        title=title,
        kind=Kind.DEED,
        value=words,
        note=t("As this PC's names it takes {names}.").format(names=names) if names else "",
        button=t("Let it answer"),
        is_enabled=machine.is_live,
    )


def _disk(report: WslReport) -> list[RowView]:
    size = bytes_text(report.disk_bytes)
    value = size
    if report.disk_was_bytes is not None:
        value = t("{now}; it was {before}").format(
            now=size, before=bytes_text(report.disk_was_bytes)
        )
    return [
        fact("linux.disk", t("File"), report.disk or UNKNOWN, is_mono=True),
        RowView(
            id="linux.compact",
            title=t("Size"),
            kind=Kind.DEED,
            value=value,
            about=t("What the Linux does not use any more can be given back to Windows."),
            button=t("Make it smaller"),
        ),
        RowView(
            id="linux.remove",
            title=t("Remove the Linux"),
            kind=Kind.DEED,
            value=t("What is in it is said first."),
            button=t("See what is lost"),
        ),
    ]


# -- questions -----------------------------------------------------------------------------


def memory_question(report: WslReport) -> ErrorInfo:
    """Return what is asked before `.wslconfig` is written: the change itself."""
    words = t("Change {file} like this? The file as it was before the first time is kept beside "
              "it.").format(file=report.config_file or ".wslconfig")  # fmt: skip
    return ErrorInfo(code="wsl-memory-consent", message=words, evidence=report.config_change)


def lan_question(report: WslReport, *, is_open: bool) -> ErrorInfo:
    """Return what is asked before Windows asks for the administrator."""
    if is_open:
        words = t("Let other machines reach the gateway? Windows asks for the administrator, and "
                  "this is run:")  # fmt: skip
        return ErrorInfo(code="wsl-lan-consent", message=words, evidence=report.lan)
    words = t("Close it for other machines? The firewall's rule and the port proxy go; Windows "
              "asks for the administrator.")  # fmt: skip
    return ErrorInfo(code="wsl-lan-consent", message=words)


def end_question(name: str, served: str | None) -> ErrorInfo:
    """Return what is asked before the service inside ends, and starts anew afterwards."""
    questions = {
        "compact": t("End the Linux, make its disk image smaller, and start it again? A large "
                     "image takes minutes."),
        "renew": t("End the service and start the newer one?"),
    }  # fmt: skip
    words = questions[name]
    if served is not None:
        ends = t("{preset} is served now: running answers are finished, and it is to be started "
                 "again afterwards.")  # fmt: skip
        words = f"{words} {ends.format(preset=served)}"
    return ErrorInfo(code=f"wsl-{name}-consent", message=words)


def removal_question(contents: WslContents) -> ErrorInfo:
    """Return what is asked before everything in it is lost."""
    words = t("Remove the Studio's Linux with all that is in it, {size}? It cannot be brought "
              "back.").format(size=bytes_text(contents.disk_bytes))  # fmt: skip
    lines = tuple(line.expandtabs(8) for line in contents.lines)
    return ErrorInfo(code="wsl-remove-consent", message=words, evidence=lines)
