"""A plan in words: the verdict first, then the arithmetic, in any terminal."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.cli import plan_text
from studio.cli.render import cells_of
from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlanVerdict
from studio.domain.units import GIB
from tests.cli.plan_samples import FITS, FITS_IF, FITS_NOT, LEDGER, UNKNOWN


@pytest.mark.parametrize(
    ("plan", "begin"),
    [
        (FITS, "`27b-dflash2` fits: the pool holds 68,605 tokens (exact), 1.05 requests of 65,536"),
        (FITS_IF, "`27b-dflash2` fits if you give something up: shorter context: 49,152 tokens."),
        (FITS_NOT, "`27b-dflash2` does not fit: No NVIDIA driver was found on this machine."),
        (UNKNOWN, "Whether `27b-dflash2` fits is not known: The size of the weights"),
    ],
)
def test_the_verdict_is_the_first_sentence(plan: Plan, begin: str) -> None:
    """Who reads one line has the answer."""
    assert plan_text.verdict_sentence(plan).startswith(begin)
    assert " ".join(plan_text.plan_text(plan).split()).startswith(begin)


def test_an_error_bar_is_said_beside_the_figure() -> None:
    """A forecast that looks exact is a lie when it is off."""
    plan = msgspec.structs.replace(FITS, pool_tokens_error=2_300)

    assert "(give or take 2,300 tokens)" in plan_text.verdict_sentence(plan)


def test_several_things_given_up_are_counted() -> None:
    """The sentence stays short; the list below has them all."""
    plan = msgspec.structs.replace(FITS_IF, reductions=(*FITS_IF.reductions, *FITS_IF.reductions))

    assert plan_text.verdict_sentence(plan).endswith("and 1 more thing below.")


@pytest.mark.parametrize("plan", [FITS, FITS_IF, FITS_NOT, UNKNOWN])
@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_terminal(plan: Plan, width: int, unicode: bool) -> None:
    """A wrapped table is no table."""
    text = plan_text.plan_text(plan, width, unicode=unicode)

    longest = max(text.splitlines(), key=cells_of)
    assert cells_of(longest) <= width, longest


def test_a_terminal_without_unicode_gets_letters() -> None:
    """`LC_ALL=C` over a serial line."""
    text = plan_text.plan_text(FITS, unicode=False)

    drawn = next(line for line in text.splitlines() if line.startswith("["))
    assert drawn.isascii()
    assert drawn.endswith("]")
    assert len(drawn) == 80


def test_the_bar_s_signs_stand_in_the_table() -> None:
    """Understandable without colour."""
    text = plan_text.plan_text(FITS)

    assert re.search(r"^█ Weights +14.00 GiB +50.0 MiB  headers$", text, re.MULTILINE)
    assert re.search(r"^· Left over +4.00 GiB", text, re.MULTILINE)


def test_colour_is_only_used_where_it_is_asked_for() -> None:
    """Escape codes in a file are rubbish."""
    assert "\x1b[" not in plan_text.plan_text(FITS)
    assert "\x1b[" in plan_text.plan_text(FITS, colour=True)


@given(st.lists(st.integers(0, 200 * GIB), max_size=12))
def test_the_bar_always_fills_its_width(sizes: list[int]) -> None:
    """Every known item has a cell, and all cells add up."""
    items = [
        LedgerItem(name=f"item-{place}", title="x", bytes=size, source="x")
        for place, size in enumerate(sizes)
    ]

    drawn = plan_text.bar(items, {}, 80)

    assert drawn == "" or cells_of(drawn) == 80
    assert (drawn == "") is (sum(sizes) == 0)


def test_different_cards_have_a_table_each() -> None:
    """The fuller one decides, and must be seen."""
    ledger = tuple(
        msgspec.structs.replace(item, gpu=gpu)
        for gpu in (0, 1)
        for item in LEDGER
        if item.place is LedgerPlace.CARD
    )

    text = plan_text.plan_text(msgspec.structs.replace(FITS, ledger=ledger, gpus=(0, 1)))

    assert "On card 0" in text
    assert "On card 1" in text


def test_alike_cards_are_counted() -> None:
    """Four equal tables say nothing more than one."""
    text = plan_text.plan_text(msgspec.structs.replace(FITS, gpus=(0, 1, 2, 3)))

    assert "On each of 4 cards" in text


def test_the_ladder_shows_where_this_plan_stands() -> None:
    """Between an engine that ran and one that died."""
    lines = plan_text.plan_text(FITS).splitlines()

    ladder = lines[lines.index("What was left of a card, and what became of the engine") + 1 :][:3]
    assert [line.split()[0] for line in ladder] == ["800.0", "436.0", "396.0"]
    assert "here" in ladder[0]
    assert "died" in ladder[2]


def test_reductions_end_with_the_command_that_applies_them() -> None:
    """To be pasted."""
    text = plan_text.plan_text(FITS_IF)

    assert "It fits when you give up, in this order:" in text
    assert "weir up 27b-dflash2 --set max_model_len=49152" in " ".join(text.split())
    assert "it is not enough" in plan_text.plan_text(FITS_NOT)


def test_times_that_nobody_knows_are_not_invented() -> None:
    """Unknown is said or left out, never zero."""
    text = plan_text.plan_text(FITS)
    assert "24.00 GiB; how long is not known yet" in text

    known = plan_text.plan_text(msgspec.structs.replace(FITS, download_s=2_400.0))
    assert "24.00 GiB, about 40 min 00 s" in known

    here = plan_text.plan_text(msgspec.structs.replace(FITS, download_bytes=0, download_s=0.0))
    assert "nothing, all is here" in here

    bare = Plan(model="m", engine="e", host="h", verdict=PlanVerdict.FITS)
    assert "Boot" not in plan_text.plan_text(bare)


def test_a_replayed_machine_is_marked() -> None:
    """Nobody may take it for this one."""
    text = plan_text.plan_text(msgspec.structs.replace(FITS, is_replay=True))

    assert "a machine from a file, not this one" in " ".join(text.split())
