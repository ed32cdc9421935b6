"""All directory policy, and nothing else: where bundled data lies and where the Studio writes.

`WEIR_HOME` moves everything the Studio writes; `WEIR_CATALOGUE` points at another folder that holds
`presets/` and `runtimes/` (for people who write their own, and for tests). Only this module knows
whether the program is frozen.
"""

import dataclasses
import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from studio.domain.errors import BadInput

SOCKET_PATH_LIMIT = 100
"""Bytes; Linux allows 107 for a Unix socket, macOS 103."""


def bundled_root() -> Path:
    """Return the folder that holds `presets/`, `runtimes/` and `assets/`."""
    frozen = getattr(sys, "_MEIPASS", None)
    return Path(frozen) if frozen else Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True, slots=True)
class Paths:
    """Every place the Studio reads from or writes to."""

    home: Path
    catalogue: Path

    @property
    def runtimes(self) -> Path:
        """Installed runtimes: `<name>/<runtime id>/`."""
        return self.home / "runtimes"

    @property
    def store(self) -> Path:
        """Files that runtimes share, by content; may be deleted while nothing is installed."""
        return self.home / "store"

    @property
    def models(self) -> Path:
        """Model folders."""
        return self.home / "models"

    @property
    def cache(self) -> Path:
        """Caches that may be deleted at any time: packages, engine compile caches."""
        return self.home / "cache"

    @property
    def logs(self) -> Path:
        """Rotated logs of the engine and the service."""
        return self.home / "logs"

    @property
    def service(self) -> Path:
        """The running service's lock, address and token; mode 0700."""
        return self.home / "service"

    @property
    def settings_file(self) -> Path:
        """What the person chose."""
        return self.home / "settings.json"

    @property
    def network_settings(self) -> Path:
        """What the person chose about proxy, certificates, mirrors; may hold a password."""
        return self.home / "network.json"

    @property
    def last_failure(self) -> Path:
        """What failed last, with what was asked for."""
        return self.service / "last-failure.json"

    @property
    def downloads(self) -> Path:
        """Files as they were fetched, or put there by hand, and unfinished ones."""
        return self.cache / "downloads"

    @property
    def runtime_pins(self) -> Path:
        """What the person supplied for runtimes whose recipes leave something open."""
        return self.home / "runtime-pins.json"

    @property
    def signing(self) -> Path:
        """The key that signs exported runtimes, and whose runtimes are accepted; mode 0700."""
        return self.home / "signing"

    @property
    def secrets(self) -> Path:
        """Return what is kept to be read again, and where there is no keyring the secrets."""
        return self.home / "secrets"

    @property
    def database(self) -> Path:
        """Keys, usage, boot history (SQLite)."""
        return self.home / "studio.db"

    @property
    def prompts(self) -> Path:
        """Prompts of single keys, while a person has them kept; mode 0700, never in a report."""
        return self.home / "prompts"

    @property
    def cache_findings(self) -> Path:
        """What the prefix-cache doctor found; no text of any prompt."""
        return self.home / "cache-findings.json"

    @property
    def bench(self) -> Path:
        """Runs of the bench that are kept."""
        return self.home / "bench"

    @property
    def history(self) -> Path:
        """What the monitor saw over time (SQLite); losing it costs charts and nothing else."""
        return self.home / "history.db"

    @property
    def scrape_file(self) -> Path:
        """Whether Prometheus may read what the monitor sees, and the token for it."""
        return self.home / "metrics.json"

    @property
    def user_presets(self) -> Path:
        """Presets of the person's own; they win over bundled ones of the same id."""
        return self.home / "presets"

    @property
    def engine_cache(self) -> Path:
        """What engines compile and keep between boots."""
        return self.cache / "engine"

    @property
    def plain_home(self) -> Path:
        """The home by a name without blanks (`plain_home.py` makes the link)."""
        return self.sockets / "home" if _has_blanks(self.home) else self.home

    @property
    def sockets(self) -> Path:
        """A folder short enough for Unix sockets, private to this user and this home.

        Its name has no blanks, since engines put files there for compilers.
        """
        if _fits(self.service):
            return self.service
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:12]
        user = os.getuid() if hasattr(os, "getuid") else 0
        name = f"weir-{user}-{digest}"
        for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
            # The first is missing in containers and another user's after `su`; both may be deep.
            if base and os.access(base, os.W_OK | os.X_OK) and _fits(Path(base, name)):
                return Path(base, name)
        return Path(os.sep, "tmp", name)


def _has_blanks(folder: Path) -> bool:
    return any(letter.isspace() for letter in str(folder))


def _fits(folder: Path) -> bool:
    """Return whether the longest name of a socket still fits: the engine's own are UUIDs."""
    if _has_blanks(folder):
        return False
    return len(os.fsencode(folder / ("0" * 36))) <= SOCKET_PATH_LIMIT


def from_environment(environ: Mapping[str, str] = os.environ) -> Paths:
    """Return the paths that this process was started with.

    Raises: BadInput (`home-not-text`).
    """
    home = environ.get("WEIR_HOME")
    catalogue = environ.get("WEIR_CATALOGUE")
    paths = Paths(
        home=Path(home).expanduser().absolute()
        if home
        else Path(platformdirs.user_data_path("weir-studio", appauthor=False)),
        catalogue=Path(catalogue).expanduser().absolute() if catalogue else bundled_root(),
    )
    for folder in (paths.home, paths.catalogue):
        _require_text(folder)
    return paths


def _require_text(folder: Path) -> None:
    """Refuse a name that is no text: it has to go through JSON, to clients and engines."""
    shown = os.fsencode(folder).decode("utf-8", "replace")
    if shown != str(folder):
        raise BadInput(
            "home-not-text",
            f"The folder's name is not valid UTF-8: {shown}.",
            hint="Choose another folder with WEIR_HOME.",
        )
