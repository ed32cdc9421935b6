"""`weir` as a person types it into a pipe, in this process.

A process of its own costs a third of a second a command; that the program is one, and what its
streams and signals do, is shown in `test_main.py` and in `tests/e2e`.
"""

import contextlib
import dataclasses
import io
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import msgspec

from studio.__main__ import LocalConnector
from studio.cli.console import Console
from studio.cli.main import run
from studio.cli.reach import Connector


@dataclasses.dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str

    def document(self) -> dict[str, object]:
        """Return the one JSON document on standard output."""
        return msgspec.json.decode(self.out, type=dict[str, object])


def through(connector: Connector, *words: str) -> Ran:
    """Run a command line through a connector; streams are plain text, as in a pipe."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, json="--json" in words, environ={})
    status = run(words, connector, console)
    return Ran(status, out.getvalue(), err.getvalue())


@dataclasses.dataclass(frozen=True, slots=True)
class Typed:
    """A terminal with a home, over the real parts."""

    home: Path
    environ: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What its commands find set besides the home."""
    folder: Path = Path()
    """Where the person stands."""

    def __call__(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Type one command; its exit status must be `status`."""
        ran = self.try_(*words)
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran

    def try_(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Type one command, whatever its exit status."""
        found = {"WEIR_HOME": str(self.home), **self.environ}
        with contextlib.chdir(self.folder), mock.patch.dict(os.environ, found):
            ran = through(LocalConnector(), *words)
        return subprocess.CompletedProcess(words, ran.status, ran.out, ran.err)
