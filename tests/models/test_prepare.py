"""From published files to a folder that is served: whole or absent, whatever happens."""

import asyncio
import dataclasses
import errno
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged, HostLacks, NotFound
from studio.domain.events import StageState
from studio.domain.preparing import Change, DoneWhen
from studio.domain.proofs import ModelState
from studio.host import sharing
from studio.models import library, prepare, proof
from tests.fakes.waiting import until
from tests.models.checkpoints import (
    EMBEDDING,
    FILES,
    HEAD,
    INDEX,
    SHARD,
    SHARDS,
    Kitchen,
    kitchen,
    put,
    safetensors,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def made(tmp_path: Path) -> Kitchen:
    """Return a home, a cache and a model to be made."""
    return kitchen(tmp_path)


def assert_whole(made: Kitchen) -> None:
    """Check everything about the finished model, and that nothing half-done lies beside it."""
    assert library.check(made.folder, made.spec).id == "a-model"
    record = proof.read_proof(made.folder, made.paths.models)
    assert proof.standing(made.folder, record).state is ModelState.READY
    index = made.index()
    assert index["lm_head.weight_packed"] == index["lm_head.weight_scale"] == SHARD.format(2)
    assert index["model.embed_tokens.weight_packed"] == SHARD.format(1)
    assert "lm_head.weight" not in index
    config = json.loads((made.folder / "config.json").read_bytes())
    assert config == {"quantization_config": {"ignore": ["visual"]}}
    assert {one.name for one in made.paths.models.iterdir()} == {"a-model", ".a-model.lock"}


def test_a_model_is_made_of_published_files(made: Kitchen) -> None:
    """The published files stay as they are: other programs use them too."""
    before = {name: (made.source / name).read_bytes() for name in FILES}

    folder = made.run()

    assert folder == made.folder
    assert_whole(made)
    assert {name: (made.source / name).read_bytes() for name in FILES} == before
    document = json.loads((folder / INDEX).read_bytes())
    assert document["metadata"]["total_size"] == 2096 - 1000 - 1000 + 2 * 502
    record = library.read_prepared(folder)
    assert record is not None
    head, embedding, template = record.steps
    assert set(head.inputs) == {SHARD.format(2), "config.json"}
    assert set(head.outputs) == {SHARD.format(2), "config.json", INDEX}
    assert embedding.inputs.keys() == {SHARD.format(1)}
    assert template.skipped == "Nobody says how."
    assert {one.step for one in made.reports} >= {"lm-head", "embedding"}
    assert made.reports[-1].state is StageState.DONE


def test_a_model_that_is_prepared_costs_nothing(made: Kitchen) -> None:
    """Every `weir up` asks; a step that is done is not done again."""
    made.run()
    made.python = None

    made.run()

    assert made.runs == ["lm_head.weight", "model.embed_tokens.weight"]
    assert made.reports[-1].state is StageState.SKIPPED


def test_large_files_are_linked_and_small_ones_copied(
    made: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 GB twice would not fit; a person's change of a copied file stays their own."""
    big = "model-00009.safetensors"
    put(made.source, {big: bytes(2 << 20)})
    made.run()
    assert (made.folder / big).samefile(made.source / big)
    assert not (made.folder / "tokenizer.json").samefile(made.source / "tokenizer.json")

    def no_link(*_arguments: object, **_named: object) -> None:
        raise OSError(errno.EXDEV, "another disk")

    monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(sharing.fcntl, "ioctl", no_link)
    put(made.source, {"extra.json": b"{}"})
    made.run()

    assert not (made.folder / big).samefile(made.source / big)
    assert "2.0 MiB copied" in (made.reports[-1].note or "")


@pytest.mark.parametrize("what", ["input", "step", "script"])
def test_a_changed_input_step_or_script_makes_it_due_again(made: Kitchen, what: str) -> None:
    """A model made of other files must not go on being served as this one."""
    made.run()
    spec = made.spec
    if what == "input":
        changed = {**SHARDS[SHARD.format(2)], "mtp.x.weight": b"M" * 32}
        put(made.source, {SHARD.format(2): safetensors(changed)})
    elif what == "script":
        script = made.paths.catalogue / "runtimes" / "tools" / "turn.py"
        script.write_text(script.read_text() + "\n# newer\n")
    else:
        change = Change(file="config.json", path=("more",), value=1)
        steps = (HEAD, msgspec.structs.replace(EMBEDDING, changes=(change,)))
        spec = msgspec.structs.replace(spec, preparation=steps)

    made.run(spec)

    assert len(made.runs) == 4
    text = (made.folder / SHARD.format(2)).read_bytes() + (made.folder / "config.json").read_bytes()
    assert (what == "input") == (b"M" * 32 in text)
    assert (what == "step") == (b'"more": 1' in text)


def test_a_step_that_the_files_show_to_be_done_is_left_alone(made: Kitchen) -> None:
    """Some publish checkpoints whose head is in 8 bits already."""
    made.run()
    first = {name: (made.folder / name).read_bytes() for name in FILES}
    put(made.source, first)

    made.run()

    assert len(made.runs) == 2
    record = library.read_prepared(made.folder)
    assert record is not None
    assert record.steps[0].skipped == "It was so already."


@pytest.mark.parametrize(
    ("line", "kind", "code"),
    [
        ("sys.exit('no such dtype')", HostLacks, "prepare-step-failed"),
        ("raise OSError(28, 'No space left on device')", HostLacks, "disk-full"),
        ("os.kill(os.getpid(), 9)", HostLacks, "host-memory-short"),
        ("sys.exit(137)", HostLacks, "host-memory-short"),
    ],
)
def test_a_script_that_fails_leaves_no_model_and_the_steps_before_it(
    made: Kitchen, line: str, kind: type[Exception], code: str
) -> None:
    """The reason is said in words, and the next run begins where this one failed."""
    script = made.paths.catalogue / "runtimes" / "tools" / "fails.py"
    script.write_text(f"import os, sys, pathlib\n{line}\n")
    failing = msgspec.structs.replace(EMBEDDING, tool="fails.py", memory_bytes=9_700_000_000)
    spec = msgspec.structs.replace(made.spec, preparation=(HEAD, failing))

    for _time in range(2):
        with pytest.raises(kind) as caught:
            made.run(spec)
        assert caught.value.code == code
        assert library.find(made.paths, made.spec) is None
    if code == "host-memory-short":
        assert "9.03 GiB" in caught.value.message

    assert made.runs == ["lm_head.weight"]
    assert made.reports[-1].state is StageState.FAILED


def test_a_step_that_does_not_do_what_it_is_for_is_refused(made: Kitchen) -> None:
    """A folder that only looks prepared answers nonsense, or not at all."""
    wrong = msgspec.structs.replace(HEAD, done=DoneWhen(tensors=("nobody.writes.this",)))
    spec = msgspec.structs.replace(made.spec, preparation=(wrong,))

    with pytest.raises(Damaged) as caught:
        made.run(spec)

    assert caught.value.code == "prepare-step-failed"
    assert not made.folder.exists()


def test_a_needed_step_without_a_way_is_refused_by_name(made: Kitchen) -> None:
    """What nobody has published is said, not guessed."""
    needed = msgspec.structs.replace(HEAD, tool=None, changes=(), open="Its list is not known.")
    spec = msgspec.structs.replace(made.spec, preparation=(needed,))

    with pytest.raises(HostLacks) as caught:
        made.run(spec)

    assert caught.value.code == "prepare-step-open"
    assert "`lm-head`" in caught.value.message
    assert "Its list is not known." in caught.value.message


def test_a_missing_script_and_a_missing_runtime_are_named(made: Kitchen) -> None:
    """Each has another remedy."""
    absent = msgspec.structs.replace(HEAD, tool="absent.py")
    with pytest.raises(NotFound) as unknown:
        made.run(msgspec.structs.replace(made.spec, preparation=(absent,)))
    made.python = None
    with pytest.raises(HostLacks) as without:
        made.run()

    assert (unknown.value.code, without.value.code) == ("tool-unknown", "runtime-not-installed")


def test_published_files_with_another_digest_are_refused(made: Kitchen) -> None:
    """A cache that was tampered with must not become a model."""
    one = made.preparation()
    (layer,) = one.layers
    files = tuple(
        dataclasses.replace(file, sha256="0" * 64) if file.name == "tokenizer.json" else file
        for file in layer.files
    )
    wrong = dataclasses.replace(one, layers=(dataclasses.replace(layer, files=files),))
    with pytest.raises(Damaged) as caught:
        asyncio.run(prepare.prepare(wrong, made.reports.append))

    assert caught.value.code == "model-weights"
    assert "tokenizer.json" in caught.value.message


def test_a_folder_of_the_persons_own_is_kept_under_another_name(made: Kitchen) -> None:
    """Whatever lies in the model's place was put there by somebody."""
    put(made.folder, {"notes.txt": b"mine"})

    made.run()

    assert library.find(made.paths, made.spec) == made.folder
    assert made.folder.with_name("a-model.before-1").joinpath("notes.txt").read_bytes() == b"mine"


def test_a_read_only_folder_is_said(made: Kitchen) -> None:
    """A models folder on a mounted share."""
    made.paths.models.parent.mkdir(parents=True)
    made.paths.models.write_bytes(b"a file in its place")

    with pytest.raises(HostLacks) as caught:
        made.run()

    assert caught.value.code == "not-writable"


def test_a_damaged_finished_file_is_mended(made: Kitchen) -> None:
    """Run it again, and it is as before."""
    made.run()
    (made.folder / SHARD.format(2)).write_bytes(b"short")
    assert prepare.ready_folder(made.paths, made.spec) is None

    made.run()

    assert_whole(made)


# Kills, and two at once

VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.models.checkpoints import kitchen_of
from studio.models.prepare import prepare
last, points = int(sys.argv[3]), 0
EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "subprocess.Popen",
          "shutil.rmtree", "shutil.copyfile"}
def hook(event, arguments):
    global points
    if event in EVENTS or (event == "open" and isinstance(arguments[2], int)
                           and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        points += 1
        if points == last:
            os.kill(os.getpid(), signal.SIGKILL)
made = kitchen_of(Path(sys.argv[2]))
one = made.preparation()
sys.addaudithook(hook)
asyncio.run(prepare(one, lambda progress: None))
print(points)
"""


def victim(folder: Path, last: int) -> "subprocess.Popen[str]":
    """Prepare in a child that dies at the `last` thing it does to the disk; 0: it lives."""
    return subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(ROOT), str(folder), str(last)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def _kills(folder: Path, count: int) -> None:
    whole = kitchen(folder / "whole")
    child = victim(folder / "whole", 0)
    points = int(child.communicate(timeout=60)[0])
    assert child.returncode == 0
    expected = {name: (whole.folder / name).read_bytes() for name in FILES}
    numbers = random.Random(20261130)
    for strike in range(count):
        home = folder / str(strike)
        made = kitchen(home)
        done_before = 0
        for last in numbers.sample(range(1, points + 1), 2):
            child = victim(home, last)
            child.communicate(timeout=60)
            assert child.returncode in (-signal.SIGKILL, 0)
            found = library.find(made.paths, made.spec)
            assert found is None or prepare.ready_folder(made.paths, made.spec) == found
            assert len(made.runs) <= done_before + 2
            done_before = len(made.runs)
        made.run()
        assert_whole(made)
        assert {name: (made.folder / name).read_bytes() for name in FILES} == expected
        # A step is done at most once more for each kill, and one that was kept is not done again.
        assert len(made.runs) <= 4


def test_killed_anywhere_the_model_is_absent_or_whole(tmp_path: Path) -> None:
    """Each model is killed twice at random points of the disk, then finished."""
    _kills(tmp_path, 5)


@pytest.mark.soak
def test_killed_anywhere_a_hundred_times(tmp_path: Path) -> None:
    """As above, with a hundred kills."""
    _kills(tmp_path, 50)


def test_two_processes_make_it_once(made: Kitchen, tmp_path: Path) -> None:
    """Two at once corrupted a folder in the wild; here the second waits for the first."""
    script = made.paths.catalogue / "runtimes" / "tools" / "turn.py"
    gate = tmp_path / "gate"
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.02)\n"
    script.write_text(wait + script.read_text())
    children = [victim(tmp_path, 0) for _ in range(2)]
    until(lambda: (made.paths.models / ".a-model.work" / "out").is_dir(), "the first step")
    gate.touch()

    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0

    assert_whole(made)
    assert len(made.runs) == 2
