"""Removes or imports a model again and again, each time killed at the next touch of the disk.

    python -m tests.models.killed_work remove|snapshot|loose|copy|link FOLDER

`FOLDER/N` is what the kill at the N-th touch left; the last one was not killed. The kill is an exit
without any clean-up, before the file system is asked.
"""

import os
import shutil
import sys
from pathlib import Path

from studio.domain.library import ImportWay, RootKind
from studio.models import removing, taking
from studio.models.finding import Found, walk
from studio.models.roots import Root
from tests.models.made_models import cached, gguf, model, safetensors

_EVENTS = frozenset(
    ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "open",
     "os.truncate", "shutil.rmtree")
)  # fmt: skip
_KILLED = 137


def main(work: str, folder: Path) -> None:
    """Do it until nothing is left to be killed at."""
    for number in range(1, 1_000):
        here = folder / str(number)
        prepare(work, here)
        child = os.fork()
        if child == 0:
            kill_at(number)
            perform(work, here)
            os._exit(0)
        _pid, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != _KILLED:
            return


def prepare(work: str, here: Path) -> None:
    """Make what is to be removed or imported."""
    (here / "models").mkdir(parents=True)
    match work:
        case "remove":
            model(here / "root" / "owner" / "m")
        case "snapshot":
            cached(here / "root")
            files = {"config.json": b"{}", "model.safetensors": safetensors(fill=b"other")}
            cached(here / "root", files=files, commit="b" * 40, ref="old")
        case "loose":
            (here / "root").mkdir()
            for part in (1, 2):
                (here / "root" / f"m-0000{part}-of-00002.gguf").write_bytes(gguf())
        case _:
            model(here / "source" / "m")


def perform(work: str, here: Path) -> None:
    """Do what is to be killed."""
    if work in ("copy", "link"):
        found = taking.source(here / "source" / "m")
        taking.take(found, here / "models", "m", ImportWay(work), lambda _done, _total: None)
        return
    removing.remove(wanted(work, here), here / "models")


def wanted(work: str, here: Path) -> Found:
    """Return the model that is to go."""
    models = walk(Root(path=str(here / "root"), kind=RootKind.FOLDER)).models
    return next(one for one in models if work != "snapshot" or "main" in one.refs)


def kill_at(number: int) -> None:
    """End this process at the `number`-th touch of the disk from now on."""
    left = number

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        is_write = event != "open" or (
            isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE
        )
        if event in _EVENTS and is_write:
            left -= 1
            if left == 0:
                os._exit(_KILLED)

    sys.addaudithook(hook)


if __name__ == "__main__":
    shutil.rmtree(Path(sys.argv[2]), ignore_errors=True)
    main(sys.argv[1], Path(sys.argv[2]))
