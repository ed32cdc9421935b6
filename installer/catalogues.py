"""Writes gettext catalogues: same words, same bytes; a file is whole or as it was."""

import datetime
import io
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

_FIXED = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
"""The same words compile to the same bytes, whenever."""


def fresh(language: Path) -> Catalog:
    """Return an empty catalogue of a language."""
    return Catalog(
        locale=language.name,
        header_comment="# Words of Weir Studio's window.",
        project="Weir Studio",
        version="0",
        msgid_bugs_address="none",
        last_translator="none",
        language_team="none",
        creation_date=_FIXED,
        revision_date=_FIXED,
        fuzzy=False,
    )


def write_catalogue(path: Path, catalogue: Catalog) -> None:
    """Write a catalogue for people to translate in."""
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=100, no_location=True)
    write_whole(path, buffer.getvalue())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, then put it there."""
    path.parent.mkdir(exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(content)
    beside.replace(path)
