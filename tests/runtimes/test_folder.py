"""Where a runtime lies and what it is called; nothing here starts a process."""

import json
from pathlib import Path

import pytest

from studio.domain.errors import BadInput
from studio.domain.manifests import InstalledRuntime
from studio.host.documents import write_json
from studio.runtimes import folder
from studio.runtimes.patches import patch_digest
from tests.runtimes.standin import NAME, StandIn


def record(stand_in: StandIn, **changes: object) -> InstalledRuntime:
    """Write the files of a finished installation by hand and return its record."""
    digest = folder.lock_digest(stand_in.paths, stand_in.recipe)
    patches = patch_digest(stand_in.paths, stand_in.recipe)
    identity = folder.runtime_id("build", digest, patches)
    given = {
        "name": NAME,
        "runtime_id": identity,
        "python": "python/bin/python3",
        "interpreter": "CPython",
        "interpreter_build": "build",
        "lock_digest": digest,
        "patch_digest": patches,
        "installed_at": "2026-11-29T12:00:00+00:00",
    }
    made = InstalledRuntime(**{**given, **changes})
    inside = folder.runtime_folder(stand_in.paths, NAME, identity)
    write_json(inside / "runtime.json", made)
    python = inside / "python" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    (inside.parent / "current").write_text(identity + "\n")
    return made


def test_the_id_follows_every_input() -> None:
    """Another interpreter, another package or another patch is another runtime."""
    ids = {
        folder.runtime_id("a", "b", None),
        folder.runtime_id("a", "b", "c"),
        folder.runtime_id("a", "x", None),
        folder.runtime_id("x", "b", None),
        folder.runtime_id("a\nb", "", None),
    }

    assert len(ids) == 5
    assert folder.runtime_id("a", "b", None) == folder.runtime_id("a", "b", None)


def test_line_ends_of_a_checkout_do_not_change_the_id(stand_in: StandIn) -> None:
    """A lock that git wrote on Windows names the same packages."""
    lock = folder.lock_file(stand_in.paths, stand_in.recipe)
    assert lock is not None
    before = folder.lock_digest(stand_in.paths, stand_in.recipe)

    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))

    assert folder.lock_digest(stand_in.paths, stand_in.recipe) == before


def test_a_finished_folder_is_found(stand_in: StandIn) -> None:
    """`current` leads to it."""
    made = record(stand_in)

    assert folder.installed(stand_in.paths, stand_in.recipe) == made
    assert folder.folder_of(stand_in.paths, made).name == made.runtime_id[:12]
    assert folder.python_of(stand_in.paths, made).is_file()


@pytest.mark.parametrize("fault", ["no python", "no record", "half a record", "no current"])
def test_an_incomplete_folder_is_not_installed(stand_in: StandIn, fault: str) -> None:
    """Whatever is missing, the answer is: install, never: start it and see."""
    made = record(stand_in)
    inside = folder.folder_of(stand_in.paths, made)
    match fault:
        case "no python":
            folder.python_of(stand_in.paths, made).unlink()
        case "no record":
            (inside / "runtime.json").unlink()
        case "half a record":
            (inside / "runtime.json").write_bytes(b'{"name": "ti')
        case _:
            (inside.parent / "current").unlink()

    assert folder.installed(stand_in.paths, stand_in.recipe) is None


@pytest.mark.parametrize("content", ["", "../../etc", "zz\nzz", "ä", "\x00"])
def test_current_cannot_lead_elsewhere(stand_in: StandIn, content: str) -> None:
    """The file may be damaged; it is not followed out of the runtimes folder."""
    made = record(stand_in)
    (folder.folder_of(stand_in.paths, made).parent / "current").write_text(content, "utf-8")

    assert folder.installed(stand_in.paths, stand_in.recipe) is None


def test_a_record_of_another_runtime_does_not_count(stand_in: StandIn) -> None:
    """Copied folders carry their old name."""
    record(stand_in, name="other")

    assert folder.installed(stand_in.paths, stand_in.recipe) is None


def test_an_installation_from_before_a_patch_does_not_count(stand_in: StandIn) -> None:
    """Else a fix in the series would reach nobody who has the runtime already."""
    record(stand_in, patch_digest=None)

    assert folder.installed(stand_in.paths, stand_in.recipe) is None


def test_a_missing_lock_is_named(stand_in: StandIn) -> None:
    """Without it nothing can be installed exactly."""
    lock = folder.lock_file(stand_in.paths, stand_in.recipe)
    assert lock is not None
    lock.unlink()

    with pytest.raises(BadInput, match="requirements") as caught:
        folder.lock_digest(stand_in.paths, stand_in.recipe)

    assert caught.value.code == "lock-missing"


def test_the_record_is_plain_json(stand_in: StandIn, tmp_path: Path) -> None:
    """Support reads it with any editor."""
    made = record(stand_in)

    text = (folder.folder_of(stand_in.paths, made) / "runtime.json").read_text("utf-8")

    assert json.loads(text)["runtime_id"] == made.runtime_id
