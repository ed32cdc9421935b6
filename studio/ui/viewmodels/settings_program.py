"""Newer versions of the Studio itself: where they stand, and what can be done. Pure."""

from studio.domain.errors import ErrorInfo
from studio.domain.self_update import Came, UpdateState, UpdateStatus
from studio.domain.settings import CareSettings
from studio.domain.units import UNKNOWN, bytes_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.dates import epoch_text
from studio.ui.viewmodels.settings import CardView, Kind, Machine, RowView, fact, switch
from studio.ui.viewmodels.words import Text

_CAME: dict[Came, str] = {
    Came.RUN: marked("installed for you alone"),
    Came.DEB: marked("a package of the system"),
    Came.APPIMAGE: marked("an AppImage"),
    Came.SETUP: marked("installed for you by the setup program"),
    Came.CHECKOUT: marked("run from its sources"),
    Came.FOLDER: marked("a folder that nothing installed"),
}
_STATES: dict[UpdateState, str] = {
    UpdateState.NOT_CHECKED: marked("Nobody has looked yet."),
    UpdateState.NEWEST: marked("This is the newest version."),
    UpdateState.OFFERED: marked("Version {version} is there."),
    UpdateState.FETCHED: marked("Version {version} is fetched and proven."),
    UpdateState.STAGED: marked("Version {version} lies beside this one; nothing uses it yet."),
    UpdateState.WAITING: marked("Version {version} takes over when the service starts next."),
    UpdateState.TRIAL: marked("Version {version} is proving itself."),
}
_MOST_CHANGES = 6
_THERE = (UpdateState.OFFERED, UpdateState.FETCHED, UpdateState.STAGED)


def newer_version(status: UpdateStatus) -> str | None:
    """Return the newer version that waits for a person; None: there is none, or it was chosen."""
    return status.offered if status.state in _THERE else None


def newer_words(version: str) -> Text:
    """Return how the window says so, wherever one is."""
    more = t("Version {version} of the Studio is there. Settings, Updates: what is new")
    return Text(
        text=t("{version} is there").format(version=version), tooltip=more.format(version=version)
    )


def program_card(machine: Machine) -> CardView | None:
    """Return how it stands with the Studio's own version."""
    status = machine.program
    if status is None:
        return None
    rows = [fact("program.version", t("Version"), _version(status)), _state(status)]
    if status.changes:
        rows.append(fact("program.changes", t("What is new"), _changes(status)))
    rows += _deeds(status)
    if status.failed is not None:
        words = told(status.failed.message)
        rows.append(fact("program.failed", t("Taken back"), words, is_warning=True))
    if machine.care is not None:
        rows.append(_look(machine.care, status))
    return CardView(id="program", title=t("The program"), rows=tuple(rows))


def takeover_question(name: str, status: UpdateStatus | None, served: str | None) -> ErrorInfo:
    """Return what is asked before the service ends so that another version takes over."""
    version = (status.previous if name == "rollback" else status.offered) if status else None
    if served is not None:
        words = t(
            "End the service, which serves {preset}, and start version {version}? Running answers "
            "are finished, then the engine starts anew."
        ).format(preset=served, version=version or UNKNOWN)
    else:
        words = t("End the service and start version {version}?").format(version=version or UNKNOWN)
    keeps = t(
        "Databases whose form the newer version had changed go back to how they were; a copy of "
        "now is kept."
    )
    message = f"{words} {keeps}" if name == "rollback" else words
    return ErrorInfo(code="update-consent", message=message)


AT_A_TIME = "one-at-a-time"
_DEEDS: dict[str, str] = {
    "program.apply": marked("Another version is taking over."),
    "program.rollback": marked("Another version is taking over."),
    "linux.compact": marked("The disk image of the Linux is being made smaller."),
    "linux.renew": marked("A newer service is being started."),
    "linux.remove": marked("The Linux is being removed."),
}
"""What ends the service, by the setting that was pressed."""


