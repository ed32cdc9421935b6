"""What stands beside a runtime: its updates, its installations, what it waits for, what may go."""

import msgspec

from studio.domain.events import InstallStep, StageProgress
from studio.domain.integrity import Collected
from studio.domain.runtimes import (
    Change,
    ChangeKind,
    RuntimeUpdate,
    UpdateKind,
)
from studio.domain.units import bytes_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.dates import instant_text
from studio.ui.viewmodels.picks import ID_SHOWN
from studio.ui.viewmodels.runtimes import RuntimesKnown
from studio.ui.viewmodels.runtimes_done import cut, stays_text, work_of
from studio.ui.viewmodels.words import ButtonView, RemovalView, listed, named


class UpdateView(msgspec.Struct, frozen=True, kw_only=True):
    """What could take the place of the runtime in front."""

    target: str
    is_beside: bool
    """It is another runtime, installed beside."""
    title: str
    cost: str
    reasons: tuple[str, ...]
    changes: str
    button: ButtonView


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    """One installation that is kept."""

    text: str
    size: str
    word: str
    tooltip: str


class OpenView(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a runtime waits for; `field` is what is typed, empty: a yes is enough."""

    kind: str
    """`confirm`, `hash` or `commit`."""
    name: str
    text: str
    field: str
    button: str


class TrailStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of an installation; `is_now` the one under way."""

    text: str
    is_done: bool
    is_now: bool


_SIGNS = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "~"}
_STEPS: dict[InstallStep, str] = {
    InstallStep.PLAN: marked("Plan"),
    InstallStep.SPACE: marked("Room"),
    InstallStep.FETCH: marked("Fetch"),
    InstallStep.VERIFY: marked("Check"),
    InstallStep.UNPACK: marked("Unpack"),
    InstallStep.PACKAGES: marked("Packages"),
    InstallStep.PATCHES: marked("Patch"),
    InstallStep.PROBE: marked("Probe"),
    InstallStep.CANARY: marked("Try"),
    InstallStep.ACTIVATE: marked("Switch"),
}


def trail(stage: StageProgress | None) -> tuple[TrailStep, ...]:
    """Return the steps of an installation; nothing where there are none."""
    if stage is None or stage.step not in list(InstallStep):
        return ()
    order = list(InstallStep)
    now = order.index(InstallStep(stage.step))
    return tuple(
        TrailStep(text=t(_STEPS[step]), is_done=place < now, is_now=place == now)
        for place, step in enumerate(order)
    )


class StopView(msgspec.Struct, frozen=True, kw_only=True):
    """The button that stops what is being done to a runtime, and what stays."""

    runtime: str
    about: str
    button: ButtonView


def stop_view(known: RuntimesKnown) -> StopView | None:
    """Return how what is under way is stopped; None: it cannot be."""
    stage = known.stage
    if stage is None or stage.runtime is None:
        return None
    text = t("Stopping") if known.is_stopping else t("Cancel")
    can = known.is_live and not known.is_stopping
    tooltip = t("What is in use stays in use")
    return StopView(
        runtime=stage.runtime,
        about=stays_text(work_of(stage.work)),
        button=ButtonView(text=text, enabled=can, tooltip=tooltip),
    )


def update_views(known: RuntimesKnown) -> tuple[UpdateView, ...]:
    """Return the updates of the runtime in front."""
    return tuple(_update(one, known) for one in known.updates if one.runtime == known.chosen)


def version_views(known: RuntimesKnown) -> tuple[VersionView, ...]:
    """Return the installations that are kept, the newest first; one alone says nothing."""
    versions = known.versions
    if versions is None or versions.name != known.chosen or len(versions.kept) < 2:
        return ()
    return tuple(
        VersionView(
            text=f"{one.runtime_id[:ID_SHOWN]} · {instant_text(one.installed_at)}",
            size=bytes_text(one.bytes),
            word=t("in use") if one.runtime_id == versions.current else t("kept"),
            tooltip=f"{one.runtime_id}\n{one.interpreter}",
        )
        for one in reversed(versions.kept)
    )


