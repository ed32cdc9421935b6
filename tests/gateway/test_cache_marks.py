"""Marks: what stands at a change is called by its name, and nothing else is kept of it."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.gateway import cache_marks
from studio.host.paths import bundled_root

FILE = bundled_root() / "runtimes" / "cache_marks.toml"
LINE = "x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee5;"


@pytest.mark.parametrize(
    ("text", "changed", "expected"),
    [
        (f"{LINE}\nYou are an agent.", "36ee5", "attribution-line"),
        ("Be kind.\nNow it is 12:30:05 in Paris.\nBe brief.", "30:05", "time"),
        ("Today's date is 2026-11-30.", "30", "date"),
        ("Today is Monday, November 30, 2026.", "30", "date"),
        ("Session 0b8f5f1e-3c1d-4f7e-9a44-2f6a1b7c9d10 began.", "3c1d", "uuid"),
        ("HEAD is at 57fa4dd, clean.", "57fa4dd", "hex-id"),
        ("Work in /tmp/run-xyz/src only.", "xyz", "temporary-path"),
        ("gitStatus: M a.py", "M", "git-status"),
        ("You have used tokens: 812 of many.", "812", "number"),
        ("It is 1796002457.7 now", "57", "timestamp"),
        ("Call me Ishmael.", "Ishmael", None),
    ],
)
def test_what_changes_is_called_by_its_name(text: str, changed: str, expected: str | None) -> None:
    """ "A time of day" tells a person more than character 1,204."""
    marks = cache_marks.load(FILE)

    found = marks.at(text, text.index(changed), len(changed))

    assert (found.id if found is not None else None) == expected


def test_what_covers_the_change_goes_before_what_stands_beside_it() -> None:
    """A line with a date and a counter, of which the counter moves."""
    marks = cache_marks.load(FILE)
    text = "On 2026-11-30 the budget is 8123 tokens"

    assert marks.at(text, text.index("8123"), 4).id == "number"
    assert marks.at(text, text.index("11-30"), 2).id == "date"


def test_a_mark_that_can_be_taken_out_says_by_what() -> None:
    """The finding offers the change of requests that mends it."""
    marks = cache_marks.load(FILE)

    assert marks.adjustment("attribution-line") == "attribution-line"
    assert marks.adjustment("date") is None
    assert marks.adjustment(None) is None


def test_a_file_that_is_not_as_it_should_be_is_named(tmp_path: Path) -> None:
    """Catalogues can be a person's own."""
    path = tmp_path / "marks.toml"
    with pytest.raises(NotFound):
        cache_marks.load(path)
    path.write_text('schema_version = 1\n[[mark]]\nid = "a"\npattern = "("\nsource = "b"\n')

    with pytest.raises(BadInput, match="the pattern of `a`"):
        cache_marks.load(path)
