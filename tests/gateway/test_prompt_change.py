"""The differ: the place it names is the true first difference, and no innocent is named."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.cache import ChangeKind
from studio.gateway import prompt_change
from studio.gateway.prompt_shape import PIECE_CHARS, Spot, piece_at
from tests.gateway.prompt_support import SYSTEM, body, built, talk

TOOLS = [
    {"name": f"tool_{n}", "description": f"Does {n}.", "input_schema": {"type": "object"}}
    for n in range(6)
]


def change_of(old: bytes, new: bytes) -> prompt_change.Change | None:
    """Return what changed between two bodies."""
    return prompt_change.first(built(old).shape, built(new).shape)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=300)


@given(old=st.text(max_size=1_500), new=st.text(max_size=1_500))
def test_the_named_place_in_a_system_prompt_is_the_first_difference(old: str, new: str) -> None:
    """Whatever was edited: everything before the place is the same, and in the piece it is not."""
    change = change_of(body(talk(2), system=old), body(talk(3), system=new))

    if old == new:
        assert change is None
        return
    assert change is not None
    assert change.kind is ChangeKind.SYSTEM
    assert change.spot is not None
    true = next(
        (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    piece, before, _ = piece_at(new, change.spot.piece)
    assert before <= true <= before + len(piece) or true == len(new)
    assert old[:before] == new[:before]


@given(data=st.data(), turns=st.integers(3, 8))
def test_the_named_message_is_the_first_that_was_edited(data: st.DataObject, turns: int) -> None:
    """Edits anywhere in the history; the last message may always be another."""
    old = talk(turns)
    new = copy.deepcopy(old)
    edited = data.draw(st.sets(st.integers(0, len(old) - 3), min_size=1, max_size=2))
    for number in edited:
        new[number]["content"] += data.draw(WORDS)
    new += [{"role": "assistant", "content": "Well."}, {"role": "user", "content": "And now?"}]

    change = change_of(body(old), body(new))

    assert change is not None
    assert change.kind is ChangeKind.MESSAGE
    assert change.number == min(edited)
    assert change.role == old[min(edited)]["role"]


@given(st.integers(0, 5), st.sampled_from(["edit", "drop", "add", "swap"]))
def test_the_named_tool_is_the_first_that_is_another(number: int, how: str) -> None:
    """Agents add and drop tools by need, and some lists come out of a set."""
    tools = copy.deepcopy(TOOLS)
    match how:
        case "edit":
            tools[number]["description"] = "Does something else."
        case "drop":
            del tools[number]
        case "add":
            tools.insert(number, {"name": "new", "input_schema": {}})
        case _:
            other = (number + 1) % len(tools)
            tools[number], tools[other] = tools[other], tools[number]
            number = min(number, other)

    change = change_of(body(talk(2), tools=TOOLS), body(talk(3), tools=tools))

    assert change is not None
    assert change.kind is (ChangeKind.TOOLS_ORDER if how == "swap" else ChangeKind.TOOLS)
    assert change.number == number


def test_settings_of_the_template_come_first() -> None:
    """Effort and thinking stand before all else in most templates."""
    old = body(talk(2), thinking={"type": "disabled"})
    new = body(talk(3), thinking={"type": "adaptive"}, system="other")

    change = change_of(old, new)

    assert change is not None
    assert change.kind is ChangeKind.SETTINGS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (talk(2), talk(2)),
        (talk(2), talk(3)[:4] + talk(3)[4:]),
        (talk(3), talk(2)),
        (talk(3), [*talk(3)[:-1], {"role": "user", "content": "The last one, put better"}]),
        (talk(6), [*talk(6)[:4], {"role": "user", "content": "Back there: another way"}]),
        (talk(9), [{"role": "user", "content": "Summary of it all so far: sums."}, *talk(1)[:0],
                   {"role": "assistant", "content": "Fine."}, {"role": "user", "content": "Go."}]),
        (talk(4), [{"role": "user", "content": "Another talk altogether, about birds."}]),
    ],
    ids=["again", "one-more-turn", "turn-taken-back", "last-rewritten", "branched", "summed-up",
         "new"],
)  # fmt: skip
def test_what_people_do_once_is_no_fault(old: list[dict], new: list[dict]) -> None:
    """Compaction, a branch, a rewritten question: the cache cannot help there, and nobody erred."""
    assert change_of(body(old), body(new)) is None


@pytest.mark.parametrize(
    ("dropped", "note"),
    [(1, None), (2, None), (5, None), (2, "(left out)"), (5, "(earlier messages left out)")],
)
def test_a_window_that_slides_is_named(dropped: int, note: str | None) -> None:
    """Dropping the oldest message each turn changes the head of every prompt."""
    old = talk(8)
    head = [] if note is None else [{"role": "user", "content": note}]
    new = [*head, *old[dropped:], {"role": "assistant", "content": "Well."},
           {"role": "user", "content": "And then?"}]  # fmt: skip

    change = change_of(body(old), body(new))

    assert change is not None
    assert change.kind is ChangeKind.HISTORY_CUT
    assert change.number == 0


def test_a_text_that_grows_is_no_change() -> None:
    """Completions send one text that gets longer."""
    first = "Once upon a time there was a weir. " * 40
    raws = [b'{"prompt": "%s"}' % text.encode() for text in (first, first + "It held the water.")]

    shapes = [built(raw, "/v1/completions").shape for raw in raws]

    assert prompt_change.first(*shapes) is None


def test_the_character_is_exact_once_the_piece_is_watched() -> None:
    """A line of 200 characters holds many things; which of them changes is what helps."""
    texts = [f"{'x' * 90}{number:02d}{'y' * 60}\nrest\n" for number in (11, 12)]
    spot = Spot(None, 0)
    old, new = (built(body(talk(2), system=text), spot=spot).shape for text in texts)

    change = prompt_change.first(old, new)

    assert change is not None
    assert change.spot == spot
    assert change.character == 91


def test_helpers_with_another_system_prompt_are_conversations_of_their_own() -> None:
    """A sub-agent gets the same question under other rules: that is no changed head."""
    question = [{"role": "user", "content": "Find out what the code does and tell me about it."}]
    main = built(body(question)).shape
    helper = built(body(question, system="You look for files.\n" * 80)).shape
    changed = built(body(question, system=f"It is 12:30.\n{SYSTEM}")).shape

    assert prompt_change.kinship(main, helper) == 0
    assert prompt_change.kinship(main, changed) == 1
    assert prompt_change.similarity(main, changed) > 0.9
    assert prompt_change.similarity(main, helper) < 0.1


def test_a_greeting_does_not_make_two_talks_one() -> None:
    """Everybody says hello."""
    hello = [{"role": "user", "content": "Hi"}]

    assert prompt_change.kinship(built(body(hello)).shape, built(body(hello)).shape) == 0


def test_long_heads_are_compared_by_a_sample_that_agrees() -> None:
    """One of eight pieces tells as well, and takes an eighth of the time."""
    lines = [f"A rule of its own, number {n}.\n" for n in range(900)]
    old = built(body(talk(1), system="".join(lines))).shape
    half = built(body(talk(1), system="".join(lines[:450]))).shape
    few = built(body(talk(1), system="".join(lines[:250]))).shape

    assert prompt_change.similarity(old, half) == pytest.approx(0.5, abs=0.1)
    assert prompt_change.similarity(old, few) == pytest.approx(250 / 900, abs=0.1)
    assert PIECE_CHARS == 256
