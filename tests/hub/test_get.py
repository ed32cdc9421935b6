"""Models from a hub: found by other tools, proven, resumed, and refused in words."""

import asyncio
import random
from pathlib import Path

import huggingface_hub
import msgspec
import pytest
from huggingface_hub import snapshot_download

from studio.domain.downloads import GetRequest, HubName
from studio.domain.errors import StudioError
from studio.host.paths import Paths
from studio.hub import get, layout
from studio.hub.access import Access
from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, NEWER, Hub
from tests.fakes.waiting import until_async
from tests.host.downloads import QUICK

WEIGHTS = random.Random(3).randbytes(6_000_000)
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "model.safetensors": WEIGHTS,
    "sub folder/naïve-模型.txt": "grüß".encode(),
    "empty.py": b"",
}
SECRET = "hf_a_token_that_nobody_else_may_see"


def a_hub(**changes: object) -> Hub:
    """Return a hub with a small repository."""
    one = Hub(files=dict(FILES), lfs=frozenset({"model.safetensors"}))
    for name, value in changes.items():
        setattr(one, name, value)
    return one


def access(hub: Hub, folder: Path, **environ: str) -> Access:
    """Return how the hub is asked, everything below a folder of the test's own."""
    known = {"HF_ENDPOINT": hub.url, "MODELSCOPE_ENDPOINT": hub.url, "HF_HOME": str(folder / "hf")}
    return Access(
        paths=Paths(folder / "home", folder / "catalogue"),
        policy=QUICK,
        environ={**known, **environ},
    )


def request(**changes: object) -> GetRequest:
    """Return a wish for the whole repository."""
    return msgspec.structs.replace(GetRequest(repository=NAME), **changes)


def content(folder: str, name: str) -> bytes:
    """Return what a file holds."""
    return Path(folder, name).read_bytes()


def named(folder: Path, *ends: str) -> list[Path]:
    """Return the files below a folder whose names end so."""
    return [one for one in folder.rglob("*") if one.name.endswith(ends)]


async def refusal(wish: GetRequest, way: Access) -> StudioError:
    """Return why a wish is not met."""
    with pytest.raises(StudioError) as caught:
        await get.get(wish, way)
    return caught.value


async def test_the_real_huggingface_hub_finds_what_we_fetched(tmp_path: Path) -> None:
    """One copy of 130 GB is enough: transformers and `hf` must see ours."""
    with fake.running(a_hub()) as hub:
        found = await get.get(request(), access(hub, tmp_path))
    theirs = snapshot_download(NAME, cache_dir=tmp_path / "hf/hub", local_files_only=True)

    assert theirs == found.folder
    assert found.commit == COMMIT
    for name, data in FILES.items():
        assert content(found.folder, name) == data
    assert not named(tmp_path / "hf", ".part", ".journal", ".lock")


async def test_what_the_real_huggingface_hub_fetched_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also proves that the test's server is a hub."""
    with fake.running(a_hub()) as hub:
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
        cache = tmp_path / "hf/hub"
        theirs = await asyncio.to_thread(
            snapshot_download, NAME, cache_dir=cache, endpoint=hub.url, token=False
        )
        before = hub.sent_bytes
        found = await get.get(request(), access(hub, tmp_path))

    assert before == len(WEIGHTS)
    assert found.folder == theirs
    assert (hub.sent_bytes, found.fetched_bytes) == (before, 0)


async def test_modelscope_is_fetched_by_its_own_api(tmp_path: Path) -> None:
    """In China the other hub cannot be reached."""
    with fake.running(a_hub()) as hub:
        found = await get.get(request(hub=HubName.MODEL_SCOPE), access(hub, tmp_path))

    assert found.commit == COMMIT
    assert Path(found.folder).is_relative_to(tmp_path / "home/models/modelscope")
    assert content(found.folder, "model.safetensors") == WEIGHTS


async def test_a_branch_that_moved_on_is_followed_only_when_asked(tmp_path: Path) -> None:
    """Weights that change under a preset change its answers."""
    with fake.running(a_hub()) as hub:
        way = access(hub, tmp_path)
        await get.get(request(), way)
        hub.commit = NEWER
        kept = await get.get(request(), way)
        followed = await get.get(request(update=True), way)

    assert (kept.commit, kept.newer_commit) == (COMMIT, NEWER)
    assert (followed.commit, followed.newer_commit) == (NEWER, None)


