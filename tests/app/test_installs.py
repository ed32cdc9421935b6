"""What is being installed, and what stops it: at every point, whoever asks, however often."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from studio.app.installs import STOPPED, Installs
from studio.app.runtimes import Runtimes
from studio.app.updates import Updates
from studio.domain.control import UpRequest
from studio.domain.errors import Busy, Damaged, StudioError
from studio.domain.events import InstallStep, Stage, StageProgress, StageState
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.domain.runtimes import InstallRequest, InstallStopped, RuntimeWork
from studio.domain.server import EngineState
from studio.host.meter import Report
from studio.host.paths import Paths
from studio.host.probe import snapshot
from studio.presets.store import PresetStore
from studio.runtimes import folder, repair
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from tests.app.running import fake_paths, running
from tests.fakes.catalogue import PRESET, RUNTIME, install_fake
from tests.runtimes.conftest import stand_in
from tests.runtimes.damage import SITE
from tests.runtimes.standin import NAME as TINY
from tests.runtimes.standin import StandIn

__all__ = ["stand_in"]

RUNNING = StageProgress(stage=Stage.RUNTIME, state=StageState.RUNNING, title="Tiny", note="Going")


class Work:
    """An installation that goes on until it is told otherwise."""

    def __init__(self) -> None:
        self.reports: list[StageProgress] = []
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.calls = 0

    async def __call__(self, report: Report) -> str:
        """Report, and wait."""
        self.calls += 1
        report(RUNNING)
        self.begun.set()
        await self.may_end.wait()
        return "installed"


@pytest.fixture
async def work() -> Work:
    """Return one that is not begun yet."""
    return Work()


def home(folder: Path) -> Paths:
    """Return a home in which nothing is installed."""
    return Paths(home=folder, catalogue=folder)


async def run(
    installs: Installs, work: Work, name: str = TINY, kind: RuntimeWork = RuntimeWork.INSTALL
) -> str:
    """Do `work`; return what came of it, an error by its code."""
    try:
        return await installs.run(name, "Tiny", work.reports.append, work, kind)
    except StudioError as error:
        return error.code


async def test_a_stop_ends_it_and_everybody_hears_of_it(tmp_path: Path, work: Work) -> None:
    """Whoever waits gets an error with what to do, whoever watches sees the stage end."""
    installs = Installs(home(tmp_path))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run(installs, work))
        await work.begun.wait()

        done = await installs.stop(TINY)

        assert await running == "install-stopped"
    assert done == InstallStopped(runtime=TINY, was_running=True, work=RuntimeWork.INSTALL)
    assert [one.runtime for one in work.reports] == [TINY, TINY]
    assert (work.reports[-1].state, work.reports[-1].note) == (StageState.FAILED, STOPPED)
    assert await installs.stop(TINY) == InstallStopped(runtime=TINY, was_running=False)


@pytest.mark.parametrize("kind", list(RuntimeWork))
async def test_whatever_is_done_to_a_runtime_can_be_stopped(
    tmp_path: Path, work: Work, kind: RuntimeWork
) -> None:
    """Each says what it was, so that nobody takes a stopped export for a stopped installation."""
    installs = Installs(home(tmp_path))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run(installs, work, kind=kind))
        await work.begun.wait()

        done = await installs.stop(TINY)

        assert await running == f"{kind.value}-stopped"
    assert done == InstallStopped(runtime=TINY, was_running=True, work=kind)
    assert [one.work for one in work.reports] == [kind, kind]
    assert work.reports[-1].state is StageState.FAILED
    assert work.calls == 1


async def test_a_comparison_keeps_nobody_waiting(tmp_path: Path, work: Work) -> None:
    """It only reads: a start may install meanwhile. One stop ends both, and tells of the other."""
    installs, reading = Installs(home(tmp_path)), Work()
    async with asyncio.TaskGroup() as tasks:
        comparing = tasks.create_task(run(installs, reading, kind=RuntimeWork.VERIFY))
        await reading.begun.wait()
        installing = tasks.create_task(run(installs, work))
        await work.begun.wait()

        done = await installs.stop(TINY)

        assert await comparing == "verify-stopped"
        assert await installing == "install-stopped"
    assert (done.was_running, done.work) == (True, RuntimeWork.INSTALL)
    assert not (await installs.stop(TINY)).was_running


async def test_who_has_to_wait_is_told_for_what(tmp_path: Path, work: Work) -> None:
    """An installation cannot begin while the runtime is packed."""
    installs = Installs(home(tmp_path))
    async with asyncio.TaskGroup() as tasks:
        packing = tasks.create_task(run(installs, work, kind=RuntimeWork.EXPORT))
        await work.begun.wait()

        with pytest.raises(Busy) as caught:
            await installs.run(TINY, "Tiny", work.reports.append, work)

        assert caught.value.message == "Tiny is being exported."
        assert f"weir runtime stop {TINY}" in (caught.value.hint or "")
        work.may_end.set()
        assert await packing == "installed"


async def test_nothing_under_way_is_no_error(tmp_path: Path) -> None:
    """Whoever stops it has what they want; another one's installation goes on."""
    installs, other = Installs(home(tmp_path)), Work()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run(installs, other, "other-1.0"))
        await other.begun.wait()

        assert not (await installs.stop(TINY)).was_running

        other.may_end.set()
        assert await running == "installed"


