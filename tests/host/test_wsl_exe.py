"""What `wsl.exe` answers, read without a translated word."""

from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host import wsl_exe
from studio.host.wsl_exe import Answer, WslExe
from tests.fakes.wsl import FakeWsl

TEXT = "Ubuntu\r\nweir-studio\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        TEXT.encode("utf-8"), TEXT.encode("utf-8-sig"), TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16"), b"\xfe\xff" + TEXT.encode("utf-16-be"),
    ],
)  # fmt: skip
def test_names_are_read_in_each_of_its_encodings(raw: bytes) -> None:
    """Old and new, with a mark and without."""
    assert wsl_exe.names(wsl_exe.decoded(raw)) == ("Ubuntu", "weir-studio")


def test_codes_are_found_in_words_of_any_language_and_in_the_status() -> None:
    """The status -1 says nothing, an HRESULT does."""
    text = "Нет.\r\nКод ошибки: Wsl/Service/CreateInstance/MountVhd/HCS/0x80370102\r\n"
    assert Answer(status=0xFFFFFFFF, text=text).codes == ("0x80370102", "0xffffffff")
    named = Answer(status=1, text="Fehlercode: Wsl/Service/WSL_E_DISTRO_NOT_FOUND")
    assert named.codes == ("WSL_E_DISTRO_NOT_FOUND",)
    assert Answer(status=0x80070005, text="").codes == ("0x80070005",)
    assert not Answer(status=None, text="").is_good


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("WSL-Version: 2.6.1.0\nKernelversion: 6.6.87.2-1", (2, 6, 1, 0)),
        ("WSL 版本： 0.64.0", (0, 64, 0)), ("nothing", None),
    ],
)  # fmt: skip
def test_the_first_number_is_its_version(text: str, answer: tuple[int, ...] | None) -> None:
    """The kernel's comes later."""
    assert wsl_exe.version(text) == answer


@pytest.mark.parametrize("version", ["2.6.1.0", None])
async def test_an_old_and_a_new_one_list_the_same(tmp_path: Path, version: str | None) -> None:
    """The old one knows no version and no UTF-8."""
    fake = FakeWsl.made(tmp_path, version=version, names=["Übung", "weir-studio"])
    exe = WslExe(fake.environ)

    assert await exe.distributions() == ("Übung", "weir-studio")
    found = await exe.version()
    assert found == ((2, 6, 1, 0) if version else None)


async def test_none_registered_is_no_distribution(tmp_path: Path) -> None:
    """It answers with an error then."""
    fake = FakeWsl.made(tmp_path, names=[])

    assert await WslExe(fake.environ).distributions() == ()


async def test_a_windows_without_it_is_told_apart(tmp_path: Path) -> None:
    """From every other trouble."""
    with pytest.raises(HostLacks) as caught:
        await WslExe({"PATH": str(tmp_path)}).status()

    assert wsl_exe.missing(caught.value)


async def test_one_that_hangs_is_given_up(tmp_path: Path) -> None:
    """A virtual machine that does not come up must not hold the window."""
    program = tmp_path / "wsl.exe"
    program.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    program.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    answer = await WslExe(environ).call("--status", within_s=0.2)

    assert (answer.status, answer.is_good) == (None, False)


@pytest.mark.parametrize(("exit_status", "answer"), [(0, 0), (3010 & 0xFF, 194), (199, None)])
async def test_the_administrators_no_is_no_status(
    tmp_path: Path, exit_status: int, answer: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PowerShell stands between: 1223 is Windows' word for a no."""
    program = tmp_path / "powershell.exe"
    program.write_text(f"#!/bin/sh\nexit {exit_status}\n", encoding="utf-8")
    program.chmod(0o755)
    if answer is None:

        async def no(*_words: object, **_more: object) -> tuple[int, bytes]:
            return 1223, b""

        monkeypatch.setattr("studio.host.process.capture", no)
    assert await WslExe({"PATH": str(tmp_path)}).install() == answer


def test_the_service_is_the_child_of_a_program_that_stays() -> None:
    """Else WSL ends what nobody of Windows started."""
    assert wsl_exe.keeper("weir-studio", ["/usr/bin/weir", "service", "run"]) == [
        "wsl.exe", "--distribution", "weir-studio", "--exec", "/usr/bin/weir", "service", "run",
    ]  # fmt: skip
