"""A preset's models from nothing to ready: over a hub that speaks the real shapes."""

import asyncio
import contextlib
import dataclasses
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from studio.app.downloads import Downloads
from studio.app.model_files import ModelFiles
from studio.domain.errors import Damaged, HostLacks, NetworkFailure, StudioError
from studio.domain.events import Event, StageProgress
from studio.domain.manifests import ModelSource, ModelSpec
from studio.domain.proofs import ModelState, ProofRecord, ProvenFile
from studio.host import network
from studio.host.paths import Paths
from studio.models import library, places, proof
from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, Hub, sha256
from tests.host.downloads import QUICK
from tests.models.checkpoints import (
    EMBEDDING,
    FILES,
    HEAD,
    INDEX,
    SHARD,
    TOOL,
    put,
    safetensors,
)

WEIGHTS = ("model.safetensors", SHARD.format(1), SHARD.format(2))
PLAIN = {"config.json": b"{}", "model.safetensors": safetensors({"a": bytes(3_000_000)})}
OVERLAY = "fast/overlay"


@dataclasses.dataclass(kw_only=True)
class House:
    """A home, its hub, and what brings models here."""

    hub: Hub
    paths: Paths
    files: ModelFiles
    environ: dict[str, str]
    reports: list[StageProgress] = dataclasses.field(default_factory=list)

    @property
    def cache(self) -> Path:
        """Return the cache of the hub's own programs."""
        return Path(self.environ["HF_HOME"]) / "hub"

    def ready(self, spec: ModelSpec, *, is_compared: bool = False) -> Path:
        """Bring a model here."""
        python, report = Path(sys.executable), self.reports.append
        return asyncio.run(self.files.ready(spec, None, python, report, is_compared=is_compared))


@contextlib.contextmanager
def house(
    folder: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> Iterator[House]:
    """Serve a repository, and make a home that is empty."""
    with fake.running(Hub(files=files, lfs=frozenset(WEIGHTS) & files.keys())) as hub:
        environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "hf 缓存")}
        for name, text in environ.items():
            monkeypatch.setenv(name, text)
        monkeypatch.delenv("HF_HUB_CACHE", raising=False)
        monkeypatch.setattr(network, "in_force", lambda *_arguments: QUICK)
        paths = Paths(home=folder / "my höme", catalogue=folder / "catalogue")
        put(paths.catalogue / "runtimes" / "tools", {"turn.py": TOOL.encode()})
        events: list[Event] = []
        downloads = Downloads(paths, events.append, environ)
        made = ModelFiles(paths, downloads, environ=environ, roots=lambda: (folder / "roots",))
        yield House(hub=hub, paths=paths, files=made, environ=environ)


def plain(**changes: object) -> ModelSpec:
    """Return a model that is served as its repository has it."""
    spec = ModelSpec(
        id="plain",
        title="A plain model",
        licence="Apache-2.0",
        origin="made by a test",
        disk_bytes=3_000_000,
        files=("config.json", "model.safetensors"),
        sources=(ModelSource(repository=NAME, revision=COMMIT, download_bytes=3_000_000),),
    )
    return msgspec.structs.replace(spec, **changes)


def prepared(**changes: object) -> ModelSpec:
    """Return a model that is made in steps."""
    spec = plain(id="base", files=tuple(FILES), preparation=(HEAD, EMBEDDING))
    return msgspec.structs.replace(spec, **changes)


