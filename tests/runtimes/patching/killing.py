"""A child that patches a tree again and again and stops each time at a later system call.

`python -m tests.runtimes.patching.killing MODE FOLDER STRIDE`: for n = 1, 1 + STRIDE, … it makes a
fresh tree and forks. The fork applies the series until its n-th audited call (open, rename, link,
remove, mkdir …), where it is killed with SIGKILL (`kill`), or where that call fails as on a full
disk (`full`). Then the tree is recovered, and what it holds goes to the standard output as one JSON
line. It ends with the first run that is not stopped.
"""

import errno
import itertools
import json
import os
import shutil
import signal
import sys
from pathlib import Path

from studio.domain.errors import HostLacks, StudioError
from studio.runtimes.patching.apply import apply, recover
from studio.runtimes.patching.digest import tree_digest
from studio.runtimes.patching.parse import parse_series
from tests.runtimes.patching.gnu import read_tree
from tests.runtimes.patching.trees import FEATURES, feature_tree, make_tree

UNSTOPPED, APPLIED, REFUSED, UNEXPECTED = 0, 10, 11, 12
"""Exit status: not stopped; applied in spite of it; refused as the host lacks something; else."""

_CALLS = ("open", "os.", "shutil.")


def stop_at(number: int, mode: str) -> list[int]:
    """Stop this process at its `number`-th audited call; return how many are left until then."""
    left = [number]

    def hook(event: str, _arguments: object) -> None:
        if not event.startswith(_CALLS) or left[0] <= 0:
            return
        left[0] -= 1
        if left[0]:
            return
        if mode == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    sys.addaudithook(hook)
    return left


def run(number: int, mode: str, tree: Path, journal: Path) -> int:
    """Apply in a fork that is stopped; return its exit status, or minus the signal."""
    series = parse_series([FEATURES])
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = UNEXPECTED
    try:
        left = stop_at(number, mode)
        apply(series, tree, journal=journal)
        status = UNSTOPPED if left[0] else APPLIED
    except StudioError as error:
        status = REFUSED if isinstance(error, HostLacks) else UNEXPECTED
    finally:
        os._exit(status)


def main(mode: str, folder: Path, stride: int) -> None:
    """Go through all points and tell what each left behind."""
    for number in itertools.count(1, stride):
        tree, journal = folder / f"tree-{number}", folder / f"journal-{number}.json"
        make_tree(tree, feature_tree())
        status = run(number, mode, tree, journal)
        told = {
            "point": number,
            "status": status,
            "digest_then": tree_digest(tree, read_tree(tree)),
        }
        recovery = recover(tree, journal)
        told["recovered"] = recovery is not None
        told["digest"] = tree_digest(tree, read_tree(tree))
        told["staging"] = [path.name for path in (*tree.glob(".weir*"), *folder.glob(".journal*"))]
        outcome = apply(parse_series([FEATURES]), tree, journal=journal)
        told["states"] = [patch.state for patch in outcome.patches]
        told["final"] = tree_digest(tree, read_tree(tree))
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        shutil.rmtree(tree)
        journal.with_name(journal.name + ".lock").unlink()
        if status == UNSTOPPED:
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
