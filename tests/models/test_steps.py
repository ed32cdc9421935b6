"""When a step is done, what makes it another one, and changes of small files."""

import json
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import BadInput, Damaged
from studio.domain.preparing import Change, DoneWhen
from studio.models import steps
from tests.fakes.hub import sha256
from tests.models.checkpoints import FILES, HEAD, put

EFFORT = "{% set a = 1 %}"


def change(**values: object) -> Change:
    """Return a change of config.json."""
    return Change(**{"file": "config.json", **values})


def test_a_condition_asks_for_files_tensors_and_digests(tmp_path: Path) -> None:
    """All of them; a step that says nothing is never seen to be done."""
    put(tmp_path, FILES)
    digest = sha256(FILES["config.json"])

    assert not steps.is_done(tmp_path, DoneWhen())
    assert steps.is_done(tmp_path, DoneWhen(files=("config.json",), tensors=("lm_head.*",)))
    assert not steps.is_done(tmp_path, DoneWhen(files=("none",)))
    assert not steps.is_done(tmp_path, DoneWhen(tensors=("lm_head.*", "none")))
    assert steps.is_done(tmp_path, DoneWhen(digests={"config.json": digest}))
    assert not steps.is_done(tmp_path, DoneWhen(digests={"config.json": "0" * 64}))


def test_words_do_not_make_it_another_step_and_deeds_do() -> None:
    """A better sentence must not cost an hour of work."""
    first = steps.digest(HEAD, b"script")

    assert (
        steps.digest(msgspec.structs.replace(HEAD, what="Other.", takes_s=1.0), b"script") == first
    )
    assert steps.digest(HEAD, b"other script") != first
    assert steps.digest(msgspec.structs.replace(HEAD, tensors=("x",)), b"script") != first


@pytest.mark.parametrize(
    ("before", "one", "after"),
    [
        ({}, change(path=("a", "b"), value=1), {"a": {"b": 1}}),
        (
            {"a": {"c": 2}},
            change(path=("a", "b"), value={"d": []}),
            {"a": {"c": 2, "b": {"d": []}}},
        ),
        ({"l": ["x", "re:mtp.a", "y"]}, change(path=("l",), without=("x", "*mtp*")), {"l": ["y"]}),
        ({}, change(path=("l",), without=("x",)), {"l": []}),
        ({"t": "text"}, change(path=("t",), prepend=EFFORT), {"t": f"{EFFORT}text"}),
        ({"t": f"{EFFORT}text"}, change(path=("t",), prepend=EFFORT), {"t": f"{EFFORT}text"}),
    ],
)
def test_json_is_changed_where_it_is_named(
    tmp_path: Path, before: object, one: Change, after: object
) -> None:
    """Everything else stays; a second time changes nothing."""
    put(tmp_path, {"config.json": json.dumps(before).encode()})

    made = steps.changed_files(tmp_path, (one, one))

    assert json.loads(made["config.json"]) == after


def test_a_newer_file_is_what_is_changed(tmp_path: Path) -> None:
    """A script of the same step may have written it."""
    old = put(tmp_path / "old", {"config.json": b'{"a": 1}', "t.jinja": "grüß".encode()})
    new = put(tmp_path / "new", {"config.json": b'{"a": 2}'})
    text = Change(file="t.jinja", prepend=EFFORT)

    made = steps.changed_files(old, (change(path=("b",), value=0), text), new)

    assert json.loads(made["config.json"]) == {"a": 2, "b": 0}
    assert made["t.jinja"].decode() == f"{EFFORT}grüß"


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("{", change(path=("a",), value=1)),
        ("[]", change(path=("a",), value=1)),
        ('{"a": 1}', change(path=("a", "b"), value=1)),
        ('{"a": 1}', change(path=("a",), without=("x",))),
        ('{"a": 1}', change(path=("a",), prepend="x")),
        ("{}", change(value=1)),
        ("{}", Change(file="absent.json", path=("a",), value=1)),
    ],
)
def test_what_is_not_as_expected_is_refused_by_name(tmp_path: Path, text: str, one: Change) -> None:
    """The repository holds something else than the preset was written for."""
    put(tmp_path, {"config.json": text.encode()})

    with pytest.raises(Damaged) as caught:
        steps.changed_files(tmp_path, (one,))

    assert caught.value.code == "prepare-change"
    assert one.file in caught.value.message


def test_a_change_stays_in_its_folder(tmp_path: Path) -> None:
    """A preset of a stranger must not write elsewhere."""
    with pytest.raises(BadInput):
        steps.changed_files(tmp_path, (Change(file="../x.json", path=("a",), value=1),))
