"""One answer, piece by piece, as a caller of the gateway sees it."""

import pytest

from studio.control.client_connect import _piece, _refused, _Watch
from studio.domain.errors import EngineFailed


def test_figures_are_of_the_pieces_and_of_the_engines_count() -> None:
    """The time to the first token, and the rate after it."""
    times = iter((10.0, 10.5, 11.5))
    watch = _Watch(lambda: next(times))

    first = _piece('data: {"choices": [{"delta": {"content": "a"}}]}', watch)
    _piece('data: {"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}', watch)
    _piece('data: {"choices": [], "usage": {"completion_tokens": 5}}', watch)
    last = watch.last()

    assert first is not None
    assert first.ttft_s == 0.5
    assert (last.tokens, last.tokens_per_s, last.finish) == (5, 4.0, "stop")


def test_thoughts_are_marked_and_other_lines_are_passed_over() -> None:
    """What keeps it alive and the end of the stream are no pieces."""
    watch = _Watch(lambda: 0.0)
    thought = _piece('data: {"choices": [{"delta": {"reasoning_content": "hm"}}]}', watch)
    assert thought is not None
    assert thought.is_thought
    assert [_piece(line, watch) for line in ("", ": wait", "data: [DONE]")] == [None] * 3


@pytest.mark.parametrize("line", ["data: {", 'data: {"error": {"message": "gone"}}'])
def test_a_broken_answer_is_said(line: str) -> None:
    """An engine that died while it answered."""
    with pytest.raises(EngineFailed):
        _piece(line, _Watch(lambda: 0.0))


def test_a_refusal_carries_the_gateways_own_words() -> None:
    """And those of a proxy in between, which are no JSON."""
    assert "no such model." in _refused(404, b'{"error": {"message": "no such model."}}').message
    assert "Bad gateway." in _refused(502, b"Bad gateway").message
