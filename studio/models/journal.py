"""How far the preparation of a model is, kept on disk so that a kill at any instant costs little.

<models>/.<id>.lock         held while it is prepared; its text is the holder's process id
        /.<id>.work/state.json    what is here and done, for exactly these inputs and steps
                   /folder/       the model as it is so far
                   /out/          new files of the step under way, until all of them are whole
"""

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from studio.domain.errors import Damaged
from studio.domain.preparing import DoneStep
from studio.host import sharing
from studio.host.documents import read_json, write_json
from studio.models.assemble import Held
from studio.models.weight_map import INDEX


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What `state.json` says."""

    key: str
    """Digest of all inputs, steps and scripts; other ones begin anew."""
    files: dict[str, Held] = {}
    done: tuple[DoneStep, ...] = ()
    moving: DoneStep | None = None
    """A step whose new files are whole and on their way into the folder."""
    moved: dict[str, Held] = {}
    """Those files."""
    copied_bytes: int = 0
    """What could not be linked."""


class Journal:
    """The preparation of one model. All methods block; the caller holds the lock."""

    def __init__(self, models: Path, model_id: str) -> None:
        self.work = models / f".{model_id}.work"
        self.folder = self.work / "folder"
        self.out = self.work / "out"
        self._file = self.work / "state.json"
        self.state = State(key="")

    def open(self, key: str) -> None:
        """Take up what is there for the same inputs; anything else is thrown away."""
        try:
            state = read_json(self._file, State)
        except Damaged:
            state = None
        if state is None or state.key != key or not self._is_as_said(state):
            self.clear()
            self.folder.mkdir(parents=True)
            self.keep(State(key=key))
            return
        self.state = state
        self._sweep()
        if state.moving is not None:
            self.move()

    def _is_as_said(self, state: State) -> bool:
        """Tell whether the folder holds what was written down, but for files on their way."""
        return self.folder.is_dir() and all(
            _is(self._path(name), held)
            or (name in state.moved and _is(self._path(name), state.moved[name]))
            for name, held in state.files.items()
        )

    def _sweep(self) -> None:
        for root, _folders, names in os.walk(self.folder):
            for name in names:
                if sharing.is_leftover(name):
                    Path(root, name).unlink(missing_ok=True)

    def clear(self) -> None:
        """Throw everything away."""
        shutil.rmtree(self.work, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            self.work.unlink()  # a file or link of that name

    def keep(self, state: State) -> None:
        """Write down how far it is."""
        write_json(self._file, state)
        self.state = state

    def fresh_out(self) -> Path:
        """Return an empty folder for new files."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        return self.out

    def finish_step(self, step: DoneStep, made: Mapping[str, Held]) -> None:
        """Let a step's new files take their places; they are whole in `out`."""
        self.keep(msgspec.structs.replace(self.state, moving=step, moved=dict(made)))
        self.move()

    def move(self) -> None:
        """Move what is in `out` into the folder, the index last; goes on after a kill."""
        state = self.state
        assert state.moving is not None
        for name in sorted(state.moved, key=lambda name: (name == INDEX, name)):
            source = self.out.joinpath(*PurePosixPath(name).parts)
            if source.exists():
                target = self._path(name)
                target.parent.mkdir(parents=True, exist_ok=True)
                source.replace(target)
        self.keep(
            msgspec.structs.replace(
                state,
                files={**state.files, **state.moved},
                done=(*state.done, state.moving),
                moving=None,
                moved={},
            )
        )

    def _path(self, name: str) -> Path:
        return self.folder.joinpath(*PurePosixPath(name).parts)


def _is(path: Path, held: Held) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns) == (held.size_bytes, held.modified_ns)
