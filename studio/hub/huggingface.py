"""Hugging Face's API, and that of its mirrors: the shapes of huggingface_hub 2 (hf_api.py)."""

import re
import urllib.parse

import msgspec

from studio.domain.downloads import FetchedFile, HubName
from studio.hub.asking import Asking, Subject
from studio.hub.repository import Repository, require_commit, safe, strange

MAIN = "main"
_NEXT = re.compile(r'<([^<>]+)>\s*;\s*rel="?next"?')
_MOST_PAGES = 2_000


class _Info(msgspec.Struct):
    sha: str | None = None


class _Lfs(msgspec.Struct):
    oid: str
    size: int


class _Entry(msgspec.Struct):
    type: str
    path: str
    size: int = 0
    oid: str | None = None
    lfs: _Lfs | None = None


async def commit(asking: Asking, repository: str, revision: str) -> str:
    """Return the commit that a revision names now. Raises: what `Asking.get` raises."""
    url = f"{asking.endpoint}/api/models/{repository}/revision/{_quoted(revision)}"
    found = await asking.get(url, Subject(repository=repository, revision=revision))
    return require_commit(found.decoded(_Info).sha, repository)


async def listed(asking: Asking, repository: str, revision: str, at: str) -> Repository:
    """Return what a repository holds at the commit `at`, page by page."""
    subject = Subject(repository=repository, revision=revision)
    url: str | None = f"{asking.endpoint}/api/models/{repository}/tree/{at}?recursive=true"
    files: list[FetchedFile] = []
    for _ in range(_MOST_PAGES):
        if url is None:
            break
        page = await asking.get(url, subject)
        files += (_file(entry) for entry in page.decoded(list[_Entry]) if entry.type == "file")
        url = _following(asking, url, page.headers.get("link", ""))
    else:
        raise strange("lists files without end")
    return Repository(
        id=repository, hub=HubName.HUGGING_FACE, asked=revision, commit=at, files=safe(files)
    )


def file_url(asking: Asking, repository: str, at: str, path: str) -> str:
    """Return where a file is."""
    return f"{asking.endpoint}/{repository}/resolve/{at}/{urllib.parse.quote(path)}"


def _following(asking: Asking, url: str, link: str) -> str | None:
    """Return the next page; mirrors hand out addresses of the original, which is not asked."""
    found = _NEXT.search(link)
    if found is None:
        return None
    following = urllib.parse.urljoin(url, str(found[1]))
    if asking.is_own(following):
        return following
    parts = urllib.parse.urlsplit(following)
    return f"{asking.endpoint}/{parts.path.lstrip('/')}?{parts.query}"


def _file(entry: _Entry) -> FetchedFile:
    if entry.lfs is not None:
        return FetchedFile(path=entry.path, bytes=entry.lfs.size, sha256=entry.lfs.oid)
    return FetchedFile(path=entry.path, bytes=entry.size, blob_id=entry.oid)


def _quoted(revision: str) -> str:
    return urllib.parse.quote(revision, safe="")
