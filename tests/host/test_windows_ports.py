"""What Windows says of its ports, in any language and any encoding, asked through real programs."""

import os
from pathlib import Path

import pytest

from studio.host import windows_ports
from studio.host.windows_ports import WindowsPorts, look, read_excluded, read_listeners

ENGLISH = """
Protocol tcp Port Exclusion Ranges

Start Port    End Port
----------    --------
      5357        5357
     50000       50059     *

* - Administered port exclusions.

"""
GERMAN = """
Protokoll tcp-Portausschlussbereiche

Startport   Endport
----------    --------
        80          80
     49700       49799

* - Verwaltete Portausschlüsse.
"""
JAPANESE = """
プロトコル tcp ポート除外範囲

開始ポート    終了ポート
----------    --------
      1027        1126

* - 管理対象のポート除外。
"""
LISTENERS = (
    "weir-port|127.0.0.1|18020|4711|jupyter-lab\r\n"
    "weir-port|0.0.0.0|11434|812|ollama\r\n"
    "weir-port|::1|18021|99|wslrelay\r\n"
    "weir-port|192.168.1.7|18022|100|other\r\n"
    "weir-port|fe80::1%12|18023|100|other\r\n"
    "weir-port|::|18024|101|\r\n"
    "weir-port|127.0.0.1|18025|102|Überwachung 監視\r\n"
)


def fake(folder: Path, name: str, output: bytes, *, status: int = 0) -> None:
    """Put a program of Windows into `folder` that prints `output`."""
    (folder / f"{name}.out").write_bytes(output)
    program = folder / name
    program.write_text(f'#!/bin/sh\ncat "{folder / name}.out"\nexit {status}\n')
    program.chmod(0o755)


def wsl(folder: Path) -> dict[str, str]:
    """Return the environment of a WSL whose Windows is `folder`."""
    return {"PATH": f"{folder}{os.pathsep}{os.defpath}", "WSL_DISTRO_NAME": "Ubuntu"}


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        (ENGLISH, ((5357, 5357), (50_000, 50_059))),
        (GERMAN, ((80, 80), (49_700, 49_799))),
        (JAPANESE, ((1027, 1126),)),
        ("", ()),
        ("Falscher Parameter.\n 12\n 70000 80000\n 9 3\n 0 0\n 1 2 3\n", ()),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
async def test_ranges_are_read_in_any_language_and_encoding(
    tmp_path: Path, text: str, ranges: tuple[tuple[int, int], ...], encoding: str
) -> None:
    """Only digits are read; words differ on every second machine."""
    fake(tmp_path, "netsh.exe", text.replace("\n", "\r\n").encode(encoding))

    found = await look(wsl(tmp_path))

    assert found is not None
    assert found.excluded == ranges


@pytest.mark.parametrize("encoding", ["cp850", "cp1252"])
def test_old_code_pages_do_not_hide_the_digits(encoding: str) -> None:
    """`netsh` prints in the console's code page."""
    lines = GERMAN.encode(encoding).decode("utf-8", "replace").splitlines()

    assert read_excluded(lines) == ((80, 80), (49_700, 49_799))


async def test_programs_of_windows_that_answer_at_localhost_are_named(tmp_path: Path) -> None:
    """Not WSL's own relays, and not what listens on other addresses."""
    fake(tmp_path, "powershell.exe", LISTENERS.encode())

    found = await look(wsl(tmp_path))

    assert found is not None
    assert found.listeners == {
        18020: "jupyter-lab.exe (Windows process 4711)",
        11434: "ollama.exe (Windows process 812)",
        18024: "a program (Windows process 101)",
        18025: "Überwachung 監視.exe (Windows process 102)",
    }


def test_listeners_in_utf_16_keep_their_ports() -> None:
    """A PowerShell that was told nothing prints in UTF-16; names may suffer, ports must not."""
    lines = LISTENERS.encode("utf-16-le").decode("utf-8", "replace").split("\n")

    assert read_listeners(lines)[18020] == "jupyter-lab.exe (Windows process 4711)"
    assert 18025 in read_listeners(lines)


async def test_a_windows_that_cannot_be_asked_holds_nothing_up(tmp_path: Path) -> None:
    """Interop switched off, programs that fail or print nonsense: then nothing is known."""
    fake(tmp_path, "netsh.exe", ENGLISH.encode(), status=1)
    fake(tmp_path, "powershell.exe", b"\xff\xfe\x00nonsense\n" * 10)

    assert await look(wsl(tmp_path)) == WindowsPorts()


async def test_a_windows_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start must not wait for it."""
    monkeypatch.setattr(windows_ports, "_WITHIN_S", 0.2)
    program = tmp_path / "netsh.exe"
    program.write_text("#!/bin/sh\necho ' 5357 5357'\nexec sleep 60\n")
    program.chmod(0o755)

    assert await look(wsl(tmp_path)) == WindowsPorts()


async def test_without_windows_nothing_is_asked(tmp_path: Path) -> None:
    """On plain Linux a start costs nothing more."""
    fake(tmp_path, "netsh.exe", ENGLISH.encode())

    assert await look({"PATH": str(tmp_path)}) is None


async def test_one_start_asks_once(tmp_path: Path) -> None:
    """It looks at the port twice within a second; PowerShell takes a second each time."""
    fake(tmp_path, "netsh.exe", ENGLISH.encode())
    first = await look(wsl(tmp_path))
    fake(tmp_path, "netsh.exe", GERMAN.encode())

    assert await look(wsl(tmp_path)) is first


def test_a_port_is_free_outside_of_ranges_and_listeners() -> None:
    """Both ends of a range belong to it."""
    ports = WindowsPorts(excluded=((50_000, 50_059),), listeners={18_020: "x"})

    taken = [p for p in (18_020, 18_021, 49_999, 50_000, 50_059, 50_060) if not ports.is_free(p)]
    assert taken == [18_020, 50_000, 50_059]
    assert ports.range_of(50_001) == (50_000, 50_059)
