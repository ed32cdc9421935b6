"""The life of the .deb in a clean root: apt installs, upgrades, downgrades and purges it.

The folder that lies beside the packages is apt's source, signed where the build had a key. What
runs meanwhile goes on: apt exchanges files, and the person says when the service is exchanged.
"""

import re
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from installer import apt, served
from installer.roots import Root, say

PACKAGE = "weir-studio"
_FOLDER = "srv/apt"
_LISTED = "etc/apt/sources.list.d/weir-studio.list"
_KEYS = "etc/apt/keyrings"
_WORD = "weir"
_SHOWN = 12


class Listing(NamedTuple):
    """What lies in a root: the system's files, and all names with ours in them."""

    files: set[str]
    ours: set[str]


def listing(made: Root) -> Listing:
    """Return what lies in a root now."""
    return Listing(made.files(), made.named(_WORD))


def again(made: Root, package: Path, user: str) -> None:
    """Let apt install it anew over what runs. Raises: RuntimeError as `require_same`."""
    before = served.service(made, user)
    told(made, package.parent / "apt")
    begun = time.monotonic()
    made.apt("install", "--reinstall", PACKAGE)
    say(f"  again, over what runs {time.monotonic() - begun:.0f} s")
    require_same(made, user, before)


def upgrade(made: Root, newer: Path, user: str, *, has_engine: bool) -> None:
    """Let apt bring the newer version over what runs, as a person types it.

    Raises: RuntimeError where the service that runs is another one, or does not answer.
    """
    before = served.service(made, user)
    told(made, newer / "apt")
    begun = time.monotonic()
    made.apt("install", "--only-upgrade", PACKAGE)
    now = made.run("weir", "--version", user=user).strip()
    say(f"  upgraded by apt to {now} in {time.monotonic() - begun:.0f} s")
    if now.split()[-1] != next(newer.glob("*.deb")).name.split("_")[1]:
        raise RuntimeError(f"apt did not upgrade: {now}. Is the newer folder older than the old?")
    require_same(made, user, before)
    if has_engine:
        say(f"  the old version's engine, asked: {served.asked(made, user)!r}")
    known = served.updates(made, user)
    if known["service_version"] == known["version"]:
        raise RuntimeError(f"the old service is not told of: {known}")
    made.run("weir", "down", user=user)
    if has_engine:
        served.first_run(made, user)
    else:
        served.start(made, user)
    if now.split()[-1] not in served.service(made, user):
        raise RuntimeError(f"the service is not {now}: {served.service(made, user)}")


def downgrade(made: Root, old: Path, user: str, *, has_engine: bool) -> None:
    """Go back to the older file; its databases are the older version's. Raises: RuntimeError."""
    made.run("weir", "keys", "create", "made by the newer", user=user)
    made.run("weir", "down", user=user)
    made.apt("install", "--allow-downgrades", f"/tmp/{old.name}")
    now = made.run("weir", "--version", user=user).strip()
    if has_engine:
        served.first_run(made, user)
    else:
        served.start(made, user)
    made.run("weir", "keys", "list", user=user)
    say(f"  downgraded to {now}: {served.service(made, user)}")
    if now.split()[-1] not in served.service(made, user):
        raise RuntimeError(f"the service is not {now}")


def told(made: Root, folder: Path) -> None:
    """Tell apt of a folder beside packages, as docs/user/install-linux.md says.

    Raises: RuntimeError where apt believes a folder that somebody changed.
    """
    place = made.folder / _FOLDER
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, copy_function=shutil.copyfile)  # apt asks for later files only
    options = "trusted=yes"
    if (place / apt.KEYRING).is_file():
        (made.folder / _KEYS).mkdir(parents=True, exist_ok=True)
        shutil.copy(place / apt.KEYRING, made.folder / _KEYS)
        options = f"signed-by=/{_KEYS}/{apt.KEYRING}"
    line = f"deb [{options}] file:/{_FOLDER} ./\n"
    (made.folder / _LISTED).write_text(line, encoding="ascii")
    made.run("apt-get", "update", "-qq")
    if options == "trusted=yes":
        say("  apt folder: not signed, the build had no key")
        return
    _require_disbelief(made, place)
    say("  apt folder: believed by its signature, and not when it was changed")


def _require_disbelief(made: Root, place: Path) -> None:
    """See apt refuse a changed index. Raises: RuntimeError."""
    whole = place / "InRelease"
    text = whole.read_text(encoding="utf-8")
    changed = re.sub(r"(?m)^ [0-9a-f]{64} ", lambda found: found[0][:-2] + "0 ", text)
    for path in (place / "Release", place / "Release.gpg"):
        path.unlink()
    whole.write_text(changed, encoding="utf-8")
    said = made.run("apt-get", "update", check=False)
    if not re.search(r"(?m)^(E|W): .*(signature|InRelease|Splitting)", said, re.IGNORECASE):
        raise RuntimeError(f"apt believed a folder that was changed: {said}")
    whole.write_text(text, encoding="utf-8")
    made.run("apt-get", "update", "-qq")


def require_same(made: Root, user: str, before: str) -> None:
    """Raises: RuntimeError where the service is not the same one as before."""
    after = served.service(made, user)
    if after != before:
        raise RuntimeError(f"apt exchanged the service that ran: {before}, {after}")
    say(f"  still there: {after}; {served.answer(made, user)}")


def remove(made: Root, user: str, before: Listing) -> None:
    """Remove it, purge it, and compare all files with those before. Raises: RuntimeError."""
    made.run("weir", "down", user=user)
    plan = made.run("weir", "uninstall", "--dry-run", user=user)
    say(f"  uninstall lists {len(plan.splitlines())} lines; ends: {plan.splitlines()[-1]}")
    made.run("weir", "uninstall", "--remove", "all", user=user)
    for place in (_LISTED, f"{_KEYS}/{apt.KEYRING}"):
        (made.folder / place).unlink(missing_ok=True)
    shutil.rmtree(made.folder / _FOLDER, ignore_errors=True)
    made.apt("remove", PACKAGE)
    said = made.run("weir", "--version", user=user, check=False)
    made.run("dpkg", "--purge", PACKAGE)  # apt forgets what no folder offers any more
    for copy in (made.folder / "tmp").glob("*.deb"):
        copy.unlink()
    if made.run("dpkg-query", "--show", PACKAGE, check=False).startswith(f"{PACKAGE}\t"):
        raise RuntimeError("dpkg still knows the package after its purge")
    _compare(made, before)
    say(f"  the command after it: {said.strip()}")


def _compare(made: Root, before: Listing) -> None:
    """Say what differs from before the installation. Raises: RuntimeError where it is ours."""
    after = listing(made)
    new = after.files - before.files
    others = new - made.owned()
    places = Counter("/".join(name.split("/")[:3]) for name in others)
    say(
        f"  after purge: {len(after.files):,} files, before {len(before.files):,}; "
        f"{len(new) - len(others):,} new ones belong to packages of Debian that were installed "
        f"meanwhile, {len(others)} to none: "
        + ", ".join(f"{place} {count}" for place, count in places.most_common(_SHOWN))
    )
    if after.ours != before.ours:
        raise RuntimeError(f"left after purge: {sorted(after.ours ^ before.ours)}")
    if gone := sorted(before.files - after.files):
        raise RuntimeError(f"files of the system are gone: {gone[:_SHOWN]}")
    say("  left after purge: 0 files of ours, in the home 0")
