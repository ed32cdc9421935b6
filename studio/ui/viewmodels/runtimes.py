"""The runtimes page: what there is, one of them in full, and what can be done with it."""

import enum

import msgspec

from studio.domain.control import RuntimeVersions
from studio.domain.events import StageProgress
from studio.domain.runtimes import (
    BuiltStep,
    Note,
    PatchSeriesInfo,
    RuntimeDetail,
    RuntimeInfo,
    RuntimeList,
    RuntimeState,
    RuntimeUpdate,
    StepState,
)
from studio.domain.units import UNKNOWN, bytes_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.dates import instant_text
from studio.ui.viewmodels.picks import ID_SHOWN, PickView, SignView
from studio.ui.viewmodels.words import ButtonView, Role, Shape, Text, listed, named, plural


class Deed(enum.StrEnum):
    """What a button of the page does with the runtime in front."""

    INSTALL = "install"
    UPDATE = "update"
    VERIFY = "verify"
    REPAIR = "repair"
    BACK = "back"
    FORWARD = "forward"
    EXPORT = "export"
    SERIES = "series"


class DeedView(msgspec.Struct, frozen=True, kw_only=True):
    """One button."""

    deed: Deed
    button: ButtonView
    kind: str = ""


class NoteView(msgspec.Struct, frozen=True, kw_only=True):
    """A way in which it is known to fail."""

    title: str
    text: str


