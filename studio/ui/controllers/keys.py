"""The keys page at work."""

import datetime
import functools
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QTimer

from studio.domain.control import KeyInfo, KeyRequest, NewKey
from studio.domain.errors import ErrorInfo
from studio.domain.keys import PromptEntry, PromptLogState, UsageBy, UsageRow
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.desk import Controller, Desk
from studio.ui.language import t
from studio.ui.pages.keys import KeysPage
from studio.ui.state import Known, Link
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.key_form import Filled, Form, form_of
from studio.ui.viewmodels.keys import KeyDeed
from studio.ui.viewmodels.problem import problem_view
from studio.ui.viewmodels.usage import SPARK_DAYS, days, usage_lines
from studio.ui.widgets.key_dialog import KeyDialog
from studio.ui.widgets.prompts_dialog import PromptsDialog

_REFRESH_MS = 5_000
_DAY_S = 86_400
_RECORD_S = 3_600
_MOST_DAYS = 90


class Rows(NamedTuple):
    """What the table is of."""

    days: int
    by: UsageBy
    key_id: str


class KeysArea(Area):
    """What is known of the use of keys."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.by_day: tuple[UsageRow, ...] = ()
        self.has_read = False
        """Whether the service has said anything of their use."""
        self.rows: dict[Rows, tuple[UsageRow, ...]] = {}
        self._wanted: Rows | None = None

    def read(self, rows: Rows) -> None:
        """Ask what was used: by day once for every span, and the rows of the table."""
        self.ask(
            "days",
            lambda client: client.usage(seconds=_MOST_DAYS * _DAY_S, by=UsageBy.DAY),
            self._on_days,
            _ignore,
        )
        self._read_rows(rows)

    def _read_rows(self, rows: Rows) -> None:
        """Ask for rows; while others are read already, afterwards."""
        self._wanted = rows
        self.ask(
            "rows",
            lambda client: client.usage(
                key_id=rows.key_id or None, seconds=rows.days * _DAY_S, by=rows.by
            ),
            functools.partial(self._on_rows, rows),
            _ignore,
        )

    def _on_days(self, rows: Sequence[UsageRow]) -> None:
        self.by_day, self.has_read = tuple(rows), True

    def _on_rows(self, asked: Rows, rows: Sequence[UsageRow]) -> None:
        self.rows = {asked: tuple(rows)}
        if self._wanted is not None and self._wanted != asked:
            self._read_rows(self._wanted)


class KeysController(Controller):
    """Reads the keys again while the page is in front: their use changes."""

    def __init__(self, desk: Desk) -> None:
        self.view = KeysPage(desk.look)
        super().__init__(desk, self.view)
        self.area = KeysArea(desk.bridge)
        self._dialog: KeyDialog | None = None
        self._editing: KeyInfo | None = None
        """Whose form is open; None: a new key's."""
        self._prompts: PromptsDialog | None = None
        self._prompts_of = ""
        self._was_live: bool | None = None
        """None: nobody has said yet."""
        session, view = desk.session, self.view
        self._timer = QTimer(self)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self._read)
        self.area.changed.connect(self._show)
        view.problem.dismissed.connect(self._on_dismissed)
        view.secret.dismissed.connect(session.forget_secret)
        view.create_asked.connect(session.create_key)
        view.form_asked.connect(self.begin_form)
        view.revoke_asked.connect(session.revoke_key)
        view.rotate_asked.connect(self.rotate)
        view.deed_asked.connect(self.do)
        view.connect_asked.connect(self._on_connect)
        view.usage.changed.connect(self._on_usage)

    @property
    def is_following(self) -> bool:
        """Whether the keys are read again every few seconds."""
        return self._timer.isActive()

    @property
    def dialog(self) -> KeyDialog | None:
        """Return the form that is open."""
        return self._dialog

    def show_known(self, known: Known) -> None:
        """Show the keys."""
        self.view.show_known(known)
        self.view.usage.show_keys(tuple((key.id, key.name) for key in known.keys or ()))
        if self.area.problem is not None:
            self.view.problem.show_problem(problem_view(self.area.problem, can_retry=False))
        is_live = known.link is Link.LIVE
        if is_live is not self._was_live:
            self._was_live = is_live
            if is_live and self.is_following:
                self._read_usage()
            self._show_usage()

    def enter(self) -> None:
        """Follow the keys."""
        self._read()
        self._timer.start()

    def leave(self) -> None:
        """Let them be."""
        self._timer.stop()

    def begin_form(self, name: str) -> None:
        """Open the form for a new key."""
        self._open(Form(name=name), None)

    def do(self, key_id: str, deed: KeyDeed) -> None:
        """Do what was chosen in a key's menu."""
        key = self._key(key_id)
        if key is None:
            return
        match deed:
            case KeyDeed.EDIT:
                self._open(form_of(key), key)
            case KeyDeed.ROTATE:
                self.rotate(key_id)
            case KeyDeed.REVEAL:
                self.area.ask("reveal", lambda client: client.reveal_key(key_id), self._on_kept)
            case KeyDeed.CONNECT:
                self.desk.guide.key = key.name
                self.desk.go_to(PageId.CONNECT)
            case KeyDeed.RECORD:
                self._record(key_id, _RECORD_S)
            case KeyDeed.STOP_RECORDING:
                self._record(key_id, 0)
            case KeyDeed.PROMPTS:
                self._show_prompts(key)

    def rotate(self, key_id: str) -> None:
        """Give a key a new secret."""
        self.area.ask("rotate", lambda client: client.rotate_key(key_id), self._on_made)

    def _key(self, key_id: str) -> KeyInfo | None:
        keys = self.desk.session.known.keys or ()
        return next((key for key in keys if key.id == key_id), None)

    def _read(self) -> None:
        self.desk.session.refresh_keys()
        if self._was_live:
            self._read_usage()

    def _read_usage(self) -> None:
        self.area.read(self._rows())

    def _rows(self) -> Rows:
        usage = self.view.usage
        return Rows(usage.days, usage.by, usage.chosen)

    def _show(self) -> None:
        self._show_usage()
        self.show_known(self.desk.session.known)

    def _show_usage(self) -> None:
        usage, today = self.view.usage, datetime.datetime.now().astimezone().date()
        area = self.area
        shown = days(area.by_day, today, usage.days, usage.chosen)
        usage.show_use(shown, usage_lines(area.rows.get(self._rows(), ())), unread=self._unread())
        keys = self.desk.session.known.keys if area.has_read else None
        self.view.show_days(
            {key.id: days(area.by_day, today, SPARK_DAYS, key.id) for key in keys or ()}
        )

    def _unread(self) -> str:
        if self.area.has_read:
            return ""
        return t("Reading…") if self._was_live else t("Their use appears when the service answers.")

    def _on_usage(self) -> None:
        self._show()
        self._read()

    def _on_dismissed(self) -> None:
        self.area.dismiss()
        self.desk.session.dismiss_key_problem()

    def _on_connect(self) -> None:
        secret = self.desk.session.known.secret
        keys = self.desk.session.known.keys or ()
        kept = any(key.stored is not None and secret and key.name == secret.name for key in keys)
        self.desk.guide.key = secret.name if secret is not None and kept else None
        self.desk.go_to(PageId.CONNECT)

    def _open(self, form: Form, key: KeyInfo | None) -> None:
        dialog = KeyDialog(self.desk.look, form, is_new=key is None, parent=self.view.window())
        self._dialog = dialog
        dialog.destroyed.connect(self._on_closed)
        self._editing = key
        dialog.filled.connect(self._on_new if key is None else self._on_changed)
        dialog.open()

    def _on_closed(self) -> None:
        self._dialog = None

    def _on_new(self, filled: Filled, store: bool) -> None:
        request = KeyRequest(name=filled.name, limits=filled.limits, store=store)
        self.area.ask(
            "form", lambda client: client.create_key(request), self._on_made, self._on_refused
        )

    def _on_changed(self, filled: Filled, _store: bool) -> None:
        key = self._editing
        if key is not None:
            self.area.ask(
                "form",
                lambda client: client.limit_key(key.id, filled.limits),
                functools.partial(self._on_limited, filled.name),
                self._on_refused,
            )

    def _on_limited(self, name: str, key: KeyInfo) -> None:
        if name == key.name:
            self._on_done(key)
            return
        self.area.ask(
            "rename",
            lambda client: client.rename_key(key.id, name),
            self._on_done,
            self._on_refused,
        )

    def _on_done(self, _key: KeyInfo) -> None:
        self._close_form()
        self.desk.session.refresh_keys()

    def _on_made(self, made: NewKey) -> None:
        self._close_form()
        self.desk.session.take_key(made)

    def _on_kept(self, made: NewKey) -> None:
        self.desk.session.take_key(made, is_new=False)

    def _on_refused(self, error: ErrorInfo) -> None:
        if self._dialog is not None:
            self._dialog.show_error(error)

    def _close_form(self) -> None:
        if self._dialog is not None:
            self._dialog.close()

    def _record(self, key_id: str, seconds: int) -> None:
        self.area.ask(
            "record", lambda client: client.log_prompts(key_id, seconds), self._on_recorded
        )

    def _on_recorded(self, _state: PromptLogState) -> None:
        self.desk.session.refresh_keys()

    def _show_prompts(self, key: KeyInfo) -> None:
        dialog = PromptsDialog(self.desk.look, key.name, self.view.window())
        self._prompts = dialog
        dialog.destroyed.connect(self._on_prompts_closed)
        dialog.clear_asked.connect(self._on_clear)
        self._prompts_of = key.id
        dialog.open()
        self.area.ask("prompts", lambda client: client.prompts(key.id), self._on_prompts)

    def _on_prompts(self, found: Sequence[PromptEntry]) -> None:
        if self._prompts is not None:
            self._prompts.show_entries(tuple(found))

    def _on_prompts_closed(self) -> None:
        self._prompts = None

    def _on_clear(self) -> None:
        key_id = self._prompts_of
        self.area.ask("clear", lambda client: client.clear_prompts(key_id), self._on_cleared)

    def _on_cleared(self, _state: PromptLogState) -> None:
        self._on_prompts(())


def _ignore(_error: ErrorInfo) -> None:
    """Leave it not known: the page says what it has."""
