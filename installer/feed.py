"""Writes the signed feed of a release, and tells a build which feed and which key are its own.

    WEIR_RELEASE_KEY=key.pem python -m installer.feed DIST [--minimum 0.1.0] [--days 180]

`feed.json` and `feed.json.sig` are published beside the packages. The feed is good for some time
only: signing it anew from time to time says that this is still the newest version, and keeps others
from holding an old one up as new.
"""

import argparse
import base64
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from studio import __version__
from studio.domain.self_update import (
    FEED_FILE,
    FEED_PURPOSE,
    FEED_SCHEMA,
    SIGNATURE_SUFFIX,
    Feed,
    FeedPackage,
)
from studio.host import signing
from studio.host.files import sha256_file

KEY = "WEIR_RELEASE_KEY"
FEED = "WEIR_RELEASE_FEED"
KINDS = {".run": "run", ".deb": "deb", ".AppImage": "appimage", ".exe": "setup"}
DAYS = 180
FIRST_WITH_UPDATES = "0.1.0"
MOST_CHANGES = 40
_ROOT = Path(__file__).resolve().parents[1]


def write(
    out: Path,
    packages: list[Path],
    version: str,
    *,
    minimum: str = FIRST_WITH_UPDATES,
    days: int = DAYS,
    now: float | None = None,
) -> list[Path]:
    """Write feed and signature into `out`; nothing, where no release key is at hand."""
    key = os.environ.get(KEY)
    if not key:
        return []
    issued_at = time.time() if now is None else now
    feed = Feed(
        schema_version=FEED_SCHEMA,
        version=version,
        sequence=int(issued_at),
        issued_at=issued_at,
        expires_at=issued_at + days * 86_400.0,
        minimum_version=minimum,
        changes=tuple(changes((_ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)),
        packages=tuple(
            FeedPackage(
                file=path.name,
                kind=KINDS[path.suffix],
                bytes=path.stat().st_size,
                sha256=sha256_file(path),
            )
            for path in sorted(packages)
        ),
    )
    raw = msgspec.json.format(msgspec.json.encode(feed)) + b"\n"
    return sign(out, raw, signing.load(Path(key)))


def sign(out: Path, raw: bytes, signer: signing.Signer) -> list[Path]:
    """Write the bytes of a feed and what proves them; the proof first, so that no feed lacks it."""
    msgspec.json.decode(raw, type=Feed)
    proof = out / f"{FEED_FILE}{SIGNATURE_SUFFIX}"
    text = base64.b64encode(signer.public_key + signer.sign(FEED_PURPOSE, raw)).decode("ascii")
    for path, data in ((proof, f"{text}\n".encode("ascii")), (out / FEED_FILE, raw)):
        part = path.with_name(f"{path.name}.part")
        part.write_bytes(data)
        part.replace(path)
    return [out / FEED_FILE, proof]


def tell(path: Path) -> None:
    """Write into a frozen program where its releases are announced, and whose signature counts."""
    key = os.environ.get(KEY)
    signers = [signing.load(Path(key)).fingerprint] if key else []
    feed = os.environ.get(FEED, "")
    lines = [
        "schema_version = 1",
        f"feed = {_quoted(feed)}",
        f"signers = [{', '.join(_quoted(one) for one in signers)}]",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def changes(text: str, version: str) -> Iterator[str]:
    """Yield the lines of the changelog about a version; of what is unreleased where it has none."""
    sections = re.split(r"^## \[(.+?)\].*$", text, flags=re.MULTILINE)
    by_name = dict(zip(sections[1::2], sections[2::2], strict=True))
    section = by_name.get(version) or by_name.get("Unreleased", "")
    found = [line[2:].strip() for line in section.splitlines() if line.startswith("- ")]
    yield from found[:MOST_CHANGES]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def main() -> int:
    """Write the feed of a folder of packages; 1 without a key."""
    parser = argparse.ArgumentParser()
    parser.add_argument("dist", type=Path)
    parser.add_argument("--version", default=__version__)
    parser.add_argument("--minimum", default=FIRST_WITH_UPDATES)
    parser.add_argument("--days", type=int, default=DAYS)
    options = parser.parse_args()
    packages = [path for path in options.dist.iterdir() if path.suffix in KINDS]
    written = write(
        options.dist, packages, options.version, minimum=options.minimum, days=options.days
    )
    if not written:
        sys.stderr.write(f"error: {KEY} names no key.\n")
        return 1
    sys.stdout.write("".join(f"{path}\n" for path in written))
    return 0


if __name__ == "__main__":
    sys.exit(main())
