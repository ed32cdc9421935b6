"""What the window knows of runtimes, and asks about them."""

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from studio.domain.bundles import SignerList, TrustRequest
from studio.domain.control import RuntimeVersions
from studio.domain.disk import DiskReport
from studio.domain.errors import ErrorInfo
from studio.domain.integrity import Collected
from studio.domain.runtimes import (
    RuntimeDetail,
    RuntimeList,
    RuntimeUpdate,
    RuntimeUpdates,
    RuntimeWork,
)
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.viewmodels.runtimes import first_pick
from studio.ui.viewmodels.runtimes_done import Done

if TYPE_CHECKING:
    from studio.control.client import ControlClient

    Work = Callable[[ControlClient, bool], Awaitable[Done]]


_STOPPED = tuple(f"{work.value}-stopped" for work in RuntimeWork)


class RuntimesArea(Area):
    """What is known of runtimes."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self.listed: RuntimeList | None = None
        self.chosen: str | None = None
        self.detail: RuntimeDetail | None = None
        self.versions: RuntimeVersions | None = None
        self.updates: tuple[RuntimeUpdate, ...] = ()
        self.disk: DiskReport | None = None
        self.garbage: Collected | None = None
        self.done: Done | None = None
        self.signers: SignerList | None = None
        self._last: Work | None = None
        self._refused: ErrorInfo | None = None
        """What came of it."""
        self._is_stopped = False
        """What is under way was cancelled here: its refusal is no news."""
        self._stale = False
        self._is_old = False

    def refresh(self) -> None:
        """Read everything again; while the list is read already, again afterwards."""
        self._is_old = not self.ask(
            "runtimes", lambda client: client.runtimes(), self._on_listed, self._on_problem
        )
        self.ask("updates", lambda client: client.runtime_updates(), self._on_updates)
        self.ask("disk", lambda client: client.disk(), self._on_disk)
        self.ask("signers", lambda client: client.signers(), self._on_signers)

    def choose(self, name: str) -> None:
        """Bring a runtime to the front."""
        if name != self.chosen:
            self.chosen, self.detail, self.versions = name, None, None
            self.problem = self.done = None
            self.read_detail()

    def read_detail(self) -> None:
        """Read what is in front; while that is read already, again afterwards."""
        name = self.chosen
        if name is None:
            return

        async def question(client: "ControlClient") -> tuple[RuntimeDetail, RuntimeVersions]:
            return await client.runtime(name), await client.runtime_versions(name)

        failed = functools.partial(self._on_no_detail, name)
        self._stale = not self.ask("detail", question, self._on_detail, failed)

    def do(self, work: "Work") -> None:
        """Do something that takes a while; one at a time."""
        self.problem = self.done = self.garbage = None
        self._last, self._is_stopped = work, False
        self.ask("work", lambda client: work(client, False), self._on_done, self._on_refused)

    @property
    def can_retry(self) -> bool:
        """Whether the problem in view is that of the last work, and not of a question beside it."""
        return self.problem is not None and self.problem is self._refused

    def again(self, *, consent: bool) -> None:
        """Do what was refused once more, with a yes where one was missing."""
        work = self._last
        self.problem, self._is_stopped = None, False
        if work is not None:
            self.ask("work", lambda client: work(client, consent), self._on_done, self._on_refused)

    def stop(self, name: str) -> None:
        """Stop what is being done to a runtime, whoever began it."""
        self.problem, self._is_stopped = None, True
        self.ask("stop", lambda client: client.stop_install(name), self._on_done)

    def forget_done(self) -> None:
        """Close the card about what was done."""
        self.done = None
        self.changed.emit()

    def keep_all(self) -> None:
        """Remove nothing of what a clean-up would remove."""
        self.garbage = None
        self.changed.emit()

    def _on_listed(self, found: RuntimeList) -> None:
        self.listed = found
        self.chosen = first_pick(found, self.chosen)
        self.read_detail()
        if self._is_old:
            self.refresh()

    def _on_updates(self, found: RuntimeUpdates) -> None:
        self.updates = found.updates

    def trust(self, fingerprint: str, name: str) -> None:
        """Take runtimes that are signed so from now on."""
        self.problem = None
        request = TrustRequest(fingerprint=fingerprint, name=name or None)
        self.ask(
            "trust", lambda client: client.trust_signer(request), self._on_signers, writes="signers"
        )

    def distrust(self, fingerprint: str) -> None:
        """Take no more runtimes of a signer; what is installed stays."""
        self.problem = None
        self.ask(
            "trust", lambda client: client.forget_signer(fingerprint), self._on_signers,
            writes="signers",
        )  # fmt: skip

    def _on_signers(self, found: SignerList) -> None:
        self.signers = found

    def _on_disk(self, found: DiskReport) -> None:
        self.disk = found

    def _on_detail(self, found: tuple[RuntimeDetail, RuntimeVersions]) -> None:
        detail, versions = found
        if detail.info.name == self.chosen:
            self.detail, self.versions = detail, versions
        self._again()

    def _on_no_detail(self, name: str, error: ErrorInfo) -> None:
        """Show what the list says of it; the recipe cannot be read."""
        runtimes = self.listed.runtimes if self.listed is not None else ()
        info = next((one for one in runtimes if one.name == name), None)
        if info is None:
            self.problem = error
        elif name == self.chosen:
            self.detail = RuntimeDetail(info=info, engine="", engine_version="", interpreter="")
        self._again()

    def _again(self) -> None:
        if self._stale:
            self.read_detail()

    def _on_problem(self, error: ErrorInfo) -> None:
        self.problem = error

    def _on_refused(self, error: ErrorInfo) -> None:
        if not (self._is_stopped and error.code in _STOPPED):
            self.problem = self._refused = error

    def _on_done(self, done: Done) -> None:
        if isinstance(done, Collected) and done.is_dry_run and done.removals:
            self.garbage = done
        else:
            self.done = done
        self.refresh()
