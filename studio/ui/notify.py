"""Notifications over the desktop's own service, also where there is no tray.

Qt's way through the tray lays another picture over our sign for as long as a notification stands,
says nothing when one is pressed, and needs a tray. Whoever is refused here may go that way.
Source: Desktop Notifications Specification 1.3, org.freedesktop.Notifications.
"""

from __future__ import annotations

import asyncio
import functools
import html
import os
import sys
from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QIcon, QImage

from studio.ui.bridge import Bridge
from studio.ui.language import t
from studio.ui.viewmodels.notes import Note
from studio.ui.viewmodels.words import PRODUCT

if TYPE_CHECKING:
    from jeepney import Message
    from jeepney.io.asyncio import DBusConnection, DBusRouter

_NAME = "org.freedesktop.Notifications"
_PATH = "/org/freedesktop/Notifications"
_REPLY_S = 5.0
_OPEN = "default"
"""The action that a press on the notification itself stands for."""
_NORMAL = 1
"""Not "critical": that one passes by a person's wish not to be disturbed."""
_BY_DESKTOP_MS, _NEVER_MS = -1, 0
_SIDE = 64
_GONE = (OSError, EOFError, LookupError, ValueError, RuntimeError)
"""What a bus raises that is not there, or not any more."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A square picture as the service takes it: red, green, blue, opacity, row by row."""

    side: int
    pixels: bytes


class Notifier(QObject):
    """Signals: `pressed` when a person pressed one; `refused` (Note) when nobody took it."""

    pressed = Signal()
    refused = Signal(object)

    def __init__(self, bridge: Bridge, icon: QIcon) -> None:
        """Speak from the bridge's loop; `icon` is seen beside the words."""
        super().__init__()
        self._bridge = bridge
        self._picture = _picture(icon)
        self._one_at_a_time = asyncio.Lock()
        self._line: _Line | None = None
        self._shown: dict[str, int] = {}
        """What a notification is about, and its number with the service."""

    def say(self, note: Note) -> None:
        """Show `note` in place of the one before about the same thing; returns at once."""
        is_taken = sys.platform != "win32" and self._bridge.run(
            functools.partial(self._tell, note, t("Open the window"))
        )
        if not is_taken:
            self.refused.emit(note)

    async def _tell(self, note: Note, press: str) -> None:
        from jeepney.io.common import RouterClosed
        from jeepney.wrappers import DBusErrorResponse

        try:
            async with self._one_at_a_time, asyncio.timeout(_REPLY_S):
                line = self._line or await self._opened()
                before = self._shown.get(note.about, 0)
                self._shown[note.about] = await line.show(note, press, before, self._picture)
        except (*_GONE, DBusErrorResponse, RouterClosed):
            self._let_go()  # who shows notifications later is asked anew how it reads words
            self.refused.emit(note)

    async def _opened(self) -> _Line:
        """Return a connection whose signals are heard until the window ends."""
        from jeepney.io.asyncio import DBusRouter, open_dbus_connection

        connection = await open_dbus_connection("SESSION")
        line = self._line = _Line(connection, DBusRouter(connection))
        self._bridge.run(functools.partial(self._listen, line))
        await line.begin()
        return line

    def _let_go(self) -> None:
        if self._line is not None:
            self._line.signals.put_nowait(None)
        self._line = None

    async def _listen(self, line: _Line) -> None:
        """Hear what becomes of notifications."""
        from jeepney import HeaderFields

        async with line.connection, line.router:
            while (message := await line.signals.get()) is not None:
                if message.body[0] in self._shown.values():
                    self._hear(str(message.header.fields.get(HeaderFields.member)), message.body[1])

    def _hear(self, member: str, word: object) -> None:
        if member == "ActivationToken":
            os.environ["XDG_ACTIVATION_TOKEN"] = str(word)  # the right to come up, on Wayland
        elif member == "ActionInvoked":
            self.pressed.emit()


class _Line:
    """A connection to the bus, and the signals that came."""

    def __init__(self, connection: DBusConnection, router: DBusRouter) -> None:
        self.connection = connection
        self.router = router
        self.signals: asyncio.Queue[Message | None] = asyncio.Queue()
        self._reads_markup = False

    async def begin(self) -> None:
        """Ask for the signals, and how words have to be written."""
        from jeepney import MatchRule
        from jeepney.bus_messages import message_bus

        rule = MatchRule(type="signal", interface=_NAME, path=_PATH)
        self.router.filter(rule, queue=self.signals)
        await self.router.send_and_get_reply(message_bus.AddMatch(rule))
        self._reads_markup = "body-markup" in await self._call("GetCapabilities", None, ())

    async def show(self, note: Note, press: str, instead_of: int, picture: Picture) -> int:
        """Show a notification, and return its number."""
        text = html.escape(note.text, quote=False) if self._reads_markup else note.text
        hints = {
            "desktop-entry": ("s", "weir-studio"),
            "urgency": ("y", _NORMAL),
            "image-data": (
                "(iiibiiay)",
                (picture.side, picture.side, 4 * picture.side, True, 8, 4, picture.pixels),
            ),
        }
        patience_ms = _NEVER_MS if note.is_harm else _BY_DESKTOP_MS
        body = (PRODUCT, instead_of, "", note.title, text, [_OPEN, press], hints, patience_ms)
        number = await self._call("Notify", "susssasa{sv}i", body)
        assert isinstance(number, int)
        return number

    async def _call(self, name: str, signature: str | None, body: tuple[object, ...]) -> Any:
        from jeepney import DBusAddress, new_method_call
        from jeepney.wrappers import unwrap_msg

        service = DBusAddress(_PATH, bus_name=_NAME, interface=_NAME)
        reply = await self.router.send_and_get_reply(
            new_method_call(service, name, signature, body)
        )
        return unwrap_msg(reply)[0]


def _picture(icon: QIcon) -> Picture:
    image = icon.pixmap(QSize(_SIDE, _SIDE), 1.0).toImage()
    image = image.convertToFormat(QImage.Format.Format_RGBA8888)
    return Picture(side=image.width(), pixels=bytes(image.constBits()))
