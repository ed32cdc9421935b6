"""The keys page."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from studio.domain.control import KeyRequest
from studio.domain.keys import KeyLimits, UsageBy
from studio.domain.secrets import StoreKind
from studio.ui.controllers.connect import ConnectController
from studio.ui.controllers.keys import KeysController
from studio.ui.pages.keys import KeyLine, KeysPage
from studio.ui.state import Known, Link, Secret, without_revoked
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.keys import KeyDeed
from studio.ui.widgets.day_bars import Spark
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided
from studio.ui.window import MainWindow
from tests.ui.fake_keys import PROMPT, SECRET, FakeKeys
from tests.ui.fake_service import KEY, PORT_TAKEN, FakeService

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


def button(page: QWidget, name: str) -> QAbstractButton:
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


@pytest.fixture
def fake(service: FakeService) -> FakeKeys:
    """Return a service with three keys, one of which is kept."""
    service.be_ready()
    service.keys = [
        KEY,
        msgspec.structs.replace(KEY, id="k2", name="Zed", stored=StoreKind.FILE),
        msgspec.structs.replace(KEY, id="k3", name="Old", revoked_at="2026-11-28T09:00:00Z"),
    ]
    return FakeKeys(service)


@pytest.fixture
def keys(qtbot: QtBot, fake: FakeKeys, window: MainWindow) -> KeysController:
    """Return the page in front, with everything read."""
    window.show_page(PageId.KEYS)
    found = window.controller(PageId.KEYS)
    assert isinstance(found, KeysController)
    settle(qtbot, found)
    return found


def settle(qtbot: QtBot, page: KeysController) -> None:
    """Wait until nothing is under way."""
    qtbot.waitUntil(
        lambda: bool(page.area.rows) and not page.area.pending
        and not page.desk.session.known.pending
    )  # fmt: skip


def entry(page: KeysController, key: str, deed: KeyDeed) -> QAction:
    """Return an entry of a key's menu."""
    row = page.view.findChild(QWidget, f"key-{key}")
    assert isinstance(row, KeyLine)
    return next(action for action in row.menu().actions() if action.data() == deed.value)


def test_a_narrow_page_leaves_the_names_whole(page: KeysPage) -> None:
    """In a window of 900 pixels; the use below counts the requests."""
    name = "Continue in VS Code, laptop"
    page.resize(840, 500)
    page.show_known(Known(link=Link.LIVE, keys=(msgspec.structs.replace(KEY, name=name),)))
    page.grab()  # lays everything out

    cell = next(one for one in page.findChildren(Elided) if one.text() == name)

    assert cell.fontMetrics().horizontalAdvance(name) <= cell.width()
    page.resize(1_100, 500)
    page.grab()
    assert {one.text() for one in page.findChildren(Elided) if one.isVisible()} >= {"1,284"}


def test_a_key_with_limits_is_made_by_the_form_and_shown_once(
    qtbot: QtBot, keys: KeysController, fake: FakeKeys, window: MainWindow
) -> None:
    """All that the command line can; a refusal stays in the form."""
    qtbot.keyClicks(keys.view.field, "Zed 2")
    button(keys.view, "make-key-form").click()
    form = keys.dialog
    assert form is not None
    assert form.name.text() == "Zed 2"
    form.fields["models"].setText("chat")
    fake.refusal = PORT_TAKEN
    button(form, "key-form-done").click()
    qtbot.waitUntil(lambda: not keys.area.pending)
    assert keys.dialog is form
    fake.refusal = None
    button(form, "key-form-done").click()

    qtbot.waitUntil(lambda: keys.desk.session.known.secret == Secret(key=SECRET, name="Zed 2"))
    request = fake.asked[-1][1]
    assert isinstance(request, KeyRequest)
    assert request.limits == KeyLimits(models=("chat",))
    qtbot.waitUntil(lambda: keys.dialog is None)
    assert keys.view.field.text() == ""


def test_a_key_is_changed_and_called_otherwise(
    qtbot: QtBot, keys: KeysController, service: FakeService
) -> None:
    """Two calls of the service, one press here."""
    entry(keys, "k1", KeyDeed.EDIT).trigger()
    form = keys.dialog
    assert form is not None
    form.name.setText("Office")
    form.fields["max_context"].setText("32k")
    button(form, "key-form-done").click()

    qtbot.waitUntil(lambda: service.keys[0].name == "Office")
    assert service.keys[0].limits == KeyLimits(max_context=32_000)
    qtbot.waitUntil(lambda: keys.dialog is None)


def test_a_new_secret_is_asked_for_in_place_first(
    qtbot: QtBot, keys: KeysController, fake: FakeKeys
) -> None:
    """The old one is in somebody's client."""
    entry(keys, "k1", KeyDeed.ROTATE).trigger()
    assert fake.asked == []
    button(keys.view, "revoke-no-k1").click()
    entry(keys, "k1", KeyDeed.ROTATE).trigger()
    button(keys.view, "revoke-yes-k1").click()

    qtbot.waitUntil(lambda: keys.desk.session.known.secret is not None)
    assert [deed for deed, _ in fake.asked] == ["rotate"]


