"""What looking at the library costs: 500 models in folders and in a hub's cache.

    python -m tests.bench.bench_models [--models N]

Half of them lie in a folder, half in a cache of huggingface_hub's layout; each has four shards with
headers of a real model's size (1,200 tensors in all), tokenizer and the like: ten files. One in ten
is a GGUF with a vocabulary of 150,000 words. Goal: at most 1 s with headers known; the first look,
which reads all headers, and huggingface_hub's own `scan_cache_dir` are told too.
"""

import argparse
import hashlib
import json
import os
import statistics
import struct
import tempfile
import time
from pathlib import Path

from studio.app.library_watch import Cost, lanes_of, pause_s
from studio.domain.library import RootKind
from studio.models.digests import DigestBook
from studio.models.roots import Root
from studio.models.shelf import Scan, Shelf
from tests.models.made_models import gguf

SHARDS = 4
TENSORS = 1_200
SMALL = ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "README.md")
GOAL_S = 1.0


def header(shard: int) -> bytes:
    """Return the head of one shard; its data is a hole in the file."""
    told, at = {}, 0
    for number in range(TENSORS // SHARDS):
        name = f"model.layers.{number}.mlp.experts.{shard}.down_proj.weight"
        told[name] = {"dtype": "BF16", "shape": [64, 64], "data_offsets": [at, at + 8192]}
        at += 8192
    raw = json.dumps(told).encode()
    return struct.pack("<Q", len(raw)) + raw


def put(folder: Path, heads: list[bytes], number: int, blobs: Path | None) -> None:
    """Write one model."""
    folder.mkdir(parents=True)
    files = {name: b"{}" + str(number).encode() for name in SMALL}
    files["config.json"] = json.dumps({"architectures": ["LlamaForCausalLM"], "n": number}).encode()
    names = [f"model-{n + 1:05d}-of-{SHARDS:05d}.safetensors" for n in range(SHARDS)]
    index = {"weight_map": {f"t{n}": name for n, name in enumerate(names)}}
    files["model.safetensors.index.json"] = json.dumps(index).encode()
    for name, data in files.items():
        place(folder / name, data, len(data), blobs, f"{number}{name}")
    for name, head in zip(names, heads, strict=True):
        place(folder / name, head, len(head) + 8192 * TENSORS + number, blobs, f"{number}{name}")


def place(path: Path, data: bytes, size: int, blobs: Path | None, key: str) -> None:
    """Write a file, or a blob and a link to it."""
    target = path if blobs is None else blobs / hashlib.sha256(key.encode()).hexdigest()
    with target.open("wb") as file:
        file.write(data)
        file.truncate(size)
    if blobs is not None:
        path.symlink_to(os.path.relpath(target, path.parent))


def fill(folder: Path, count: int) -> tuple[Path, Path]:
    """Write the models; return folder and cache."""
    heads = [header(shard) for shard in range(SHARDS)]
    words = {
        "general.architecture": "llama",
        "tokenizer.ggml.tokens": [f"w{n}" for n in range(150_000)],
    }
    packed = gguf(words)
    plain, cache = folder / "plain", folder / "hub"
    for number in range(count):
        if number % 10 == 0:
            (plain / f"owner{number}").mkdir(parents=True)
            (plain / f"owner{number}" / "model-Q4_K_M.gguf").write_bytes(packed)
        elif number % 2:
            put(plain / f"owner{number % 7}" / f"model{number}", heads, number, None)
        else:
            repository = cache / f"models--owner--model{number}"
            (repository / "blobs").mkdir(parents=True)
            commit = hashlib.sha1(str(number).encode()).hexdigest()
            put(repository / "snapshots" / commit, heads, number, repository / "blobs")
            (repository / "refs").mkdir()
            (repository / "refs" / "main").write_text(commit)
    return plain, cache


def looks(scan: Scan) -> None:
    """Print what looking for changes costs, and how often that lets it be done."""
    for name, lane in zip(("folders", "files"), lanes_of(scan), strict=True):
        costs = []
        for _ in range(20):
            cpu, wall = time.thread_time(), time.monotonic()
            if lane.is_changed():
                raise SystemExit("Something changed while it was looked at.")
            costs.append(Cost(time.thread_time() - cpu, time.monotonic() - wall))
        cpu_s = statistics.median(one.cpu_s for one in costs)
        pause = pause_s(Cost(cpu_s, statistics.median(one.wall_s for one in costs)))
        share = cpu_s / (pause + cpu_s)
        print(
            f"a look at all {name:7}             {cpu_s:8.4f} s, every {pause:.1f} s: {share:.3%}"
        )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=500)
    count = parser.parse_args().models
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, cache = fill(folder, count)
        own = folder / "home" / "models"
        roots = (
            Root(path=str(plain), kind=RootKind.FOLDER),
            Root(path=str(cache), kind=RootKind.CACHE),
        )
        kept = folder / "home" / "cache"
        first = Shelf(own, kept, DigestBook(own)).scan(roots)
        again = Shelf(own, kept, DigestBook(own)).scan(roots)
        shelf = Shelf(own, kept, DigestBook(own))
        shelf.scan(roots)
        warm = min(shelf.scan(roots).library.took_s for _ in range(5))
        assert len(first.library.models) == count
        print(f"{count} models, {len(first.folders):,} folders")
        print(f"first look, every header read     {first.library.took_s:8.3f} s")
        print(f"a new process, headers known      {again.library.took_s:8.3f} s")
        print(f"the same process, again           {warm:8.3f} s   goal {GOAL_S} s")
        looks(shelf.scan(roots))
        began = time.perf_counter()
        from huggingface_hub import scan_cache_dir

        loaded = time.perf_counter()
        scan_cache_dir(cache)
        print(f"scan_cache_dir of the cache alone {time.perf_counter() - loaded:8.3f} s"
              f"   and {loaded - began:.3f} s to load it")  # fmt: skip


if __name__ == "__main__":
    main()
