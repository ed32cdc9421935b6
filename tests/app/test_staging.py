"""The setup program of Windows lays a version beside the one in use, and nothing else changes."""

import threading
from pathlib import Path

import pytest

from studio.app import staging
from studio.app.self_update import SelfUpdate
from studio.app.update_records import Ran, Records
from studio.app.wsl_turn import WslTurn
from studio.domain.errors import StudioError
from studio.domain.self_update import Came, UpdateApplyRequest, UpdateState
from studio.host import own_windows
from tests.app.test_self_update import ASK, Place
from tests.fakes import windows_versions
from tests.fakes.registry import FakeRegistry

SETUP = """\
#!/bin/sh
[ "$1" = /S ] && [ $# = 1 ] || exit 9
{more}
new="$WEIR_STAGE_INTO/app-1.1.0"
mkdir -p "$new/_internal"
cat > "$new/weir.exe" <<'X'
#!/bin/sh
{window}
X
chmod 755 "$new/weir.exe"
printf 'weir.exe\\r\\n_internal\\\\\\r\\n' | iconv -t UTF-16LE > "$new/files.txt"
printf app-1.1.0 > "$new/complete"
"""
PAINTS = """echo '{"pages": ["serve"]}'"""


class Windows(Place):
    """A PC on which 1.0.0 runs, installed by its setup program over 0.9.0."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, Came.SETUP)
        self.place = folder / "Weir Studio"
        self.installed = windows_versions.made(self.place, "app-0.9.0", "app-1.0.0")
        known = self.updates._release()
        self.updates = SelfUpdate(
            self.paths, version="1.0.0", installed=lambda: self.installed, release=lambda: known
        )
        self.turn = WslTurn(
            self.paths, version="1.0.0", installed=lambda: self.installed, registry=FakeRegistry()
        )
        self.records = Records(self.paths)

    def offer(self, window: str = PAINTS, more: str = "") -> Path:
        """Publish a setup program of 1.1.0 whose window does something."""
        script = SETUP.format(window=window, more=more)
        return self.publish(script=script)

    def looks_like(self) -> dict[str, bytes]:
        """Return every file beside the program."""
        return {
            str(path.relative_to(self.place)): path.read_bytes()
            for path in self.place.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    """Return that PC; its present window paints."""
    made = Windows(tmp_path)
    program = made.place / "app-1.0.0/weir.exe"
    program.write_text(f"#!/bin/sh\n{PAINTS}\n", encoding="utf-8")
    program.chmod(0o755)
    return made


async def test_it_is_laid_beside_and_takes_over_where_the_service_starts(windows: Windows) -> None:
    """The program may be open meanwhile; the oldest version goes once the newest has come up."""
    windows.offer()

    staged = await windows.updates.get(ASK)

    assert (staged.state, staged.command) == (UpdateState.STAGED, None)
    assert own_windows.current(windows.place) == "1.0.0"
    assert own_windows.before(windows.place, "1.0.0") == "0.9.0"
    assert not list((windows.paths.home / "update/packages").iterdir())
    waiting = await windows.updates.apply(UpdateApplyRequest())
    assert (waiting.state, waiting.waiting) == (UpdateState.WAITING, "1.1.0")
    windows.turn.take(None)
    assert windows.turn.used == "1.1.0"
    assert (windows.place / "app-0.9.0").is_dir()
    windows.turn.came_up("1.1.0")
    assert windows.records.ran() == Ran(version="1.1.0", previous="1.0.0")
    assert sorted(path.name for path in windows.place.glob("app-*")) == ["app-1.0.0", "app-1.1.0"]


async def test_a_package_that_is_still_looked_at_goes_with_the_next(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virus scanner holds a program that has just run; what it did is done all the same."""
    package = windows.offer()
    kept = windows.paths.home / "update/packages"
    unlink = Path.unlink

    def held(path: Path, missing_ok: bool = False) -> None:
        if path.parent == kept and path.suffix == ".run":
            raise PermissionError(13, "another process uses it")
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", held)
        assert (await windows.updates.get(ASK)).state is UpdateState.STAGED
        assert [path.name for path in kept.iterdir()] == [package.name]
        later = windows.publish("1.2.0", script="#!/bin/sh\nexit 2\n")
        assert (await windows.refusal()).code == "update-not-staged"

    assert (await windows.refusal()).code == "update-not-staged"
    assert [path.name for path in kept.iterdir()] == [later.name]


