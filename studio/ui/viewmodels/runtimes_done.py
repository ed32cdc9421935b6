"""What was done on the runtimes page, in words."""

import msgspec

from studio.domain.bundles import Exported, Imported
from studio.domain.control import RuntimeVersions
from studio.domain.integrity import Collected, Difference, DifferenceKind, Repaired, Verdict
from studio.domain.runtimes import (
    FetchedSeries,
    InstallStopped,
    RuntimeDetail,
    RuntimeUpdated,
    RuntimeWork,
)
from studio.domain.units import bytes_text, duration_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.picks import ID_SHOWN
from studio.ui.viewmodels.words import Role, Shape, plural

Done = (
    Verdict | Repaired | Exported | Imported | RuntimeUpdated | RuntimeVersions | Collected
    | FetchedSeries | RuntimeDetail | InstallStopped
)  # fmt: skip
_MOST_LINES = 40


class DoneView(msgspec.Struct, frozen=True, kw_only=True):
    """What was done last, in words."""

    text: str
    lines: tuple[str, ...] = ()
    shape: Shape = Shape.TICK
    role: Role = Role.OK


_DIFFERENCES: dict[DifferenceKind, str] = {
    DifferenceKind.MISSING: marked("missing"),
    DifferenceKind.CHANGED: marked("changed"),
    DifferenceKind.EXTRA: marked("does not belong there"),
    DifferenceKind.MODE: marked("other rights"),
    DifferenceKind.MOVED: marked("names another folder"),
    DifferenceKind.SUSPECT: marked("from a damaged package"),
}


_STOPPED: dict[RuntimeWork, str] = {
    RuntimeWork.INSTALL: marked("The installation of {runtime} is stopped."),
    RuntimeWork.REPAIR: marked("The repair of {runtime} is stopped."),
    RuntimeWork.VERIFY: marked("The check of {runtime} is stopped."),
    RuntimeWork.EXPORT: marked("The export of {runtime} is stopped."),
}
_STAYS: dict[RuntimeWork, str] = {
    RuntimeWork.INSTALL: marked("What was fetched is kept; the next try goes on from there."),
    RuntimeWork.REPAIR: marked("What is restored stays restored; the next repair does the rest."),
    RuntimeWork.VERIFY: marked("A check changes nothing."),
    RuntimeWork.EXPORT: marked("No file is left of a stopped export."),
}


def work_of(word: str | None) -> RuntimeWork:
    """Return what is being done; a word of a newer service counts as an installation."""
    return next((one for one in RuntimeWork if one == word), RuntimeWork.INSTALL)


def stays_text(work: RuntimeWork) -> str:
    """Return what is left of work that is stopped."""
    return t(_STAYS[work])


def done_view(done: Done | None) -> DoneView | None:
    """Return what was done last."""
    match done:
        case None:
            return None
        case Verdict():
            return _verdict(done)
        case Repaired():
            return _repaired(done)
        case Collected():
            return _collected(done)
        case Exported():
            return _exported(done)
        case Imported():
            return _imported(done)
        case FetchedSeries():
            return _fetched(done)
        case InstallStopped():
            return _stopped(done)
    return _used(done)


def _verdict(verdict: Verdict) -> DoneView:
    if not verdict.is_known:
        return DoneView(
            text=t("{runtime} has no list of its files to compare with. Repair makes one.").format(
                runtime=verdict.runtime
            ),
            shape=Shape.TRIANGLE,
            role=Role.WARN,
        )  # fmt: skip
    read = t("{files} files, {size} read in {time}").format(
        files=f"{verdict.files:,}",
        size=bytes_text(verdict.bytes),
        time=duration_text(verdict.seconds),
    )
    if verdict.is_whole:
        return DoneView(
            text=t("{runtime} is whole: {read}.").format(runtime=verdict.runtime, read=read)
        )
    count = plural(len(verdict.differences), "file differs", "files differ")
    return DoneView(
        text=t("{runtime}: {count} of {read}. Repair restores them.").format(
            runtime=verdict.runtime, count=count, read=read
        ),
        lines=cut(tuple(_difference(one) for one in verdict.differences)),
        shape=Shape.CROSS,
        role=Role.HARM,
    )


def _difference(one: Difference) -> str:
    return f"{one.path} — {t(_DIFFERENCES[one.kind])}"


