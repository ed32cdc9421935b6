"""A language in which every text of the window and every sentence of the service is crossed out.

What can still be read then came around both catalogues: a name, a path, a unit, or a sentence that
would stay English for everybody. And a figure that can still be read is no part of such a text.
"""

import re

import pytest

from studio.ui import language

_PLACE = re.compile(r"(\{[^{}]*\})")


def crossed(text: str) -> str:
    """Return `text` with letters and digits crossed out; what is in braces is filled in later."""
    parts = _PLACE.split(text)
    return "".join(one if _PLACE.match(one) else re.sub("[A-Za-z0-9]", "×", one) for one in parts)


class _Words:
    """In the place of the window's own catalogue."""

    def gettext(self, text: str) -> str:
        """Cross it out."""
        return crossed(text)

    def ngettext(self, one: str, many: str, count: int) -> str:
        """Cross out the form of `count`."""
        return crossed(one if count == 1 else many)


class _Sentences:
    """In the place of the service's sentences."""

    def say(self, text: str) -> str:
        """Cross all of it out: what stands in its places belongs to it."""
        return re.sub("[A-Za-z0-9]", "×", text)


def speak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the window speak it for the rest of a test."""
    monkeypatch.setattr(language, "_now", _Words())
    monkeypatch.setattr(language, "_told", _Sentences())