async def test_the_token_goes_to_the_hub_and_never_to_its_delivery_network(tmp_path: Path) -> None:
    """Whoever runs a mirror's storage must not learn it."""
    with fake.running(a_hub(gated_token=SECRET)) as hub:
        found = await get.get(request(), access(hub, tmp_path, HF_TOKEN=SECRET))

    with_token = {host for host, _path, headers in hub.asked if SECRET in str(headers)}
    assert with_token == {hub.url}
    assert hub.cdn in {host for host, _path, _headers in hub.asked}
    assert content(found.folder, "model.safetensors") == WEIGHTS


async def test_a_gated_model_says_where_to_accept_its_licence(tmp_path: Path) -> None:
    """403 alone sends people looking for a broken proxy."""
    with fake.running(a_hub(gated_token=SECRET)) as hub:
        error = await refusal(request(), access(hub, tmp_path))

    assert error.code == "model-gated"
    assert f"{hub.url}/{NAME}" in str(error.hint)
    assert "weir models login" in str(error.hint)


async def test_a_token_that_is_kept_is_used_and_can_be_forgotten(tmp_path: Path) -> None:
    """`weir models login` once, and never again."""
    with fake.running(a_hub(gated_token=SECRET)) as hub:
        way = access(hub, tmp_path)
        kept = way.keep_token(HubName.HUGGING_FACE, f" {SECRET}\n")
        found = await get.get(request(include=("config.json",)), way)
        forgotten = way.keep_token(HubName.HUGGING_FACE, None)

    assert kept.source == "weir models login"
    assert [file.path for file in found.files] == ["config.json"]
    assert forgotten.source is None


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (request(repository="owner/other"), "model-unknown"),
        (request(revision="v9"), "revision-unknown"),
        (request(include=("*.gguf",)), "model-no-files"),
        (request(repository="../etc"), "model-name"),
        (request(revision="../../x"), "model-revision"),
    ],
)
async def test_a_wish_that_cannot_be_met_says_why(
    wish: GetRequest, code: str, tmp_path: Path
) -> None:
    """Each of them has another remedy."""
    with fake.running(a_hub()) as hub:
        assert (await refusal(wish, access(hub, tmp_path))).code == code


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((403, {}, b""), "hub-refused"),
        ((451, {}, b""), "hub-refused"),
        ((200, {"Content-Type": "text/html"}, b"<html>log in"), "login-page"),
        ((200, {"Content-Type": "application/json"}, b"[1]"), "hub-answer"),
        ((302, {"Location": "/api/models/owner/model/revision/main"}, b""), "hub-unreachable"),
        ((429, {"Retry-After": "900"}, b""), "hub-unreachable"),
    ],
)
async def test_an_answer_that_is_none_is_refused(
    answer: tuple[int, dict[str, str], bytes], code: str, tmp_path: Path
) -> None:
    """What stands between says 200 as well."""
    with fake.running(a_hub(faults={"/revision/main": [answer] * 9})) as hub:
        assert (await refusal(request(), access(hub, tmp_path))).code == code


async def test_a_hub_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    """Shared addresses are limited now and then; 5xx pass."""
    busy = [(429, {"Retry-After": "0"}, b""), (503, {}, b"")]
    faults = {"/tree/": list(busy), "/cdn/": list(busy), "/resolve/": list(busy)}
    with fake.running(a_hub(faults=faults)) as hub:
        found = await get.get(request(), access(hub, tmp_path))

    assert content(found.folder, "model.safetensors") == WEIGHTS
    assert not any(faults.values())


async def test_connections_that_break_lose_nothing(tmp_path: Path) -> None:
    """Home lines break; what has come is not asked for again."""
    with fake.running(a_hub(cut_after=700_000)) as hub:
        found = await get.get(request(), access(hub, tmp_path))

    assert content(found.folder, "model.safetensors") == WEIGHTS
    assert hub.sent_bytes < len(WEIGHTS) + (1 << 20)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