def test_a_plain_model_is_fetched_into_the_hubs_cache_and_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One copy for all programs; every byte went through our digests, so it is ready."""
    with house(tmp_path, PLAIN, monkeypatch) as made:
        folder = made.ready(plain())
        asked = len(made.hub.asked)
        again = made.ready(plain())

        assert len(made.hub.asked) == asked

    assert folder == again == library.find(made.paths, plain())
    assert folder.is_relative_to(made.cache)
    record = proof.read_proof(folder, made.paths.models)
    assert record is not None
    assert (record.source, record.revision) == ("huggingface", COMMIT)
    assert proof.standing(folder, record).state is ModelState.READY
    assert not (made.paths.models / "plain").exists()
    assert any(one.note == f"Getting {NAME}" for one in made.reports)


def test_a_plain_model_that_another_program_fetched_is_used_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hub is asked once whether it is whole; without a network it is used as it lies."""
    with house(tmp_path, PLAIN, monkeypatch) as made:
        made.ready(plain())
        shutil.rmtree(made.paths.models)
        sent = made.hub.sent_bytes

        folder = made.ready(plain())

        assert made.hub.sent_bytes - sent < 10_000
        shutil.rmtree(made.paths.models)
    assert made.ready(plain()) == folder


def test_files_that_are_missing_of_a_cached_repository_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A download of another program may have been cut off between two files."""
    files = {**PLAIN, "tokenizer.json": b"[]"}
    with house(tmp_path, files, monkeypatch) as made:
        folder = made.ready(plain())
        shutil.rmtree(made.paths.models)
        (folder / "tokenizer.json").unlink()
        assert library.find(made.paths, plain()) == folder

        made.ready(plain())

    assert (folder / "tokenizer.json").read_bytes() == b"[]"


def test_another_file_at_the_hub_than_the_preset_names_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository without a revision in the preset may change under its name."""
    spec = plain(digests={"model.safetensors": "0" * 64})
    with house(tmp_path, PLAIN, monkeypatch) as made, pytest.raises(Damaged) as caught:
        made.ready(spec)

    assert caught.value.code == "model-other-source"
    assert library.find(made.paths, spec) is None


def test_a_model_in_a_folder_of_the_persons_own_is_used_by_its_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """130 GB on another disk are not fetched again because they have another name."""
    own = put(tmp_path / "roots" / "from a friend", PLAIN)
    spec = plain(digests={name: sha256(data) for name, data in PLAIN.items()})
    with house(tmp_path, PLAIN, monkeypatch) as made:
        assert made.ready(spec) == own
        assert made.hub.asked == []
        assert library.find(made.paths, spec) == own
        (own / "model.safetensors").write_bytes(b"other")

        assert made.ready(spec) != own


def test_a_model_whose_proof_names_the_revision_is_used_without_reading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was proven once is not read again; a proof of another revision does not count."""
    own = put(tmp_path / "roots" / "deep" / "model", PLAIN)
    with house(tmp_path, PLAIN, monkeypatch) as made:
        for revision in ("b" * 40, COMMIT):
            files = tuple(_proven(own, name) for name in PLAIN)
            record = ProofRecord(
                source="import", repository=NAME, revision=revision, proven_at_s=1.0, files=files
            )
            proof.write_proof(own, made.paths.models, record)
            found = places.in_folders(made.paths, plain(), [tmp_path / "roots"])

            assert found == (own if revision == COMMIT else None)
        assert made.ready(plain()) == own


def _proven(folder: Path, name: str) -> ProvenFile:
    return proof.proven(folder, name, sha256(PLAIN[name]))


def test_a_model_in_steps_is_fetched_prepared_and_laid_under_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way of the fast variant: its files over the prepared base, the index last."""
    names = set(json.loads(FILES[INDEX])["weight_map"])
    top = safetensors({"lm_head.weight_packed": b"int4"})
    kept = {"model.embed_tokens.weight_packed", "model.embed_tokens.weight_scale"}
    index = {
        "lm_head.weight_packed": SHARD.format(2),
        **dict.fromkeys([*kept, "model.norm.weight"], SHARD.format(1)),
    }
    assert names
    overlay = {
        SHARD.format(2): top,
        INDEX: json.dumps({"weight_map": index}).encode(),
        "ids.pt": b"ids",
    }
    fast = plain(
        id="fast",
        files=(INDEX, "ids.pt", "tokenizer.json"),
        sources=(ModelSource(repository=OVERLAY, revision=COMMIT),),
        base=prepared(),
    )
    with house(tmp_path, FILES, monkeypatch) as made:
        put(made.cache / "models--fast--overlay" / "snapshots" / COMMIT, overlay)

        folder = made.ready(fast)

        base = made.paths.models / "base"
        assert library.find(made.paths, prepared()) == base
        assert folder == made.paths.models / "fast"
        assert (folder / SHARD.format(2)).read_bytes() == top
        assert (folder / SHARD.format(1)).read_bytes() == (base / SHARD.format(1)).read_bytes()
        assert (folder / "tokenizer.json").read_bytes() == FILES["tokenizer.json"]
        record = proof.read_proof(folder, made.paths.models)
        assert proof.standing(folder, record).state is ModelState.READY
        asked = len(made.hub.asked)
        assert made.ready(fast) == folder
        assert len(made.hub.asked) == asked


