"""ModelScope's public HTTP API (api/v1/models), as its own program uses it (hub/api.py).

Its lists name a sha256 for each file. A branch is resolved to the newest commit that any of its
files or its head is said to be of; the API takes commits where it takes branches.
"""

import urllib.parse

import msgspec

from studio.domain.downloads import FetchedFile, HubName
from studio.domain.errors import NotFound
from studio.hub.asking import Asking, Subject
from studio.hub.repository import Repository, is_commit, require_commit, safe, strange

MAIN = "master"


class _Committed(msgspec.Struct):
    Id: str | None = None


class _File(msgspec.Struct):
    Path: str
    Type: str = "blob"
    Size: int = 0
    Sha256: str | None = None
    Revision: str | None = None
    CommittedDate: int = 0


class _Data(msgspec.Struct):
    Files: list[_File] | None = None
    LatestCommitter: _Committed | None = None


class _Answer(msgspec.Struct):
    Code: int
    Data: _Data | None = None
    Message: str = ""


async def commit(asking: Asking, repository: str, revision: str) -> str:
    """Return the commit that a revision names now. Raises: what `Asking.get` raises."""
    if is_commit(revision):
        return revision
    data = await _files(asking, repository, revision)
    if data.LatestCommitter is not None and data.LatestCommitter.Id:
        return require_commit(data.LatestCommitter.Id, repository)
    newest = max(data.Files or [], key=lambda file: file.CommittedDate, default=None)
    return require_commit(newest.Revision if newest else None, repository)


async def listed(asking: Asking, repository: str, revision: str, at: str) -> Repository:
    """Return what a repository holds at the commit `at`."""
    data = await _files(asking, repository, at)
    files = [_file(one) for one in data.Files or [] if one.Type != "tree"]
    return Repository(
        id=repository, hub=HubName.MODEL_SCOPE, asked=revision, commit=at, files=safe(files)
    )


def file_url(asking: Asking, repository: str, at: str, path: str) -> str:
    """Return where a file is."""
    query = urllib.parse.urlencode({"Revision": at, "FilePath": path})
    return f"{asking.endpoint}/api/v1/models/{repository}/repo?{query}"


async def _files(asking: Asking, repository: str, revision: str) -> _Data:
    query = urllib.parse.urlencode({"Revision": revision, "Recursive": "true"})
    url = f"{asking.endpoint}/api/v1/models/{repository}/repo/files?{query}"
    subject = Subject(repository=repository, revision=revision)
    answer = (await asking.get(url, subject)).decoded(_Answer)
    if answer.Code != 200 or answer.Data is None:
        raise NotFound(
            "revision-unknown",
            f"ModelScope does not list {repository} at `{revision}`.",
            hint="Check the name and the revision; its main branch is `master`.",
            evidence=(answer.Message[:300],) if answer.Message else (),
        )
    return answer.Data


def _file(one: _File) -> FetchedFile:
    sha256 = (one.Sha256 or "").lower()
    if not sha256:
        raise strange(f"says no sha256 for `{one.Path[:200]}`")
    return FetchedFile(path=one.Path, bytes=one.Size, sha256=sha256)
