"""The queue of downloads in words."""

import msgspec

from studio.domain.downloads import DownloadDeed, DownloadList, DownloadState, HubName, LoginInfo
from studio.ui.viewmodels.downloads import (
    DownloadRowView,
    downloads_view,
    limit_of,
    login_view,
    open_count,
    wanted,
)
from tests.ui.fake_models import FAILED, PAUSED, QUEUED, RUNNING

replace = msgspec.structs.replace
DONE = replace(RUNNING, id="d", state=DownloadState.DONE, rate=None, left_s=None)
ALL = DownloadList(downloads=(RUNNING, QUEUED, PAUSED, FAILED, DONE))


def rows() -> dict[DownloadState, DownloadRowView]:
    """Return the rows by their states."""
    view = downloads_view(ALL, is_live=True)
    return {one.state: row for one, row in zip(ALL.downloads, view.rows, strict=True)}


def shown(row: DownloadRowView) -> list[DownloadDeed]:
    """Return which buttons are there."""
    return [deed for deed, button in row.deeds if button.visible]


def test_progress_is_told_in_bytes_with_speed_and_time_left() -> None:
    """And an unknown length as unknown."""
    row = rows()[DownloadState.RUNNING]
    assert row.stage.amount == "9.00 GiB of 24.00 GiB"
    assert row.stage.rate == "40.3 MiB/s, 6 min 21 s left"
    assert row.stage.share == 0.375
    unknown = replace(RUNNING, total_bytes=None, rate=None, left_s=None)
    [row] = downloads_view(DownloadList(downloads=(unknown,)), is_live=True).rows
    assert (row.stage.amount, row.stage.share) == ("9.00 GiB of –", None)
    assert row.stage.rate == "–/s"


def test_nothing_moves_while_nobody_tells() -> None:
    """A speed and a time left of before would run on in the reader's head."""
    view = downloads_view(replace(ALL, is_held=True), is_live=False)

    moving, queued, paused = view.rows[:3]
    assert (moving.stage.word, moving.stage.rate, moving.stage.running) == (
        "Not known now", "", False,
    )  # fmt: skip
    assert moving.stage.amount == "9.00 GiB of 24.00 GiB"
    assert (queued.stage.word, paused.stage.word) == ("Waits", "Paused")
    assert view.held == ""


def test_each_state_has_the_buttons_that_make_sense() -> None:
    """Nothing is resumed that runs, nothing paused that is over."""
    deed, found = DownloadDeed, rows()
    assert shown(found[DownloadState.RUNNING]) == [deed.PAUSE, deed.CANCEL]
    assert shown(found[DownloadState.QUEUED]) == [deed.FIRST, deed.PAUSE, deed.CANCEL]
    assert shown(found[DownloadState.PAUSED]) == [deed.FIRST, deed.RESUME, deed.CANCEL]
    assert shown(found[DownloadState.FAILED]) == [deed.RESUME, deed.CANCEL]
    assert shown(found[DownloadState.DONE]) == [deed.CANCEL]
    assert open_count(ALL) == 4
    installing = replace(RUNNING, can_change=False)
    [row] = downloads_view(DownloadList(downloads=(installing,)), is_live=True).rows
    assert row.deeds == ()


def test_a_refusal_says_what_to_do_and_a_gated_model_offers_the_login() -> None:
    """The way on is one press away."""
    row = rows()[DownloadState.FAILED]

    assert "asks for its licence" in row.problem
    assert "then log in" in row.problem
    assert row.can_log_in
    assert not rows()[DownloadState.RUNNING].can_log_in


def test_the_limit_that_holds_is_marked_also_an_odd_one() -> None:
    """Somebody may have set 37 MB/s from a terminal."""
    for limit, words in (
        (None, "No limit"), (20_000_000, "At most 20 MB/s"), (37_000_000, "At most 37 MB/s"),
    ):  # fmt: skip
        found = DownloadList(limit_bytes_per_s=limit)
        view = downloads_view(found, is_live=True)
        assert view.limits[view.limit] == words
        assert limit_of(found, view.limit) == limit
    assert not downloads_view(None, is_live=False).can_limit


def test_an_empty_queue_says_the_next_step() -> None:
    """And why models wait, when they do."""
    assert "Get a model" in downloads_view(DownloadList(), is_live=True).empty
    assert "service" in downloads_view(None, is_live=False).empty
    assert downloads_view(DownloadList(is_held=True), is_live=True).held != ""


def test_a_token_is_named_by_its_source_and_only_ours_can_be_forgotten() -> None:
    """`HF_TOKEN` belongs to somebody else."""
    info = LoginInfo(hub=HubName.HUGGING_FACE, endpoint="https://huggingface.co")
    assert login_view(None).text == "Asking the service."
    assert not login_view(info).can_forget
    assert login_view(replace(info, source="weir models login")).can_forget
    assert not login_view(replace(info, source="HF_TOKEN")).can_forget


def test_patterns_are_parted_by_blanks_or_commas() -> None:
    """As people write them."""
    request = wanted(HubName.MODEL_SCOPE, "a/b", include="*.json, *.txt  old/", revision="")

    assert request.include == ("*.json", "*.txt", "old/")
    assert request.exclude == ()
    assert request.revision is None
    assert not request.update
