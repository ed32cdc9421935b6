"""The head of the plan page: what is planned, for which machine, and what can be done with it."""

from collections.abc import Sequence

import msgspec

from studio.domain.control import PresetInfo
from studio.domain.hosts import HostEntry
from studio.domain.presets import ChangeKind, PresetDetail, PresetDiff, ValueChange
from studio.ui.language import marked, nt, t, told
from studio.ui.state import Known, Link, is_busy
from studio.ui.viewmodels.words import ButtonView, Role, Shape

HERE = ""
"""The choice that means this machine."""

_KINDS: dict[ChangeKind, tuple[str, Role, Shape]] = {
    ChangeKind.UPDATE: (marked("changed by the update"), Role.WATER, Shape.DOT),
    ChangeKind.CONFLICT: (marked("changed by both"), Role.WARN, Shape.TRIANGLE),
    ChangeKind.YOURS: (marked("changed by you"), Role.QUIET, Shape.RING),
    ChangeKind.BOTH: (marked("changed by both, to the same"), Role.OK, Shape.TICK),
    ChangeKind.DIFFERS: (marked("differs"), Role.QUIET, Shape.RING),
}


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a box to choose from."""

    value: str
    text: str


class HeadView(msgspec.Struct, frozen=True, kw_only=True):
    """The rows above settings and plan."""

    presets: tuple[Choice, ...]
    hosts: tuple[Choice, ...]
    about: str
    origin: str
    start: ButtonView
    save: ButtonView
    save_as: ButtonView
    rename: ButtonView
    remove: ButtonView
    update: ButtonView
    reset: ButtonView


class ChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """One value that differs, for the update's dialog and the comparison of two presets."""

    name: str
    words: str
    role: Role
    shape: Shape
    base: str
    mine: str
    theirs: str
    can_take: bool
    takes: bool
    """Whether the original's value is taken unless the person says otherwise."""


def preset_choices(presets: Sequence[PresetInfo] | None) -> tuple[Choice, ...]:
    """Return the presets to plan: those of the person's own are marked."""
    return tuple(
        Choice(value=one.id, text=_preset_words(one)) for one in presets or () if not one.is_broken
    )


def host_choices(hosts: Sequence[HostEntry]) -> tuple[Choice, ...]:
    """Return the machines to plan for, this one first."""
    here = Choice(value=HERE, text=t("This machine"))
    return (here, *(Choice(value=one.id, text=one.title) for one in hosts))


def head_view(
    known: Known,
    preset: PresetInfo | None,
    *,
    detail: PresetDetail | None,
    hosts: Sequence[HostEntry],
    host: str,
    changed: int,
    diff: PresetDiff | None,
    is_saving: bool,
    has_problem: bool,
) -> HeadView:
    """Return the head; `changed` values were typed and not saved, `host` empty is this machine."""
    is_own = preset is not None and preset.is_own
    can = known.link is Link.LIVE and preset is not None and not is_saving
    return HeadView(
        presets=preset_choices(known.presets),
        hosts=host_choices(hosts),
        about=told(preset.summary) if preset is not None else "",
        origin=_origin(preset, detail),
        start=_start(known, preset, host=host, changed=changed, has_problem=has_problem),
        save=ButtonView(
            text=t("Save"),
            visible=is_own,
            enabled=can and changed > 0 and not has_problem,
            tooltip=t("Make these values the defaults of your preset"),
        ),
        save_as=ButtonView(
            text=t("Save as mine…"),
            enabled=can and not has_problem,
            tooltip=t("Make a preset of your own with these values"),
        ),
        rename=ButtonView(text=t("Rename…"), visible=is_own, enabled=can),
        remove=ButtonView(text=t("Delete…"), visible=is_own, enabled=can),
        update=_update(diff, can=can and is_own),
        reset=ButtonView(
            text=t("Undo all"),
            visible=changed > 0,
            tooltip=t("Put every setting back to what the preset says"),
        ),
    )


def change_views(diff: PresetDiff | None) -> tuple[ChangeView, ...]:
    """Return what differs, what can be taken over first."""
    order = list(_KINDS)
    changes = sorted(diff.changes if diff else (), key=lambda one: order.index(one.kind))
    return tuple(_change(one) for one in changes)


def update_count(diff: PresetDiff | None) -> int:
    """Return how many values the original has that the copy lacks."""
    wanted = (ChangeKind.UPDATE, ChangeKind.CONFLICT)
    if diff is None or not diff.is_three_way:
        return 0
    return sum(one.kind in wanted for one in diff.changes)


def new_id(preset: PresetInfo, presets: Sequence[PresetInfo] | None) -> str:
    """Return a name that is free, for the copy of a preset."""
    taken = {one.id for one in presets or ()}
    stem = preset.id if preset.id.startswith("my-") else f"my-{preset.id}"
    names = (stem, *(f"{stem}-{number}" for number in range(2, 1_000)))
    return next((name[:64] for name in names if name not in taken), stem)


def _preset_words(one: PresetInfo) -> str:
    title = t("{title} · yours").format(title=told(one.title)) if one.is_own else told(one.title)
    return f"{title}  ({one.id})"


def _origin(preset: PresetInfo | None, detail: PresetDetail | None) -> str:
    if preset is None:
        return ""
    if not preset.is_own:
        return t("Came with the Studio")
    origin = detail.preset.origin if detail is not None else None
    return t("Yours, copied from {id}").format(id=origin.id) if origin is not None else t("Yours")


def _start(
    known: Known, preset: PresetInfo | None, *, host: str, changed: int, has_problem: bool
) -> ButtonView:
    is_ready = known.engine.is_serving
    same = is_ready and preset is not None and known.engine.preset == preset.id and not changed
    text = t("Switch to this") if is_ready else t("Start this")
    why = ""
    if known.link is not Link.LIVE:
        why = t("The service does not answer yet.")
    elif preset is None:
        why = t("Choose a preset first.")
    elif host:
        why = t("This plan is for another machine.")
    elif same:
        why = t("This preset runs now.")
    elif known.engine.adopted is not None:
        why = t("Another vLLM is adopted; forget it first.")
    elif has_problem:
        why = t("Mend what is red first.")
    elif is_busy(known):
        why = t("The engine is on its way somewhere; wait for it.")
    tip = t("Serve it with these values; nothing is saved in the preset")
    return ButtonView(text=text, enabled=not why, tooltip=why or tip)


def _update(diff: PresetDiff | None, *, can: bool) -> ButtonView:
    count = update_count(diff)
    return ButtonView(
        text=nt("Update, {n} change…", "Update, {n} changes…", count).format(n=count),
        visible=can and count > 0,
        tooltip=t("What your preset was copied from has changed"),
    )


def _change(one: ValueChange) -> ChangeView:
    words, role, shape = _KINDS[one.kind]
    return ChangeView(
        name=one.name,
        words=t(words),
        role=role,
        shape=shape,
        base=_said(one.base),
        mine=_said(one.mine),
        theirs=_said(one.theirs),
        can_take=one.kind in (ChangeKind.UPDATE, ChangeKind.CONFLICT, ChangeKind.YOURS),
        takes=one.kind is ChangeKind.UPDATE,
    )


def _said(value: object) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:,}"
        case str():
            return value
        case _:
            return msgspec.json.encode(value).decode()
