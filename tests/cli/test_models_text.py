"""The library in words."""

import msgspec
import pytest

from studio.cli import models_text as text
from studio.domain.errors import ErrorInfo
from studio.domain.library import (
    CheckedResult,
    CheckInfo,
    CheckState,
    Double,
    FileEntry,
    ImportWay,
    LackingFile,
    Library,
    LostModel,
    ModelDetail,
    ModelEntry,
    ModelFacts,
    ModelImported,
    RemovePlan,
    RootInfo,
    RootKind,
    RootState,
    WeightsForm,
)
from studio.domain.proofs import ModelState

FACTS = ModelFacts(
    form=WeightsForm.GGUF, architecture="qwen3", parameters=27_300_000_000, quantisation="Q4_K_M"
)


def entry(**changes: object) -> ModelEntry:
    """Return a model."""
    values = {"name": "owner/name", "path": "/hub/x", "root": "/hub", "root_kind": RootKind.CACHE,
              "facts": FACTS, "files": 3, "size_bytes": 16 << 30,
              "state": ModelState.READY, **changes}  # fmt: skip
    return ModelEntry(**values)


def test_a_model_is_one_line_with_what_one_chooses_by() -> None:
    """What is not known is a dash and never zero."""
    listed = text.list_text(Library(models=(entry(uses=("a", "b")),), size_bytes=16 << 30), 120)

    line = listed.splitlines()[1]
    assert line.split() == ["owner/name", "16.00", "GiB", "27.3", "B", "Q4_K_M", "–", "ready",
                            "a,", "b"]  # fmt: skip
    assert text.parameters_text(None) == "–"
    assert text.parameters_text(135_000_000) == "135 M"
    assert text.parameters_text(7) == "7"


def test_what_is_wrong_with_folders_and_what_is_there_twice_is_said_below() -> None:
    """A cache that was never used is nothing to speak of."""
    gone = RootState.MISSING
    roots = (
        RootInfo(path="/hub", kind=RootKind.CACHE, state=gone),
        RootInfo(path="/usb", kind=RootKind.FOLDER, state=gone),
        RootInfo(path="/x", kind=RootKind.FOLDER, state=RootState.UNREADABLE, note="denied"),
        RootInfo(path="/y", kind=RootKind.FOLDER, note="too deep"),
    )
    double = Double(models=("a", "b"), files=1, extra_bytes=1 << 30)
    listed = text.list_text(Library(roots=roots, doubles=(double,), not_compared_bytes=5), 80)

    assert "There is no model" in listed
    assert "/hub" not in listed
    assert "/usb: not there now" in listed
    assert "/x: cannot be read: denied" in listed
    assert "/y: too deep" in listed
    assert "1.00 GiB more than needed: a, b" in listed
    assert "may be the same" in listed
    shown = text.roots_text(roots)
    assert len(shown.splitlines()) == 4


def test_a_model_that_another_hand_took_away_is_named_with_the_ways_back() -> None:
    """Not with those where only its disk is away: nothing has to be fetched then."""
    lost = LostModel(
        name="owner/name", path="/big/a\x1bb", uses=("fast", "long"), size_bytes=5, seen_at_s=0.0
    )
    away = msgspec.structs.replace(lost, name="other", is_folder_gone=True)

    _none, removed, unmounted = text.list_text(Library(lost=(lost, away)), 80).splitlines()

    assert removed.startswith("owner/name (5 B), which fast, long needs, is no longer in /big/")
    assert "`weir models prepare fast`" in removed
    assert "\x1b" not in removed
    assert "not mounted" in unmounted
    assert "prepare" not in unmounted


