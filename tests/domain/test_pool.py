"""What a request should hold in the pool."""

from studio.domain.pool import Resident


def test_a_resident_holds_its_prompt_and_what_was_generated() -> None:
    """An answer that comes in one piece holds at least its prompt; an unknown prompt is unknown."""
    assert Resident(request_id="r", prompt_tokens=100, generated_tokens=7).tokens == 107
    assert Resident(request_id="r", prompt_tokens=100).tokens == 100
    assert Resident(request_id="r", generated_tokens=7).tokens is None
