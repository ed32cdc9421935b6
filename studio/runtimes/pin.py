"""What a person supplies where a recipe leaves something open: `weir runtime pin`.

    commit      of an upstream patch series that is not pinned yet
    hashes      sha256 of wheels that no source publishes one for
    confirmed   marks that the person agreed to
    steps       build steps that the person insists on, or leaves out

They lie in one file in the Studio's folder and count on top of the recipe; what the recipe says
itself always wins. `problems` and `require_installable` tell what is still open.
"""

import re

import msgspec

from studio.domain.errors import BadInput, Busy, HostLacks
from studio.domain.manifests import PatchSet, RuntimeRecipe
from studio.domain.runtimes import (
    PackageWheel,
    PinRequest,
    RuntimePin,
    RuntimePins,
    RuntimeState,
    Unverified,
)
from studio.host.documents import read_json, write_json
from studio.host.files import exclusive
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.runtimes.upstream import refs

ORDER_MARK = "series-order"
"""The mark of a recipe whose list was not seen at its commit; agreed to, any list will do."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REF = re.compile(r"[A-Za-z0-9][\w./+-]{0,199}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_WHEEL = re.compile(
    r"(?P<name>[\w.]+)-(?P<version>[\w.+!]+)(-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl", re.ASCII
)
"""PEP 427: name, version, perhaps a build number, and three tags."""


def read(paths: Paths) -> RuntimePins:
    """Return what was supplied so far.

    Raises: Damaged (`document-damaged`).
    """
    return read_json(paths.runtime_pins, RuntimePins) or RuntimePins()


def apply(recipe: RuntimeRecipe, supplied: RuntimePin | None) -> RuntimeRecipe:
    """Return the recipe with what was supplied in the places that it leaves open."""
    if supplied is None:
        return recipe
    patches = tuple(
        msgspec.structs.replace(
            one, upstream=msgspec.structs.replace(one.upstream, commit=supplied.commit)
        )
        if one.upstream is not None and one.upstream.commit is None
        else one
        for one in recipe.patches
    )
    if ORDER_MARK in supplied.confirmed:
        patches = tuple(_as_listed(one) for one in patches)
    packages = recipe.packages
    if packages is not None:
        wheels = tuple(_with_hash(wheel, supplied.hashes) for wheel in packages.wheels)
        packages = msgspec.structs.replace(packages, wheels=wheels)
    steps = tuple(
        msgspec.structs.replace(step, default=True, fallback=None)
        if supplied.steps.get(step.name)
        else step
        for step in recipe.steps
        if supplied.steps.get(step.name) is not False
    )
    marks = tuple(mark for mark in recipe.unverified if mark.name not in supplied.confirmed)
    return msgspec.structs.replace(
        recipe, patches=patches, packages=packages, steps=steps, unverified=marks
    )


def _as_listed(patches: PatchSet) -> PatchSet:
    """Return a set that takes what is at its commit as it is: the person has agreed to it.

    Where nothing there tells the order, that of the recipe stays, beside whatever else lies there.
    """
    upstream = patches.upstream
    if upstream is None:
        return patches
    order = () if upstream.list_file is not None else upstream.order
    return msgspec.structs.replace(
        patches, upstream=msgspec.structs.replace(upstream, order=order, count=None)
    )


def _with_hash(wheel: PackageWheel, hashes: dict[str, str]) -> PackageWheel:
    if wheel.sha256 is not None:
        return wheel
    for file, sha256 in hashes.items():
        if is_file_of(wheel, file):
            url = wheel.url if wheel.file else wheel.url + file.replace("+", "%2B")
            return msgspec.structs.replace(wheel, sha256=sha256, url=url)
    return wheel


def is_file_of(wheel: PackageWheel, file: str) -> bool:
    """Tell whether a file name is that of this wheel: the very one, or the right distribution."""
    if wheel.file is not None:
        return file == wheel.file
    found = _WHEEL.fullmatch(file)
    return (
        found is not None
        and _plain(found["name"]) == _plain(wheel.name)
        and found["version"] == wheel.version
    )


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# What is open


def lacking_commits(recipe: RuntimeRecipe) -> list[str]:
    """Return the repositories whose series has no commit."""
    upstreams = (one.upstream for one in recipe.patches if one.upstream is not None)
    return list(dict.fromkeys(one.repository for one in upstreams if one.commit is None))


def lacking_hashes(recipe: RuntimeRecipe) -> list[PackageWheel]:
    """Return the wheels that have no sha256."""
    wheels = recipe.packages.wheels if recipe.packages is not None else ()
    return [wheel for wheel in wheels if wheel.sha256 is None]


def blocking_marks(recipe: RuntimeRecipe) -> list[Unverified]:
    """Return the marks that have to be agreed to first."""
    return [mark for mark in recipe.unverified if mark.blocks]


def open_state(recipe: RuntimeRecipe) -> RuntimeState | None:
    """Return which state what is open puts a runtime into, or None when nothing is open."""
    if lacking_commits(recipe):
        return RuntimeState.NOT_PINNED
    if lacking_hashes(recipe) or blocking_marks(recipe):
        return RuntimeState.UNVERIFIED
    return None


def problems(recipe: RuntimeRecipe) -> tuple[str, ...]:
    """Return in words what has to be supplied or agreed to before it can be installed."""
    said = [f"The patch series of {one} has no commit yet." for one in lacking_commits(recipe)]
    said += [
        f"No source gives the sha256 of {wheel.file or f'{wheel.name} {wheel.version}'}."
        for wheel in lacking_hashes(recipe)
    ]
    said += [f"Not confirmed ({mark.name}): {mark.what}" for mark in blocking_marks(recipe)]
    return tuple(said)


def require_installable(recipe: RuntimeRecipe) -> None:
    """Refuse a recipe that leaves something open, before anything is fetched.

    Raises: HostLacks (`runtime-not-pinned`, `hash-unverified`).
    """
    state = open_state(recipe)
    if state is None:
        return
    name, is_commit = recipe.name, state is RuntimeState.NOT_PINNED
    raise HostLacks(
        "runtime-not-pinned" if is_commit else "hash-unverified",
        f"{recipe.title} cannot be installed yet: {' '.join(problems(recipe))}",
        hint=" ".join(_remedies(recipe)) + f" `weir runtime show {name}` tells more.",
        data={"runtime": name},
    )


def _remedies(recipe: RuntimeRecipe) -> list[str]:
    name = recipe.name
    said = []
    if lacking_commits(recipe):
        said.append(
            f"`weir runtime pin {name}` takes the project's newest one, "
            f"`weir runtime pin {name} --commit SHA` one that you trust."
        )
    for wheel in lacking_hashes(recipe):
        file = wheel.file or f"{wheel.name.replace('-', '_')}-{wheel.version}-….whl"
        said.append(f"Supply it: `weir runtime pin {name} --hash {file}=SHA256`.")
    said += [
        f"Agree to it: `weir runtime pin {name} --confirm {mark.name}`."
        for mark in blocking_marks(recipe)
    ]
    return said


# Supplying it


async def resolved(
    paths: Paths, published: RuntimeRecipe, request: PinRequest, policy: NetworkPolicy
) -> PinRequest:
    """Return the request with the commit in full, where it names a branch or tag, or nothing.

    Who supplies nothing for a recipe that waits for a commit gets the project's newest one.

    Raises: what `refs.resolve` raises.
    """
    name = request.commit
    if request == PinRequest() and lacking_commits(apply(published, _supplied(paths, published))):
        name = refs.NEWEST
    is_name = name is not None and _REF.fullmatch(name) and not _COMMIT.fullmatch(name.lower())
    repositories = lacking_commits(published)
    if name is None or not is_name or not repositories:
        return request
    commit = await refs.resolve(repositories[0], name, policy)
    return msgspec.structs.replace(request, commit=commit)


def _supplied(paths: Paths, published: RuntimeRecipe) -> RuntimePin | None:
    return read(paths).runtimes.get(published.name)


def record(paths: Paths, published: RuntimeRecipe, request: PinRequest) -> RuntimePin:
    """Check what was supplied for `published` (the recipe as the catalogue has it), and keep it.

    Raises: BadInput (`pin-empty`, `pin-commit`, `pin-hash`, `pin-needless`, `pin-unknown`), Busy
    (`pin-running`), Damaged (`document-damaged`), HostLacks (`not-writable`, `disk-full`).
    """
    _check(published, request)
    with exclusive(paths.runtime_pins.with_suffix(".lock")) as is_ours:
        if not is_ours:
            raise Busy(
                "pin-running",
                "Another process of the Studio is writing down a pin.",
                hint="Run it again in a moment.",
            )
        pins = read(paths)
        old = RuntimePin() if request.forget else pins.runtimes.get(published.name, RuntimePin())
        new = RuntimePin(
            commit=_lower(request.commit) or old.commit,
            hashes=_merged(published, old.hashes, request.hashes),
            confirmed=tuple(dict.fromkeys((*old.confirmed, *request.confirm))),
            steps={**old.steps, **request.steps},
        )
        kept = {name: one for name, one in pins.runtimes.items() if name != published.name}
        if new != RuntimePin():
            kept[published.name] = new
        write_json(paths.runtime_pins, RuntimePins(runtimes=dict(sorted(kept.items()))))
    return new


def _merged(published: RuntimeRecipe, old: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    """Return the hashes to keep: a new one replaces what was said of the same wheel before."""
    wheels = published.packages.wheels if published.packages is not None else ()
    replaced = {
        file
        for file in old
        for wheel in wheels
        if is_file_of(wheel, file) and any(is_file_of(wheel, one) for one in new)
    }
    kept = {file: one for file, one in old.items() if file not in replaced}
    return {**kept, **{file: one.lower() for file, one in new.items()}}


def _lower(text: str | None) -> str | None:
    return text.lower() if text is not None else None


def _check(published: RuntimeRecipe, request: PinRequest) -> None:
    given = (request.commit, request.hashes, request.confirm, request.steps, request.forget)
    if not any(given):
        raise BadInput(
            "pin-empty",
            f"Nothing was supplied for {published.name}.",
            hint=" ".join(_remedies(published)) or "Its recipe leaves nothing open.",
        )
    if request.commit is not None:
        _check_commit(published, request.commit.lower())
    for file, sha256 in request.hashes.items():
        _check_hash(published, file, sha256.lower())
    _check_steps(published, request)
    for name in request.confirm:
        if name not in [mark.name for mark in published.unverified]:
            marks = ", ".join(mark.name for mark in published.unverified)
            raise BadInput(
                "pin-unknown",
                f"The recipe of {published.name} has no mark `{name}`.",
                hint=f"Its marks: {marks}." if marks else "It has none; nothing is to confirm.",
            )


def _check_steps(published: RuntimeRecipe, request: PinRequest) -> None:
    known = [step.name for step in published.steps]
    for name in request.steps:
        if name not in known:
            raise BadInput(
                "pin-unknown",
                f"The recipe of {published.name} has no build step `{name}`.",
                hint=f"Its steps: {', '.join(known)}." if known else "It has none.",
            )


def _check_commit(published: RuntimeRecipe, commit: str) -> None:
    if lacking_commits(published):
        if not _COMMIT.fullmatch(commit):
            raise BadInput(
                "pin-commit",
                f"A commit has 40 hexadecimal digits, found `{commit}`.",
                hint="Write it in full, or name a branch or tag, which is looked up once.",
            )
        return
    fixed = [one.upstream.commit for one in published.patches if one.upstream is not None]
    raise BadInput(
        "pin-needless",
        f"The recipe of {published.name} leaves no commit open."
        + (f" It names {fixed[0]}." if fixed else ""),
        hint="For another commit, copy the recipe to a catalogue of your own and change it there.",
    )


def _check_hash(published: RuntimeRecipe, file: str, sha256: str) -> None:
    if not _SHA256.fullmatch(sha256):
        raise BadInput(
            "pin-hash",
            f"A sha256 has 64 hexadecimal digits, found `{sha256}` for {file}.",
            hint="`sha256sum FILE` prints it.",
        )
    wheels = published.packages.wheels if published.packages is not None else ()
    wheel = next((one for one in wheels if is_file_of(one, file)), None)
    if wheel is None:
        wanted = [one.file or f"{one.name} {one.version}" for one in wheels]
        raise BadInput(
            "pin-unknown",
            f"{file} is no wheel that the recipe of {published.name} names.",
            hint=f"It names {', '.join(wanted)}." if wanted else "It names none.",
        )
    if wheel.sha256 not in (None, sha256):
        raise BadInput(
            "pin-needless",
            f"The recipe gives the sha256 of {file} itself, and it is another one.",
            hint=f"{wheel.sha256}, from {wheel.source or 'the recipe'}. A file with another sha256 "
            "is not that wheel.",
        )
