"""What is proposed for `.wslconfig`, and how it is put in."""

import pytest

from studio.domain.hardware import WslFacts
from studio.host import wsl, wslconfig

GIB = 1 << 30


@pytest.mark.parametrize(
    ("total", "needed", "given", "answer"),
    [
        (32, None, None, None), (32, 20, None, 22), (32, 60, None, 28), (32, 10, None, None),
        (32, 20, 24, None), (16, None, 4, None), (16, 4, 4, 6), (6, 8, None, None),
    ],
)  # fmt: skip
def test_memory_is_proposed_where_there_is_too_little(
    total: int, needed: int | None, given: int | None, answer: int | None
) -> None:
    """By what is to be served, never by the machine alone; Windows keeps four GiB in any case."""
    found = wslconfig.proposal(
        total * GIB,
        None if needed is None else needed * GIB,
        None if given is None else given * GIB,
    )
    assert found == (None if answer is None else answer * GIB)


@pytest.mark.parametrize(
    "text",
    [
        "", "[wsl2]\nprocessors=4\n", "[experimental]\nsparseVhd=true\n", "# mine\n[wsl2]\n",
        "[wsl2]\r\nmemory=4GB\r\nswap=0\r\n", "[WSL2] # ours\nMemory = 4GB\n[boot]\nx=1\n",
        "[boot]\nmemory=1\n[wsl2]\nswap=0\n",
    ],
)  # fmt: skip
def test_the_memory_is_put_in_and_all_else_stays(text: str) -> None:
    """As WSL reads it; what was there before is kept as a comment."""
    after = wslconfig.changed(text, 20 * GIB)

    assert wsl.with_config(WslFacts(), after).config_memory_bytes == 20 * GIB
    for line in text.splitlines():
        assert line.strip() in after
    assert after.count("memory=20GB") == 1
    assert ("\r\n" in after) is ("\r\n" in text or not text)
    assert wslconfig.changed(after, 20 * GIB).count("memory=20GB") == 2


def test_what_would_change_is_said_as_a_difference() -> None:
    """A person sees it before anything is written."""
    text = "[experimental]\r\na=1\r\n[wsl2]\r\nswap=0\r\n  memory=4GB\r\n"

    assert wslconfig.difference(text, 20 * GIB) == (
        " swap=0", "-  memory=4GB", "+# memory=4GB", "+memory=20GB",
    )  # fmt: skip
    assert wslconfig.difference("", 20 * GIB) == ("+[wsl2]", "+memory=20GB")
    assert wslconfig.difference("[wsl2]\nmemory=20GB\n", 20 * GIB) == (
        " [wsl2]", "+# memory=20GB", " memory=20GB",
    )  # fmt: skip
