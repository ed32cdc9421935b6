"""Looking, fetching, staging: what is offered, what is refused, what is never touched."""

import hashlib
import threading
from pathlib import Path

import msgspec
import pytest

from installer import feed as writer
from studio.app.self_update import SelfUpdate
from studio.app.update_feed import Release
from studio.app.update_records import Ran, Records, Staged
from studio.domain.errors import StudioError
from studio.domain.self_update import (
    Came,
    Feed,
    FeedPackage,
    UpdateApplyRequest,
    UpdateCheckRequest,
    UpdateState,
    UpdateStatus,
)
from studio.host import files, signing
from studio.host.network import NetworkPolicy
from studio.host.own_program import Installed
from studio.host.paths import Paths, bundled_root
from tests.fakes.waiting import until_async

ASK = UpdateCheckRequest()
SCRIPT = """\
#!/bin/sh
while [ $# -gt 0 ]; do word=$1; shift; [ "$word" != -- ] || break; done
prefix=; while [ $# -gt 0 ]; do [ "$1" != --prefix ] || prefix=$2; shift; done
{more}
mkdir -p "$prefix/opt/weir-studio/1.1.0" && : > "$prefix/opt/weir-studio/1.1.0/weir"
"""


class Place:
    """A home, a program of 1.0.0, and a folder where releases are published."""

    def __init__(self, folder: Path, came: Came) -> None:
        self.paths = Paths(home=folder / "wéir home", catalogue=bundled_root())
        self.published = folder / "published"
        self.published.mkdir()
        self.key, _ = signing.own(folder / "keys/release.pem")
        self.version = folder / "prefix/opt/weir-studio/1.0.0"
        self.version.mkdir(parents=True)
        (self.version / "weir").touch()
        place = Installed(came, self.version)
        release = Release(
            schema_version=1, feed=str(self.published), signers=(self.key.fingerprint,)
        )
        self.updates = SelfUpdate(
            self.paths, version="1.0.0", installed=lambda: place, release=lambda: release,
            policy=lambda _paths: NetworkPolicy(),
        )  # fmt: skip
        self.records = Records(self.paths)
        self.sequence = 1

    def publish(
        self, version: str = "1.1.0", more: str = "", script: str | None = None, **changes: object
    ) -> Path:
        """Publish a version of every kind."""
        self.sequence += 1
        package = self.published / f"weir-{version}.run"
        package.write_text(script or SCRIPT.format(more=more), encoding="utf-8")
        data = package.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        made = Feed(
            schema_version=1, version=version, sequence=self.sequence, issued_at=1.0,
            expires_at=4e9, minimum_version="1.0.0", changes=("Better.",),
            packages=tuple(
                FeedPackage(file=package.name, kind=kind, bytes=len(data), sha256=digest)
                for kind in ("run", "deb", "appimage", "setup")
            ),
        )  # fmt: skip
        made = msgspec.structs.replace(made, **changes)
        writer.sign(self.published, msgspec.json.encode(made), self.key)
        return package

    async def refusal(self) -> StudioError:
        """Return why the newest is not fetched."""
        with pytest.raises(StudioError) as caught:
            await self.updates.get(ASK)
        return caught.value


def spoil(status: UpdateStatus) -> None:
    """Write something else into a fetched package."""
    Path(status.file or "").write_bytes(b"exit 9")


