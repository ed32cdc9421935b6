"""The disk meter's words and shares."""

import msgspec

from studio.domain.disk import DiskReport
from studio.ui.viewmodels.disk import disk_view
from tests.ui.fake_runtimes import DISK, GIB


def test_each_part_has_its_size_and_its_share_of_the_disk() -> None:
    """The bar and the words below it say the same."""
    view = disk_view(DISK, is_asked=False)

    sizes = {part.name: part.size for part in view.parts}
    assert sizes == {
        "runtimes": "13.00 GiB", "models": "71.00 GiB", "caches": "4.00 GiB",
        "records": "117.0 MiB", "others": "430.00 GiB", "free": "412.00 GiB",
    }  # fmt: skip
    assert abs(sum(part.share for part in view.parts) - 1) < 0.01
    assert view.parts[0].share == 13 * GIB / (930 * GIB)
    assert [part.name for part in view.parts if part.is_free] == ["free"]
    assert view.place.text == "/home/ada/weir · disk of 930.00 GiB"
    assert "Free 412.00 GiB" in view.spoken


def test_a_disk_that_does_not_say_its_size_shows_dashes_with_the_reason() -> None:
    """Not known is no empty disk and no full one."""
    silent = msgspec.structs.replace(DISK, total_bytes=None, free_bytes=None, others_bytes=None)

    view = disk_view(silent, is_asked=False)

    free = view.parts[-1]
    assert (free.size, free.share) == ("–", 0.0)
    assert "does not say" in free.tooltip
    assert view.place.text == "/home/ada/weir"


def test_before_the_answer_it_says_what_it_waits_for() -> None:
    """Folders take a second or two to measure."""
    assert disk_view(None, is_asked=True).empty == "Measuring the folders."
    assert disk_view(None, is_asked=False).empty == "The service does not answer yet."
    assert disk_view(DiskReport(home="/h"), is_asked=False).empty == ""