def open_views(known: RuntimesKnown) -> tuple[OpenView, ...]:
    """Return what the runtime in front waits for."""
    detail = known.detail
    if detail is None or detail.info.name != known.chosen or detail.info.runtime_id is not None:
        return ()
    found = [
        OpenView(
            kind="confirm",
            name=one.name,
            text=told(one.what),
            field="",
            button=t("I agree") if one.blocks else t("Noted"),
        )
        for one in detail.open
    ]
    found += [
        OpenView(
            kind="hash",
            name=wheel.file or wheel.name,
            text=t("No source gives the sha256 of {file}. Take it from the project itself.").format(
                file=wheel.file or wheel.name
            ),
            field=t("sha256, 64 hex digits"),
            button=t("Supply it"),
        )
        for wheel in detail.wheels
        if wheel.sha256 is None
    ]
    found += [
        OpenView(
            kind="commit",
            name=series.repository or "",
            text=t("The patches of {repository} have no commit yet.").format(
                repository=series.repository
            ),
            field=t("commit, branch or tag; empty: the newest"),
            button=t("Use it"),
        )
        for series in detail.patches
        if series.repository is not None and series.commit is None
    ]
    return tuple(found)


def can_forget(known: RuntimesKnown) -> bool:
    """Tell whether a person may have supplied something for the runtime in front."""
    detail = known.detail
    if detail is None or detail.info.name != known.chosen or detail.info.runtime_id is not None:
        return False
    has_series = any(one.repository and one.commit for one in detail.patches)
    return bool(detail.agreed) or has_series


def garbage_view(found: Collected | None, *, can_act: bool) -> RemovalView | None:
    """Return what would be removed; None where nothing would."""
    if found is None or not found.is_dry_run or not found.removals:
        return None
    return RemovalView(
        title=t("Nothing uses these. Removing them frees {size}.").format(
            size=bytes_text(found.bytes)
        ),
        lines=cut(
            (*(f"{one.path} — {told(one.what)}" for one in found.removals), *map(told, found.notes))
        ),
        button=ButtonView(
            text=t("Remove, free {size}").format(size=bytes_text(found.bytes)), enabled=can_act
        ),
    )


def _update(one: RuntimeUpdate, known: RuntimesKnown) -> UpdateView:
    is_beside = one.kind is UpdateKind.RELEASE
    title = t("{title} is newer, and goes beside it") if is_beside else t("Its recipe has changed")
    can = known.is_live and not known.is_busy and one.usable
    return UpdateView(
        target=one.target,
        is_beside=is_beside,
        title=title.format(title=told(one.title)),
        cost=_cost(one),
        reasons=() if one.usable else tuple(told(reason) for reason in one.reasons),
        changes="\n".join(_changes(one)),
        button=ButtonView(
            text=t("Install it beside") if is_beside else t("Update"),
            enabled=can,
            tooltip=t("It is tried on this machine before it is used; you can roll back."),
        ),
    )


def _cost(one: RuntimeUpdate) -> str:
    if one.is_here:
        parts = [t("It is here already: nothing to download")]
    else:
        parts = [t("{size} to download").format(size=bytes_text(one.fetch_bytes))]
        if one.disk_bytes is not None:
            parts.append(t("about {size} of disk").format(size=bytes_text(one.disk_bytes)))
    if one.presets:
        parts.append(t("used by {presets}").format(presets=listed(one.presets)))
    return " · ".join(parts)


def _changes(one: RuntimeUpdate) -> list[str]:
    lines: list[str] = []
    unknown = t("not known")
    if one.interpreter is not None:
        lines += [t("Python"), _change(one.interpreter)]
    parts: tuple[tuple[str, tuple[Change, ...] | None], ...] = (
        (t("Packages"), one.packages),
        (t("Patches"), one.patches),
        (t("Knobs and settings"), one.knobs),
    )
    for title, changes in parts:
        if changes is None:
            lines.append(named(title, unknown))
        elif changes:
            lines += [f"{title}", *(_change(change) for change in changes)]
    return lines


def _change(change: Change) -> str:
    versions = [part for part in (change.before, change.after) if part is not None]
    return " ".join([_SIGNS[change.kind], change.name, " → ".join(versions)]).rstrip()