def is_spoilt(status: UpdateStatus) -> bool:
    """Tell whether that is still in it."""
    return Path(status.file or "").read_bytes() == b"exit 9"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return somebody with a .run."""
    return Place(tmp_path, Came.RUN)


async def test_nothing_is_known_until_somebody_asks(place: Place) -> None:
    """And nobody was asked: there is no home yet."""
    place.publish()

    status = await place.updates.status()

    assert status.state is UpdateState.NOT_CHECKED
    assert status.offered is None
    assert not place.paths.home.exists()


async def test_a_newer_version_is_offered_fetched_staged_and_wanted(place: Place) -> None:
    """One step at a time; nothing takes over by itself."""
    place.publish()

    checked = await place.updates.check(ASK)
    assert (checked.state, checked.offered) == (UpdateState.OFFERED, "1.1.0")
    assert checked.changes == ("Better.",)
    staged = await place.updates.get(ASK)
    assert staged.state is UpdateState.STAGED
    assert place.records.staged() == Staged(version="1.1.0")
    waiting = await place.updates.apply(UpdateApplyRequest())
    assert (waiting.state, waiting.waiting) == (UpdateState.WAITING, "1.1.0")
    taken_back = await place.updates.apply(UpdateApplyRequest(wanted=False))
    assert taken_back.state is UpdateState.STAGED
    assert not (place.paths.home / "update/unpacked").exists()
    assert not list((place.paths.home / "update/packages").iterdir())


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
async def test_the_same_or_an_older_version_is_no_update(place: Place, version: str) -> None:
    """A feed that goes back must not take anybody along."""
    place.publish(version)

    assert (await place.updates.check(ASK)).state is UpdateState.NEWEST
    assert (await place.refusal()).code == "update-none"


async def test_a_feed_of_yesterday_is_a_replay(place: Place) -> None:
    """Also when it offers a newer version than ours."""
    place.publish("1.2.0", sequence=50)
    await place.updates.check(ASK)
    place.publish("1.1.0", sequence=49)

    assert (await place.refusal()).code == "update-replayed"


async def test_too_old_a_version_is_told_which_comes_first(place: Place) -> None:
    """Before anything is fetched."""
    place.publish("3.0.0", minimum_version="2.0.0")

    status = await place.updates.check(ASK)
    refused = await place.refusal()

    assert status.minimum_version == "2.0.0"
    assert refused.code == "update-too-old"
    assert "2.0.0" in (refused.hint or "")


async def test_a_package_that_is_not_what_was_signed_is_never_run(
    place: Place, tmp_path: Path
) -> None:
    """Neither a half one nor another one."""
    package = place.publish(more=f": > '{tmp_path / 'was run'}'")
    whole = package.read_bytes()
    for data in (whole[:-20], whole.replace(b"#!/bin/sh", b"#!/bin/ls")):
        package.write_bytes(data)
        assert (await place.refusal()).code == "download-hash"
    assert not (tmp_path / "was run").exists()
    assert place.records.staged() is None


async def test_a_package_that_changed_on_the_disk_is_fetched_anew(tmp_path: Path) -> None:
    """A cache is no proof; and what was staged needs its package no more."""
    place = Place(tmp_path, Came.DEB)
    place.publish()
    status = await place.updates.get(ASK)
    spoil(status)

    again = await place.updates.get(ASK)

    assert not is_spoilt(again)


async def test_a_package_that_fails_leaves_everything_and_says_why(place: Place) -> None:
    """With its own last lines."""
    place.publish(more="echo 'GLIBC_2.99 not found'; exit 1")

    refused = await place.refusal()

    assert refused.code == "update-not-staged"
    assert "GLIBC_2.99 not found" in refused.evidence
    assert place.records.staged() is None


async def test_a_full_disk_is_told_before_the_first_byte(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what is needed."""
    place.publish()
    monkeypatch.setattr(files, "free_bytes", lambda _path: 10)

    assert (await place.refusal()).code == "disk-space"


async def test_two_at_once_do_not_mix(place: Place) -> None:
    """The second is told, and the first goes on."""
    place.publish()
    (place.paths.home / "update").mkdir(parents=True)
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with files.exclusive(place.paths.home / "update/lock") as is_ours:
            assert is_ours
            is_held.set()
            may_go.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        await until_async(is_held.is_set, "the lock")
        assert (await place.refusal()).code == "update-busy"
    finally:
        may_go.set()
        thread.join()
    assert (await place.updates.get(ASK)).state is UpdateState.STAGED


