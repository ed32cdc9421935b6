"""Collects the window's texts, adds new ones to the catalogues, compiles them: `make words`.

Texts stand in `studio/ui` inside `t`, `nt` and `marked`. A language is a folder of hand-written
catalogues, one an area; a text stands in one of them. All are compiled into one file, which is
committed: nobody needs Babel to run the window. What the window shows of shipped data, and of the
service's sentences, has catalogues of its own: `told.py`.
"""

import io
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from installer import told
from installer.catalogues import fresh, write_catalogue, write_whole

ROOT = Path(__file__).resolve().parents[1]
LOCALES = ROOT / "assets/locale"
SOURCES = ROOT / "studio/ui"
COMPILED = "LC_MESSAGES/weir.mo"
KEYWORDS = {"t": None, "nt": (1, 2), "marked": None, "plural": (2, 3)}

_AREA = "frame"
"""Takes the texts of modules that have no page of their own name."""
_AREAS = [
    "serve",
    "plan",
    "monitor",
    "keys",
    "connect",
    "models",
    "runtimes",
    "logs",
    "settings",
    "report",
    "problem",
    "boot",
]


class Text(NamedTuple):
    """One text of the window: its two forms where it counts, and the area it belongs to."""

    one: str
    many: str | None
    area: str

    @property
    def identity(self) -> str | tuple[str, str]:
        """Return what a catalogue files it under."""
        return self.one if self.many is None else (self.one, self.many)


def collected(sources: Path = SOURCES) -> dict[str, Text]:
    """Return every text of the window by its first form."""
    found: dict[str, Text] = {}
    rows = extract_from_dir(str(sources), [("**.py", "python")], keywords=KEYWORDS)
    for name, _line, message, _comments, _context in sorted(rows, key=lambda row: row[:2]):
        forms = message if isinstance(message, tuple) else (message, None)
        text = Text(forms[0], forms[1], _area(Path(name)))
        found.setdefault(text.one, text)
    return found


def catalogues(language: Path) -> Iterator[tuple[Path, Catalog]]:
    """Yield the hand-written catalogues of a language."""
    for path in sorted(language.glob("*.po")):
        with path.open("rb") as file:
            yield path, read_po(file, locale=language.name, abort_invalid=True)


def faults(language: Path, texts: dict[str, Text]) -> list[str]:
    """Return what is wrong with a language: a sentence each."""
    said: list[str] = []
    seen: dict[str, str] = {}
    for path, catalogue in catalogues(language):
        for message in catalogue:
            if not message.id:
                continue
            one = message.id if isinstance(message.id, str) else message.id[0]
            if one in seen:
                said.append(f"{path.name}: “{one}” stands in {seen[one]} too.")
            seen[one] = path.name
            said += [f"{path.name}: “{one}” {fault}" for fault in _faults(message, texts.get(one))]
    missing = texts.keys() - seen.keys()
    return said + [f"{texts[one].area}.po: “{one}” is missing." for one in sorted(missing)]


def compiled(language: Path) -> bytes:
    """Return all catalogues of a language as one compiled file."""
    whole = fresh(language)
    for _path, catalogue in catalogues(language):
        for message in catalogue:
            if message.id and not message.fuzzy:
                whole.add(message.id, message.string)
    target = io.BytesIO()
    write_mo(target, whole)
    return target.getvalue()


def add_missing(language: Path, texts: dict[str, Text]) -> int:
    """Add texts that no catalogue has, untranslated, to their areas; return how many."""
    have = {path.stem: catalogue for path, catalogue in catalogues(language)}
    known = {_first(message.id) for one in have.values() for message in one if message.id}
    new = [text for one, text in texts.items() if one not in known]
    for area in sorted({text.area for text in new}):
        catalogue = have.get(area) or fresh(language)
        for text in new:
            if text.area == area:
                catalogue.add(text.identity)
        write_catalogue(language / f"{area}.po", catalogue)
    return len(new)


def places(text: str) -> list[str]:
    """Return the places `{name}` of a text, sorted."""
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def main() -> int:
    """Bring all languages up to date; 1 when something is left to translate."""
    texts, data = collected(), told.collected()
    status = 0
    for language in sorted(path for path in LOCALES.iterdir() if path.is_dir()):
        added = add_missing(language, texts)
        added += told.add_missing(language, data)
        write_whole(language / COMPILED, compiled(language))
        write_whole(language / told.COMPILED, told.compiled(language))
        left = faults(language, texts) + told.faults(language, data)
        count = len(texts) + len(data)
        sys.stdout.write(f"{language.name}: {count} texts, {added} new, {len(left)} to do\n")
        sys.stdout.writelines(f"  {line}\n" for line in left)
        status = status or int(bool(left))
    return status


def _faults(message: object, text: Text | None) -> Iterator[str]:
    identity = getattr(message, "id", "")
    forms = getattr(message, "string", "")
    strings = forms if isinstance(forms, tuple | list) else (forms,)
    if text is None:
        yield "is not used any more."
    elif identity != text.identity:
        yield "counts in one of catalogue and code only."
    if getattr(message, "fuzzy", False):
        yield "is fuzzy."
    if not all(strings):
        yield "has no words."
    wanted = identity if isinstance(identity, tuple | list) else (identity,)
    allowed = [places(one) for one in wanted]
    if any(one and places(one) not in allowed for one in strings):
        yield "has other places than the English."


def _first(identity: str | tuple[str, ...] | list[str]) -> str:
    return identity if isinstance(identity, str) else identity[0]


def _area(path: Path) -> str:
    return path.stem if path.stem in _AREAS else _AREA


if __name__ == "__main__":
    sys.exit(main())
