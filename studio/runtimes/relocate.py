"""Files that name the folder they lie in: scripts, `pyvenv.cfg`, and the lists that count them.

Such a file has a form that is the same wherever the runtime lies. That form is what a manifest
records, so that a moved home is told from a changed file and can be put right.
"""

import os
from pathlib import Path

from studio.runtimes.folder import PYTHON

_PLACE = b"{runtime}"
_CALL = b"#!{runtime}\n"
_SHEBANG_LIMIT = 127
"""Bytes that the kernel reads of a first line; a longer interpreter is called through `sh`."""
_SIZE_LIMIT = 64 << 10


def may_name_its_folder(path: str) -> bool:
    """Tell by its path whether a file of a runtime is one of those that may name their folder."""
    if path == "python/pyvenv.cfg":
        return True
    return path.startswith("python/bin/") and path.count("/") == 2


def is_listing(path: str) -> bool:
    """Tell whether a file is a distribution's list of its files."""
    return path.endswith(".dist-info/RECORD")


def general(content: bytes, root: Path) -> bytes | None:
    """Return the form of `content` that does not depend on `root`; None when it does not name it.

    Only for files of `may_name_its_folder`.
    """
    if len(content) > _SIZE_LIMIT:
        return None
    place, call = os.fsencode(root), _call(root)
    if content.startswith(call):  # which holds a folder with a quote in its name in another form
        return _CALL + content[len(call) :].replace(place, _PLACE)
    return content.replace(place, _PLACE) if place in content else None


def placed(form: bytes, root: Path) -> bytes:
    """Return the file whose general form is `form`, for a runtime in `root`."""
    place = os.fsencode(root)
    if form.startswith(_CALL):
        return _call(root) + form[len(_CALL) :].replace(_PLACE, place)
    return form.replace(_PLACE, place)


def listing(content: bytes) -> bytes:
    """Return a RECORD without the digests of what differs from place to place.

    Those are scripts, which name their folder, and uv's note on the wheel's time.
    """
    if b"../bin/" not in content and b"/uv_cache.json," not in content:
        return content
    return b"".join(_row(line) for line in content.splitlines(keepends=True))


def _row(line: bytes) -> bytes:
    if line.startswith(b"../../../bin/") or b"/uv_cache.json," in line:
        return line.rsplit(b",", 2)[0] + b",,\n"
    return line


def _call(root: Path) -> bytes:
    """Return the first lines of a script that the interpreter of the runtime in `root` runs.

    As uv and pip write them: straight where the kernel can read it, else by way of the shell.
    """
    python = os.fsencode(root / PYTHON)
    if len(python) + 3 <= _SHEBANG_LIMIT and b" " not in python:
        return b"#!" + python + b"\n"
    quoted = python.replace(b"'", b"'\"'\"'")
    return b"#!/bin/sh\n'''exec' '" + quoted + b"' \"$0\" \"$@\"\n' '''\n"
