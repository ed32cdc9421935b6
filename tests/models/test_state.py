"""When a model is ready, and each way not to be."""

from studio.domain.library import CheckedResult, LackingFile, ModelFacts, RootKind
from studio.domain.proofs import ModelState, ProofRecord, ProvenFile
from studio.models.facts import Described
from studio.models.finding import File, Found
from studio.models.known import Expected, Known
from studio.models.roots import Root
from studio.models.state import Checked, Verdict, verdict

SHA = "a" * 64
FILES = (File("config.json", "/m/config.json", 2, 5), File("w.safetensors", "/m/w", 100, 6))


def judged(
    files: tuple[File, ...] = FILES,
    *,
    known: tuple[Expected, ...] = (),
    proven: tuple[ProvenFile, ...] = (),
    missing: tuple[LackingFile, ...] = (),
    damaged: tuple[str, ...] = (),
    bad: dict[str, tuple[int, int]] | None = None,
    unfinished: int = 0,
) -> Verdict:
    """Return the state of a model with these files."""
    found = Found(
        root=Root(path="/", kind=RootKind.FOLDER), folder="/m", name="m", files=files,
        unfinished_bytes=unfinished,
    )  # fmt: skip
    result = CheckedResult(at_s=1.0, files=2, compared=2)
    return verdict(
        found,
        Described(facts=ModelFacts(), missing=missing, damaged=damaged),
        Known(source="spec", files=known) if known else None,
        ProofRecord(source="spec", proven_at_s=1.0, files=proven) if proven else None,
        Checked(result=result, bad=bad) if bad else None,
    )


def proven(name: str, size: int, modified_ns: int) -> ProvenFile:
    """Return what was proven of a file."""
    return ProvenFile(name=name, size_bytes=size, sha256=SHA, modified_ns=modified_ns)


WHOLE = (proven("config.json", 2, 5), proven("w.safetensors", 100, 6))


def test_ready_is_only_what_was_proven_whole_and_not_written_since() -> None:
    """Each weight, not the small files alone."""
    assert judged(proven=WHOLE).state is ModelState.READY
    assert judged(proven=WHOLE[:1]).state is ModelState.UNKNOWN
    assert judged(proven=WHOLE[1:]).state is ModelState.READY
    written = judged((FILES[0], FILES[1]._replace(mtime_ns=7)), proven=WHOLE)
    assert (written.state, written.changed) == (ModelState.UNKNOWN, ("w.safetensors",))


def test_nothing_known_is_unproven_and_something_known_but_not_compared_is_unknown() -> None:
    """The first cannot be helped, the second by a check."""
    assert judged().state is ModelState.UNPROVEN
    assert judged(known=(Expected(name="w.safetensors", size_bytes=100),)).state is (
        ModelState.UNPROVEN
    )
    assert judged(known=(Expected(name="w.safetensors", sha256=SHA),)).state is ModelState.UNKNOWN


def test_what_lacks_is_named_with_its_size_where_somebody_knows_it() -> None:
    """Index, hub, preset, proof and broken links all tell of files."""
    broken = File("x.safetensors", "/m/x", None)
    found = judged(
        (*FILES, broken),
        known=(Expected(name="k", size_bytes=4), Expected(name="i")),
        proven=(proven("p", 5, 1),),
        missing=(LackingFile(name="i"),),
    )

    assert found.state is ModelState.INCOMPLETE
    assert {one.name: one.size_bytes for one in found.missing} == {
        "k": 4, "i": None, "p": 5, "x.safetensors": None,
    }  # fmt: skip
    assert judged(unfinished=1).state is ModelState.INCOMPLETE
    assert judged(()).state is ModelState.INCOMPLETE


def test_damage_counts_more_than_what_lacks() -> None:
    """A wrong size, a broken head, a check that found another content."""
    assert judged(damaged=("w.safetensors",)).state is ModelState.DAMAGED
    assert judged(known=(Expected(name="w.safetensors", size_bytes=9),)).damaged == (
        "w.safetensors",
    )
    assert judged(bad={"w.safetensors": (100, 6)}, proven=WHOLE).state is ModelState.DAMAGED


def test_what_a_check_found_holds_until_the_file_is_written() -> None:
    """Fetched again, it is to be checked again."""
    assert judged(bad={"w.safetensors": (100, 5)}).state is ModelState.UNPROVEN
