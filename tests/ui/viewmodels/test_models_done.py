"""What was done on the models page."""

import pytest

from studio.domain.downloads import Fetched, FetchedFile, HubName, LoginInfo
from studio.domain.library import ImportProgress, ImportWay, ModelImported, RemovePlan
from studio.ui.models import Outcome
from studio.ui.viewmodels.models_done import import_stage, outcome_view
from tests.ui.fake_models import QWEN

FETCHED = Fetched(
    repository="a/b", hub=HubName.HUGGING_FACE, asked="main", commit="c", folder="/f",
    files=(FetchedFile(path="w", bytes=2 << 30),), fetched_bytes=1, newer_commit="d",
)  # fmt: skip


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (FETCHED, "a/b is here, whole and proven: 1 file, 2.00 GiB."),
        (ModelImported(model=QWEN, by=ImportWay.REFERENCE), "it stays in"),
        (ModelImported(model=QWEN, by=ImportWay.COPY, written_bytes=5), "copied"),
        (ModelImported(model=QWEN, by=ImportWay.LINK), "linked"),
        (RemovePlan(name="a", path="/a", freed_bytes=1 << 30, files=1), "1.00 GiB are free again"),
        (RemovePlan(name="a", path="/a", freed_bytes=0, files=0, is_reference=True), "no more"),
        (LoginInfo(hub=HubName.MODEL_SCOPE, endpoint="e"), "ModelScope gets no token"),
        (LoginInfo(hub=HubName.MODEL_SCOPE, endpoint="e", source="w"), "ModelScope gets the token"),
    ],
)
def test_each_outcome_is_a_sentence(done: Outcome, words: str) -> None:
    """Nobody has to guess whether it worked."""
    view = outcome_view(done)

    assert view is not None
    assert words in view.text


def test_a_link_that_became_a_copy_says_why() -> None:
    """What was asked for is not always what can be done."""
    done = ModelImported(
        model=QWEN, by=ImportWay.COPY, reason="It lies on another disk.", written_bytes=1 << 30
    )

    view = outcome_view(done)

    assert view is not None
    assert view.lines == ("It lies on another disk.", "It takes 1.00 GiB anew.")
    assert outcome_view(None) is None


def test_an_import_shows_how_far_it_is() -> None:
    """Of an unknown size as unknown."""
    stage = import_stage(
        ImportProgress(path="/p", name="n", done_bytes=1 << 30, total_bytes=4 << 30)
    )
    assert stage is not None
    assert (stage.share, stage.amount) == (0.25, "1.00 GiB of 4.00 GiB")
    unknown = import_stage(ImportProgress(path="/p", name="n"))
    assert unknown is not None
    assert (unknown.share, unknown.amount) == (None, "0 B of –")
    assert import_stage(None) is None
