"""The keys page."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.pages.keys import KeysPage
from studio.ui.state import Known, Link, Secret
from studio.ui.theme import Look
from tests.ui.fake_service import KEY, PORT_TAKEN

LIVE = Known(link=Link.LIVE, keys=(KEY,))


@pytest.fixture
def page(qtbot: QtBot, look: Look) -> KeysPage:
    """Return the page with one key."""
    made = KeysPage(look)
    made.resize(840, 500)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    made.show_known(LIVE)
    return made


def button(page: KeysPage, name: str) -> QAbstractButton:
    """Return a button."""
    found = page.findChild(QAbstractButton, name)
    assert found is not None
    return found


def test_revoking_is_asked_in_place_and_no_is_the_default(qtbot: QtBot, page: KeysPage) -> None:
    """Never a modal; and Return on a question that one did not read must not revoke."""
    asked: list[str] = []
    page.revoke_asked.connect(asked.append)
    button(page, "revoke-k1").click()
    assert button(page, "revoke-no-k1").hasFocus()

    qtbot.keyClick(button(page, "revoke-no-k1"), Qt.Key.Key_Space)
    assert asked == []
    assert not button(page, "revoke-yes-k1").isVisible()

    button(page, "revoke-k1").click()
    button(page, "revoke-yes-k1").click()
    assert asked == ["k1"]


def test_an_open_question_survives_new_usage_numbers(page: KeysPage) -> None:
    """Usage is read again every few seconds; that must not close a question."""
    button(page, "revoke-k1").click()

    page.show_known(
        msgspec.structs.replace(LIVE, keys=(msgspec.structs.replace(KEY, requests=1_300),))
    )

    assert button(page, "revoke-yes-k1").isVisible()


def test_a_blank_name_makes_no_key(qtbot: QtBot, page: KeysPage) -> None:
    """Return in an empty field is a slip."""
    asked: list[str] = []
    page.create_asked.connect(asked.append)
    qtbot.keyClicks(page.field, "   ")
    qtbot.keyClick(page.field, Qt.Key.Key_Return)
    assert asked == []

    qtbot.keyClicks(page.field, "Zed ")
    qtbot.keyClick(page.field, Qt.Key.Key_Return)
    assert asked == ["Zed"]


def test_the_field_is_free_again_once_the_key_is_there(qtbot: QtBot, page: KeysPage) -> None:
    """And not before: a name whose key failed is not typed twice."""
    qtbot.keyClicks(page.field, "Zed")
    page.show_known(msgspec.structs.replace(LIVE, key_problem=PORT_TAKEN))
    assert page.field.text() == "Zed"
    assert page.findChild(QWidget, "key-problem").isVisible()

    page.show_known(msgspec.structs.replace(LIVE, secret=Secret(key="weir-x", name="Zed")))
    assert page.field.text() == ""


def test_rows_follow_the_keys(qtbot: QtBot, page: KeysPage) -> None:
    """Fifty keys, then one, then none."""
    many = tuple(msgspec.structs.replace(KEY, id=f"k{number}") for number in range(50))
    for keys in (many, many[:1], ()):
        page.show_known(msgspec.structs.replace(LIVE, keys=keys))
        qtbot.waitUntil(
            lambda keys=keys: (
                len([item for item in page.findChildren(QWidget) if item.objectName() in ids(keys)])
                == len(keys)
            )
        )
    qtbot.waitUntil(lambda: page.findChild(QWidget, "key-k1") is None)


def ids(keys: tuple[object, ...]) -> set[str]:
    """Return the object names of the rows of `keys`."""
    return {f"key-{key.id}" for key in keys if hasattr(key, "id")}
