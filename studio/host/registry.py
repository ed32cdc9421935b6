"""A person's part of Windows' registry. Elsewhere nothing is known and nothing is written."""

import contextlib
import sys


class Registry:
    """Values below `HKEY_CURRENT_USER`. Raises OSError where Windows refuses a change."""

    def text(self, key: str, name: str) -> str | None:
        """Return a text or number as text; None where there is none."""
        if sys.platform == "win32":
            import winreg

            with (
                contextlib.suppress(OSError),
                winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened,
            ):
                return str(winreg.QueryValueEx(opened, name)[0])
        return None

    def keys(self, key: str) -> tuple[str, ...]:
        """Return the names of the keys in a key; none where it is missing."""
        found: list[str] = []
        if sys.platform == "win32":
            import winreg

            with (
                contextlib.suppress(OSError),
                winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened,
            ):
                count = winreg.QueryInfoKey(opened)[0]
                found.extend(winreg.EnumKey(opened, index) for index in range(count))
        return tuple(found)

    def write(self, key: str, name: str, value: str | int) -> None:
        """Write a text or a number; the key is made where it is missing."""
        if sys.platform == "win32":
            import winreg

            kind = winreg.REG_DWORD if isinstance(value, int) else winreg.REG_SZ
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:
                winreg.SetValueEx(opened, name, 0, kind, value)

    def delete(self, key: str, name: str) -> None:
        """Delete a value; one that is not there is no error."""
        if sys.platform == "win32":
            import winreg

            with contextlib.suppress(FileNotFoundError):
                access = winreg.KEY_SET_VALUE
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key, 0, access) as opened:
                    winreg.DeleteValue(opened, name)
