"""What goes into a report, piece by piece; the whole of it is tested in test_report.py."""

from pathlib import Path

from studio.app.report_collect import collect
from studio.host.paths import Paths, bundled_root
from studio.serving.log_file import file_of


def _home(folder: Path) -> Paths:
    paths = Paths(home=folder, catalogue=bundled_root())
    paths.logs.mkdir(parents=True)
    return paths


async def test_a_long_log_gives_its_end(tmp_path: Path) -> None:
    """A report of a gigabyte can be mailed to nobody."""
    paths = _home(tmp_path)
    lines = "".join(f"line {n} {'x' * 1000}\n" for n in range(3000))
    file_of(paths.logs, "engine").write_text(lines)
    (paths.logs / "service-start.log").write_text("y" * 2_000_000)

    found = await collect(paths, None, has_service=False, problem=None)
    texts = dict(found.texts)

    assert len(texts["logs/engine.log"]) <= 512 << 10
    assert "line 2999 " in texts["logs/engine.log"]
    assert texts["logs/service-start.log"].startswith("(the first ")
    assert len(texts["logs/service-start.log"]) < 600_000


async def test_evidence_is_taken_in_when_there_is_some(tmp_path: Path) -> None:
    """The newest three; links and folders in it are left alone."""
    paths = _home(tmp_path)
    for number in range(5):
        folder = tmp_path / "logs" / "crashes" / f"crash-{number}"
        folder.mkdir(parents=True)
        (folder / "log.txt").write_text(f"crash {number}")
        (folder / "core").write_bytes(b"\0" * 100)
        (folder / "link").symlink_to("/etc/hostname")
    (tmp_path / "boots.json").write_text("{}")

    found = await collect(paths, None, has_service=False, problem=None)
    texts = dict(found.texts)

    assert len({name.split("/")[1] for name in texts if name.startswith("evidence/")}) == 3
    assert not any(name.endswith("/link") for name in texts)
    assert texts[next(name for name in texts if name.endswith("/core"))] == (
        "100 bytes that are no text.\n"
    )
    assert texts["home/boots.json"] == "{}"


async def test_a_catalogue_without_failures_is_said_to_be(tmp_path: Path) -> None:
    """The log is there all the same."""
    paths = Paths(home=tmp_path / "home", catalogue=tmp_path / "none")

    found = await collect(paths, None, has_service=False, problem=None)

    assert "known failures" in found.missing
