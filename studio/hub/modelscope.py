"""ModelScope's public HTTP API (api/v1/models), as its own programs use it.

Sources: modelscope 1.36 (hub/api.py: `get_model_files`, `raise_on_error`; hub/file_download.py:
`get_file_download_url`) and its successor modelscope_hub at 26921de (`_legacy_api.py`:
`list_repo_files`, `get_download_url`, cookie and header of a token; `api.py`: names of fields).

- Lists name a sha256 for each file, also for small ones.
- A file's `Revision` is the last commit that changed it. The head of a branch is
  `LatestCommitter`, of which often only `ShortId`, its first eight digits, is filled in.
- The API takes commits where it takes branches.
- A revision that does not exist is answered with 200 and no list (`Files` is null).
- `.gitignore` and `.gitattributes` are left out, as there.
"""

import urllib.parse

import msgspec

from studio.domain.downloads import FetchedFile, HubName
from studio.domain.errors import NotFound
from studio.hub.asking import Asking, Subject
from studio.hub.repository import Repository, is_commit, require_commit, safe, strange

MAIN = "master"


_NOT_OF_A_MODEL = (".gitattributes", ".gitignore")


class _Committed(msgspec.Struct):
    Id: str | None = None
    ShortId: str | None = None


class _File(msgspec.Struct):
    Path: str
    Type: str | None = "blob"
    Size: int | None = None
    Sha256: str | None = None
    Revision: str | None = None
    CommittedDate: int | None = None


class _Data(msgspec.Struct):
    Files: list[_File] | None = None
    LatestCommitter: _Committed | None = None


class _Answer(msgspec.Struct):
    Code: int | str
    Data: _Data | None = None
    Message: str | None = None
    Success: bool | None = None


async def commit(asking: Asking, repository: str, revision: str) -> str:
    """Return the commit that a revision names now. Raises: what `Asking.get` raises."""
    if is_commit(revision):
        return revision
    data, files = await _files(asking, repository, revision)
    return require_commit(_head(data, files), repository)


def _head(data: _Data, files: list[_File]) -> str | None:
    told = data.LatestCommitter or _Committed()
    if told.Id:
        return told.Id
    newest = sorted(files, key=lambda file: file.CommittedDate or 0, reverse=True)
    commits = [file.Revision for file in newest if file.Revision]
    named = [one for one in commits if told.ShortId and one.startswith(told.ShortId)]
    return next(iter(named or commits), None)


async def listed(asking: Asking, repository: str, revision: str, at: str) -> Repository:
    """Return what a repository holds at the commit `at`."""
    _data, found = await _files(asking, repository, at)
    files = [_file(one) for one in found if one.Type != "tree" and not _is_left_out(one.Path)]
    return Repository(
        id=repository, hub=HubName.MODEL_SCOPE, asked=revision, commit=at, files=safe(files)
    )


def file_url(asking: Asking, repository: str, at: str, path: str) -> str:
    """Return where a file is."""
    query = urllib.parse.urlencode({"Revision": at, "FilePath": path})
    return f"{asking.endpoint}/api/v1/models/{repository}/repo?{query}"


async def _files(asking: Asking, repository: str, revision: str) -> tuple[_Data, list[_File]]:
    query = urllib.parse.urlencode({"Revision": revision, "Recursive": "True"})
    url = f"{asking.endpoint}/api/v1/models/{repository}/repo/files?{query}"
    subject = Subject(repository=repository, revision=revision)
    answer = (await asking.get(url, subject)).decoded(_Answer)
    data = answer.Data
    is_good = str(answer.Code) == "200" and answer.Success is not False
    if not is_good or data is None or data.Files is None:
        raise NotFound(
            "revision-unknown",
            f"ModelScope does not list {repository} at `{revision}`.",
            hint="Check the name and the revision; its main branch is `master`.",
            evidence=(answer.Message[:300],) if answer.Message else (),
        )
    return data, data.Files


def _is_left_out(path: str) -> bool:
    return path.rpartition("/")[2] in _NOT_OF_A_MODEL


def _file(one: _File) -> FetchedFile:
    sha256 = (one.Sha256 or "").lower()
    if not sha256:
        raise strange(f"says no sha256 for `{one.Path[:200]}`")
    return FetchedFile(path=one.Path, bytes=one.Size or 0, sha256=sha256)