async def test_other_bytes_never_get_the_files_name(name: str, tmp_path: Path) -> None:
    """By the sha256 of LFS, or git's name of a small file; the size is right in both."""
    wrong = FILES[name][:-1] + b"!"
    with fake.running(a_hub(replaced={name: wrong})) as hub:
        error = await refusal(request(), access(hub, tmp_path))

    assert error.code == "download-hash"
    assert not named(tmp_path / "hf", name)


async def test_a_list_of_many_pages_is_read_to_its_end(tmp_path: Path) -> None:
    """Hubs list a thousand files at a time."""
    files = {f"shard/{number:04}.txt": b"%d" % number for number in range(120)}
    with fake.running(Hub(files=files, page_files=50)) as hub:
        found = await get.get(request(), access(hub, tmp_path))

    assert len(found.files) == 120
    assert content(found.folder, "shard/0119.txt") == b"119"


async def test_paths_that_leave_the_folder_are_refused(tmp_path: Path) -> None:
    """A hub that was broken into must not write into a home."""
    with fake.running(Hub(files={"../../.profile": b"evil"})) as hub:
        assert (await refusal(request(), access(hub, tmp_path))).code == "hub-answer"


async def test_a_plain_folder_gets_plain_files(tmp_path: Path) -> None:
    """For a stick, or a tool that knows no cache; a path of 200 characters included."""
    into = tmp_path / ("ünser Ordner " * 12)
    with fake.running(a_hub()) as hub:
        wish = request(into=str(into), exclude=("*.py",))
        await get.get(wish, access(hub, tmp_path))

    assert content(str(into), "model.safetensors") == WEIGHTS
    assert not (into / "empty.py").exists()


@pytest.mark.parametrize("ways", [("symlink_to",), ("symlink_to", "hardlink_to")])
async def test_file_systems_without_links_serve_too(
    ways: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """exFAT disks are what many people keep models on."""

    def fails(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    for way in ways:
        monkeypatch.setattr(Path, way, fails)
    with fake.running(a_hub()) as hub:
        found = await get.get(request(), access(hub, tmp_path))
        before = hub.sent_bytes
        await get.get(request(), access(hub, tmp_path))

    theirs = snapshot_download(NAME, cache_dir=tmp_path / "hf/hub", local_files_only=True)
    assert content(theirs, "model.safetensors") == WEIGHTS
    assert found.folder == theirs
    assert hub.sent_bytes == before


async def test_one_waits_while_huggingface_hub_fetches_the_same_file(tmp_path: Path) -> None:
    """Two writers of one file would fetch it twice, or worse."""
    with fake.running(a_hub()) as hub:
        way = access(hub, tmp_path)
        file = (await get.listed(request(include=("model.safetensors",)), way)).files[0]
        lock = layout.Layout(way.cache(HubName.HUGGING_FACE), NAME).lock(file)
        notes: list[str] = []
        lock.parent.mkdir(parents=True)
        with huggingface_hub.utils.WeakFileLock(lock):
            task = asyncio.ensure_future(
                get.get(request(), way, on_progress=lambda now: notes.append(now.note or ""))
            )
            await until_async(lambda: any("another program" in one for one in notes), "a note")
            assert hub.sent_bytes <= 1
        await task

    assert not lock.exists()


async def test_a_cancelled_download_goes_on_where_it_was(tmp_path: Path) -> None:
    """Pause and resume are this."""
    throttle = get.Throttle(2_000_000)
    seen: list[int] = []
    with fake.running(a_hub()) as hub:
        way = access(hub, tmp_path)
        task = asyncio.ensure_future(
            get.get(
                request(), way, on_progress=lambda now: seen.append(now.done), throttle=throttle
            )
        )
        await until_async(lambda: bool(seen) and seen[-1] > 1_500_000, "some bytes")
        task.cancel()
        await asyncio.wait({task})
        before = seen[-1]
        first = []
        await get.get(request(), way, on_progress=lambda now: first.append(now.done))

    assert task.cancelled()
    assert max(first) == sum(map(len, FILES.values()))
    assert before > 0
