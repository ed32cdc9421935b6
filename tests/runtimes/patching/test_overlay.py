"""The tree in the making, and git's rule that a diff is cut against one state."""

from studio.runtimes.patching.overlay import Entry, Overlay


def entry(text: bytes) -> Entry:
    """Return a file that is new."""
    return Entry(content=text)


def test_a_queued_change_is_not_what_a_copy_sees() -> None:
    """git cuts every part of a diff against the state before it."""
    overlay = Overlay({"a": b"old"}.get)

    overlay.put("a", entry(b"new"), is_queued=True)

    assert overlay.before("a").content == b"old"
    overlay.settle()
    assert overlay.before("a").content == b"new"


def test_a_second_change_to_a_file_sees_the_first() -> None:
    """Two commits in one file without words between them."""
    overlay = Overlay({"a": b"old"}.get)
    overlay.put("a", entry(b"new"), is_queued=True)

    assert overlay.now("a").content == b"new"


def test_a_swapped_pair_of_names_keeps_both_files() -> None:
    """Removing the source of one rename must not remove the target of the other."""
    overlay = Overlay({"a": b"A", "b": b"B"}.get)
    overlay.put("b", overlay.before("a"), is_queued=True)
    overlay.remove("a", is_queued=True)
    overlay.put("a", overlay.before("b"), is_queued=True)
    overlay.remove("b", is_queued=True)

    changes = overlay.changes()

    assert [(one.path, one.content, one.mode_of) for one in changes] == [
        ("a", b"B", "b"),
        ("b", b"A", "a"),
    ]


def test_a_fork_leaves_its_origin_alone() -> None:
    """A patch is tried before it counts."""
    overlay = Overlay({"a": b"old"}.get)

    overlay.fork().put("a", entry(b"new"), is_queued=False)

    assert overlay.now("a").content == b"old"


def test_what_ends_as_it_began_is_no_change() -> None:
    """A patch and its revert in one series must not touch the file."""
    overlay = Overlay({"a": b"old"}.get)
    original = overlay.now("a")
    overlay.put("a", entry(b"new"), is_queued=False)
    overlay.put("a", original, is_queued=False)
    overlay.put("b", entry(b"x"), is_queued=False)
    overlay.remove("b", is_queued=False)

    assert overlay.changes() == ()
