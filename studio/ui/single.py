"""One window a folder: a second `weir ui` brings the first one to the front, and ends.

A lock says who is first, a local socket carries the wish. A lock whose process is gone does not
count, and the socket that it left behind is removed.
"""

from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QLockFile, QObject, QThread, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

LOCK = "window.lock"
SOCKET = "window.sock"
_LONGEST_PATH = 100
"""Bytes: Linux takes 107 for a socket's address, macOS 103."""
_PATIENCE_MS = 3_000
"""A first window that is starting opens its socket within this time."""
_STEP_MS = 50
_SEEN = b"seen\n"


class Single(QObject):
    """Held as long as the window lives. Signal: `called` when another start wants the window."""

    called = Signal()

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._name = str(home / SOCKET)
        self._lock = QLockFile(str(home / LOCK))
        self._lock.setStaleLockTime(0)  # by the process alone: a window may live for weeks
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def take(self) -> bool:
        """Become the first window; False where another one lives.

        A folder that takes no lock or no socket has as many windows as are opened.
        """
        if len(self._name.encode()) > _LONGEST_PATH:
            return True
        if not self._lock.tryLock(0):
            return self._lock.error() is not QLockFile.LockError.LockFailedError
        QLocalServer.removeServer(self._name)
        self._server.listen(self._name)
        return True

    def call(self, patience_ms: int = _PATIENCE_MS) -> bool:
        """Ask the first window to come to the front; tell whether it heard."""
        deadline = QDeadlineTimer(patience_ms)
        while not deadline.hasExpired():
            socket = QLocalSocket()
            socket.connectToServer(self._name)
            if socket.waitForConnected(_STEP_MS):
                socket.waitForReadyRead(max(_STEP_MS, deadline.remainingTime()))
                return bytes(socket.readAll().data()) == _SEEN
            QThread.msleep(_STEP_MS)
        return False

    def release(self) -> None:
        """Let the next window be the first."""
        self._server.close()
        self._lock.unlock()

    def _on_connection(self) -> None:
        while self._server.hasPendingConnections():
            socket = self._server.nextPendingConnection()
            socket.disconnected.connect(socket.deleteLater)
            socket.write(_SEEN)
            socket.flush()  # the caller hangs up when it has read this
            self.called.emit()
