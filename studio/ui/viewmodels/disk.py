"""The disk meter: what the Studio takes of its disk, as the service says it."""

import msgspec

from studio.domain.disk import DiskReport
from studio.domain.uninstall import Belongings
from studio.domain.units import bytes_text
from studio.ui.language import marked, t
from studio.ui.viewmodels.words import Role, Text


class DiskPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the bar, with its words."""

    name: str
    title: str
    size: str
    tooltip: str
    share: float
    """Of the whole disk."""
    role: Role
    opacity: float = 1.0
    is_free: bool = False


class DiskView(msgspec.Struct, frozen=True, kw_only=True):
    """The card."""

    title: str
    place: Text
    parts: tuple[DiskPart, ...]
    spoken: str
    empty: str


class _Kind(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    tooltip: str
    role: Role
    groups: tuple[Belongings, ...]
    opacity: float = 1.0


_KINDS = (
    _Kind(
        name="runtimes",
        title=marked("Runtimes"),
        tooltip=marked("Engines and their packages; what runtimes share counts once."),
        role=Role.WATER,
        groups=(Belongings.RUNTIMES,),
    ),
    _Kind(
        name="models",
        title=marked("Models"),
        tooltip=marked("Models in the Studio's own folder; other folders are not counted here."),
        role=Role.DEEP,
        groups=(Belongings.MODELS,),
    ),
    _Kind(
        name="caches",
        title=marked("Caches"),
        tooltip=marked(
            "Packages, compiled kernels, unfinished downloads: all of it can come again."
        ),
        role=Role.CLEAR,
        groups=(Belongings.CACHE,),
    ),
    _Kind(
        name="records",
        title=marked("Logs and history"),
        tooltip=marked("Logs, charts, boots, benches, keys and settings."),
        role=Role.QUIET,
        groups=(
            Belongings.LOGS,
            Belongings.HISTORY,
            Belongings.KEYS,
            Belongings.SETTINGS,
            Belongings.SERVICE,
            Belongings.PROGRAM,
        ),
    ),
)


def disk_view(report: DiskReport | None, *, is_asked: bool) -> DiskView:
    """Return the card; `is_asked` while the folders are being measured."""
    if report is None:
        empty = t("Measuring the folders.") if is_asked else t("The service does not answer yet.")
        return DiskView(title=t("Disk"), place=Text(text=""), parts=(), spoken=empty, empty=empty)
    parts = (*(_part(kind, report) for kind in _KINDS), *_rest(report))
    return DiskView(
        title=t("Disk"),
        place=Text(
            text=_place(report),
            tooltip=t("The Studio's folder. `weir disk` says the same."),
        ),
        parts=parts,
        spoken=", ".join(f"{part.title} {part.size}" for part in parts),
        empty="",
    )


def _place(report: DiskReport) -> str:
    if report.total_bytes is None:
        return report.home
    return t("{folder} · disk of {size}").format(
        folder=report.home, size=bytes_text(report.total_bytes)
    )


def _part(kind: _Kind, report: DiskReport) -> DiskPart:
    size = sum(use.bytes for use in report.uses if use.group in kind.groups)
    return DiskPart(
        name=kind.name,
        title=t(kind.title),
        size=bytes_text(size),
        tooltip=t(kind.tooltip),
        share=_share(size, report),
        role=kind.role,
        opacity=kind.opacity,
    )


def _rest(report: DiskReport) -> tuple[DiskPart, ...]:
    unknown = t("This disk does not say how large it is.") if report.free_bytes is None else ""
    others = DiskPart(
        name="others",
        title=t("Everything else"),
        size=bytes_text(report.others_bytes),
        tooltip=unknown or t("Files of others on the same disk."),
        share=_share(report.others_bytes, report),
        role=Role.INK,
        opacity=0.16,
    )
    free = DiskPart(
        name="free",
        title=t("Free"),
        size=bytes_text(report.free_bytes),
        tooltip=unknown or t("What may still be written."),
        share=_share(report.free_bytes, report),
        role=Role.INK,
        opacity=0.22,
        is_free=True,
    )
    return others, free


def _share(size: int | None, report: DiskReport) -> float:
    return size / report.total_bytes if size is not None and report.total_bytes else 0.0
