"""The form for a key."""

import pytest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.keys import KeyLimits
from studio.ui.theme import Look
from studio.ui.viewmodels.key_form import Filled, Form
from studio.ui.widgets.key_dialog import KeyDialog
from studio.ui.widgets.text import unquoted
from tests.ui.fake_service import PORT_TAKEN


@pytest.fixture
def dialog(qtbot: QtBot, look: Look) -> KeyDialog:
    """Return an open form for a new key."""
    made = KeyDialog(look, Form(name="Zed"), is_new=True)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.open()
    return made


def done(dialog: KeyDialog) -> QPushButton:
    """Return the button that does it."""
    found = dialog.findChild(QPushButton, "key-form-done")
    assert isinstance(found, QPushButton)
    return found


def test_a_mistake_is_told_at_its_field_and_goes_when_it_is_mended(
    qtbot: QtBot, dialog: KeyDialog
) -> None:
    """Nothing is said before a person is done typing; then the caret stands at the first one."""
    sent: list[tuple[Filled, bool]] = []
    dialog.filled.connect(lambda filled, store: sent.append((filled, store)))
    dialog.fields["max_context"].setText("viel")
    assert faults(dialog) == []

    done(dialog).click()
    assert faults(dialog) == ["A whole number such as 20000 or 32k."]
    assert dialog.fields["max_context"].hasFocus()
    dialog.fields["max_context"].setText("32k")
    assert faults(dialog) == []
    store = dialog.findChild(QCheckBox, "key-form-store")
    assert isinstance(store, QCheckBox)
    store.setChecked(True)
    done(dialog).click()

    assert sent == [(Filled(name="Zed", limits=KeyLimits(max_context=32_000), problems={}), True)]


def faults(dialog: KeyDialog) -> list[str]:
    """Return the mistakes that are shown."""
    labels = dialog.findChildren(QLabel)
    return [one.text() for one in labels if one.property("kind") == "fault" and one.isVisible()]


def test_a_refusal_leaves_the_form_as_it_was_typed(qtbot: QtBot, dialog: KeyDialog) -> None:
    """And the button works again."""
    done(dialog).click()
    assert not done(dialog).isEnabled()

    dialog.show_error(PORT_TAKEN)

    assert done(dialog).isEnabled()
    note = dialog.findChild(QLabel, "key-dialog-note")
    assert isinstance(note, QLabel)
    assert unquoted(PORT_TAKEN.message) in note.text()
    assert dialog.name.text() == "Zed"


def test_a_key_that_is_changed_cannot_be_made_to_be_kept(qtbot: QtBot, look: Look) -> None:
    """Its secret is a hash already; that would need a new one."""
    changed = KeyDialog(look, Form(name="Zed", only_running=True), is_new=False)
    qtbot.addWidget(changed)
    changed.show()

    assert changed.findChild(QCheckBox, "key-form-store").isHidden()
    assert changed.form.only_running
    assert changed.windowTitle() == "Change “Zed”"


def test_a_long_name_squeezes_no_field(qtbot: QtBot, look: Look) -> None:
    """Under a title of three lines every field lay over the words above it."""
    made = KeyDialog(look, Form(name="一二三四五六七八九十" * 6), is_new=False)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.open()
    made.grab()

    fields = [made.name, *made.fields.values()]

    assert all(one.height() >= one.sizeHint().height() for one in fields)
    column = made.layout()
    assert column is not None
    assert made.height() >= column.totalHeightForWidth(made.width())
