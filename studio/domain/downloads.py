"""What is fetched: models from hubs and what runtimes bring, as one queue."""

import enum

import msgspec

from studio.domain.errors import ErrorInfo


class HubName(enum.StrEnum):
    """Where models are published."""

    HUGGING_FACE = "huggingface"
    MODEL_SCOPE = "modelscope"


class GetRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files of which repository."""

    repository: str
    """`owner/name`."""
    hub: HubName | None = None
    """None: Hugging Face, or the one that can be reached where it cannot."""
    revision: str | None = None
    """A branch, a tag or a commit; None: what was fetched before, else the hub's main branch."""
    include: tuple[str, ...] = ()
    """Patterns as in a shell; empty: all files. A folder with `/` at its end is all in it."""
    exclude: tuple[str, ...] = ()
    into: str | None = None
    """A plain folder instead of the hub's cache, on the service's machine."""
    update: bool = False
    """Whether a branch that has moved on is followed; else the commit of before is kept."""


class FetchedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file and what its hub says of it."""

    path: str
    bytes: int
    sha256: str | None = None
    blob_id: str | None = None
    """Git's name of the content, where the hub says that instead."""


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What is here, whole and proven."""

    repository: str
    hub: HubName
    asked: str
    """The revision as it was asked for."""
    commit: str
    folder: str
    files: tuple[FetchedFile, ...]
    fetched_bytes: int
    newer_commit: str | None = None
    """What the branch has now, where that is another commit; None: the same, or not asked."""


class DownloadKind(enum.StrEnum):
    """For what it is fetched."""

    MODEL = "model"
    RUNTIME = "runtime"


class DownloadState(enum.StrEnum):
    """Where a download stands."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


class DownloadInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One download of the queue."""

    id: str
    kind: DownloadKind
    title: str
    state: DownloadState
    done_bytes: int | None = None
    total_bytes: int | None = None
    """None: not known."""
    rate: float | None = None
    """Bytes a second."""
    left_s: float | None = None
    note: str | None = None
    error: ErrorInfo | None = None
    result: Fetched | None = None
    is_first: bool = False
    """Somebody waits for it: it goes before the others."""
    can_change: bool = True
    """Whether it may be paused, cancelled and moved: an installation has its own ways."""


class DownloadList(msgspec.Struct, frozen=True, kw_only=True):
    """The queue, what comes first standing first."""

    downloads: tuple[DownloadInfo, ...] = ()
    limit_bytes_per_s: int | None = None
    """For models; None: none."""
    is_held: bool = False
    """Whether models wait because something that somebody waits for is being fetched."""
    is_at_work: bool = True
    """Whether a service works on it; without one it goes on when the next one starts."""


class DownloadNow(msgspec.Struct, frozen=True, kw_only=True):
    """One download that runs now, in short."""

    title: str
    done_bytes: int | None = None
    total_bytes: int | None = None
    """None: not known."""
    rate: float | None = None
    """Bytes a second."""
    left_s: float | None = None


class DownloadsNow(msgspec.Struct, frozen=True, kw_only=True):
    """The queue in short."""

    running: tuple[DownloadNow, ...] = ()
    queued: int = 0
    paused: int = 0
    failed: int = 0


class DownloadDeed(enum.StrEnum):
    """What may be done with one download."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    FIRST = "first"


class LimitRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bandwidth that models may take."""

    bytes_per_s: int | None = None
    """None: no limit."""


class LoginRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token for a hub; None forgets the one that is kept."""

    hub: HubName = HubName.HUGGING_FACE
    token: str | None = None

    def __repr__(self) -> str:
        """Tell nothing of the token."""
        return f"LoginRequest(hub={self.hub!r})"


class LoginInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Which token a hub gets."""

    hub: HubName
    endpoint: str
    source: str | None = None
    """Who named it: `weir models login`, `HF_TOKEN` or a file; None: there is none."""
    account: str | None = None
    """Whose it is, as the hub says; None: it was not asked, or `note` says why."""
    role: str | None = None
    """What it may do there, such as `read`."""
    note: str | None = None


def in_short(found: DownloadList) -> DownloadsNow:
    """Return the queue in short."""
    running = tuple(
        DownloadNow(
            title=one.title,
            done_bytes=one.done_bytes,
            total_bytes=one.total_bytes,
            rate=one.rate,
            left_s=one.left_s,
        )
        for one in found.downloads
        if one.state is DownloadState.RUNNING
    )
    states = [one.state for one in found.downloads]
    return DownloadsNow(
        running=running,
        queued=states.count(DownloadState.QUEUED),
        paused=states.count(DownloadState.PAUSED),
        failed=states.count(DownloadState.FAILED),
    )