class RuntimeView(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime in front."""

    name: str
    title: str
    sign: SignView
    reasons: tuple[str, ...]
    facts: tuple[tuple[str, Text], ...]
    deeds: tuple[DeedView, ...]
    steps: tuple[str, ...]
    notes: tuple[NoteView, ...]
    notes_title: str


class RuntimesKnown(msgspec.Struct, frozen=True, kw_only=True):
    """What the page is drawn from."""

    is_live: bool = False
    listed: RuntimeList | None = None
    chosen: str | None = None
    detail: RuntimeDetail | None = None
    versions: RuntimeVersions | None = None
    updates: tuple[RuntimeUpdate, ...] = ()
    stage: StageProgress | None = None
    """What is being done to a runtime right now, by anybody."""
    is_working: bool = False
    """Something that was asked here is under way."""
    is_stopping: bool = False
    """An installation was asked to stop, and has not ended yet."""

    @property
    def is_busy(self) -> bool:
        """Return whether buttons have to rest."""
        return self.is_working or self.stage is not None


_STATES: dict[RuntimeState, tuple[str, Shape, Role]] = {
    RuntimeState.INSTALLED: (marked("Installed"), Shape.TICK, Role.OK),
    RuntimeState.AVAILABLE: (marked("Can be installed"), Shape.RING, Role.QUIET),
    RuntimeState.NOT_PINNED: (marked("Waits for a commit"), Shape.HALF, Role.WARN),
    RuntimeState.UNVERIFIED: (marked("Waits for you"), Shape.HALF, Role.WARN),
    RuntimeState.DAMAGED: (marked("Damaged"), Shape.CROSS, Role.HARM),
}
_HERE = (RuntimeState.INSTALLED, RuntimeState.DAMAGED)
_STEP_WORDS: dict[StepState, str] = {
    StepState.BUILT: marked("{title}: built here"),
    StepState.AT_START: marked("{title}: done by the engine when it starts"),
    StepState.FELL_BACK: marked("{title}: not built, {reason}"),
    StepState.NOT_NEEDED: marked("{title}: not needed, {reason}"),
}


def picks(known: RuntimesKnown) -> tuple[PickView, ...]:
    """Return the list: what is installed, what can be, what cannot yet or not here."""
    runtimes = known.listed.runtimes if known.listed is not None else ()
    return tuple(sorted((_pick(one) for one in runtimes), key=_place))


def first_pick(listed: RuntimeList, chosen: str | None) -> str | None:
    """Return what is shown: what was chosen while it is there, else what comes first."""
    found = [one.id for one in picks(RuntimesKnown(listed=listed))]
    return chosen if chosen in found else next(iter(found), None)


def sign_of(info: RuntimeInfo) -> SignView:
    """Return how a runtime stands."""
    text, shape, role = _STATES[info.state]
    if info.state is RuntimeState.INSTALLED and not info.usable:
        return SignView(text=t("Installed, not usable here"), shape=Shape.TRIANGLE, role=Role.WARN)
    if info.state is RuntimeState.AVAILABLE and not info.usable:
        return SignView(text=t("Not for this machine"), shape=Shape.RING, role=Role.QUIET)
    return SignView(text=t(text), shape=shape, role=role)


def runtime_view(known: RuntimesKnown) -> RuntimeView | None:
    """Return the runtime in front; None while nothing is known of it."""
    detail = known.detail
    if detail is None or detail.info.name != known.chosen:
        return None
    info = detail.info
    return RuntimeView(
        name=info.name,
        title=told(info.title),
        sign=sign_of(info),
        reasons=tuple(told(one) for one in (*info.reasons, *detail.warnings)),
        facts=_facts(detail),
        deeds=_deeds(known, detail),
        steps=_steps(detail),
        notes=tuple(_note(note) for note in detail.notes),
        notes_title=plural(
            len(detail.notes),
            "way in which it is known to fail",
            "ways in which it is known to fail",
        ),
    )


def empty_words(known: RuntimesKnown) -> str:
    """Return what stands where no runtime can be shown."""
    if not known.is_live and known.listed is None:
        return t("The runtimes appear when the service answers.")
    if known.listed is not None and not known.listed.runtimes:
        return t("The catalogue holds no runtime. An installation of the Studio brings six.")
    return t("Looking which runtimes there are.")


def _place(pick: PickView) -> int:
    return [t(one) for one in _GROUPS].index(pick.group)


_GROUPS = (marked("Installed here"), marked("Can be had"), marked("Not yet, or not here"))


def _pick(info: RuntimeInfo) -> PickView:
    sign = sign_of(info)
    group = 0 if info.state in _HERE else 1 if info.usable else 2
    return PickView(
        id=info.name,
        group=t(_GROUPS[group]),
        title=told(info.title),
        detail=_pick_detail(info, sign),
        shape=sign.shape,
        role=sign.role,
        tooltip="\n".join((info.name, *(told(one) for one in info.reasons))),
    )


def _pick_detail(info: RuntimeInfo, sign: SignView) -> str:
    parts = [sign.text]
    if info.runtime_id is not None:
        parts.append(bytes_text(info.bytes))
        if info.is_update_offered:
            parts.append(t("update"))
    elif info.bytes is not None and info.usable:
        parts.append(bytes_text(info.bytes))
    return " · ".join(parts)


def _facts(detail: RuntimeDetail) -> tuple[tuple[str, Text], ...]:
    info = detail.info
    facts: list[tuple[str, Text]] = [
        (t("Engine"), Text(text=f"{detail.engine} {detail.engine_version}".strip() or UNKNOWN)),
        (t("Python"), Text(text=detail.interpreter or UNKNOWN)),
    ]
    if info.runtime_id is not None:
        known = t("Installed {when}").format(when=instant_text(detail.installed_at))
        facts.append(
            (t("Id"), Text(text=f"{info.runtime_id[:ID_SHOWN]} · {known}", tooltip=info.runtime_id))
        )
    facts.append((t("Size"), Text(text=_size(detail))))
    if detail.requirements:
        facts.append((t("Needs"), Text(text=listed(told(one) for one in detail.requirements))))
    if detail.patches:
        facts.append((t("Patches"), Text(text="\n".join(_series(one) for one in detail.patches))))
    if detail.left_out:
        facts.append((t("Left out"), Text(text="\n".join(detail.left_out))))
    if detail.without_patches:
        said = [named(name, cost) for name, cost in detail.without_patches.items()]
        count = plural(len(said), "patch of the Studio's own", "patches of the Studio's own")
        facts.append((t("Goes without"), Text(text=count, tooltip="\n".join(said))))
    if detail.knobs:
        facts.append((t("Knobs"), Text(text=listed(detail.knobs))))
    return tuple(facts)


def _size(detail: RuntimeDetail) -> str:
    count = None if detail.packages is None else plural(detail.packages, "package", "packages")
    if detail.info.runtime_id is not None:
        size = bytes_text(detail.info.bytes)
        parts = [size if size == UNKNOWN else t("{size} on the disk").format(size=size)]
    else:
        parts = [
            t("{size} to download").format(size=bytes_text(detail.download_bytes)),
            t("{size} of disk to have free").format(size=bytes_text(detail.disk_bytes)),
        ]
    return " · ".join([*parts, *([count] if count is not None else [])])


def _series(series: PatchSeriesInfo) -> str:
    count = UNKNOWN if series.patches is None else plural(series.patches, "patch", "patches")
    parts = [told(series.title), count]
    if series.repository is not None:
        commit = series.commit[:ID_SHOWN] if series.commit else t("no commit yet")
        parts.append(f"{series.repository} ({commit})")
    return " · ".join(parts)


def _steps(detail: RuntimeDetail) -> tuple[str, ...]:
    if detail.built:
        return tuple(_built(one) for one in detail.built)
    return tuple(told(one.title) for one in detail.steps if one.default)


def _built(step: BuiltStep) -> str:
    said = t(_STEP_WORDS[step.state]).format(
        title=told(step.title), reason=told(step.reason or "") or UNKNOWN
    )
    more = [told(part) for part in (step.fallback, step.cost) if part]
    return f"{said} ({', '.join(more)})" if more else said


def _note(note: Note) -> NoteView:
    source = f" ({note.source})" if note.source else ""
    return NoteView(title=told(note.title), text=f"{told(note.text)}{source}")


def _deeds(known: RuntimesKnown, detail: RuntimeDetail) -> tuple[DeedView, ...]:
    info = detail.info
    rests = _rests(known)
    if info.state not in _HERE:
        deeds = [_deed(Deed.INSTALL, t("Install"), _why_not(info) or rests, t(_INSTALL), "primary")]
        return (*deeds, *_series_deed(detail, rests))
    back, forward = _steps_aside(known)
    first = "primary" if info.state is RuntimeState.DAMAGED else ""
    return (
        _deed(Deed.REPAIR, t("Repair"), rests, t(_REPAIR), first),
        _deed(Deed.VERIFY, t("Verify"), rests, t(_VERIFY)),
        _deed(Deed.BACK, t("Roll back"), back or rests, t(_BACK)),
        *([_deed(Deed.FORWARD, t("Go forward"), rests, t(_FORWARD))] if forward else []),
        _deed(Deed.EXPORT, t("Export…"), rests, t(_EXPORT)),
        *_series_deed(detail, rests),
    )


_INSTALL = marked("Install it beside whatever is there")
_REPAIR = marked("Restore what differs from what was installed; only that is fetched")
_VERIFY = marked("Read every byte and compare it with what was installed")
_BACK = marked("Use the installation before this one, from the next start on")
_FORWARD = marked("Take the last step back")
_EXPORT = marked("Write it into one signed file, for a machine without a network")
_SERIES = marked("Fetch the patches of the other project, check them, and list them")


def _series_deed(detail: RuntimeDetail, rests: str) -> tuple[DeedView, ...]:
    if not any(one.repository and one.commit for one in detail.patches):
        return ()
    return (_deed(Deed.SERIES, t("Fetch the patches"), rests, t(_SERIES)),)


def _deed(deed: Deed, text: str, why_not: str, tooltip: str, kind: str = "") -> DeedView:
    button = ButtonView(text=text, enabled=not why_not, tooltip=why_not or tooltip)
    return DeedView(deed=deed, button=button, kind=kind)


def _rests(known: RuntimesKnown) -> str:
    if not known.is_live:
        return t("The service does not answer yet.")
    return t("Wait for what is being done to a runtime.") if known.is_busy else ""


def _why_not(info: RuntimeInfo) -> str:
    return (
        ""
        if info.usable
        else " ".join(told(one) for one in info.reasons) or t("It does not work on this machine.")
    )


def _steps_aside(known: RuntimesKnown) -> tuple[str, bool]:
    """Return why there is no way back ("": there is one), and whether there is one forward."""
    versions = known.versions
    if versions is None or versions.name != known.chosen:
        return t("Looking which installations are kept."), False
    kept = [one.runtime_id for one in versions.kept]
    at = kept.index(versions.current) if versions.current in kept else 0
    return "" if at > 0 else t("No installation before this one is kept."), at + 1 < len(kept)
