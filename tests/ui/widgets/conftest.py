"""Widgets without a window around them, dressed as they are in one."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from studio.ui.theme import Look


@pytest.fixture(autouse=True, scope="module")
def dressed(qapp: QApplication, shared_look: Look) -> Iterator[None]:
    """Put the style sheet on all widgets: it decides over sizes."""
    qapp.setStyleSheet(shared_look.sheet)
    yield
    qapp.setStyleSheet("")
