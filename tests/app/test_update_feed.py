"""What a feed has to prove before anything in it is used."""

from pathlib import Path

import msgspec
import pytest

from installer import feed as writer
from studio.app import update_feed
from studio.app.update_feed import Found, Release
from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound, StudioError
from studio.domain.self_update import Feed, FeedPackage
from studio.host import signing
from studio.host.network import NetworkPolicy

NOW = 1_800_000_000.0
FEED = Feed(
    schema_version=1, version="1.1.0", sequence=7, issued_at=NOW, expires_at=NOW + 1_000,
    minimum_version="1.0.0", changes=("Better.",),
    packages=(FeedPackage(file="weir.run", kind="run", bytes=3, sha256="0" * 64),),
)  # fmt: skip


class Published:
    """A folder with a feed, and the build that believes its key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key, _ = signing.own(folder / "keys/release.pem")
        self.release = Release(schema_version=1, feed=str(folder), signers=(self.key.fingerprint,))

    def publish(self, **changes: object) -> None:
        """Sign a feed."""
        made = msgspec.structs.replace(FEED, **changes)
        writer.sign(self.folder, msgspec.json.encode(made), self.key)

    async def fetch(self, *, seen: int = 0, now: float = NOW) -> Found:
        """Return the feed, proven."""
        return await update_feed.fetch(
            self.release, None, NetworkPolicy(), seen=seen, now=lambda: now
        )

    async def refusal(self, *, seen: int = 0, now: float = NOW) -> StudioError:
        """Return why it is not believed."""
        with pytest.raises(StudioError) as caught:
            await self.fetch(seen=seen, now=now)
        return caught.value


@pytest.fixture
def published(tmp_path: Path) -> Published:
    """Return a release."""
    made = Published(tmp_path / "öur releases")
    made.publish()
    return made


async def test_a_feed_that_the_release_key_signed_is_believed(published: Published) -> None:
    """And its packages lie beside it, in a folder and behind an address."""
    found = await published.fetch(seen=7)

    assert found.feed == FEED
    assert found.address_of("weir.run") == str(published.folder / "weir.run")
    there = msgspec.structs.replace(found, address="https://files.test/weir/feed.json")
    assert there.address_of("weir.run") == "https://files.test/weir/weir.run"


async def test_one_changed_byte_or_another_key_is_refused(
    published: Published, tmp_path: Path
) -> None:
    """With the fingerprint of who signed instead."""
    path = published.folder / "feed.json"
    path.write_bytes(path.read_bytes().replace(b"1.1.0", b"9.1.0"))
    assert (await published.refusal()).code == "update-signature"

    other, _ = signing.own(tmp_path / "other/key.pem")
    writer.sign(published.folder, msgspec.json.encode(FEED), other)
    refused = await published.refusal()
    assert refused.code == "update-signature"
    assert other.fingerprint in refused.message

    sums = other.sign(b"weir-studio release sums v1", msgspec.json.encode(FEED))
    with pytest.raises(Damaged):
        update_feed.require_signed(b"{}", sums, published.release.signers, "x")


@pytest.mark.parametrize("text", ["", "not base64 ✗", "AAAA", "A" * 128])
async def test_a_signature_that_is_none_is_refused(published: Published, text: str) -> None:
    """Whatever lies there."""
    (published.folder / "feed.json.sig").write_text(text, encoding="utf-8")

    assert (await published.refusal()).code == "update-signature"


async def test_a_signature_for_another_purpose_proves_nothing(published: Published) -> None:
    """The same key signs sums of files, too."""
    import base64

    raw = (published.folder / "feed.json").read_bytes()
    proof = published.key.public_key + published.key.sign(b"weir-studio release sums v1", raw)
    (published.folder / "feed.json.sig").write_bytes(base64.b64encode(proof))

    assert (await published.refusal()).code == "update-signature"


async def test_an_old_feed_is_not_taken_for_a_new_one(published: Published) -> None:
    """Signed once is not signed for ever."""
    replayed = await published.refusal(seen=8)
    expired = await published.refusal(now=NOW + 1_001)

    assert (replayed.code, expired.code) == ("update-replayed", "update-expired")
    assert "after 8" in replayed.message


async def test_a_clock_that_stands_before_the_signing_is_named(published: Published) -> None:
    """A flat battery must not look like an attack; a day of difference is none."""
    assert (await published.fetch(now=NOW - 80_000)).feed == FEED

    refused = await published.refusal(now=0.0)

    assert isinstance(refused, HostLacks)
    assert "1970-01-01" in refused.message
    published.publish(issued_at=1e300, expires_at=2e300)
    assert "no calendar" in (await published.refusal()).message


@pytest.mark.parametrize(
    "raw",
    [
        b"[]", b"{}", b"\xff", b"{" * 50_000,
        msgspec.json.encode(FEED).replace(b'"weir.run"', b'"../weir.run"'),
        msgspec.json.encode(FEED).replace(b'"weir.run"', b'"/etc/weir.run"'),
        msgspec.json.encode(FEED).replace(b'"1.1.0"', b'"newest"'),
        msgspec.json.encode(FEED).replace(b'"schema_version":1', b'"schema_version":2'),
    ],
)  # fmt: skip
def test_signed_nonsense_is_not_understood(raw: bytes) -> None:
    """A name that leads elsewhere would write elsewhere."""
    with pytest.raises(Damaged) as caught:
        update_feed.parse(raw, "feed.json")

    assert caught.value.code == "update-feed-damaged"


def test_a_feed_of_a_later_form_with_more_in_it_is_read() -> None:
    """What is not known is left out of account."""
    raw = msgspec.json.encode(FEED)[:-1] + b',"delta":{"from":"1.0.0"}}'

    assert update_feed.parse(raw, "feed.json") == FEED


async def test_without_a_key_or_a_place_the_way_on_is_said(published: Published) -> None:
    """A build from sources has neither."""
    with pytest.raises(NotFound) as caught:
        update_feed.address(Release(schema_version=1), None)
    assert caught.value.code == "update-feed-unknown"
    published.release = Release(schema_version=1, feed=str(published.folder))
    assert (await published.refusal()).code == "update-signer-unknown"


def test_a_place_is_a_folder_a_file_or_an_address(tmp_path: Path) -> None:
    """As people have it on a stick or in a browser."""
    known = Release(schema_version=1, feed="https://files.test/weir/")
    assert update_feed.address(known, None) == "https://files.test/weir/feed.json"
    assert update_feed.address(known, "https://x.test/a.json") == "https://x.test/a.json"
    assert update_feed.address(known, str(tmp_path)) == str(tmp_path / "feed.json")
    with pytest.raises(BadInput):
        update_feed.address(known, "stick/weir")


def test_this_build_says_where_its_releases_are() -> None:
    """The file is there and read strictly; sources name no place and no key."""
    from studio.host.paths import bundled_root

    assert update_feed.release(bundled_root()) == Release(schema_version=1)