async def test_two_stops_at_once_cancel_once(tmp_path: Path) -> None:
    """A second cancellation would cut short what the first one waits for: a thread that writes."""
    installs, begun, cleared = Installs(home(tmp_path)), asyncio.Event(), asyncio.Event()
    may_clear, has_cleared = asyncio.Event(), False

    async def work(_report: Report) -> None:
        nonlocal has_cleared
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleared.set()
            await may_clear.wait()
            has_cleared = True

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(refusal(installs, work))
        await begun.wait()
        first = tasks.create_task(installs.stop(TINY))
        await cleared.wait()
        second = tasks.create_task(installs.stop(TINY))
        await asyncio.sleep(0)
        may_clear.set()

        assert (await first).was_running
        assert (await second).was_running
        assert await running == "install-stopped"
    assert has_cleared


async def refusal(installs: Installs, work: Callable[[Report], Awaitable[None]]) -> str:
    """Return the code of what `work` ends with."""
    with pytest.raises(StudioError) as caught:
        await installs.run(TINY, "Tiny", lambda _progress: None, work)
    return caught.value.code


async def test_a_second_one_is_told_how_to_stop_the_first(tmp_path: Path, work: Work) -> None:
    """The window and a terminal may both install; the first goes on."""
    installs = Installs(home(tmp_path))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run(installs, work))
        await work.begun.wait()

        with pytest.raises(Busy) as caught:
            await installs.run(TINY, "Tiny", work.reports.append, work)

        assert caught.value.code == "install-running"
        assert f"weir runtime stop {TINY}" in (caught.value.hint or "")
        work.may_end.set()
        assert await running == "installed"
    assert work.calls == 1


async def test_a_stop_that_comes_too_late_says_so(tmp_path: Path) -> None:
    """It is in use already: to call that stopped would be wrong, to undo it worse."""
    with fake_paths(tmp_path) as paths:
        installs, done = Installs(paths), Work()
        record = paths.runtimes / RUNTIME
        record.rename(record.with_name("aside"))

        async def work(report: Report) -> str:
            if not done.calls:
                install_fake(paths)
            else:
                done.may_end.set()
            return await done(report)

        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(installs.run(RUNTIME, "Fake", lambda _progress: None, work))
            await done.begun.wait()

            stopped = await installs.stop(RUNTIME)

            assert await running == "installed"
    assert (stopped.was_running, stopped.is_finished) == (True, True)
    assert stopped.current is not None


async def test_a_service_that_ends_is_no_stop(tmp_path: Path, work: Work) -> None:
    """Its tasks are cancelled, and have to end as such, also while somebody stops one."""
    installs = Installs(home(tmp_path))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run(installs, work))
        await work.begun.wait()
        stopping = tasks.create_task(installs.stop(TINY))
        await asyncio.sleep(0)
        running.cancel()

        assert (await stopping).was_running

    assert running.cancelled()


