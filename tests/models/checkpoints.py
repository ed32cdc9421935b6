"""Small real checkpoints, a script that changes them as the real one does, and their spec."""

import asyncio
import dataclasses
import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

from studio.domain.events import StageProgress
from studio.domain.manifests import ModelSource, ModelSpec
from studio.domain.preparing import Change, DoneWhen, PreparationStep
from studio.host import tools
from studio.host.paths import Paths
from studio.models import assemble, places
from studio.models.prepare import Preparation, prepare

COMMIT = "c" * 40
NAME = "owner/base"
SHARD = "model-0000{}-of-00002.safetensors"
INDEX = "model.safetensors.index.json"

# What the real script does to a file, without its arithmetic: NAME becomes NAME_packed, NAME_scale.
TOOL = """
import json, os, pathlib, struct, sys
source, target, names = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
with open(pathlib.Path(__file__).with_name("runs.txt"), "a") as runs:
    runs.write(" ".join(names) + "\\n")
data = source.read_bytes()
length = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
made, end, raw = {}, 0, b""
for name, entry in header.items():
    begin, stop = entry["data_offsets"]
    part = body[begin:stop]
    turned = ((name + "_packed", part[::2]), (name + "_scale", part[:2]))
    for new, some in turned if name in names else ((name, part),):
        made[new] = {"dtype": "U8", "shape": [len(some)], "data_offsets": [end, end + len(some)]}
        end += len(some)
        raw += some
    print(f"progress {stop} {len(body)}", flush=True)
text = json.dumps(made).encode()
part = target.with_name(target.name + ".part")
part.write_bytes(struct.pack("<Q", len(text)) + text + raw)
part.replace(target)
"""


def safetensors(tensors: Mapping[str, bytes]) -> bytes:
    """Return a real file of bytes."""
    header, end = {}, 0
    for name, data in tensors.items():
        entry = {"dtype": "U8", "shape": [len(data)], "data_offsets": [end, end + len(data)]}
        header[name] = entry
        end += len(data)
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + b"".join(tensors.values())


SHARDS = {
    SHARD.format(1): {"model.embed_tokens.weight": b"embed" * 200, "model.norm.weight": b"n" * 64},
    SHARD.format(2): {"lm_head.weight": b"heads" * 200, "mtp.x.weight": b"m" * 32},
}
FILES: dict[str, bytes] = {
    "config.json": b'{"quantization_config": {"ignore": ["lm_head", "visual"]}}',
    "tokenizer.json": '{"grüß": 1}'.encode(),
    INDEX: json.dumps(
        {
            "metadata": {"total_size": 2096},
            "weight_map": {name: file for file, one in SHARDS.items() for name in one},
        }
    ).encode(),
    **{file: safetensors(tensors) for file, tensors in SHARDS.items()},
}

HEAD = PreparationStep(
    name="lm-head",
    what="Store the output matrix in 8 bits.",
    tool="turn.py",
    tensors=("lm_head.weight",),
    changes=(
        Change(file="config.json", path=("quantization_config", "ignore"), without=("lm_head",)),
    ),
    done=DoneWhen(tensors=("lm_head.weight_packed",)),
)
EMBEDDING = PreparationStep(
    name="embedding",
    what="Store the embedding in 8 bits.",
    tool="turn.py",
    tensors=("*embed_tokens.weight",),
    done=DoneWhen(tensors=("*embed_tokens.weight_packed",)),
)
UNKNOWN = PreparationStep(
    name="template", what="Harden the template.", optional=True, open="Nobody says how."
)


@dataclasses.dataclass(kw_only=True)
class Kitchen:
    """A home, a cache with a published checkpoint, and what is made of it."""

    paths: Paths
    cache: Path
    spec: ModelSpec
    reports: list[StageProgress] = dataclasses.field(default_factory=list)
    python: Path | None = Path(sys.executable)

    @property
    def source(self) -> Path:
        """Where the published files lie."""
        return self.cache / "hub" / "models--owner--base" / "snapshots" / COMMIT

    @property
    def folder(self) -> Path:
        """Where the model will lie."""
        return self.paths.models / self.spec.id

    @property
    def runs(self) -> list[str]:
        """What the script was told, run by run."""
        file = self.paths.catalogue / "runtimes" / "tools" / "runs.txt"
        return file.read_text().splitlines() if file.exists() else []

    def preparation(self, spec: ModelSpec | None = None) -> Preparation:
        """Return what is to be done."""

        async def script_of(step: PreparationStep) -> Path:
            assert step.tool is not None
            return tools.tool_file(self.paths, step.tool)

        one = spec or self.spec
        folders = places.snapshots(self.paths, one.sources[0], {"HF_HOME": str(self.cache)})
        layers = tuple(assemble.layer(folder, one.title) for folder in folders)
        return Preparation(
            spec=one,
            layers=layers,
            paths=self.paths,
            python=self.python,
            script_of=script_of,
        )

    def run(self, spec: ModelSpec | None = None) -> Path:
        """Prepare it here."""
        return asyncio.run(prepare(self.preparation(spec), self.reports.append))

    def index(self) -> dict[str, str]:
        """Return tensor to file, as the finished index says."""
        document = json.loads((self.folder / INDEX).read_bytes())
        found: dict[str, str] = document["weight_map"]
        return found


def put(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def kitchen(folder: Path) -> Kitchen:
    """Make one, below a folder of the test's own."""
    made = kitchen_of(folder)
    put(made.paths.catalogue / "runtimes" / "tools", {"turn.py": TOOL.encode()})
    put(made.source, FILES)
    return made


def kitchen_of(folder: Path) -> Kitchen:
    """Return the one that was made below a folder."""
    paths = Paths(home=folder / "my höme", catalogue=folder / "catalogue")
    spec = ModelSpec(
        id="a-model",
        title="A model",
        licence="Apache-2.0",
        origin="made by a test",
        disk_bytes=20_000,
        files=tuple(FILES),
        sources=(ModelSource(repository=NAME, revision=COMMIT, download_bytes=9_000),),
        preparation=(HEAD, EMBEDDING, UNKNOWN),
    )
    return Kitchen(paths=paths, cache=folder / "hf 缓存", spec=spec)
