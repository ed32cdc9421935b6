"""A stand-in catalogue and home, in which `weir up fake-demo` serves the fake engine in a second.

    make_catalogue(folder)     runtimes/ and presets/, to be named by WEIR_CATALOGUE
    install_fake(paths)        the runtime and the model as if they had been installed

The preset's knobs carry the fake's own settings too: `--set fault=stall`, `--set boot_s=2`.
"""

import json
import platform
import shutil
import sys
from pathlib import Path

from studio.domain.manifests import InstalledModel, InstalledRuntime, RuntimeRecipe
from studio.host.documents import read_toml, write_json
from studio.host.files import sha256_bytes
from studio.host.paths import Paths
from studio.models.library import RECORD_FILE as MODEL_RECORD
from studio.runtimes import folder as runtime_folders
from studio.runtimes import history
from tests.fakes.running import FAKE

RUNTIME = "fake-vllm-0.32.0"
PRESET = "fake-demo"
MODEL = "fake-model"
SERVED_NAME = "smollm2"
POOL_TOKENS = 23_296

_REPOSITORY = Path(__file__).resolve().parents[2]
_DATA = ("failures.toml", "slow_paths.toml", "client_traps.toml", "cache_marks.toml", "alarms.toml")
_RECIPE = """\
schema_version = 1
name = "{name}"
title = "Fake vLLM 0.32.0"
engine = "vllm"
engine_version = "0.32.0"

[needs]
platforms = ["{platform}"]
disk_bytes = 1_000_000

[interpreter]
series = "{series}"

[serve]
command = ["{{python}}", "-I", "-S", {script}, "serve"]

[serve.environment]
FAKE_VLLM_TOKENS = "{tokens}"
"""
_PRESET = """\
schema_version = 1
id = "{preset}"
title = "Fake chat model"
expert = "Fake SmolLM2 on the fake vLLM"
summary = "Answers at once, for tests."
runtime = "{runtime}"
served_name = "{served_name}"
rank = {rank}
arguments = [
    "--disable-uvicorn-access-log", "--enable-prompt-tokens-details",
    "--tensor-parallel-size", "{workers}",
]
ready_within_s = 30.0
drain_s = 5.0

[model]
id = "{model}"
title = "Fake model"
licence = "Apache-2.0"
origin = "made on the spot"
disk_bytes = 10_000
files = ["config.json", "model.safetensors", "tokenizer.json"]

[knobs.max_model_len]
kind = "int"
default = 2048
minimum = 128
maximum = 8192
unit = "tokens"
meaning = "Context length: prompt and answer of one request together."

[knobs.kv_cache_memory_bytes]
kind = "int"
default = 1_073_741_824
minimum = 1_048_576
unit = "bytes"
meaning = "Memory for the KV cache; 1 GiB holds 23,296 tokens."

[knobs.max_num_seqs]
kind = "int"
default = 16
minimum = 1
maximum = 256
meaning = "How many requests are computed at the same time; more wait."

[knobs.enforce_eager]
kind = "bool"
default = true
meaning = "Run without compilation."

[knobs.boot_s]
kind = "float"
default = {boot_s}
minimum = 0.0
unit = "s"
environment = "FAKE_VLLM_BOOT_S"
meaning = "Seconds that the fake engine takes to boot."

[knobs.tokens_per_s]
kind = "float"
default = {tokens_per_s}
minimum = 0.0
environment = "FAKE_VLLM_TOKENS_PER_S"
meaning = "Pace of each stream; 0 is as fast as can be."

[knobs.fault]
kind = "str"
default = "{fault}"
environment = "FAKE_VLLM_FAULT"
meaning = "What goes wrong; see tests/fakes/fake_vllm.py."

[[expected]]
pool_tokens = 23_296
boot_s = {boot_s}
source = "made up"
"""


def make_catalogue(
    folder: Path,
    *,
    boot_s: float = 0.3,
    fault: str = "",
    tokens_per_s: float = 200.0,
    tokens: int = 32,
    rank: int = 0,
    workers: int = 1,
) -> Path:
    """Write a catalogue with one runtime and one preset into `folder`, and return it."""
    runtimes, presets = folder / "runtimes", folder / "presets"
    (runtimes / RUNTIME).mkdir(parents=True, exist_ok=True)
    presets.mkdir(exist_ok=True)
    recipe = _RECIPE.format(
        name=RUNTIME,
        platform=_platform(),
        series=f"{sys.version_info.major}.{sys.version_info.minor}",
        script=json.dumps(str(FAKE)),
        tokens=tokens,
    )
    (runtimes / RUNTIME / "runtime.toml").write_text(recipe, encoding="utf-8")
    copy_data(runtimes)
    preset = _PRESET.format(
        preset=PRESET,
        runtime=RUNTIME,
        served_name=SERVED_NAME,
        rank=rank,
        workers=workers,
        model=MODEL,
        boot_s=float(boot_s),
        tokens_per_s=float(tokens_per_s),
        fault=fault,
    )
    (presets / f"{PRESET}.toml").write_text(preset, encoding="utf-8")
    return folder


def copy_data(runtimes: Path) -> None:
    """Copy what is shipped beside the recipes into a catalogue's `runtimes`."""
    for name in _DATA:
        shutil.copy(_REPOSITORY / "runtimes" / name, runtimes / name)


def install_fake(paths: Paths) -> Path:
    """Write the fake runtime and the fake model into the home; returns the runtime's folder."""
    recipe = read_toml(paths.catalogue / "runtimes" / RUNTIME / "runtime.toml", RuntimeRecipe)
    lock = runtime_folders.lock_digest(paths, recipe)
    build = f"test interpreter {sys.version_info.major}.{sys.version_info.minor}"
    record = InstalledRuntime(
        name=RUNTIME,
        runtime_id=runtime_folders.runtime_id(build, lock, None),
        python=runtime_folders.PYTHON,
        interpreter=f"the interpreter of the tests ({sys.executable})",
        interpreter_build=build,
        lock_digest=lock,
        installed_at="2026-01-01T00:00:00+00:00",
    )
    folder = runtime_folders.folder_of(paths, record)
    python = folder / runtime_folders.PYTHON
    python.parent.mkdir(parents=True, exist_ok=True)
    python.unlink(missing_ok=True)
    # The interpreter itself and not the environment's link: that one would be looked up from here.
    python.symlink_to(Path(sys.executable).resolve())
    write_json(folder / runtime_folders.RECORD_FILE, record)
    history.activate(runtime_folders.named_folder(paths, RUNTIME), record.runtime_id)
    install_fake_model(paths)
    return folder


def install_fake_model(paths: Paths) -> Path:
    """Write the fake model's folder; returns it."""
    folder = paths.models / MODEL
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "config.json": json.dumps(
            {"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 8192}
        ).encode(),
        "model.safetensors": (8).to_bytes(8, "little") + b"{}      ",
        "tokenizer.json": b"{}",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    record = InstalledModel(
        id=MODEL,
        source_sha256=sha256_bytes(files["model.safetensors"]),
        files={name: len(data) for name, data in files.items()},
        licence="Apache-2.0",
        origin="made on the spot",
    )
    write_json(folder / MODEL_RECORD, record)
    return folder


def _platform() -> str:
    """Return this host as recipes name it."""
    machine = platform.machine().lower()
    known = {"amd64": "x86_64", "arm64": "aarch64"}
    return f"{sys.platform}-{known.get(machine, machine)}"
