"""What somebody waits for in front of a screen: a runtime's installation, the model of `weir up`.

It has its own ways and is not in the queue of models, but it stands in the list, and the models of
the queue leave the line to it. Heard from the progress of stages.
"""

from studio.domain.downloads import DownloadInfo, DownloadKind, DownloadState
from studio.domain.events import InstallStep, Stage, StageProgress, StageState

_QUIET_S = 30.0
"""What has said nothing for so long holds nobody up."""
_FETCHING = "Fetching "
"""How parts of a stage begin that take bytes from the network (as in app/line_speed)."""
_STEPS = (InstallStep.FETCH.value, InstallStep.PACKAGES.value)
_KINDS = {Stage.RUNTIME: DownloadKind.RUNTIME, Stage.MODEL: DownloadKind.MODEL}


class Urgent:
    """Hears stages, and tells which of them fetch something now."""

    def __init__(self) -> None:
        self._now: dict[Stage, tuple[StageProgress, float]] = {}

    def hear(self, progress: StageProgress, now_s: float) -> bool:
        """Take up what a stage says; return whether that is about a download."""
        if progress.stage not in _KINDS:
            return False
        if _is_fetching(progress):
            self._now[progress.stage] = (progress, now_s)
            return True
        return self._now.pop(progress.stage, None) is not None

    def forget_quiet(self, now_s: float) -> bool:
        """Forget who has gone without a word, such as a process that died; tell if any did."""
        quiet = [stage for stage, (_, at) in self._now.items() if now_s - at > _QUIET_S]
        for stage in quiet:
            del self._now[stage]
        return bool(quiet)

    @property
    def is_any(self) -> bool:
        """Return whether something is being fetched."""
        return bool(self._now)

    def infos(self) -> tuple[DownloadInfo, ...]:
        """Return a line of the list for each."""
        return tuple(_info(progress) for progress, _ in self._now.values())


def _is_fetching(progress: StageProgress) -> bool:
    if progress.state is not StageState.RUNNING:
        return False
    return progress.step in _STEPS or (progress.note or "").startswith(_FETCHING)


def _info(progress: StageProgress) -> DownloadInfo:
    is_bytes = progress.unit == "bytes"
    done, total, rate = progress.done, progress.total, progress.rate
    left = None
    if is_bytes and total is not None and done is not None and rate:
        left = max(0.0, total - done) / rate
    return DownloadInfo(
        id=progress.stage.value,
        kind=_KINDS[progress.stage],
        title=progress.title,
        state=DownloadState.RUNNING,
        done_bytes=int(done) if is_bytes and done is not None else None,
        total_bytes=int(total) if is_bytes and total is not None else None,
        rate=rate if is_bytes else None,
        left_s=left,
        note=progress.note,
        is_first=True,
        can_change=False,
    )
