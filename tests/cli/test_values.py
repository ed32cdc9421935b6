"""Texts of options to values."""

import argparse
from collections.abc import Callable

import pytest

from studio.cli import values


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (values.setting, "--max-model-len= 4k ", ("max_model_len", "4k")),
        (values.setting, "a=b=c", ("a", "b=c")),
        (values.hash_, "x.whl=sha256:ab", ("x.whl", "ab")),
        (values.cards, "1, 0", (1, 0)),
        (values.port, "18020", 18020),
        (values.count, "7", 7),
    ],
)
def test_a_text_is_read(read: Callable[[str], object], text: str, value: object) -> None:
    """As people type it."""
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (values.setting, "max_model_len"),
        (values.setting, "=1"),
        (values.hash_, "x.whl"),
        (values.hash_, "=ab"),
        (values.cards, "0,0"),
        (values.cards, "GPU-1"),
        (values.cards, "٣"),
        (values.port, "0"),
        (values.port, "65536"),
        (values.count, "0"),
        (values.count, "1e3"),
    ],
)
def test_a_mistake_is_one_sentence(read: Callable[[str], object], text: str) -> None:
    """argparse puts the option's name before it."""
    with pytest.raises(argparse.ArgumentTypeError):
        read(text)
