"""Entries of a list to pick from, each with its state."""

import msgspec

from studio.ui.viewmodels.words import Role, Shape

ID_SHOWN = 12
"""Digits of a digest that are enough to tell one from another by eye."""


class SignView(msgspec.Struct, frozen=True, kw_only=True):
    """A state as a word with a shape."""

    text: str
    shape: Shape
    role: Role


class PickView(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a list to pick from."""

    id: str
    group: str
    title: str
    detail: str
    shape: Shape
    role: Role
    tooltip: str = ""

    @property
    def spoken(self) -> str:
        """Return what a screen reader says."""
        return f"{self.title}, {self.detail}"
