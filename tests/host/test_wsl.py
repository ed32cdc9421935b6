"""WSL: what it is, where its configuration lies, and what that says."""

import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from studio.domain.hardware import WslFacts
from studio.host import wsl

KERNEL = "6.6.87.2-microsoft-standard-WSL2"
GIB = 1 << 30


def profile(root: Path, name: str, config: bytes | None) -> Path:
    """Make the folder of a Windows user, with a `.wslconfig` of these bytes."""
    folder = root / "mnt/c/Users" / name
    folder.mkdir(parents=True)
    if config is not None:
        (folder / ".wslconfig").write_bytes(config)
    return folder


def path_of(name: str) -> dict[str, str]:
    """Return an environment as WSL makes it: Windows' PATH behind ours."""
    tail = f"/mnt/c/Users/{name}/AppData/Local/Microsoft/WindowsApps"
    return {"WSL_DISTRO_NAME": "Ubuntu-24.04", "PATH": f"/usr/bin:/mnt/c/Windows:{tail}"}


@pytest.mark.parametrize(
    ("kernel", "environ", "expected"),
    [
        (KERNEL, {}, True),
        ("4.4.0-19041-Microsoft", {}, True),
        ("6.8.0-45-generic", {"WSL_DISTRO_NAME": "Debian"}, True),
        ("6.8.0-45-generic", {}, False),
    ],
)
def test_wsl_is_known_by_kernel_or_variable(
    kernel: str, environ: dict[str, str], expected: bool
) -> None:
    """A kernel of one's own has any name; the variable stays."""
    assert wsl.is_wsl(kernel, environ) is expected


@pytest.mark.parametrize(
    ("kernel", "version"),
    [(KERNEL, 2), ("4.4.0-19041-Microsoft", 1), ("6.12.0-mine", None)],
)
def test_version_one_is_told_from_two(kernel: str, version: int | None, tmp_path: Path) -> None:
    """The first has no cards at all."""
    assert wsl.facts(kernel, environ={}, root=tmp_path).version == version


def test_the_configuration_of_the_user_on_the_path_is_read(tmp_path: Path) -> None:
    """A PC has several users; Windows puts folders of the right one on our PATH."""
    profile(tmp_path, "Ana", b"[wsl2]\nmemory=8GB\n")
    profile(tmp_path, "Zo\xc3\xab B".encode().decode("latin-1"), b"[wsl2]\nmemory=1GB\n")
    profile(tmp_path, "Max Müller", b"[wsl2]\r\nmemory=20GB # most\r\nswap=8GB\r\nprocessors=8\r\n")

    found = wsl.facts(KERNEL, environ=path_of("Max Müller"), root=tmp_path)

    assert found.distribution == "Ubuntu-24.04"
    assert found.has_config is True
    assert found.config_memory_bytes == 20 * GIB
    assert found.config_swap_bytes == 8 * GIB
    assert found.config_processors == 8
    assert found.config_faults == ()


def test_a_missing_configuration_is_told_from_an_unknown_one(tmp_path: Path) -> None:
    """`None` must not be shown as `there is none`."""
    profile(tmp_path, "Ana", None)

    assert wsl.facts(KERNEL, environ=path_of("Ana"), root=tmp_path).has_config is False
    assert wsl.facts(KERNEL, environ={"PATH": "/bin"}, root=tmp_path).has_config is None


def test_without_windows_on_the_path_the_only_configuration_counts(tmp_path: Path) -> None:
    """`appendWindowsPath=false` is a common setting; two candidates are no answer."""
    profile(tmp_path, "Ana", b"[wsl2]\nmemory=8GB\n")
    assert wsl.facts(KERNEL, environ={}, root=tmp_path).config_memory_bytes == 8 * GIB

    profile(tmp_path, "Bo", b"[wsl2]\nmemory=9GB\n")
    assert wsl.facts(KERNEL, environ={}, root=tmp_path).has_config is None


