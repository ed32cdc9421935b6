"""Hugging Face's API: pages to their end, digests of both kinds, mirrors that name the original."""

import json
from pathlib import Path

import pytest

from studio.domain.downloads import HubName
from studio.domain.errors import Damaged, NotFound
from studio.hub import huggingface
from studio.hub.asking import opened
from studio.hub.repository import Repository
from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, Hub
from tests.hub.test_get import FILES, SECRET, a_hub, access

KIND = {"Content-Type": "application/json"}
Page = tuple[int, dict[str, str], bytes]


async def listed(hub: Hub, folder: Path, **environ: str) -> Repository:
    """Ask for the list."""
    async with opened(access(hub, folder, **environ), HubName.HUGGING_FACE) as asking:
        return await huggingface.listed(asking, NAME, "main", COMMIT)


def page(entries: list[dict[str, object]], link: str = "") -> Page:
    """Return a page of a list."""
    return 200, {**KIND, **({"Link": link} if link else {})}, json.dumps(entries).encode()


def entry(path: str, **changes: object) -> dict[str, object]:
    """Return a small file as the API lists it."""
    return {"type": "file", "path": path, "size": 1, "oid": "0f" * 20, **changes}


async def test_large_files_have_a_sha256_and_small_ones_gits_name(tmp_path: Path) -> None:
    """Each file is proven by what its hub says of it."""
    with fake.running(a_hub()) as hub:
        files = {one.path: one for one in (await listed(hub, tmp_path)).files}

    weights, config = files["model.safetensors"], files["config.json"]
    data = FILES["model.safetensors"]
    assert (weights.sha256, weights.blob_id) == (fake.sha256(data), None)
    assert (config.sha256, config.blob_id) == (None, fake.blob_id(FILES["config.json"]))
    assert {one.path: one.bytes for one in files.values()} == {
        name: len(content) for name, content in FILES.items()
    }


async def test_folders_of_a_list_are_no_files(tmp_path: Path) -> None:
    """The list names them too."""
    entries = [entry("a", type="directory", size=0), entry("a/b")]
    with fake.running(a_hub(faults={"/tree/": [page(entries)]})) as hub:
        assert [one.path for one in (await listed(hub, tmp_path)).files] == ["a/b"]


@pytest.mark.parametrize("count", [1, 49, 50, 51, 150])
async def test_pages_are_read_to_their_end_and_no_further(count: int, tmp_path: Path) -> None:
    """A page more or less is a model that does not load."""
    files = {f"{number:03}": b"x" for number in range(count)}
    with fake.running(Hub(files=files, page_files=50)) as hub:
        assert len((await listed(hub, tmp_path)).files) == count
        assert len(hub.asked) == -(-count // 50)


@pytest.mark.parametrize(
    "address",
    ["https://huggingface.co/api/next?cursor=1", "/api/next?cursor=1", "mailto:api/next?cursor=1"],
)
async def test_the_next_page_is_asked_of_the_mirror_that_gave_the_first(
    address: str, tmp_path: Path
) -> None:
    """Mirrors pass the original's addresses on; where they are needed it cannot be reached."""
    faults = {
        "/tree/": [page([entry("a")], f'<{address}>; rel="next"')],
        "/api/next": [page([entry("b")])],
    }
    with fake.running(a_hub(faults=faults)) as hub:
        found = await listed(hub, tmp_path, HF_TOKEN=SECRET)

        assert [one.path for one in found.files] == ["a", "b"]
        assert {host for host, _path, _headers in hub.asked} == {hub.url}


@pytest.mark.parametrize("link", ['<https://x/?a=1>; rel="prev"', "nonsense", '<>; rel="next"'])
async def test_other_links_are_no_next_page(link: str, tmp_path: Path) -> None:
    """They would be asked for without end."""
    with fake.running(a_hub(faults={"/tree/": [page([entry("a")], link)]})) as hub:
        assert len((await listed(hub, tmp_path)).files) == 1


async def test_a_list_without_an_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror with a fault answers the same page for ever."""
    monkeypatch.setattr(huggingface, "_MOST_PAGES", 5)
    endless = [page([], '</api/models/owner/model/tree/x>; rel="next"')] * 9
    with fake.running(a_hub(faults={"/tree/": endless})) as hub:
        with pytest.raises(Damaged):
            await listed(hub, tmp_path)
        assert len(hub.asked) == 5


@pytest.mark.parametrize(
    "wrong",
    [
        entry("../../.profile"),
        entry("weir-model.json"),
        entry("a", oid="../../evil"),
        entry("a", lfs={"oid": "../../../.ssh/authorized_keys", "size": 1}),
        entry("a", lfs={"oid": "0f" * 32, "size": -1}),
        entry("a", oid=None),
        {"type": "file"},
        entry("a", size="many"),
    ],
)
async def test_entries_that_no_hub_lists_refuse_the_list(
    wrong: dict[str, object], tmp_path: Path
) -> None:
    """Paths and digests both become names of files here."""
    faults = {"/tree/": [page([entry("ok"), wrong])]}
    with fake.running(a_hub(faults=faults)) as hub, pytest.raises(Damaged) as caught:
        await listed(hub, tmp_path)

    assert caught.value.code == "hub-answer"


async def test_a_branch_names_a_commit(tmp_path: Path) -> None:
    """Slashes and signs in its name stay one part of the address."""
    odd = "refs/pr/1 ü?"
    with fake.running(a_hub()) as hub:
        async with opened(access(hub, tmp_path), HubName.HUGGING_FACE) as asking:
            assert await huggingface.commit(asking, NAME, "main") == COMMIT
            with pytest.raises(NotFound) as caught:
                await huggingface.commit(asking, NAME, odd)

    assert caught.value.code == "revision-unknown"
    assert hub.asked[-1][1] == f"/api/models/{NAME}/revision/{odd}"


@pytest.mark.parametrize("body", [b"{}", b'{"sha": null}', b'{"sha": "main"}', b'{"sha": "../x"}'])
async def test_a_commit_that_is_none_is_refused(body: bytes, tmp_path: Path) -> None:
    """It becomes a folder's name."""
    with fake.running(a_hub(faults={"/revision/": [(200, KIND, body)]})) as hub:
        async with opened(access(hub, tmp_path), HubName.HUGGING_FACE) as asking:
            with pytest.raises(Damaged):
                await huggingface.commit(asking, NAME, "main")


async def test_a_files_address_is_of_the_endpoint_and_its_commit(tmp_path: Path) -> None:
    """Names with signs that mean something in addresses included."""
    way = access(Hub(files={}, url="https://mirror.example/hf"), tmp_path)
    async with opened(way, HubName.HUGGING_FACE) as asking:
        found = huggingface.file_url(asking, NAME, COMMIT, "a b/ü?#%2e.txt")

    assert found == (
        f"https://mirror.example/hf/{NAME}/resolve/{COMMIT}/a%20b/%C3%BC%3F%23%252e.txt"
    )
