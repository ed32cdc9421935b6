"""Removing with care, and the folders that are searched."""

import msgspec

from studio.domain.library import Library, RemovePlan
from studio.ui.viewmodels.models_places import remove_view, root_views
from tests.ui.fake_models import IN_USE, ROOTS

replace = msgspec.structs.replace
PLAN = RemovePlan(
    name="a/b", path="/models/a/b", freed_bytes=17 << 30, files=14, stays_bytes=1 << 30,
    stays="another revision names these blobs", uses=("chat-fast",),
)  # fmt: skip


def test_what_goes_what_stays_and_who_misses_it_is_said_before_anything_goes() -> None:
    """The most expensive press of the window."""
    view = remove_view(PLAN, can_act=True)

    assert view is not None
    assert view.title == "Removing a/b frees 17.00 GiB."
    assert view.lines == (
        "/models/a/b", "14 files", "1.00 GiB stay: another revision names these blobs",
        "Afterwards these presets have no model: chat-fast.",
    )  # fmt: skip
    assert view.button.enabled
    assert remove_view(replace(PLAN, is_done=True), can_act=True) is None


def test_what_is_in_use_cannot_be_removed_and_says_by_whom() -> None:
    """Nobody pulls the weights from under an engine."""
    view = remove_view(replace(PLAN, refusal=IN_USE), can_act=True)

    assert view is not None
    assert not view.button.enabled
    assert IN_USE.message in view.lines


def test_of_a_reference_only_the_mention_goes() -> None:
    """No file of others is touched."""
    view = remove_view(replace(PLAN, is_reference=True, stays_bytes=0, uses=()), can_act=True)

    assert view is not None
    assert "no file is touched" in view.title
    assert view.button.text == "Forget it"


def test_folders_say_what_they_are_and_only_added_ones_can_go() -> None:
    """A disk that is away is no error."""
    views = root_views(Library(roots=ROOTS), can_act=True)

    assert [view.remove.visible for view in views] == [False, False, True, True]
    assert views[0].words == "the Studio's own · 2 models"
    assert views[3].words == "Away · added by you"
    assert views[3].size == "–"
