"""Everything that may go wrong in words for people, with a stable code and exit status.

    StudioError
    ├── BadInput            3   the request itself cannot be met as written
    ├── NotFound            3   a name that nothing answers to
    ├── HostLacks           4   disk, memory, card, permission
    ├── PortTaken           4   somebody listens there already
    ├── NetworkFailure      4   something could not be fetched
    ├── Damaged             4   bytes that are not what they should be
    ├── NeedsConsent        4   a large step that wants a yes first
    ├── EngineFailed        5   the engine did not come up, or died
    ├── EngineNotReady      5   asked of an engine that is not serving
    ├── Busy                5   another operation holds the engine
    ├── ServiceUnreachable  6   no service, or one that does not answer
    └── Interrupted       130   Ctrl+C

`code` never changes once released; tests and other programs rely on it. Programming mistakes are
`AssertionError` and `RuntimeError`, never a `StudioError`.
"""

from typing import ClassVar

import msgspec

from studio.domain.remedies import Remedy


class ErrorInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A `StudioError` as it travels over the control API and into `--json` output."""

    code: str
    message: str
    hint: str | None = None
    evidence: tuple[str, ...] = ()
    exit_status: int = 1
    data: dict[str, str | int | float | bool | None] = {}
    remedies: tuple[Remedy, ...] = ()
    """The best first."""


class StudioError(Exception):
    """An error that may be shown: what failed, on what, why; `hint` says what to do."""

    exit_status: ClassVar[int] = 1

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        evidence: tuple[str, ...] = (),
        data: dict[str, str | int | float | bool | None] | None = None,
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.evidence = evidence
        self.data = data or {}
        self.remedies = remedies

    @property
    def info(self) -> ErrorInfo:
        """Return the error as plain data."""
        return ErrorInfo(
            code=self.code,
            message=self.message,
            hint=self.hint,
            evidence=self.evidence,
            exit_status=self.exit_status,
            data=self.data,
            remedies=self.remedies,
        )


class BadInput(StudioError):
    """The request cannot be met as written."""

    exit_status = 3


class NotFound(StudioError):
    """Nothing answers to that name."""

    exit_status = 3


class HostLacks(StudioError):
    """This machine lacks what the step needs."""

    exit_status = 4


class PortTaken(StudioError):
    """Another program listens on the port. `data`: port, owner, free_port."""

    exit_status = 4


class NetworkFailure(StudioError):
    """Something could not be fetched; `hint` names the file to supply by hand."""

    exit_status = 4


class Damaged(StudioError):
    """A file is not what its digest or its format says."""

    exit_status = 4


class NeedsConsent(StudioError):
    """A step too large to take unasked. `data`: what, download_bytes, disk_bytes."""

    exit_status = 4


class EngineFailed(StudioError):
    """The engine did not come up, or died; `evidence` holds the log lines that say why."""

    exit_status = 5


class EngineNotReady(StudioError):
    """Asked of an engine that is not serving."""

    exit_status = 5


class Busy(StudioError):
    """Another operation holds the engine."""

    exit_status = 5


class ServiceUnreachable(StudioError):
    """No service runs, or it does not answer."""

    exit_status = 6


class Interrupted(StudioError):
    """The person pressed Ctrl+C."""

    exit_status = 130


_KINDS: dict[int, type[StudioError]] = {
    kind.exit_status: kind
    for kind in (BadInput, HostLacks, EngineFailed, ServiceUnreachable, Interrupted)
}


def from_info(info: ErrorInfo) -> StudioError:
    """Return the error that `info` describes, with the same code and exit status."""
    kind = _KINDS.get(info.exit_status, StudioError)
    return kind(
        info.code,
        info.message,
        hint=info.hint,
        evidence=info.evidence,
        data=dict(info.data),
        remedies=info.remedies,
    )
