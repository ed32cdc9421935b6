"""What keys used."""

import datetime

import msgspec

from studio.ui.viewmodels import usage
from tests.ui.fake_keys import usage_row

TODAY = datetime.date(2026, 11, 29)
ROWS = (
    usage_row("k1", "A", 1_000, begins_at="2026-11-29"),
    usage_row("k2", "B", 400, begins_at="2026-11-29"),
    usage_row("k1", "A", 50, begins_at="2026-11-27"),
    usage_row("k1", "A", 70, begins_at="2020-01-01"),
)


def test_every_day_is_there_and_adds_up_all_keys_or_one() -> None:
    """A day without use is a gap between bars and not a missing one."""
    three = usage.days(ROWS, TODAY, 3)
    one = usage.days(ROWS, TODAY, 3, "k2")

    assert [day.label for day in three] == ["27 Nov", "28 Nov", "29 Nov"]
    assert [day.tokens for day in three] == [50 + 10, 0, 1_400 + 280]
    assert [day.tokens for day in one] == [0, 0, 480]


def test_reused_tokens_are_parts_of_prompts_and_counted_once() -> None:
    """Prompt tokens that were reused did not cost anything to compute."""
    (day,) = usage.days(ROWS[:1], TODAY, 1)

    assert (day.computed, day.cached, day.generated) == (500, 500, 200)
    assert usage.day_line(day) == ("29 Nov: 2 requests, 500 computed, 500 reused, 200 generated")


def test_no_use_is_said() -> None:
    """Instead of a row of zeros."""
    assert usage.total_line(usage.days((), TODAY, 7)) == "No key was used in this time."
    assert usage.total_line(usage.days(ROWS, TODAY, 3)) == "4 requests, 1,740 tokens"
    one = msgspec.structs.replace(usage.days(ROWS, TODAY, 1)[0], requests=1)
    assert usage.total_line((one,)) == "1 request, 1,680 tokens"
    assert usage.day_line(one).startswith("29 Nov: 1 request, ")


def test_the_table_begins_with_who_used_most_and_names_what_has_no_name() -> None:
    """A request that names no model is a row as well."""
    lines = usage.usage_lines(
        [
            usage_row("", "", 10, model="small"),
            usage_row("", "", 90, model=None, tok_s_p50=None, ttft_p95_s=None),
        ]
    )

    assert [line.cells[0][0] for line in lines] == ["(none)", "small"]
    assert lines[0].cells[-1] == ("–", None, "")
    assert {len(line.cells) for line in lines} == {len(usage.columns(by_model=True))}
