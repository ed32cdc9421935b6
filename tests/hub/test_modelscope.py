"""ModelScope's API: commits of branches, sha256 for each file, errors inside of answers."""

import json
import urllib.parse
from pathlib import Path

import pytest

from studio.domain.downloads import HubName
from studio.domain.errors import Damaged, NotFound, StudioError
from studio.hub import modelscope
from studio.hub.asking import opened
from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, NEWER, Hub
from tests.hub.test_get import FILES, a_hub, access

SHA256 = "0f" * 32


def entry(path: str, **changes: object) -> dict[str, object]:
    """Return a file as the API lists it."""
    return {"Path": path, "Type": "blob", "Size": 1, "Sha256": SHA256, **changes}


def answer(document: object) -> dict[str, list[tuple[int, dict[str, str], bytes]]]:
    """Return an answer to the next question for the list."""
    body = json.dumps(document).encode()
    return {"/repo/files": [(200, {"Content-Type": "application/json"}, body)]}


def files_answer(*files: dict[str, object], **changes: object) -> dict[str, object]:
    """Return a list as the API gives it."""
    return {"Code": 200, "Data": {"Files": list(files), **changes}}


async def commit(hub: Hub, folder: Path, revision: str = "master") -> str:
    """Ask which commit a revision is."""
    async with opened(access(hub, folder), HubName.MODEL_SCOPE) as asking:
        return await modelscope.commit(asking, NAME, revision)


async def listed(hub: Hub, folder: Path, at: str = COMMIT) -> list[str]:
    """Ask for the list; return its paths."""
    async with opened(access(hub, folder), HubName.MODEL_SCOPE) as asking:
        return [one.path for one in (await modelscope.listed(asking, NAME, "master", at)).files]


async def test_a_repository_is_listed_with_sizes_and_digests(tmp_path: Path) -> None:
    """Small files have a sha256 too."""
    with fake.running(a_hub()) as hub:
        async with opened(access(hub, tmp_path), HubName.MODEL_SCOPE) as asking:
            found = await modelscope.listed(asking, NAME, "master", COMMIT)

    assert (found.id, found.hub, found.asked, found.commit) == (
        NAME, HubName.MODEL_SCOPE, "master", COMMIT,
    )  # fmt: skip
    assert {one.path: (one.bytes, one.sha256) for one in found.files} == {
        name: (len(data), fake.sha256(data)) for name, data in FILES.items()
    }


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (files_answer(LatestCommitter={"Id": NEWER}), NEWER),
        (
            files_answer(
                entry("a", Revision=COMMIT, CommittedDate=1),
                entry("b", Revision=NEWER, CommittedDate=3),
                entry("c", Revision=COMMIT, CommittedDate=2),
            ),
            NEWER,
        ),
        (files_answer(entry("a", Revision=COMMIT), LatestCommitter={"Id": ""}), COMMIT),
        (
            # As recorded by others: the head's first digits alone, no date of any file.
            files_answer(
                entry("a", Revision=COMMIT),
                entry("b", Revision=NEWER),
                LatestCommitter={"Id": "", "ShortId": NEWER[:8]},
            ),
            NEWER,
        ),
        (
            files_answer(
                entry("a", Revision=COMMIT, CommittedDate=None),
                entry("b", Revision=NEWER, CommittedDate=2),
                LatestCommitter={"Id": None, "ShortId": "deadbeef"},
            ),
            NEWER,
        ),
    ],
)
async def test_a_branch_is_the_newest_commit_that_is_named(
    document: object, found: str, tmp_path: Path
) -> None:
    """The API says the head of a branch in some answers only."""
    with fake.running(a_hub(faults=answer(document))) as hub:
        assert await commit(hub, tmp_path) == found


async def test_a_commit_is_not_asked_for(tmp_path: Path) -> None:
    """It names itself, so that what is here needs no network for it."""
    with fake.running(a_hub()) as hub:
        assert await commit(hub, tmp_path, NEWER) == NEWER
        assert hub.asked == []


@pytest.mark.parametrize(
    "document",
    [
        files_answer(),
        files_answer(entry("a", Revision=None)),
        files_answer(LatestCommitter={"Id": "../../x"}),
    ],
)
async def test_a_branch_without_a_commit_is_refused(document: object, tmp_path: Path) -> None:
    """Without one, files of two states could be mixed."""
    with fake.running(a_hub(faults=answer(document))) as hub, pytest.raises(Damaged):
        await commit(hub, tmp_path)


