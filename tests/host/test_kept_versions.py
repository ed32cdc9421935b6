"""What lies beside the version in use, whichever way it came."""

from pathlib import Path

from studio.domain.self_update import Came
from studio.host import kept_versions
from studio.host.own_program import Installed
from tests.fakes import windows_versions


def test_a_run_and_windows_keep_a_version_and_say_what_it_takes(tmp_path: Path) -> None:
    """It is 200 MB of somebody's disk."""
    versions = tmp_path / "opt/weir-studio"
    for name in ("1.0.0", "1.1.0"):
        (versions / name).mkdir(parents=True)
        (versions / name / "weir").write_bytes(b"x" * 100)
    (versions / "current").symlink_to("1.1.0")
    run = Installed(Came.RUN, versions / "1.1.0")
    setup = windows_versions.made(tmp_path / "app", "app-1.0.0", "app-1.1.0")

    of_setup = sum(
        file.stat().st_size for file in (tmp_path / "app/app-1.0.0").rglob("*") if file.is_file()
    )
    for installed, size in ((run, 100), (setup, of_setup)):
        assert kept_versions.are_kept(installed)
        assert kept_versions.current(installed) == "1.1.0"
        assert kept_versions.before(installed, "1.1.0") == "1.0.0"
        assert kept_versions.size_bytes(installed, "1.0.0") == size
        assert kept_versions.size_bytes(installed, "0.1.0") is None


def test_what_others_exchange_is_kept_by_nobody(tmp_path: Path) -> None:
    """Apt has its own way back."""
    deb = Installed(Came.DEB, tmp_path)

    assert not kept_versions.are_kept(deb)
    assert kept_versions.current(deb) is None
    assert kept_versions.before(deb, "1.1.0") is None
    assert kept_versions.size_bytes(deb, "1.0.0") is None
    assert kept_versions.size_bytes(deb, None) is None
