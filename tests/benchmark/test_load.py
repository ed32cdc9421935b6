"""Which parts of the load an engine can take."""

import msgspec
import pytest

from studio.benchmark.load import Room, label, length_name, length_of, steps
from studio.domain.bench import BenchKind
from tests.benchmark.samples import LOAD


def test_an_engine_with_room_is_asked_for_everything() -> None:
    """What people ask for first comes first: a run that is cut short has it."""
    found, left_out = steps(LOAD.full, Room())

    names = [step.name for step in found]
    assert names[:4] == ["decode-1", "prefill-1k", "copy", "turns"]
    assert names[4:7] == ["decode-2", "decode-4", "decode-8"]
    assert names[7:] == [f"prefill-{n}k" for n in (2, 4, 8, 16, 32, 50)]
    assert left_out == ()


def test_what_has_no_room_is_left_out_with_its_reason() -> None:
    """A missing row without a word looks like a mistake."""
    found, left_out = steps(LOAD.full, Room(max_model_len=2_048, pool_tokens=1_000, max_requests=2))

    assert [step.name for step in found] == ["decode-1", "decode-2"]
    said = "\n".join(left_out)
    assert "Prefill of 8k: it needs a context of 8,353 tokens, 2,048 are served." in said
    assert "Decode, 8 streams: the engine computes 2 at once." in said
    assert "Prefill of 1k: it needs 1,185 tokens of the pool, which holds 1,000." in said


def test_parts_can_be_chosen() -> None:
    """Who looks for one figure need not wait for all."""
    found, left_out = steps(LOAD.quick, Room(), (BenchKind.COPY,))

    assert [step.name for step in found] == ["copy"]
    assert left_out == ()


def test_the_digest_tells_loads_apart() -> None:
    """Figures of different loads must never stand beside each other as if they were alike."""
    longer = msgspec.structs.replace(
        LOAD, full=msgspec.structs.replace(LOAD.full, decode_tokens=300)
    )

    assert LOAD.digest(is_quick=False) != LOAD.digest(is_quick=True)
    assert LOAD.digest(is_quick=False) != longer.digest(is_quick=False)
    assert LOAD.digest(is_quick=True) == longer.digest(is_quick=True)


def test_a_quick_run_is_over_in_two_minutes() -> None:
    """That is what its name promises, whatever the engine."""
    assert LOAD.quick.limit_s <= 110.0


@pytest.mark.parametrize(("tokens", "name"), [(700, "700"), (1_024, "1k"), (50_000, "50k")])
def test_lengths_have_names_that_can_be_read_back(tokens: int, name: str) -> None:
    """Published figures are looked up by them."""
    assert length_name(tokens) == name
    assert length_of(f"prefill-{name}") == pytest.approx(tokens, rel=0.03)
    assert length_of("copy") is None


def test_every_part_has_a_name_for_people() -> None:
    """A kebab-case word in a sentence is a bug."""
    found, _ = steps(LOAD.full, Room())
    names = [*(step.name for step in found), "turns-first", "turns-later"]

    assert all(label(name)[0].isupper() and "-" not in label(name) for name in names)
    assert label("unheard-of") == "unheard-of"
