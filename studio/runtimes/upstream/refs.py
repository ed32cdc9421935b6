"""Which commit a branch, a tag or `HEAD` of a repository is now, so that it can be pinned."""

from collections.abc import Mapping

from studio.domain.errors import HostLacks, NetworkFailure, NotFound, StudioError
from studio.host import git_remote
from studio.host.network import NetworkPolicy
from studio.runtimes.upstream import program

NEWEST = "HEAD"
"""The newest commit of the branch that the project itself goes by."""
_PLACES = ("{name}", "refs/heads/{name}", "refs/tags/{name}^{{}}", "refs/tags/{name}")
"""A tag with a text of its own is an object that names the commit, its `^{}`."""
_NAMED = 6


async def resolve(repository: str, name: str, policy: NetworkPolicy) -> str:
    """Return the commit that `name` is at this moment; the git program is asked first.

    Raises: NotFound (`commit-unknown`), NetworkFailure (`repository-unreachable`).
    """
    found = await _refs(repository, policy)
    for place in _PLACES:
        commit = found.get(place.format(name=name))
        if commit is not None:
            return commit
    branches = [ref.removeprefix("refs/heads/") for ref in found if ref.startswith("refs/heads/")]
    raise NotFound(
        "commit-unknown",
        f"{repository} has no branch or tag `{name}`.",
        hint=f"Its branches: {', '.join(sorted(branches)[:_NAMED])}. A commit is written in full, "
        "with 40 digits.",
    )


async def _refs(repository: str, policy: NetworkPolicy) -> Mapping[str, str]:
    is_remote = repository.startswith(("http://", "https://"))
    if policy.offline and is_remote:
        raise _unreachable(
            repository, f"the network is switched off by {policy.offline_source}", policy.switch_on
        )
    failure: StudioError | None = None
    if program.program() is not None:
        try:
            return await program.refs(repository, policy.variables())
        except (NetworkFailure, NotFound, HostLacks) as error:
            failure = error
    if is_remote:
        try:
            async with git_remote.reached(repository, policy=policy) as remote:
                return await remote.refs()
        except (NetworkFailure, NotFound) as error:
            failure = error
    said = failure.message.rstrip(".") if failure is not None else "git is not on this machine"
    raise _unreachable(repository, said, None)


def _unreachable(repository: str, reason: str, hint: str | None) -> NetworkFailure:
    return NetworkFailure(
        "repository-unreachable",
        f"Which commits {repository} has cannot be asked: {reason}.",
        hint=hint or "Check the network, or name a commit in full: it is written down without one.",
    )