def test_an_unreadable_configuration_is_unknown(tmp_path: Path) -> None:
    """A folder in its place, or no permission, says nothing."""
    (profile(tmp_path, "Ana", None) / ".wslconfig").mkdir()

    assert wsl.facts(KERNEL, environ=path_of("Ana"), root=tmp_path).has_config is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_windows_editor_is_understood(encoding: str) -> None:
    """Notepad writes marks and two bytes a letter."""
    text = wsl.decoded("[wsl2]\r\nmemory=6GB\r\n".encode(encoding))

    assert wsl.with_config(WslFacts(), text).config_memory_bytes == 6 * GIB


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("20GB", 20 * GIB), ("20G", 20 * GIB), ("512MB", GIB // 2), ("1.5gb", 3 * GIB // 2),
        ("4294967296", 4 * GIB), ("0", 0), ("lots", None), ("-1GB", None), ("", None),
    ],
)  # fmt: skip
def test_sizes_are_written_in_many_ways(value: str, size: int | None) -> None:
    """What WSL does not understand it ignores, silently; we say so."""
    found = wsl.with_config(WslFacts(), f"[wsl2]\nmemory={value}\n")

    assert found.config_memory_bytes == size
    assert bool(found.config_faults) is (size is None)


def test_nonsense_is_kept_as_faults() -> None:
    """A line that does nothing is why `memory=` seems not to work."""
    text = "[wsl2]\nmemory 20GB\nnetworkingMode=bridge\nprocessors=all\n; fine\n[other]\nmemory=1"

    found = wsl.with_config(WslFacts(), text)

    assert found.config_memory_bytes is None
    assert found.config_networking_mode is None
    assert found.config_faults == ("memory 20GB", "processors=all", "networkingMode=bridge")


@pytest.mark.parametrize("section", ["wsl2", "experimental", "WSL2"])
def test_the_network_is_found_in_both_sections(section: str) -> None:
    """It moved out of `experimental`, and old files stay."""
    found = wsl.with_config(WslFacts(), f"[{section}]\nnetworkingMode=Mirrored\n")

    assert found.config_networking_mode == "mirrored"


def test_a_linux_driver_inside_wsl_is_noticed(tmp_path: Path) -> None:
    """It hides the driver that Windows lends, and no card is found."""
    library = tmp_path / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
    library.parent.mkdir(parents=True)
    library.touch()

    assert wsl.facts(KERNEL, environ={}, root=tmp_path).has_linux_driver is True


@pytest.mark.parametrize(
    ("body", "mode"),
    [("echo mirrored", "mirrored"), ("echo wat", None), ("echo nat; exit 1", None), ("", None)],
)
async def test_wsl_itself_is_asked_for_its_network(
    body: str, mode: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration is no proof: where Windows cannot mirror, WSL falls back to NAT."""
    program = tmp_path / "wslinfo"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    assert await wsl.networking_mode() == mode


async def test_an_older_wsl_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`wslinfo` came with WSL 2.0."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert await wsl.networking_mode() is None


def test_the_studios_own_linux_is_told_from_others() -> None:
    """There the window on Windows looks for newer versions, and the service does not."""
    assert wsl.is_own({"WSL_DISTRO_NAME": "weir-studio"})
    assert not wsl.is_own({"WSL_DISTRO_NAME": "Ubuntu"})
    assert not wsl.is_own({})


def test_paths_of_windows_are_named_as_the_linux_sees_them() -> None:
    """Its drives lie where WSL puts them."""
    seen = wsl.seen_inside(PureWindowsPath(r"C:\Users\Zoë B\x.tar"))
    assert seen == "/mnt/c/Users/Zoë B/x.tar"
    assert wsl.seen_inside(PurePosixPath("/tmp/a b")) == "/tmp/a b"


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        (r"D:\models\Qwen 3", "/mnt/d/models/Qwen 3"),
        ("e:/stick/runtime.weir", "/mnt/e/stick/runtime.weir"),
        ("/media/models", "/media/models"),
        ("models", "models"),
        ("D:", "D:"),
    ],
)
def test_what_is_named_on_windows_is_found_in_its_linux(named: str, meant: str) -> None:
    """The command on Windows hands a path on as a person there has it."""
    assert wsl.meant(named, path_of("Zoë")) == meant
    assert wsl.meant(named, {}) == named
