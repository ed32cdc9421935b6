"""What setting a value means, whatever the format."""

import pytest

from studio.clients.splices import Splice, item_place, line_at, spliced, with_value
from studio.domain.errors import BadInput


def test_tables_are_laid_over_and_all_else_is_replaced() -> None:
    """A client's own settings beside ours stay."""
    assert with_value({"a": {"b": 1}}, ("a",), {"c": [2]}) == {"a": {"b": 1, "c": [2]}}
    assert with_value({"a": [1]}, ("a",), [2]) == {"a": [2]}
    assert with_value(None, ("a", "b"), 1) == {"a": {"b": 1}}


def test_an_item_of_a_list_is_found_by_its_values_or_added() -> None:
    """A second time changes ours; others of the list stay."""
    once = with_value({"l": [{"n": "x"}]}, ("l", {"n": "w"}), {"m": 1})
    assert once == {"l": [{"n": "x"}, {"n": "w", "m": 1}]}
    assert with_value(once, ("l", {"n": "w"}), {"m": 1}) == once
    assert item_place([1, {"n": "w"}], {"n": "w"}) == 1


@pytest.mark.parametrize(
    ("document", "at"), [({"a": 1}, ("a", "b")), ({"a": {}}, ("a", {"n": "w"}))]
)
def test_something_in_the_way_is_refused(document: dict, at: tuple) -> None:
    """It is not replaced by guessing."""
    with pytest.raises(BadInput):
        with_value(document, at, 1)


def test_splices_keep_the_line_ends_of_the_text() -> None:
    """And do not move one another."""
    assert spliced("a\r\nb", [Splice(0, 1, "x\ny"), Splice(3, 4, "z")]) == "x\r\ny\r\nz"
    assert line_at("a\nb", 2) == 2