def _repaired(done: Repaired) -> DoneView:
    if done.is_rebuilt:
        text = t("{runtime} was installed anew as a whole, in {time}.")
    elif not (done.restored or done.removed or done.compiled):
        text = t("{runtime} was whole; nothing had to be restored.")
    else:
        text = t("{runtime} is whole again, in {time}: {restored} restored, {removed} removed.")
    return DoneView(
        text=text.format(
            runtime=done.runtime,
            time=duration_text(done.seconds),
            restored=plural(done.restored, "file", "files"),
            removed=plural(done.removed, "file", "files"),
        ),
        lines=cut(done.packages),
    )


def _collected(done: Collected) -> DoneView:
    notes = tuple(map(told, done.notes))
    if not done.removals:
        return DoneView(text=t("There is nothing that no runtime uses."), lines=cut(notes))
    text = t("Removed {count}: {size} are free again.").format(
        count=plural(len(done.removals), "thing", "things"), size=bytes_text(done.bytes)
    )
    return DoneView(text=text, lines=cut((*(one.path for one in done.removals), *notes)))


def _exported(done: Exported) -> DoneView:
    lines = [
        t("signed by {fingerprint}").format(fingerprint=done.fingerprint),
        f"sha256 {done.sha256}",
    ]
    if done.is_new_key:
        lines.append(t("The Studio's own key was made for it; the other machine has to trust it."))
    return DoneView(
        text=t("{runtime} lies in {path}: {size}.").format(
            runtime=done.runtime, path=done.path, size=bytes_text(done.file_bytes)
        ),
        lines=tuple(lines),
    )


def _imported(done: Imported) -> DoneView:
    signer = done.signer or done.fingerprint
    text = (
        t("{runtime} was here and whole already.")
        if done.was_there
        else t("{runtime} is installed: {size}, signed by {signer}.")
    )
    return DoneView(
        text=text.format(runtime=done.runtime, size=bytes_text(done.bytes), signer=signer),
        lines=()
        if done.is_catalogued
        else (t("It is another version than this catalogue makes."),),
    )


def _fetched(done: FetchedSeries) -> DoneView:
    count = sum(len(one.patches) for one in done.sets)
    text = t("{count} of {runtime} fetched and checked.").format(
        count=plural(count, "patch", "patches"), runtime=done.runtime
    )
    lines = [
        line
        for one in done.sets
        for line in (f"{one.title} ({one.repository}, {one.commit[:ID_SHOWN]})", *one.patches)
    ]
    return DoneView(text=text, lines=cut((*(one.words for one in done.sources), *lines)))


def _stopped(done: InstallStopped) -> DoneView:
    work = work_of(done.work)
    if not done.was_running or (done.is_finished and work is not RuntimeWork.INSTALL):
        return DoneView(text=t("It was over already: there was nothing to stop."))
    if done.is_finished:
        text = t("{runtime} was finished before it could be stopped, and is in use.")
        return DoneView(text=text.format(runtime=done.runtime))
    stays = done.current is not None and work is RuntimeWork.INSTALL
    return DoneView(
        text=t(_STOPPED[work]).format(runtime=done.runtime),
        lines=(stays_text(work), *([t("What was in use stays in use.")] if stays else ())),
    )


def _used(done: RuntimeUpdated | RuntimeVersions | RuntimeDetail) -> DoneView:
    if isinstance(done, RuntimeDetail):
        is_here = done.info.runtime_id is not None
        text = t("{title} is installed.") if is_here else t("{title}: kept what you said.")
        return DoneView(text=text.format(title=told(done.info.title)))
    if isinstance(done, RuntimeVersions):
        return DoneView(text=_next_start(done.name, done.current or ""))
    if done.before == done.after:
        text = t("{runtime} is as its recipe says: there was nothing to update.")
        return DoneView(text=text.format(runtime=done.runtime))
    return DoneView(text=_next_start(done.runtime, done.after))


def _next_start(runtime: str, identity: str) -> str:
    return t("{runtime} uses {identity} from the next start of the engine on.").format(
        runtime=runtime, identity=identity[:ID_SHOWN]
    )


def cut(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first lines of many, and how many more there are."""
    if len(lines) <= _MOST_LINES:
        return lines
    more = plural(len(lines) - _MOST_LINES, "more", "more")
    return (*lines[:_MOST_LINES], more)
