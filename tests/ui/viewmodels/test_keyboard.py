"""The map of keys."""

from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.keyboard import DEEDS, key_groups


def test_no_key_does_two_things() -> None:
    """Qt would do neither."""
    keys = [one for deed in DEEDS for one in deed.keys]

    assert len(keys) == len(set(keys))


def test_the_sheet_lists_every_key_and_only_pages_that_exist() -> None:
    """It is made of the same table as the shortcuts."""
    everywhere, pages, inside = key_groups((PageId.SERVE, PageId.LOGS))

    assert len(everywhere.keys) == len(DEEDS)
    assert pages.keys == (("Ctrl+1", "Serve"), ("Ctrl+8", "Logs"))
    assert all(words for _key, words in inside.keys)