async def test_an_error_stays_that_error(tmp_path: Path) -> None:
    """What went wrong by itself in the same moment is what has to be told."""
    installs, begun = Installs(home(tmp_path)), asyncio.Event()

    async def work(_report: Report) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise Damaged("package-hash", "Wrong.") from None

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(refusal(installs, work))
        await begun.wait()

        assert not (await installs.stop(TINY)).is_finished
        assert await running == "package-hash"
    assert running.cancelling() == 0


async def test_what_a_start_waits_for_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same call, whoever began it; the start then says why it ended, and serves nothing."""
    work = Work()

    async def install(_recipe: RuntimeRecipe, _paths: Paths, report: Report) -> str:
        return await work(report)

    monkeypatch.setattr("studio.runtimes.install.install", install)
    with fake_paths(tmp_path) as paths:
        (paths.runtimes / RUNTIME).rename(paths.runtimes / "aside")
        async with running(paths) as made, asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(refused(made.studio.up(UpRequest(preset=PRESET))))
            await work.begun.wait()

            stopped = await made.studio.runtimes.stop(RUNTIME)

            assert await starting == "install-stopped"
            assert made.studio.engine().state is EngineState.STOPPED
    assert stopped == InstallStopped(runtime=RUNTIME, was_running=True, work=RuntimeWork.INSTALL)


async def test_a_repair_that_a_start_waits_for_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was cut off goes on by itself at the next start, which may take long."""
    work = Work()

    async def mend(_recipe: RuntimeRecipe, _paths: Paths, report: Report) -> str:
        return await work(report)

    monkeypatch.setattr(repair, "repair", mend)
    with fake_paths(tmp_path) as paths:
        record = folder.current(paths, RUNTIME)
        assert record is not None
        (folder.folder_of(paths, record) / repair.REPAIR_FOLDER).mkdir()
        async with running(paths) as made, asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(refused(made.studio.up(UpRequest(preset=PRESET))))
            await work.begun.wait()

            stopped = await made.studio.runtimes.stop(RUNTIME)

            assert await starting == "repair-stopped"
            assert made.studio.engine().state is EngineState.STOPPED
    assert stopped.work is RuntimeWork.REPAIR


async def refused(call: Awaitable[object]) -> str:
    """Return the code of what a call ends with."""
    with pytest.raises(StudioError) as caught:
        await call
    return caught.value.code


class Life:
    """A stand-in runtime of which one installation is in use and an update is offered."""

    def __init__(self, stand_in: StandIn) -> None:
        self.paths = stand_in.paths
        self.lock = stand_in.recipe_file.with_name("requirements.lock")
        self.reached = asyncio.Event()
        self.wanted: InstallStep | None = None
        catalog, installs = Catalog(self.paths), Installs(self.paths)
        self.runtimes = Runtimes(self.paths, catalog, self.host, self.hear, installs)
        store = PresetStore(self.paths)
        self.updates = Updates(self.paths, catalog, store, self.host, self.hear, installs)

    async def host(self) -> HostSnapshot:
        """Return this machine."""
        return snapshot(self.paths.home.parent)

    def hear(self, progress: StageProgress) -> None:
        """Notice the step that is waited for."""
        if self.wanted is not None and progress.step == self.wanted:
            self.reached.set()

    async def stopped_at(self, step: InstallStep) -> tuple[InstallStopped, str]:
        """Update, stop at `step`; return what both sides were told."""
        self.wanted, self.reached = step, asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            updating = tasks.create_task(self._update())
            await self.reached.wait()
            stopped = await self.runtimes.stop(TINY)
        return stopped, updating.result()

    async def _update(self) -> str:
        try:
            return (await self.updates.update(TINY, InstallRequest())).after
        except StudioError as error:
            return error.code