def test_only_a_kept_key_is_shown_again_and_put_into_a_client(
    qtbot: QtBot, keys: KeysController, window: MainWindow
) -> None:
    """Of the others there is only a hash; the menu says so."""
    for deed in (KeyDeed.REVEAL, KeyDeed.CONNECT):
        assert not entry(keys, "k1", deed).isEnabled()
        assert "kept" in entry(keys, "k1", deed).toolTip()
        assert not entry(keys, "k3", deed).isEnabled()

    entry(keys, "k2", KeyDeed.REVEAL).trigger()
    qtbot.waitUntil(lambda: keys.desk.session.known.secret is not None)
    assert keys.desk.session.known.secret == Secret(key=SECRET, name="Zed", is_new=False)
    entry(keys, "k2", KeyDeed.CONNECT).trigger()

    connect = window.controller(PageId.CONNECT)
    assert isinstance(connect, ConnectController)
    assert connect.page.isVisible()
    assert connect.area.key == "Zed"


def test_kept_prompts_have_a_red_sign_can_be_read_and_are_deleted(
    qtbot: QtBot, keys: KeysController, fake: FakeKeys
) -> None:
    """Whoever looks at the list sees that somebody's words are kept."""
    entry(keys, "k1", KeyDeed.RECORD).trigger()
    row = keys.view.findChild(QWidget, "key-k1")
    assert row is not None
    qtbot.waitUntil(lambda: any(sign.isVisible() for sign in row.findChildren(Sign)))
    entry(keys, "k1", KeyDeed.PROMPTS).trigger()
    window = keys.view.window()
    qtbot.waitUntil(lambda: PROMPT.body in text_of(window))
    found = window.findChild(QAbstractButton, "prompts-clear")
    assert found is not None
    found.click()
    qtbot.waitUntil(lambda: text_of(window) == "Nothing was kept yet.")
    entry(keys, "k1", KeyDeed.STOP_RECORDING).trigger()

    qtbot.waitUntil(lambda: not any(sign.isVisible() for sign in row.findChildren(Sign)))


def text_of(window: QWidget) -> str:
    """Return what the dialog of prompts shows."""
    found = window.findChild(QPlainTextEdit, "prompts-text")
    return found.toPlainText() if isinstance(found, QPlainTextEdit) else ""


def test_use_is_shown_by_day_by_key_and_by_model(qtbot: QtBot, keys: KeysController) -> None:
    """And beside each name in small."""
    usage = keys.view.usage
    assert "requests" in usage.bars.said
    assert usage.tables[UsageBy.KEY].model().rowCount() == 3
    sparks = keys.view.findChildren(Spark)
    assert sum("tokens" in spark.toolTip() for spark in sparks) == 3

    usage.kinds.button("model").click()
    qtbot.waitUntil(lambda: usage.tables[UsageBy.MODEL].model().rowCount() == 3)
    before = usage.bars.said
    usage.key.setCurrentIndex(2)

    qtbot.waitUntil(lambda: usage.bars.said != before and not keys.area.pending)


def test_a_page_at_the_back_reads_no_use(keys: KeysController, window: MainWindow) -> None:
    """It costs nothing."""
    window.show_page(PageId.SERVE)

    assert not keys.is_following


def test_a_key_that_was_revoked_is_not_shown_any_more() -> None:
    """The card said "copy it into your chat client now" of a key that nothing accepts."""
    named = msgspec.structs.replace(KEY, name="phone")
    gone = msgspec.structs.replace(named, id="2", revoked_at="2026-11-30T13:00:00+00:00")
    secret = Secret(key="sk-weir-x", name="phone")

    assert without_revoked(Known(keys=(gone,), secret=secret)).secret is None
    assert without_revoked(Known(keys=(gone, named), secret=secret)).secret == secret
    assert without_revoked(Known(keys=(), secret=secret)).secret == secret


def test_tab_goes_from_the_field_through_the_keys_to_their_use(page: KeysPage) -> None:
    """Rows are made last and stood last: a question was followed by the rail."""
    page.show_known(Known(link=Link.LIVE, keys=(KEY, msgspec.structs.replace(KEY, id="k2"))))
    found: list[str] = []
    stop: QWidget = button(page, "make-key")
    while "revoke-no-k2" not in found and len(found) < 9:
        stop = stop.nextInFocusChain()
        if isinstance(stop, QAbstractButton):
            found.append(stop.objectName())

    assert found == [
        f"{name}-{key}"
        for key in ("k1", "k2")
        for name in ("more", "revoke", "revoke-yes", "revoke-no")
    ]
