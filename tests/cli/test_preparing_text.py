"""What models still need, in words."""

import msgspec

from studio.cli import preparing_text
from studio.domain.proofs import ModelState
from tests.cli.preparing_samples import BASE, FAST, HERE, MISSING, READY


def test_each_model_says_what_it_needs() -> None:
    """Files by name and size, steps with what they take; a long list ends with how many more."""
    lines = preparing_text.model_lines(BASE)

    assert lines[0] == "base · Base: not here"
    assert "  1.safetensors, 1.00 GiB" in lines
    assert "  and 3 more" in lines
    assert "a/here lies in /hf/here" in lines
    assert "step lm-head: Store it. (about 50.0 s, 572.2 MiB of memory, 4.66 GiB of disk)" in lines
    assert "step template: left out; Nobody says how." in lines
    assert lines[-1] == "step ids: the Studio cannot do it; no way to do it is known."


def test_a_base_a_package_and_advice_are_said() -> None:
    """What is not known is said to be so."""
    assert preparing_text.model_lines(FAST)[1:] == [
        "laid over base",
        "the Python package weights 1.0, size not known",
        "Put the files there by hand.",
    ]


def test_a_model_that_was_taken_away_says_where_it_lay() -> None:
    """Else the preset that ran yesterday wants 20 GB without a reason."""
    lines = preparing_text.model_lines(msgspec.structs.replace(BASE, lay_in="/big/base"))

    assert lines[1] == (
        "It lay in /big/base until somebody removed or moved it, outside the Studio."
    )


def test_a_usable_model_says_how_far_it_is_proven() -> None:
    """Ready means that every file is proven, and nothing less."""
    heads = [
        preparing_text.model_lines(msgspec.structs.replace(READY, state=state))[0]
        for state in (ModelState.READY, ModelState.UNPROVEN, ModelState.DAMAGED)
    ]

    assert heads == [
        "drafter · Drafter: ready, every file proven",
        "drafter · Drafter: here, not proven yet",
        "drafter · Drafter: here, and not as it was proven",
    ]
    assert preparing_text.model_lines(READY)[1:] == ["in /hf/d", "step lm-head: done"]


def test_the_sum_comes_last() -> None:
    """An unknown part makes it unknown."""
    lines = preparing_text.flat_lines(MISSING)
    known = msgspec.structs.replace(MISSING, download_bytes=19_500_000_000)

    assert lines[-2] == "Names and sizes are the preset's own: The hub cannot be asked."
    assert lines[-1] == "In all: a download of unknown size, 22.82 GiB of disk."
    assert preparing_text.sum_text(known) == "In all: 18.16 GiB to fetch, 22.82 GiB of disk."
    assert preparing_text.standing_text(HERE).endswith("Everything is here.")


def test_a_plan_says_it_in_short() -> None:
    """A line for each repository and for the steps."""
    assert list(preparing_text.needs(BASE)) == [
        "18.16 GiB of a/base",
        "base is then prepared: lm-head",
    ]
    assert list(preparing_text.needs(READY)) == []