async def test_a_window_that_is_open_since_before_offers_no_update_that_was_made(
    windows: Windows,
) -> None:
    """It is the older version's, and would have fetched the newer one again."""
    windows.offer()
    await windows.updates.get(ASK)
    await windows.updates.apply(UpdateApplyRequest())
    windows.turn.take(None)
    windows.turn.came_up("1.1.0")

    status = await windows.updates.status()

    assert (status.version, status.used, status.previous) == ("1.0.0", "1.1.0", "1.0.0")
    assert (status.state, status.offered) == (UpdateState.NEWEST, None)
    assert (await windows.refusal()).code == "update-none"


async def test_a_staged_version_that_does_not_come_up_is_taken_back(windows: Windows) -> None:
    """As one that a person installed by hand."""
    windows.offer()
    await windows.updates.get(ASK)
    await windows.updates.apply(UpdateApplyRequest())
    windows.turn.take(None)

    assert windows.turn.take_back("did not come up")

    status = await windows.updates.status()
    assert windows.turn.used == "1.0.0"
    assert status.failed is not None
    assert status.failed.code == "update-failed"


@pytest.mark.parametrize(
    ("more", "window", "code"),
    [
        ("exit 3", PAINTS, "update-busy"),
        ("echo 'no room'; exit 2", PAINTS, "update-not-staged"),
        ("exit 0", PAINTS, "update-not-staged"),
        ("", "exit 1", "update-window"),
        ("", "echo hello", "update-window"),
    ],
)
async def test_one_that_falls_short_leaves_everything_as_it_was(
    windows: Windows, more: str, window: str, code: str
) -> None:
    """It is refused by itself, or cannot paint here; it can be fetched again."""
    before = windows.looks_like()
    package = windows.offer(window, more)

    refused = await windows.refusal()

    assert refused.code == code
    assert windows.looks_like() == before
    assert windows.records.staged() is None
    if code == "update-not-staged":
        assert package.name in (refused.hint or "")
    assert (await windows.updates.status()).state is UpdateState.OFFERED


async def test_the_service_answers_while_files_are_removed(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that falls short, and a package that is laid out: a virus scanner makes it slow."""
    seen: list[bool] = []
    unlink = Path.unlink

    def noted(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".run" or "app-1.1.0" in path.parts:
            seen.append(threading.current_thread() is threading.main_thread())
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", noted)
    windows.offer("exit 1")
    assert (await windows.refusal()).code == "update-window"
    removed = len(seen)
    windows.offer()
    await windows.updates.get(ASK)

    assert removed > 0
    assert len(seen) > removed
    assert not any(seen)


async def test_a_window_that_no_version_can_paint_holds_nobody_up(windows: Windows) -> None:
    """A remote session without a screen is the machine's doing."""
    (windows.place / "app-1.0.0/weir.exe").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    windows.offer("exit 1")

    assert (await windows.updates.get(ASK)).state is UpdateState.STAGED


async def test_a_staged_version_that_a_set_up_removed_is_forgotten(windows: Windows) -> None:
    """A person installed another one by hand, which takes all but two away."""
    windows.offer()
    await windows.updates.get(ASK)
    own_windows.remove_version(windows.place / "app-1.1.0")

    windows.turn.came_up("1.0.0")

    assert windows.records.staged() is None


async def test_a_half_version_is_none(windows: Windows) -> None:
    """A kill came before it was finished; the next set-up writes it anew."""
    windows.offer()
    await windows.updates.get(ASK)
    (windows.place / "app-1.1.0/complete").unlink()
    windows.offer()

    assert (await windows.updates.get(ASK)).state is UpdateState.STAGED
    with pytest.raises(StudioError) as caught:
        await staging.stage(
            windows.installed, windows.offer(more="exit 0"), "1.2.0", windows.paths.home
        )
    assert caught.value.code == "update-not-staged"
