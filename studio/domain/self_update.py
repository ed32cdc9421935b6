"""Updates of the Studio itself: the signed feed, where an update stands, what was asked for.

The feed is a static JSON file (`installer/feed.py` writes it); its signature lies beside it. What
is not known is None; a version is three numbers.
"""

import enum
import re
from typing import Annotated

import msgspec

from studio.domain.errors import ErrorInfo

FEED_SCHEMA = 1
FEED_PURPOSE = b"weir-studio release feed v1"
"""What the signature of a feed covers beside its bytes: one for another purpose proves nothing."""
FEED_FILE = "feed.json"
SIGNATURE_SUFFIX = ".sig"
CLOCK_SLACK_S = 86_400.0
"""By how much the clock of the machine that signed may be ahead of ours."""

DAY_S = 86_400.0
_AGAIN_S = 3_600.0

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$")]
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
_Version = Annotated[str, msgspec.Meta(pattern=r"^\d{1,6}\.\d{1,6}\.\d{1,6}$")]


class Came(enum.StrEnum):
    """How the program that runs came to this machine, which decides how it is updated."""

    RUN = "run"
    """A `.run`, for one person: the Studio exchanges it."""
    DEB = "deb"
    """A package of the system: apt does."""
    APPIMAGE = "appimage"
    """One file that the person put somewhere."""
    SETUP = "setup"
    """The setup program of Windows, for one person: the newer one updates it."""
    CHECKOUT = "checkout"
    """Its sources: git does."""
    FOLDER = "folder"
    """A frozen folder that nothing installed."""


class FeedPackage(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a release."""

    file: _Name
    """Beside the feed."""
    kind: str
    """`run`, `deb`, `appimage` or `setup`; others are left out of account."""
    bytes: Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
    sha256: _Sha256


class Feed(msgspec.Struct, frozen=True, kw_only=True):
    """What a release says of itself. Unknown fields of later feeds are ignored."""

    schema_version: int
    version: _Version
    sequence: Annotated[int, msgspec.Meta(ge=1)]
    """Grows with every feed that is signed: an older one is a replay."""
    issued_at: float
    expires_at: float
    """After this nobody vouches that it is still the newest."""
    minimum_version: _Version
    """The oldest version that can go to this one in one step."""
    changes: tuple[str, ...]
    packages: tuple[FeedPackage, ...]

    def package(self, kind: str) -> FeedPackage | None:
        """Return the package of a kind, if the release has one."""
        return next((one for one in self.packages if one.kind == kind), None)


class UpdateState(enum.StrEnum):
    """Where an update of the Studio stands."""

    NOT_CHECKED = "not-checked"
    NEWEST = "newest"
    """As of `checked_at`."""
    OFFERED = "offered"
    """There is a newer version; nothing of it is here."""
    FETCHED = "fetched"
    """Its package is here and proven; somebody else installs it (`command`)."""
    STAGED = "staged"
    """It lies beside the present one and has said its number; nothing uses it."""
    WAITING = "waiting"
    """It takes over when the service starts next."""
    TRIAL = "trial"
    """Its service runs and has to prove itself; without that the present one comes back."""


class UpdateCheckRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to look."""

    source: str | None = None
    """Address or folder of a feed; None: where this build was told to look."""


class UpdateApplyRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a staged version is to take over."""

    wanted: bool = True
    """False takes that back."""


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """The databases and settings as a version left them."""

    version: str
    made_at: float
    bytes: int
    path: str


class UpdateStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about updates of the Studio, as it is now."""

    version: str
    """Of the program that answers."""
    came: Came
    used: str | None = None
    """The version that is started next; None: not known, or nobody keeps others."""
    state: UpdateState = UpdateState.NOT_CHECKED
    feed: str | None = None
    """Where it is looked; None: this build names no place."""
    checked_at: float | None = None
    offered: str | None = None
    """The newest version that is known, if it is newer than this one."""
    waiting: str | None = None
    """The version that takes over when the service starts next, or is on trial."""
    minimum_version: str | None = None
    """Set where this version is too old to go to `offered` in one step."""
    changes: tuple[str, ...] = ()
    file: str | None = None
    """The package for this machine; once it was fetched, with its folder."""
    bytes: int | None = None
    fetched_bytes: int | None = None
    """While it is being fetched, and of an unfinished one."""
    command: str | None = None
    """What the person types where the Studio does not exchange the program itself."""
    previous: str | None = None
    """The version that `rollback` would go back to."""
    previous_bytes: int | None = None
    """What it takes of the disk."""
    copies: tuple[Copy, ...] = ()
    """The newest first."""
    service_version: str | None = None
    """Of the service that runs."""
    failed: ErrorInfo | None = None
    """Why the last update was taken back."""
    last_version: str | None = None
    """The version that came up last in this home."""
    ends: int | None = None
    """So many of its first starts ended without a goodbye; None: not watched any more."""


def version_key(text: str) -> tuple[int, int, int] | None:
    """Return what versions are compared by; None for what is no version of ours."""
    match = _VERSION.fullmatch(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def is_newer(one: str, other: str) -> bool:
    """Tell whether version `one` is newer than `other`; what is no version is not."""
    first, second = version_key(one), version_key(other)
    return first is not None and second is not None and first > second


def is_look_due(now: float, checked_at: float | None, tried_at: float) -> bool:
    """Tell whether it is time for the daily look; one in vain is tried again after an hour.

    A clock that was put back does not keep it from coming.
    """
    is_old = not 0.0 <= now - (checked_at or 0.0) < DAY_S
    return is_old and not 0.0 <= now - tried_at < _AGAIN_S
