"""What is remembered of a client, and when its turns add up to a finding."""

import pytest

from studio.domain.cache import ChangeKind
from studio.gateway import cache_clients
from studio.gateway.cache_clients import Client, ClientName, Turn
from tests.gateway.prompt_support import SYSTEM, body, built, talk


def client() -> Client:
    """Return a client that nothing is known of."""
    return Client(ClientName("k1", "agent", "m", "/v1/messages"))


def turn(
    one: Client,
    number: int,
    *,
    head: str = SYSTEM,
    cached: int | None = 0,
    boot: int = 1,
    prompt: int = 4_000,
    at: float | None = None,
    merges: bool = False,
    late: bool = False,
) -> Turn | None:
    """Let a client send its turn of that number."""
    messages = talk(number)
    if late:
        messages.insert(-1, {"role": "system", "content": f"Reminder {number}"})
    return one.take(
        built(body(messages, system=head)).shape, at=float(number) if at is None else at,
        prompt=prompt, cached=cached, boot=boot, merges_systems=merges,
    )  # fmt: skip


def test_three_changed_heads_are_a_finding_and_two_are_not() -> None:
    """One change may be a person's doing; every turn is a program's."""
    one = client()
    for number in range(1, 4):
        turn(one, number, head=f"Turn {number}\n{SYSTEM}")
    assert one.verdict() is None

    turn(one, 4, head=f"Turn 4\n{SYSTEM}")

    verdict = one.verdict()
    assert verdict is not None
    assert verdict.turn.change.kind is ChangeKind.SYSTEM
    assert (verdict.changed, verdict.compared, verdict.lost_tokens) == (3, 3, 4_000)


def test_a_healthy_conversation_stays_silent() -> None:
    """The twin of every finding."""
    one = client()
    for number in range(1, 30):
        turn(one, number, cached=3_900)

    assert one.verdict() is None
    assert all(kept.change is None for kept in one.turns)


def test_a_change_that_cost_nothing_is_none() -> None:
    """The engine found the prompt all the same: what differs does not reach it."""
    one = client()
    for number in range(1, 9):
        turn(one, number, head=f"Turn {number}\n{SYSTEM}", cached=3_990)

    assert one.verdict() is None


def test_an_unchanged_prompt_that_was_not_kept_is_a_finding_of_its_own() -> None:
    """The remedy is another: the pool, not the client."""
    one = client()
    for number in range(1, 6):
        turn(one, number, cached=16)

    assert one.verdict().turn.change.kind is ChangeKind.NOT_KEPT
    assert one.verdict().lost_tokens == 3_984


@pytest.mark.parametrize("cached", [None, 3_800])
def test_what_an_engine_does_not_say_or_keeps_is_no_finding(cached: int | None) -> None:
    """Unknown is not zero."""
    one = client()
    for number in range(1, 6):
        turn(one, number, cached=cached)

    assert one.verdict() is None


def test_the_first_turn_after_a_start_of_the_engine_counts_for_nothing() -> None:
    """An empty cache is no fault of anybody."""
    one = client()
    for number in range(1, 12):
        turn(one, number, cached=0, boot=number)

    assert list(one.turns) == []


def test_system_messages_in_the_middle_are_named_where_the_engine_moves_them() -> None:
    """Reminders of an agent cost the whole conversation there, and nothing elsewhere."""
    for merges, kind in ((True, ChangeKind.LATE_SYSTEM), (False, ChangeKind.NOT_KEPT)):
        one = client()
        shown = []
        for number in range(1, 7):
            messages = talk(number)
            for spot in range(number):
                messages.insert(2 + 3 * spot, {"role": "system", "content": f"Reminder {spot}"})
            shown.append(
                one.take(
                    built(body(messages)).shape, at=number, prompt=4_000, cached=0, boot=1,
                    merges_systems=merges,
                )
            )  # fmt: skip

        assert one.verdict().turn.change.kind is kind


def test_prompts_without_a_conversation_are_compared_by_their_heads() -> None:
    """A script asks one question at a time, with the time of day above long rules."""
    one = client()
    for number in range(5):
        question = [{"role": "user", "content": f"Sort the letter of customer {number} into a box"}]
        one.take(
            built(body(question, system=f"It is 12:{number:02d}.\n{SYSTEM}")).shape, at=number,
            prompt=1_000, cached=0, boot=1, merges_systems=False,
        )  # fmt: skip

    verdict = one.verdict()
    assert verdict.turn.is_between
    assert verdict.turn.change.kind is ChangeKind.SYSTEM
    assert 900 < verdict.lost_tokens < 1_000


def test_an_agent_and_its_helpers_do_not_disturb_each_other() -> None:
    """Sub-agents come in between with rules of their own, and go."""
    one = client()
    for number in range(1, 10):
        turn(one, number, cached=3_900)
        helper = [{"role": "user", "content": f"Look for the file number {number} in the tree."}]
        one.take(
            built(body(helper, system="You look for files.\n" * 80)).shape, at=number,
            prompt=900, cached=850, boot=1, merges_systems=False,
        )  # fmt: skip

    assert one.verdict() is None
    assert len(one.conversations) <= cache_clients.MOST_CONVERSATIONS


def test_what_nobody_goes_on_with_is_forgotten() -> None:
    """Hashes are kept only as long as they are needed."""
    one = client()
    turn(one, 1, at=0.0)
    other = [{"role": "user", "content": "Something else, much later, about other things."}]
    one.take(
        built(body(other, system="Other.")).shape, at=cache_clients.KEPT_S + 1, prompt=10, cached=0,
        boot=1, merges_systems=False,
    )  # fmt: skip

    assert len(one.conversations) == 1


def test_a_place_is_in_lines_and_characters_from_one() -> None:
    """As an editor shows them."""
    one = client()
    for number in range(1, 6):
        head = f"First line.\nIt is 12:{number:02d} now.\n{SYSTEM}"
        shape = built(body(talk(number), system=head), spot=one.spot)
        latest = one.take(
            shape.shape, at=number, prompt=4_000, cached=16, boot=1, merges_systems=False
        )

    place = cache_clients.place(latest.change, tokens=16, text=shape.system)
    assert (place.line, place.characters, place.within) == (2, 22, 1)
    assert head[place.characters] == "5"
