"""The settings of the Linux in Windows in which engines run. Pure."""

from studio.domain.errors import ErrorInfo
from studio.domain.units import bytes_text
from studio.domain.wsl import WslContents, WslReport
from studio.ui.language import t, told
from studio.ui.viewmodels.settings import CardView, Kind, Machine, Option, RowView, fact

NOTHING = ""


def linux_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return how it stands and what can be done; nothing where there is none."""
    report = machine.linux
    if report is None or report.disk is None:
        return ()
    rows = [_network(report), _disk(report), _memory_for(report, machine)]
    if report.config:
        rows.append(_memory(report))
    if report.lan or report.is_lan_open:
        rows.append(_lan(report))
    rows.append(_end(report))
    if report.problem is not None:
        words = told(report.problem.message)
        rows.append(fact("linux.problem", t("What went wrong"), words, is_warning=True))
    about = t("Engines and models lie in it; the window is a program of Windows.")
    return (CardView(id="linux", title=t("The Linux in Windows"), about=about, rows=tuple(rows)),)


def question(name: str, report: WslReport) -> ErrorInfo:
    """Return what is asked before something is done to it."""
    if name == "compact":
        words = t(
            "End the Linux and make its disk smaller? What is served ends; the service is back "
            "afterwards."
        )
    elif name == "memory":
        words = t("Write {lines} into {file}? A copy of it is kept.").format(
            lines=", ".join(report.config), file=report.config_file
        )
    elif opens(report):
        words = t("Let other machines reach the gateway? Windows asks for the administrator.")
    else:
        words = t("Close it for other machines? Windows asks for the administrator.")
    return ErrorInfo(code="linux-consent", message=words)


def removal_question(contents: WslContents) -> ErrorInfo:
    """Return what would be lost, and whether that is wanted."""
    size = bytes_text(contents.disk_bytes)
    if contents.lines:
        inside = "; ".join(" ".join(line.split()) for line in contents.lines)
        words = t("In it ({size}): {inside}.").format(size=size, inside=inside)
    else:
        words = t(
            "What is in it ({size}) cannot be looked at, because the Linux does not start."
        ).format(size=size)
    asked = t("Remove it with all models, engines, keys and settings in it?")
    return ErrorInfo(code="linux-consent", message=f"{words} {asked}")


def opens(report: WslReport) -> bool:
    """Tell whether the button lets other machines in; else it closes the way."""
    return not report.is_lan_open or report.is_lan_stale


def _network(report: WslReport) -> RowView:
    mode = report.networking or t("not said by WSL")
    if report.is_reachable is None:
        return fact("linux.network", t("Its network"), mode)
    if report.is_reachable:
        words = t("{mode}; {address} is reached from Windows")
    else:
        words = t("{mode}; {address} is not reached from Windows: try `wsl --shutdown`")
    return fact(
        "linux.network", t("Its network"), words.format(mode=mode, address=report.address),
        is_warning=not report.is_reachable,
    )  # fmt: skip


def _disk(report: WslReport) -> RowView:
    return RowView(
        id="linux.compact",
        title=t("Its disk"),
        kind=Kind.DEED,
        about=t("It grows by itself and never shrinks by itself."),
        value=bytes_text(report.disk_bytes),
        note=report.disk or "",
        button=t("Make it smaller"),
    )


def _memory_for(report: WslReport, machine: Machine) -> RowView:
    presets = tuple(Option(value=one.id, text=one.title) for one in machine.presets or ())
    chosen = report.config_preset or NOTHING
    note = ""
    if report.config_preset and not report.config:
        note = t("The Linux may take as much memory as that needs.")
    return RowView(
        id="linux.memory-for",
        title=t("Its memory"),
        kind=Kind.PICK,
        about=t("Choose what is to be served; the planner says what that takes."),
        value=chosen,
        options=(Option(value=NOTHING, text=t("Nothing chosen")), *presets),
        note=note,
    )


def _memory(report: WslReport) -> RowView:
    return RowView(
        id="linux.memory",
        title=t("More memory"),
        kind=Kind.DEED,
        value=", ".join(report.config),
        note=t("It holds after `wsl --shutdown`."),
        button=t("Write it"),
    )


def _lan(report: WslReport) -> RowView:
    if not report.is_lan_open:
        value = t("They do not reach the gateway.")
    elif report.is_lan_stale:
        value = t("The Linux has another address since; they have to be let in again.")
    else:
        value = t("They may reach the gateway.")
    commands = report.lan_gateway if report.is_lan_open else ()
    note = ""
    if commands:
        note = t("Once, so that the gateway answers them: {commands}").format(
            commands=" · ".join(commands)
        )
    return RowView(
        id="linux.lan",
        title=t("Other machines"),
        kind=Kind.DEED,
        value=value,
        note=note,
        button=t("Let them in") if opens(report) else t("Close it"),
        is_warning=report.is_lan_stale,
    )


def _end(report: WslReport) -> RowView:
    others = len([name for name in report.distributions if name != "weir-studio"])
    about = t("Says first what is in it. Others of yours stay as they are.") if others else ""
    return RowView(
        id="linux.remove",
        title=t("Removal"),
        kind=Kind.DEED,
        about=about or t("Says first what is in it."),
        button=t("Remove it…"),
    )
