"""The files of one model, as the service says them."""

import pytest

from studio.domain.library import FileEntry, ModelDetail
from studio.ui.viewmodels.model_files import files_view
from tests.ui.fake_models import FILES, TINY

DETAIL = ModelDetail(model=TINY, files=FILES, left_out=2)


def test_folded_files_say_how_many_there_are() -> None:
    """The table is made only for whoever wants it."""
    view = files_view(DETAIL, unfolded=False, is_asked=False)

    assert (view.fold, view.rows, view.note) == ("Show its 5 files", (), "")


def test_each_file_says_size_and_proof() -> None:
    """Proven, not read yet, and nothing to compare with are three things."""
    view = files_view(DETAIL, unfolded=True, is_asked=False)

    assert [[cell.text for cell in row.cells] for row in view.rows] == [
        ["model.safetensors", "93.0 MiB", "proven", "abababababababab…"],
        ["tokenizer.json", "2.0 MiB", "not read yet", "cdcdcdcdcdcdcdcd…"],
        ["notes.txt", "412 B", "nothing to compare with", "–"],
    ]
    assert view.note.startswith("1 of 3 proven byte by byte. “Check” reads the others")
    assert view.note.endswith("2 more are not listed.")


def test_a_model_that_is_proven_asks_for_no_check() -> None:
    """Advice that is done is noise."""
    one = FileEntry(name="a", size_bytes=1, sha256="0" * 64, is_proven=True)
    view = files_view(ModelDetail(model=TINY, files=(one,)), unfolded=True, is_asked=False)

    assert view.note == "1 of 1 proven byte by byte."
    assert view.fold == "Hide its 1 file"


@pytest.mark.parametrize(("is_asked", "note"), [(True, "Reading…"), (False, "")])
def test_what_is_not_known_yet_is_said(is_asked: bool, note: str) -> None:
    """An empty table would say that it has no files."""
    view = files_view(None, unfolded=True, is_asked=is_asked)

    assert (view.fold, view.note) == ("Hide the files", note)