def test_a_model_that_is_not_whole_names_what_lacks_and_what_is_damaged() -> None:
    """File by file, with sizes where they are known."""
    model = entry(
        state=ModelState.DAMAGED,
        missing=(LackingFile(name="a", size_bytes=5), LackingFile(name="b")),
        damaged=("c",),
        changed=("d",),
        problems=("It is odd.",),
        repository="owner/name",
        revision="a" * 40,
        refs=("main",),
        proven_at_s=1e9,
        proven_by="huggingface",
        last_check=CheckedResult(at_s=1e18, files=3, compared=2, damaged=("c",)),
        check=CheckInfo(model="owner/name", path="/", state=CheckState.WAITING),
        in_use_by="the engine",
        same_as=("other",),
    )
    detail = text.detail_text(
        ModelDetail(model=model, files=(FileEntry(name="c", size_bytes=7),), left_out=2)
    )

    for part in ("missing  a  5 B", "missing  b  –", "damaged  c", "It is odd.", "(main)",
                 "Hugging Face", "1 damaged", "waits: the engine", "other", "2 more files",
                 "27.3 B parameters"):  # fmt: skip
        assert part in detail, part


def test_a_hostile_name_moves_no_cursor() -> None:
    """Names come from strangers' folders."""
    model = entry(name="a\x1b[2Jb", problems=("x\x07y",), damaged=("c\x1b",))

    for shown in (
        text.list_text(Library(models=(model,)), 80),
        text.detail_text(ModelDetail(model=model)),
        text.verified_text([model]),
        text.plan_text(RemovePlan(name="a\x1b[2J", path="/\x07", freed_bytes=0, files=1)),
    ):
        assert "\x1b" not in shown
        assert "\x07" not in shown


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({}, "is whole: three files, 16.00 GiB"),
        ({"last_check": CheckedResult(at_s=1.0, files=3, compared=0)}, "kept from now on"),
        ({"state": ModelState.DAMAGED, "damaged": ("w",)}, "damaged  w"),
        ({"state": ModelState.UNKNOWN,
          "last_check": CheckedResult(at_s=1.0, files=3, compared=2, unreadable=("w",))},
         "cannot be read  w"),
        ({"state": ModelState.INCOMPLETE, "missing": (LackingFile(name="w"),)}, "missing  w"),
    ],
)  # fmt: skip
def test_a_check_says_what_it_came_to(changes: dict[str, object], part: str) -> None:
    """First digests are no proof of wholeness, and not called one."""
    assert part in text.verified_text([entry(proven_by="huggingface", **changes)])


def test_a_removal_says_what_it_frees_and_what_stays() -> None:
    """Before anybody says yes."""
    plan = RemovePlan(
        name="m",
        path="/m",
        freed_bytes=1 << 30,
        files=4,
        stays_bytes=2 << 30,
        stays="the same files have other names elsewhere",
        uses=("p",),
        refusal=ErrorInfo(code="model-in-use", message="m is used.", hint="Stop it."),
    )
    shown = text.plan_text(plan)

    assert "Frees 1.00 GiB" in shown
    assert "2.00 GiB of it stay: the same files have other names elsewhere." in shown
    assert "no model then: p" in shown
    assert "m is used." in shown
    assert "Stop it." in shown
    mention = text.plan_text(
        RemovePlan(name="m", path="/m", freed_bytes=0, files=1, is_reference=True)
    )
    assert "its files in /m stay" in mention


@pytest.mark.parametrize(
    ("by", "cloned", "part"),
    [
        (ImportWay.REFERENCE, 0, "left where it is"),
        (ImportWay.LINK, 0, "hard links"),
        (ImportWay.COPY, 1, "sharing its blocks"),
        (ImportWay.COPY, 0, "copied"),
    ],
)
def test_an_import_says_what_was_really_done(by: ImportWay, cloned: int, part: str) -> None:
    """And why it is not what was asked for."""
    shown = text.imported_text(
        ModelImported(model=entry(), by=by, cloned=cloned, reason="it lies elsewhere")
    )

    assert part in shown
    assert "Not as asked for: it lies elsewhere." in shown


def test_a_check_under_way_says_how_far_it_is() -> None:
    """With its speed only while it has one."""
    running = CheckInfo(
        model="m", path="/", state=CheckState.RUNNING, done_bytes=1 << 30, total_bytes=2 << 30,
        rate=float(1 << 30), left_s=1.0,
    )  # fmt: skip

    assert text.check_line(running) == (
        "m: being read, 1.00 GiB of 2.00 GiB, 1.00 GiB/s, 1.0 s left"
    )
    assert "/s" not in text.check_line(CheckInfo(model="m", path="/", state=CheckState.QUEUED))