async def test_stopped_at_each_step_the_old_one_serves_and_a_run_completes(
    stand_in: StandIn,
) -> None:
    """What is in use is not touched before the last step, and the steps that are done count.

    At the last step the stop may come too late: then it says so, and no third thing is possible.
    """
    life = Life(stand_in)
    old = (await life.runtimes.install(TINY, InstallRequest())).info.runtime_id
    life.lock.write_text(life.lock.read_text() + "# changed\n")

    for step in (InstallStep.SPACE, InstallStep.PACKAGES, InstallStep.PROBE):
        stopped, told = await life.stopped_at(step)
        assert (stopped.was_running, stopped.is_finished, stopped.current) == (True, False, old)
        assert told == "install-stopped"

    stopped, told = await life.stopped_at(InstallStep.ACTIVATE)
    assert (stopped.current, stopped.is_finished) == (
        (old, False) if told == "install-stopped" else (told, True)
    )
    done = await life.updates.update(TINY, InstallRequest())
    assert old != done.after == (await life.runtimes.one(TINY)).info.runtime_id
    assert (await life.runtimes.verify(TINY, full=True)).is_whole
    assert not (await life.runtimes.stop(TINY)).was_running


class Stopper:
    """Stops what is being done to the stand-in as soon as it says a certain thing."""

    def __init__(self, stand_in: StandIn, tasks: asyncio.TaskGroup, saying: str) -> None:
        self.paths = stand_in.paths
        self.stopping: asyncio.Task[InstallStopped] | None = None
        self._tasks = tasks
        self._saying = saying
        self.runtimes = Runtimes(self.paths, Catalog(self.paths), self.host, self.hear)

    async def host(self) -> HostSnapshot:
        """Return this machine."""
        return snapshot(self.paths.home.parent)

    def hear(self, progress: StageProgress) -> None:
        """Ask for the stop before the work goes on."""
        is_due = (progress.note or "").startswith(self._saying)
        if is_due and self.stopping is None:
            self.stopping = self._tasks.create_task(self.runtimes.stop(TINY))

    async def stopped(self, call: Awaitable[object]) -> tuple[str, InstallStopped]:
        """Return what both sides were told."""
        code = await refused(call)
        assert self.stopping is not None
        return code, await self.stopping


async def test_a_comparison_is_stopped_while_it_reads(stand_in: StandIn) -> None:
    """What differs was not found, and that must not read as if all were whole."""
    await install_runtime(stand_in)
    async with asyncio.TaskGroup() as tasks:
        stopper = Stopper(stand_in, tasks, "Reading every file")

        told = await stopper.stopped(stopper.runtimes.verify(TINY, full=True))

    assert told == ("verify-stopped", stopped_work(stand_in, RuntimeWork.VERIFY))


@pytest.mark.parametrize("saying", ["Reading every file", "Unpacking", "Compiling"])
async def test_a_repair_that_was_stopped_is_finished_by_the_next_start(
    stand_in: StandIn, saying: str
) -> None:
    """At every part of it; what it had mended by then is mended."""
    record = await install_runtime(stand_in)
    root = folder.folder_of(stand_in.paths, record)
    (root / SITE / "weirtiny/part3.py").unlink()
    shutil.rmtree(stand_in.paths.home / "store")
    async with asyncio.TaskGroup() as tasks:
        stopper = Stopper(stand_in, tasks, saying)

        told = await stopper.stopped(stopper.runtimes.repair(TINY))

    assert told == ("repair-stopped", stopped_work(stand_in, RuntimeWork.REPAIR))
    assert (root / repair.REPAIR_FOLDER).is_dir()
    assert await repair.ensure_whole(stand_in.recipe, stand_in.paths, lambda _progress: None)
    async with asyncio.TaskGroup() as tasks:
        verdict = await Stopper(stand_in, tasks, "-").runtimes.verify(TINY, full=True)
    assert verdict.is_whole
    assert verdict.bytecode == 0
    assert not (root / repair.REPAIR_FOLDER).exists()


async def install_runtime(stand_in: StandIn) -> InstalledRuntime:
    """Install the stand-in."""
    return await install(stand_in.recipe, stand_in.paths, lambda _progress: None)


def stopped_work(stand_in: StandIn, work: RuntimeWork) -> InstallStopped:
    """Return what is said of a stop that came in time."""
    record = folder.current(stand_in.paths, TINY)
    assert record is not None
    return InstallStopped(runtime=TINY, was_running=True, work=work, current=record.runtime_id)
