"""What was done on the models page, in words."""

from studio.domain.downloads import Fetched, LoginInfo
from studio.domain.events import Stage
from studio.domain.library import ImportProgress, ImportWay, ModelImported, RemovePlan
from studio.domain.units import bytes_text
from studio.ui.language import marked, t
from studio.ui.viewmodels.boot import StageView
from studio.ui.viewmodels.downloads import HUBS
from studio.ui.viewmodels.runtimes_done import DoneView
from studio.ui.viewmodels.words import Role, Shape, plural

_WAYS: dict[ImportWay, str] = {
    ImportWay.REFERENCE: marked("{name} is in the library; it stays in {path}."),
    ImportWay.LINK: marked("{name} is in the library, linked: {path}."),
    ImportWay.COPY: marked("{name} is in the library, copied: {path}."),
}


def outcome_view(done: Fetched | ModelImported | RemovePlan | LoginInfo | None) -> DoneView | None:
    """Return what was done last."""
    match done:
        case None:
            return None
        case Fetched():
            return _fetched(done)
        case ModelImported():
            return _imported(done)
        case RemovePlan():
            return _removed(done)
    name = t(HUBS[done.hub])
    text = t("{hub} gets no token any more.") if done.source is None else t("{hub} gets the token.")
    return DoneView(text=text.format(hub=name))


def import_stage(progress: ImportProgress | None) -> StageView | None:
    """Return how far an import is."""
    if progress is None:
        return None
    total = progress.total_bytes
    return StageView(
        stage=Stage.MODEL,
        title=t("Taking {name} in").format(name=progress.name),
        word=t("Under way"),
        role=Role.WATER,
        shape=Shape.HALF,
        note=progress.path,
        share=progress.done_bytes / total if total else None,
        running=True,
        amount=t("{done} of {total}").format(
            done=bytes_text(progress.done_bytes), total=bytes_text(total)
        ),
        rate="",
    )


def _fetched(done: Fetched) -> DoneView:
    size = bytes_text(sum(file.bytes for file in done.files))
    text = t("{name} is here, whole and proven: {count}, {size}.").format(
        name=done.repository, count=plural(len(done.files), "file", "files"), size=size
    )
    lines = [done.folder]
    if done.newer_commit is not None:
        lines.append(t("The branch has moved on; get it again to follow it."))
    return DoneView(text=text, lines=tuple(lines))


def _imported(done: ModelImported) -> DoneView:
    text = t(_WAYS[done.by]).format(name=done.model.name, path=done.model.path)
    written = t("It takes {size} anew.").format(size=bytes_text(done.written_bytes))
    lines = [*([done.reason] if done.reason else [])]
    if done.by is not ImportWay.REFERENCE:
        lines.append(written)
    return DoneView(text=text, lines=tuple(lines))


def _removed(done: RemovePlan) -> DoneView:
    if done.is_reference:
        return DoneView(text=t("{name} is mentioned no more.").format(name=done.name))
    text = t("{name} is removed: {size} are free again.")
    return DoneView(text=text.format(name=done.name, size=bytes_text(done.freed_bytes)))