@pytest.mark.parametrize(
    "document",
    [
        {"Code": 10010205001, "Message": "no such revision"},
        {"Code": 200, "Message": "no such revision"},
        {"Code": 200, "Data": None, "Message": "no such revision"},
        {"Code": "200", "Success": False, "Data": {"Files": []}, "Message": "no such revision"},
        {
            "Code": 200,
            "Success": True,
            "Message": "no such revision",
            "Data": {"Files": None, "IsVisual": 0, "LatestCommitter": None},
        },
    ],
)
async def test_an_error_inside_of_an_answer_is_one(document: object, tmp_path: Path) -> None:
    """This hub answers 200 and says no in the body."""
    with fake.running(a_hub(faults=answer(document))) as hub, pytest.raises(NotFound) as caught:
        await listed(hub, tmp_path)

    assert caught.value.code == "revision-unknown"
    assert caught.value.info.evidence == ("no such revision",)


async def test_a_revision_that_is_not_there_is_told_by_a_list_that_is_none(tmp_path: Path) -> None:
    """The hub answers 200; taken as it is, a mistyped branch would be a model without files."""
    with fake.running(a_hub()) as hub, pytest.raises(NotFound) as caught:
        await commit(hub, tmp_path, "mastre")

    assert caught.value.code == "revision-unknown"
    assert "`mastre`" in caught.value.message


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_token_is_told_as_one(status: int, tmp_path: Path) -> None:
    """This hub says 403 where the other says 401, and that is no question of the region."""
    body = b'{"Code":10010205003,"Message":"not allowed","RequestId":"x","Success":false}'
    faults = {"/repo/files": [(status, {"Content-Type": "application/json"}, body)]}
    with fake.running(a_hub(faults=faults)) as hub, pytest.raises(StudioError) as caught:
        await commit(hub, tmp_path)

    assert caught.value.code == "hub-login"
    assert "weir models login --hub modelscope" in (caught.value.hint or "")
    assert caught.value.info.evidence == ("not allowed",)


async def test_files_of_git_are_left_out(tmp_path: Path) -> None:
    """As the hub's own program does; they say nothing about a model."""
    document = files_answer(
        entry(".gitattributes", Sha256=None), entry("a/.gitignore"), entry("a/b", Size=None)
    )
    with fake.running(a_hub(faults=answer(document))) as hub:
        assert await listed(hub, tmp_path) == ["a/b"]


async def test_a_repository_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    """With the hub's own name in the sentence."""
    with fake.running(a_hub()) as hub:
        async with opened(access(hub, tmp_path), HubName.MODEL_SCOPE) as asking:
            with pytest.raises(NotFound) as caught:
                await modelscope.commit(asking, "owner/other", "master")

    assert caught.value.code == "model-unknown"
    assert "ModelScope" in caught.value.message


@pytest.mark.parametrize(
    "wrong",
    [
        entry("../../.profile"),
        entry("/etc/passwd"),
        entry("weir-model.json"),
        entry("a", Sha256=None),
        entry("a", Sha256=""),
        entry("a", Sha256="../../evil"),
        entry("a", Size=-1),
        entry("a", Size="1"),
        {"Type": "blob"},
    ],
)
async def test_entries_that_no_hub_lists_refuse_the_list(
    wrong: dict[str, object], tmp_path: Path
) -> None:
    """Paths and digests both become names of files here."""
    faults = answer(files_answer(entry("ok"), wrong))
    with fake.running(a_hub(faults=faults)) as hub, pytest.raises(StudioError) as caught:
        await listed(hub, tmp_path)

    assert caught.value.code == "hub-answer"


async def test_folders_are_no_files_and_large_letters_no_other_digest(tmp_path: Path) -> None:
    """As some of its lists have them."""
    document = files_answer(entry("a", Type="tree", Sha256=""), entry("a/b", Sha256=SHA256.upper()))
    with fake.running(a_hub(faults=answer(document))) as hub:
        assert await listed(hub, tmp_path) == ["a/b"]


async def test_a_files_address_keeps_its_name(tmp_path: Path) -> None:
    """Signs that mean something in addresses included."""
    way = access(Hub(files={}, url="https://scope.example"), tmp_path)
    async with opened(way, HubName.MODEL_SCOPE) as asking:
        url = modelscope.file_url(asking, NAME, COMMIT, "a b/ü&#?.txt")

    parts = urllib.parse.urlsplit(url)
    assert (parts.netloc, parts.path) == ("scope.example", f"/api/v1/models/{NAME}/repo")
    assert urllib.parse.parse_qs(parts.query) == {
        "Revision": [COMMIT], "FilePath": ["a b/ü&#?.txt"],
    }  # fmt: skip
