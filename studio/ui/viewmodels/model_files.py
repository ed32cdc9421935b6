"""The files of one model: how large each is, and whether its bytes are proven. Pure."""

import msgspec

from studio.domain.library import FileEntry, ModelDetail
from studio.domain.units import bytes_text
from studio.ui.language import nt, t
from studio.ui.viewmodels.models import ModelCell, ModelRow

_DIGEST_SHOWN = 16
"""Hex digits: enough to compare at a glance, the rest is in the hover."""


class FilesView(msgspec.Struct, frozen=True, kw_only=True):
    """The files of the model in front."""

    fold: str
    """The words of the button that unfolds them."""
    rows: tuple[ModelRow, ...] = ()
    note: str = ""


def files_view(detail: ModelDetail | None, *, unfolded: bool, is_asked: bool) -> FilesView:
    """Return the files of a model; `detail` None: of the one in front they are not known."""
    if detail is None:
        fold = t("Hide the files") if unfolded else t("Show the files")
        return FilesView(fold=fold, note=t("Reading…") if unfolded and is_asked else "")
    count = len(detail.files) + detail.left_out
    words = nt("{n} file", "{n} files", count).format(n=f"{count:,}")
    fold = t("Hide its {files}") if unfolded else t("Show its {files}")
    if not unfolded:
        return FilesView(fold=fold.format(files=words))
    return FilesView(
        fold=fold.format(files=words),
        rows=tuple(_row(one) for one in detail.files),
        note=_note(detail),
    )


def _note(detail: ModelDetail) -> str:
    proven = sum(one.is_proven for one in detail.files)
    parts = [
        t("{proven} of {all} proven byte by byte.").format(
            proven=f"{proven:,}", all=f"{len(detail.files):,}"
        )
    ]
    if proven < len(detail.files):
        parts.append(t("“Check” reads the others and compares them."))
    if detail.left_out:
        parts.append(t("{n} more are not listed.").format(n=f"{detail.left_out:,}"))
    return " ".join(parts)


def _row(one: FileEntry) -> ModelRow:
    proof, tip = _proof(one)
    return ModelRow(
        id=one.name,
        cells=(
            ModelCell(text=one.name, value=one.name.casefold(), tooltip=one.name),
            ModelCell(text=bytes_text(one.size_bytes), value=float(one.size_bytes)),
            ModelCell(text=proof, value=proof, tooltip=tip),
            ModelCell(
                text="–" if one.sha256 is None else f"{one.sha256[:_DIGEST_SHOWN]}…",
                value=one.sha256,
                tooltip=one.sha256 or t("It was never hashed here, and nobody says."),
            ),
        ),
    )


def _proof(one: FileEntry) -> tuple[str, str]:
    if one.is_proven:
        return t("proven"), t("Its bytes were read here and have the digest that is expected.")
    if one.sha256 is None:
        return t("nothing to compare with"), t("No source says which digest it should have.")
    return t("not read yet"), t("Its digest is known; its bytes were not read since it came.")
