"""Texts of options to values; a mistake is an `argparse.ArgumentTypeError` with one sentence."""

import argparse

from studio.cli import words


def setting(text: str) -> tuple[str, str]:
    """Read `KNOB=VALUE`; hyphens become underscores."""
    knob, equals, value = text.partition("=")
    knob = knob.strip().lstrip("-").replace("-", "_")
    if not equals or not knob:
        raise argparse.ArgumentTypeError(words.not_a_setting(text))
    return knob, value.strip()


def hash_(text: str) -> tuple[str, str]:
    """Read `FILE=SHA256`."""
    file, equals, sha256 = text.rpartition("=")
    if not equals or not file.strip() or not sha256.strip():
        raise argparse.ArgumentTypeError(words.not_a_hash(text))
    return file.strip(), sha256.strip().removeprefix("sha256:")


def cards(text: str) -> tuple[int, ...]:
    """Read `0,1`: NVML indices, each once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(words.not_cards(text))
    cards = tuple(int(part) for part in parts)
    if len(set(cards)) != len(cards):
        raise argparse.ArgumentTypeError(words.not_cards(text))
    return cards


def port(text: str) -> int:
    """Read a port."""
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(words.not_a_port(text))
    return int(text)


def count(text: str) -> int:
    """Read a number of at least 1."""
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10 and int(text) >= 1):
        raise argparse.ArgumentTypeError(words.not_a_count(text))
    return int(text)
