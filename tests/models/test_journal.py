"""How far a preparation is: taken up for the same inputs, thrown away for others."""

from pathlib import Path

from studio.domain.preparing import DoneStep
from studio.models.assemble import hashed
from studio.models.journal import Journal, State
from tests.models.checkpoints import INDEX, put

STEP = DoneStep(name="a", digest="d")


def begun(folder: Path, key: str = "k") -> Journal:
    """Return a preparation that is taken up, or begun."""
    one = Journal(folder, "m")
    one.open(key)
    return one


def test_what_was_kept_is_taken_up_for_the_same_inputs_only(tmp_path: Path) -> None:
    """Files of another preparation must not get into this one."""
    first = begun(tmp_path)
    put(first.folder, {"x": b"1"})
    first.keep(State(key="k", files={"x": hashed(first.folder / "x")}))

    assert begun(tmp_path).state.files.keys() == {"x"}
    assert begun(tmp_path, "other").state == State(key="other")
    assert not (first.folder / "x").exists()


def test_a_folder_that_is_not_as_written_down_begins_anew(tmp_path: Path) -> None:
    """Somebody wrote into it, or a disk lost it."""
    first = begun(tmp_path)
    put(first.folder, {"x": b"1"})
    first.keep(State(key="k", files={"x": hashed(first.folder / "x")}))
    put(first.folder, {"x": b"22"})
    assert begun(tmp_path).state.files == {}
    put(first.work, {"state.json": b"{"})
    assert begun(tmp_path).state.files == {}
    first.clear()
    first.work.write_bytes(b"a file in its place")
    assert begun(tmp_path).folder.is_dir()


def test_a_move_that_was_cut_off_is_finished(tmp_path: Path) -> None:
    """Some files are new and some old between two renames; the record says which step it was."""
    first = begun(tmp_path)
    put(first.folder, {"x": b"1", "y": b"1", INDEX: b"1"})
    files = {name: hashed(first.folder / name) for name in ("x", "y", INDEX)}
    out = first.fresh_out()
    put(out, {"x": b"22", "new/z": b"3", INDEX: b"22"})
    made = {name: hashed(out / name) for name in ("x", "new/z", INDEX)}
    first.keep(State(key="k", files=files, moving=STEP, moved=made))
    (out / "x").replace(first.folder / "x")
    put(first.folder, {".share-abc": b"half"})

    second = begun(tmp_path)

    assert second.state.done == (STEP,)
    assert second.state.moving is None
    assert second.state.files == {**files, **made}
    assert (second.folder / INDEX).read_bytes() == b"22"
    assert (second.folder / "new" / "z").read_bytes() == b"3"
    assert not (second.folder / ".share-abc").exists()
