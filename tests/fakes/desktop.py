"""A desktop on a bus of its own: it holds trays' signs, and takes notifications."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    new_error,
    new_method_call,
    new_method_return,
    new_signal,
)
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

WATCHER = "org.kde.StatusNotifierWatcher"
NOTIFICATIONS = "org.freedesktop.Notifications"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
_SAYS = DBusAddress("/org/freedesktop/Notifications", interface=NOTIFICATIONS)
_PROPERTIES: dict[str, tuple[str, object]] = {
    "IsStatusNotifierHostRegistered": ("b", True),
    "ProtocolVersion": ("i", 0),
    "RegisteredStatusNotifierItems": ("as", []),
}


class Desktop:
    """The stand-in; `signs` are the bus names of trays' signs, `said` the notifications."""

    def __init__(self, names: tuple[str, ...] = (WATCHER, NOTIFICATIONS)) -> None:
        self.signs: list[str] = []
        self.said: list[tuple[object, ...]] = []
        self._connection: DBusConnection = open_dbus_connection("SESSION")
        self._own: DBusConnection = open_dbus_connection("SESSION")
        for name in names:
            self._connection.send_and_get_reply(message_bus.RequestName(name))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def press(self, number: int) -> None:
        """Press a notification, as a hand would on Wayland."""
        for name, word in (("ActivationToken", f"token-{number}"), ("ActionInvoked", "default")):
            self._own.send(new_signal(_SAYS, name, "us", (number, word)))

    def sign(self, name: str) -> object:
        """Return a property of the sign that came last."""
        place = DBusAddress("/StatusNotifierItem", bus_name=self.signs[-1], interface=ITEM)
        call = new_method_call(
            place.with_interface("org.freedesktop.DBus.Properties"), "Get", "ss", (ITEM, name)
        )
        return unwrap_msg(self._own.send_and_get_reply(call, timeout=10))[0][1]

    def entries(self) -> dict[str, tuple[int, bool]]:
        """Return the menu that can be seen: words, number, and whether it can be pressed."""
        body = (0, -1, ["label", "enabled", "visible"])
        try:
            _revision, root = self._menu("GetLayout", "iias", body)
        except DBusErrorResponse:  # a sign may come before its menu
            return {}
        found = {}
        for _signature, (number, properties, _below) in root[2]:
            values = {name: value for name, (_type, value) in properties.items()}
            if values.get("label") and values.get("visible", True):
                found[values["label"].replace("_", "")] = (number, values.get("enabled", True))
        return found

    def choose(self, number: int) -> None:
        """Press an entry of the menu."""
        self._menu("Event", "isvu", (number, "clicked", ("s", ""), 0))

    def close(self) -> None:
        """Leave the bus."""
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(2)
        self._thread.join(10)
        self._own.close()

    def _menu(self, name: str, signature: str, body: tuple[object, ...]) -> Any:
        path = str(self.sign("Menu"))
        place = DBusAddress(path, bus_name=self.signs[-1], interface=MENU)
        call = new_method_call(place, name, signature, body)
        return unwrap_msg(self._own.send_and_get_reply(call, timeout=10))

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                message = self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self._connection.send(self._answer(message))
        self._connection.close()

    def _answer(self, message: Message) -> Message:
        fields = message.header.fields
        match fields.get(HeaderFields.member):
            case "RegisterStatusNotifierItem":
                self.signs.append(fields[HeaderFields.sender])
                return new_method_return(message)
            case "Get":
                return new_method_return(message, "v", (_PROPERTIES[message.body[1]],))
            case "GetAll":
                return new_method_return(message, "a{sv}", (_PROPERTIES,))
            case "GetCapabilities":
                return new_method_return(message, "as", (["actions", "body", "body-markup"],))
            case "Notify":
                self.said.append(message.body)
                number = message.body[1] or len(self.said)
                return new_method_return(message, "u", (number,))
        return new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")


@contextlib.contextmanager
def desktop(*names: str) -> Iterator[Desktop]:
    """Run a desktop on the session's bus, which holds `names` or everything."""
    made = Desktop(names) if names else Desktop()
    try:
        yield made
    finally:
        made.close()
