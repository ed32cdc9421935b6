"""Requests one by one."""

from studio.ui.viewmodels import requests as view
from studio.ui.viewmodels.words import Shape
from tests.ui.fake_monitor import afternoon, request
from tests.ui.fake_serving import POOL_REPORT

ENTRIES = afternoon(20)


def lines(key: str = "", *, only_failed: bool = False) -> tuple[view.RequestLine, ...]:
    """Return the rows of an afternoon."""
    return view.request_lines(ENTRIES, POOL_REPORT, key=key, only_failed=only_failed)


def test_what_is_under_way_stands_first_then_the_newest() -> None:
    """And an estimate is marked as one."""
    shown = lines()

    assert [line.id for line in shown[:3]] == ["r1", "r2", "req-00000"]
    assert shown[0].cells[4][0] == "18,000"
    assert shown[1].cells[4][0] == "≈ 9,000"
    assert shown[1].cells[5] == ("–", None, "Known when it is over")


def test_a_key_and_failures_narrow_the_rows() -> None:
    """Both together too; what is under way has not failed."""
    assert {line.key for line in lines("Open WebUI")} == {"Open WebUI"}
    failed = lines(only_failed=True)
    assert [line.id for line in failed] == ["req-00004", "req-00009"]
    assert [line.id for line in lines("Open WebUI", only_failed=True)] == ["req-00004"]


def test_every_row_has_a_cell_for_every_column() -> None:
    """A row that is short is a crash of the table."""
    assert {len(line.cells) for line in lines()} == {len(view.columns())}


def test_the_line_above_says_the_next_step_where_nothing_is() -> None:
    """Empty tables look broken."""
    assert "Connect" in view.summary((), is_known=True, is_narrowed=False)
    assert "that kind" in view.summary((), is_known=True, is_narrowed=True)
    assert "when the service" in view.summary((), is_known=False, is_narrowed=False)
    assert view.summary(lines(), is_known=True, is_narrowed=False) == "22 requests · 2 failed"


def test_all_about_one_request_leaves_out_what_is_not_there() -> None:
    """A reason, a change and a note stand there only where there is one."""
    wrong = view.detail_of("req-00004", ENTRIES, None)
    fine = view.detail_of("req-00000", ENTRIES, None)
    live = view.detail_of("r2", ENTRIES, POOL_REPORT)

    assert wrong is not None
    assert fine is not None
    assert live is not None
    assert (wrong.title, wrong.sign[0]) == ("400 failed", Shape.CROSS)
    assert dict(wrong.rows)["Reason"].startswith("The prompt of")
    assert "Reason" not in dict(fine.rows)
    assert dict(live.rows)["Note"].startswith("Estimated")
    assert view.detail_of("gone", ENTRIES, POOL_REPORT) is None


def test_a_request_without_key_and_with_an_odd_time_is_shown() -> None:
    """Strangers ask too."""
    odd = request(1, key=None, key_id=None, at="never", model=None, status=401, code="key-unknown")

    (line,) = view.request_lines([odd], None, key="", only_failed=True)

    assert [cell[0] for cell in line.cells[:4]] == ["–", "(none)", "–", "401 failed"]
    assert view.key_choices([odd], None) == (view.Choice("", "All keys"),)
