"""What removing a model would do, and the folders that are searched for models."""

import msgspec

from studio.domain.library import Library, RemovePlan, RootInfo, RootKind, RootState
from studio.domain.units import bytes_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.picks import SignView
from studio.ui.viewmodels.words import ButtonView, RemovalView, Role, Shape, listed, plural


class RootView(msgspec.Struct, frozen=True, kw_only=True):
    """One folder that is searched."""

    path: str
    sign: SignView
    words: str
    size: str
    tooltip: str
    remove: ButtonView


_KINDS: dict[RootKind, str] = {
    RootKind.OWN: marked("the Studio's own"),
    RootKind.CACHE: marked("cache of Hugging Face, shared with other programs"),
    RootKind.FOLDER: marked("added by you"),
    RootKind.REFERENCE: marked("one model, left where it is"),
}
_ROOT_STATES: dict[RootState, tuple[str, Shape, Role]] = {
    RootState.PRESENT: (marked("There"), Shape.TICK, Role.OK),
    RootState.MISSING: (marked("Away"), Shape.RING, Role.WARN),
    RootState.UNREADABLE: (marked("Cannot be read"), Shape.CROSS, Role.HARM),
}


def remove_view(plan: RemovePlan | None, *, can_act: bool) -> RemovalView | None:
    """Return what removing would free, before anything goes."""
    if plan is None or plan.is_done:
        return None
    lines = [plan.path]
    if plan.is_reference:
        title = t("Only the mention of {name} goes; no file is touched.").format(name=plan.name)
        verb = t("Forget it")
    else:
        title = t("Removing {name} frees {size}.").format(
            name=plan.name, size=bytes_text(plan.freed_bytes)
        )
        verb = t("Remove, free {size}").format(size=bytes_text(plan.freed_bytes))
        lines.append(plural(plan.files, "file", "files"))
    if plan.stays_bytes:
        stays = t("{size} stay").format(size=bytes_text(plan.stays_bytes))
        lines.append(f"{stays}: {told(plan.stays)}" if plan.stays else stays)
    if plan.uses:
        lines.append(
            t("Afterwards these presets have no model: {presets}.").format(
                presets=listed(plan.uses)
            )
        )
    if plan.refusal is not None:
        lines += [told(part) for part in (plan.refusal.message, plan.refusal.hint) if part]
    enabled = can_act and plan.refusal is None
    return RemovalView(
        title=title, lines=tuple(lines), button=ButtonView(text=verb, enabled=enabled)
    )


def root_views(library: Library | None, *, can_act: bool) -> tuple[RootView, ...]:
    """Return the folders that are searched."""
    roots = library.roots if library is not None else ()
    return tuple(_root(one, can_act=can_act) for one in roots)


def _root(root: RootInfo, *, can_act: bool) -> RootView:
    word, shape, role = _ROOT_STATES[root.state]
    is_yours = root.kind in (RootKind.FOLDER, RootKind.REFERENCE)
    parts = [t(_KINDS[root.kind])]
    if root.state is RootState.PRESENT:
        parts.append(plural(root.models, "model", "models"))
    return RootView(
        path=root.path,
        sign=SignView(text=t(word), shape=shape, role=role),
        words=" · ".join(parts if root.state is RootState.PRESENT else [t(word), *parts]),
        size=bytes_text(root.size_bytes if root.state is RootState.PRESENT else None),
        tooltip=told(root.note or ""),
        remove=ButtonView(
            text=t("Search no more"),
            visible=is_yours,
            enabled=can_act,
            tooltip=t("No file is touched."),
        ),
    )