def busy_words(name: str) -> ErrorInfo:
    """Return why something that ends the service has to wait for another such thing."""
    why = t("{deed} Both end the service and start it anew, so they go one after another.")
    return ErrorInfo(
        code=AT_A_TIME,
        message=why.format(deed=t(_DEEDS[name])),
        hint=t("Press again when that is over."),
    )


def _version(status: UpdateStatus) -> str:
    words = t("{version}, {how}").format(version=status.version, how=t(_CAME[status.came]))
    if status.came is Came.SETUP and status.used not in (None, status.version):
        return t(
            "{used} is in use; this window is still {version}: close it and open it again"
        ).format(used=status.used, version=status.version)
    if status.service_version in (None, status.version):
        return words
    return t("{version}; the service that runs is still {old}").format(
        version=words, old=status.service_version
    )


def _state(status: UpdateStatus) -> RowView:
    version = status.waiting if status.state in _COMING else status.offered
    words = t(_STATES[status.state]).format(version=version or "–")
    if status.minimum_version is not None:
        words = t("Version {version} is there; go to {minimum} first.").format(
            version=status.offered, minimum=status.minimum_version
        )
    looked = (
        t("Looked at {when}.").format(when=epoch_text(status.checked_at))
        if status.checked_at is not None
        else ""
    )
    about = "" if status.feed is not None else t("This build names no place to look at.")
    return RowView(
        id="program.check",
        title=t("Newer versions"),
        kind=Kind.DEED,
        about=about,
        value=words,
        note=looked,
        button=t("Look now"),
        is_enabled=status.feed is not None,
    )


_COMING = (UpdateState.WAITING, UpdateState.TRIAL)


def _changes(status: UpdateStatus) -> str:
    lines = [f"• {one}" for one in status.changes[:_MOST_CHANGES]]
    rest = len(status.changes) - _MOST_CHANGES
    if rest > 0:
        lines.append(t("and {n} more").format(n=rest))
    return "\n".join(lines)


def _deeds(status: UpdateStatus) -> list[RowView]:
    """Return the one step that comes next, and the way back."""
    rows = []
    match status.state:
        case UpdateState.OFFERED if status.minimum_version is None:
            size = bytes_text(status.bytes)
            rows.append(_deed("get", t("Fetch it"), t("{size} to fetch").format(size=size)))
        case UpdateState.STAGED:
            words = t("Proves itself first; this version comes back should it fail.")
            rows.append(_deed("apply", t("Use it"), words))
        case UpdateState.WAITING:
            words = t("Restart the service to let it take over.")
            rows.append(_deed("cancel", t("Rather not"), words))
    if status.command is not None and status.state in (UpdateState.OFFERED, UpdateState.FETCHED):
        rows.append(fact("program.command", t("Type in a terminal"), status.command, is_mono=True))
    if status.previous is not None and status.state not in _COMING:
        words = t("Version {version} is kept.").format(version=status.previous)
        if status.previous_bytes is not None:
            words = t("Version {version} is kept, {size}.").format(
                version=status.previous, size=bytes_text(status.previous_bytes)
            )
        rows.append(_deed("rollback", t("Go back to it"), words))
    return rows


def _deed(name: str, button: str, words: str) -> RowView:
    titles = {
        "get": t("Next step"),
        "apply": t("Next step"),
        "cancel": t("Waiting"),
        "rollback": t("The version before"),
    }
    return RowView(
        id=f"program.{name}", title=titles[name], kind=Kind.DEED, value=words, button=button
    )


def _look(care: CareSettings, status: UpdateStatus) -> RowView:
    place = t("Asks {feed}; it fetches nothing.").format(feed=status.feed) if status.feed else ""
    return switch(
        "care.check-updates",
        t("Look once a day"),
        is_on=care.check_updates,
        about=t("Off: nobody is asked unless you press “Look now”."),
        note=place,
    )
