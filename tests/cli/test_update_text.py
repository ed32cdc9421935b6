"""Where updates stand, in words."""

import msgspec
import pytest

from studio.cli.update_text import status_text
from studio.domain.errors import ErrorInfo
from studio.domain.self_update import Came, Copy, UpdateState, UpdateStatus

STATUS = UpdateStatus(version="1.0.0", came=Came.RUN)


@pytest.mark.parametrize("state", list(UpdateState))
@pytest.mark.parametrize("came", list(Came))
def test_every_state_of_every_kind_has_words(state: UpdateState, came: Came) -> None:
    """Without a place left open in them."""
    text = status_text(
        msgspec.structs.replace(STATUS, state=state, came=came, offered="1.1.0", command="git pull")
    )

    assert "{" not in text
    assert "1.0.0" in text


def test_what_somebody_else_has_to_do_is_said_with_its_command() -> None:
    """And why the last one was taken back, and what is kept."""
    text = status_text(
        msgspec.structs.replace(
            STATUS,
            state=UpdateState.FETCHED,
            offered="1.1.0",
            changes=("Better.", "Faster."),
            file="/h/weir.deb",
            bytes=60 << 20,
            command="sudo apt install /h/weir.deb",
            previous="0.9.0",
            service_version="0.9.0",
            checked_at=1_800_000_000.0,
            feed="https://files.test/feed.json",
            copies=(Copy(version="0.9.0", made_at=1_800_000_000.0, bytes=2_048, path="/h/c"),),
            failed=ErrorInfo(code="update-failed", message="It did not come up."),
        )
    )

    for words in (
        "type: sudo apt install /h/weir.deb", "Faster.", "60.0 MiB", "rollback", "2.0 KiB",
        "still runs 0.9.0", "https://files.test/feed.json, on 2027-01-", "It did not come up.",
    ):  # fmt: skip
        assert words in text


def test_the_way_back_names_its_version_and_what_is_kept_for_it() -> None:
    """The version before takes room; the one that waits is the one before, not the offer."""
    kept = msgspec.structs.replace(STATUS, previous="0.9.0", previous_bytes=180 << 20)
    assert "0.9.0 (180.0 MiB); `weir update rollback`" in status_text(kept)

    going = msgspec.structs.replace(
        kept, state=UpdateState.WAITING, waiting="0.9.0", offered="1.1.0"
    )
    assert "0.9.0 takes over when the service starts next" in status_text(going)


def test_a_long_list_of_changes_is_cut_and_counted() -> None:
    """The rest of the answer must stay in sight."""
    text = status_text(
        msgspec.structs.replace(STATUS, changes=tuple(f"No {n}." for n in range(20)))
    )

    assert "No 7." in text
    assert "No 8." not in text
    assert "12 more" in text


def test_a_version_that_is_too_old_is_told_which_comes_first() -> None:
    """Instead of an offer that cannot be taken."""
    text = status_text(
        msgspec.structs.replace(
            STATUS, state=UpdateState.OFFERED, offered="3.0.0", minimum_version="2.0.0"
        )
    )

    assert "3.0.0 wants version 2.0.0 first" in text
    assert "get" not in text


def test_a_version_that_ends_by_itself_offers_the_way_back() -> None:
    """Where there is one; a version of apt's is only told of."""
    shaky = msgspec.structs.replace(STATUS, version="1.1.0", ends=2, previous="1.0.0")

    assert "2× since it took over; after the third time 1.0.0" in status_text(shaky)
    alone = msgspec.structs.replace(shaky, previous=None)
    assert "2× since it was installed" in status_text(alone)
    assert "Unsteady" not in status_text(msgspec.structs.replace(shaky, ends=0))
