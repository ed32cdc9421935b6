"""A private session bus, and on it a Secret Service that can be locked and can let its caller wait.

Source: the freedesktop.org Secret Service API 0.2. Secrets travel in the plain session.
"""

import contextlib
import threading
from collections.abc import Iterator

from jeepney import HeaderFields, Message, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.low_level import HeaderFields as Fields
from jeepney.wrappers import DBusAddress

NAME = "org.freedesktop.secrets"
_ROOT = "/org/freedesktop/secrets"
_PREFIX = "org.freedesktop.Secret."
_PROMPT = f"{_ROOT}/prompt/1"
_Attributes = tuple[tuple[str, str], ...]


class SecretService:
    """The stand-in; `secrets` is what it keeps."""

    def __init__(self) -> None:
        self.secrets: dict[_Attributes, bytes] = {}
        self.is_locked = False
        self.prompts = 0
        self.answers_prompts: bool | None = False
        """True: the person unlocks; False: declines; None: nobody is there."""
        self._paths: dict[str, _Attributes] = {}
        self._connection: DBusConnection = open_dbus_connection("SESSION")
        self._connection.send_and_get_reply(message_bus.RequestName(NAME))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the bus."""
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(2)
        self._thread.join(10)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                message = self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self._answer(message)
        self._connection.close()

    def _answer(self, message: Message) -> None:
        fields = message.header.fields
        member, path = fields[HeaderFields.member], fields[HeaderFields.path]
        body = message.body
        match member:
            case "OpenSession" if body[0] != "plain":
                error = "org.freedesktop.DBus.Error.NotSupported"
                self._connection.send(new_error(message, error, "s", ("plain only",)))
            case "OpenSession":
                self._reply(message, "vo", (("s", ""), f"{_ROOT}/session/1"))
            case "Get":
                self._reply(message, "v", (self._property(body[1]),))
            case "SearchItems":
                self._reply(message, "ao", (self._found(body[0]),))
            case "CreateItem":
                wanted = dict(body[0])[f"{_PREFIX}Item.Attributes"][1]
                attributes = tuple(sorted(wanted.items()))
                self.secrets[attributes] = bytes(body[1][2])
                self._reply(message, "oo", (self._path_of(attributes), "/"))
            case "GetSecret":
                secret = self.secrets[self._paths[path]]
                whole = (f"{_ROOT}/session/1", b"", secret, "text/plain")
                self._reply(message, "(oayays)", (whole,))
            case "Delete":
                del self.secrets[self._paths[path]]
                self._reply(message, "o", ("/",))
            case "Unlock":
                self._reply(message, "aoo", ([], _PROMPT) if self.is_locked else (body[0], "/"))
            case "Prompt":
                self._prompt(message)
            case _:
                error = "org.freedesktop.DBus.Error.UnknownMethod"
                self._connection.send(new_error(message, error, "s", (str(member),)))

    def _prompt(self, message: Message) -> None:
        self.prompts += 1
        self._reply(message, "", ())
        if self.answers_prompts is None:
            return
        self.is_locked = not self.answers_prompts
        paths: list[str] = [] if self.is_locked else [f"{_ROOT}/aliases/default"]
        place = DBusAddress(_PROMPT, interface=f"{_PREFIX}Prompt")
        signal = new_signal(place, "Completed", "bv", (self.is_locked, ("ao", paths)))
        signal.header.fields[Fields.destination] = message.header.fields[HeaderFields.sender]
        self._connection.send(signal)

    def _property(self, name: str) -> tuple[str, object]:
        return ("b", self.is_locked) if name == "Locked" else ("s", "stand-in")

    def _found(self, wanted: dict[str, str]) -> list[str]:
        return [self._path_of(one) for one in self.secrets if set(wanted.items()) <= set(one)]

    def _path_of(self, attributes: _Attributes) -> str:
        for path, known in self._paths.items():
            if known == attributes:
                return path
        path = f"{_ROOT}/collection/default/{len(self._paths) + 1}"
        self._paths[path] = attributes
        return path

    def _reply(self, message: Message, signature: str, body: tuple[object, ...]) -> None:
        self._connection.send(new_method_return(message, signature or None, body))


@contextlib.contextmanager
def secret_service() -> Iterator[SecretService]:
    """Run one on the session bus."""
    made = SecretService()
    try:
        yield made
    finally:
        made.close()