@pytest.mark.parametrize(
    ("came", "word"),
    [(Came.DEB, "sudo apt install "), (Came.APPIMAGE, "install -m 755 ")],
)
async def test_what_others_install_is_fetched_and_the_command_said(
    tmp_path: Path, came: Came, word: str
) -> None:
    """The Studio is not root, and does not exchange a person's own file."""
    place = Place(tmp_path, came)
    place.publish()

    status = await place.updates.get(ASK)

    assert status.state is UpdateState.FETCHED
    assert (status.command or "").startswith(word)
    assert {"'", '"'} & set(status.command or ""), "the home has a blank in its name"
    with pytest.raises(StudioError) as caught:
        await place.updates.apply(UpdateApplyRequest())
    assert caught.value.code == "update-by-other-means"
    assert caught.value.hint == status.command
    with pytest.raises(StudioError) as back:
        await place.updates.rollback()
    assert back.value.code == "update-by-other-means"


async def test_a_checkout_is_told_of_git(tmp_path: Path) -> None:
    """It sees what is newest all the same."""
    place = Place(tmp_path, Came.CHECKOUT)
    place.publish()

    assert (await place.updates.check(ASK)).offered == "1.1.0"
    refused = await place.refusal()
    assert refused.code == "update-by-git"
    assert "git pull" in (refused.hint or "")


async def test_a_release_without_our_kind_says_so(place: Place) -> None:
    """Instead of fetching another kind."""
    place.publish(packages=())

    assert (await place.refusal()).code == "update-no-package"


async def test_there_is_a_way_back_where_the_version_before_lies(place: Place) -> None:
    """And none where it does not."""
    with pytest.raises(StudioError) as caught:
        await place.updates.rollback()
    assert caught.value.code == "update-no-previous"

    before = place.version.with_name("0.9.0")
    before.mkdir()
    (before / "weir").touch()
    place.records.write(Ran(version="1.0.0", previous="0.9.0"))
    status = await place.updates.rollback()
    assert status.previous == "0.9.0"
    assert place.records.staged() == Staged(version="0.9.0", wanted=True, is_rollback=True)


async def test_a_no_to_going_back_leaves_nothing_that_reads_like_a_newer_version(
    place: Place,
) -> None:
    """“Use it” would have started the older one, and the newer could not be fetched."""
    place.publish()
    await place.updates.check(ASK)
    before = place.version.with_name("0.9.0")
    before.mkdir()
    (before / "weir").touch()
    place.records.write(Ran(version="1.0.0", previous="0.9.0"))
    await place.updates.rollback()

    status = await place.updates.apply(UpdateApplyRequest(wanted=False))

    assert (status.state, status.offered) == (UpdateState.OFFERED, "1.1.0")
    assert status.previous == "0.9.0"
    assert place.records.staged() is None


async def test_there_is_a_way_back_from_what_a_person_installed_over_it(place: Place) -> None:
    """No service of the newer version has come up yet, or none at all ever did."""
    for name in ("0.9.0", "0.8.0", "1.1.0"):
        (place.version.with_name(name)).mkdir()
        (place.version.with_name(name) / "weir").touch()
    (place.version.with_name("current")).symlink_to("1.1.0")

    assert (await place.updates.status()).previous == "1.0.0"
    place.records.write(Ran(version="0.9.0"))
    assert (await place.updates.rollback()).previous == "0.9.0"


async def test_the_old_program_itself_knows_the_way_back(place: Place) -> None:
    """A person starts its file by hand, because the newer version does nothing any more."""
    (place.version.with_name("1.1.0")).mkdir()
    (place.version.with_name("1.1.0") / "weir").touch()
    (place.version.with_name("current")).symlink_to("1.1.0")
    place.records.write(Ran(version="1.1.0", previous="1.0.0"))

    await place.updates.rollback()

    assert place.records.staged() == Staged(version="1.0.0", wanted=True, is_rollback=True)


async def test_a_feed_that_was_changed_in_the_home_is_not_believed(place: Place) -> None:
    """Its signature is held against it each time."""
    place.publish()
    await place.updates.check(ASK)
    kept = place.paths.home / "update/feed.json"
    kept.write_bytes(kept.read_bytes().replace(b"Better.", b"Worse.."))

    status = await place.updates.status()

    assert status.offered is None
    assert status.changes == ()