def test_an_overlay_that_does_not_fit_its_base_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that names a tensor that nobody has would end in the engine's own words."""
    index = {"weight_map": {"other.weight_packed": SHARD.format(1)}}
    fast = plain(
        id="fast",
        files=(INDEX,),
        sources=(ModelSource(repository=OVERLAY, revision=COMMIT, files=(INDEX,)),),
        base=prepared(),
    )
    with house(tmp_path, FILES, monkeypatch) as made:
        overlay = {INDEX: json.dumps(index).encode()}
        put(made.cache / "models--fast--overlay" / "snapshots" / COMMIT, overlay)
        with pytest.raises(Damaged) as caught:
            made.ready(fast)

    assert caught.value.code == "index-differs"
    assert "other.weight_packed" in caught.value.message
    assert library.find(made.paths, fast) is None


def test_without_a_network_what_is_missing_is_said_and_the_rest_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that breaks is no broken model."""
    with house(tmp_path, FILES, monkeypatch) as made:
        made.environ["HF_ENDPOINT"] = "http://127.0.0.1:1"
        with pytest.raises(NetworkFailure):
            made.ready(prepared())
        assert library.find(made.paths, prepared()) is None
        made.environ["HF_ENDPOINT"] = made.hub.url

        made.ready(prepared())

        # From now on everything is here: the cache may go.
        shutil.rmtree(made.cache)
    assert made.ready(prepared()) == made.paths.models / "base"


def test_a_made_model_is_compared_with_what_it_was_made_of_when_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start serves what is ready; `weir models prepare` sees that a file has changed."""
    with house(tmp_path, FILES, monkeypatch) as made:
        folder = made.ready(prepared())
        first = (folder / "weir-prepared.json").read_bytes()
        made.ready(prepared(), is_compared=True)
        assert (folder / "weir-prepared.json").read_bytes() == first
        script = made.paths.catalogue / "runtimes" / "tools" / "turn.py"
        script.write_text(script.read_text() + "\n# newer\n")

        made.ready(prepared())
        assert (folder / "weir-prepared.json").read_bytes() == first
        made.ready(prepared(), is_compared=True)

        assert (folder / "weir-prepared.json").read_bytes() != first


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"sources": ()}, "model-incomplete"), ({"folder": "/nowhere"}, "model-moved")],
)
def test_a_model_that_the_studio_cannot_get_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], code: str
) -> None:
    """What is not published has to be put there by hand."""
    with house(tmp_path, PLAIN, monkeypatch) as made, pytest.raises(StudioError) as caught:
        made.ready(plain(**changes))

    assert caught.value.code == code
    assert caught.value.hint


def test_a_step_without_an_installed_runtime_says_which_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`weir models prepare` of a preset that was never started."""
    with house(tmp_path, FILES, monkeypatch) as made, pytest.raises(HostLacks) as caught:
        asyncio.run(made.files.ready(prepared(), None, None, made.reports.append))

    assert caught.value.code == "runtime-not-installed"
