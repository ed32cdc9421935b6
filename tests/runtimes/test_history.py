"""Which installation is used, and in what order they were."""

from pathlib import Path

from studio.runtimes import history


def test_back_forward_and_a_new_one(tmp_path: Path) -> None:
    """As in a browser: something new forgets what was ahead."""
    for one in ("a1", "b2", "c3"):
        history.activate(tmp_path, one)
    assert history.read(tmp_path) == ("a1", "b2", "c3")
    assert not history.is_held(tmp_path, "c3")

    history.switch(tmp_path, "b2")
    assert history.current(tmp_path) == "b2"
    assert history.is_held(tmp_path, "b2")

    history.activate(tmp_path, "d4")
    assert history.read(tmp_path) == ("a1", "b2", "d4")


def test_installing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    """A repair that installs anew must not undo a step back."""
    history.activate(tmp_path, "a1")
    history.activate(tmp_path, "b2")
    history.switch(tmp_path, "a1")

    history.activate(tmp_path, "a1")

    assert history.read(tmp_path) == ("a1", "b2")
    assert history.is_held(tmp_path, "a1")


def test_a_kill_between_the_two_files_leaves_the_old_one_in_use(tmp_path: Path) -> None:
    """And nobody is said to have gone back to it, or an update would never come through."""
    history.activate(tmp_path, "a1")
    history.activate(tmp_path, "b2")
    before = (tmp_path / "current").read_text()
    history.activate(tmp_path, "c3")
    (tmp_path / "current").write_text(before)

    assert history.current(tmp_path) == "b2"
    assert not history.is_held(tmp_path, "b2")
    history.activate(tmp_path, "c3")
    assert history.read(tmp_path) == ("a1", "b2", "c3")


def test_files_that_are_lost_or_broken_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    """A home from before there was a history has one entry in it."""
    assert history.current(tmp_path) is None
    assert history.read(tmp_path) == ()
    (tmp_path / "current").write_text("a1\n")
    assert history.read(tmp_path) == ("a1",)
    (tmp_path / "history").write_bytes(b"\xff\xfe")
    assert history.read(tmp_path) == ("a1",)
    (tmp_path / "current").write_text("../../etc\n")
    assert history.current(tmp_path) is None
