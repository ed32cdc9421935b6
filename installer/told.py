"""Collects what the window shows of shipped data, and compiles its translations: `make words`.

A text of `presets/` or `runtimes/` that people read is listed here by where it stands. Sentences
that the service makes in code stand in the catalogue `service.po` by hand, under the same rules: a
test holds each against the code that makes it (tests/ui/test_told.py).
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from installer.catalogues import fresh, write_catalogue

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "told"
"""Of the catalogues, under the folder of a language."""
COMPILED = "LC_MESSAGES/told.json"
BY_HAND = "service"
"""The one catalogue whose English stands in code."""

SHOWN: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "presets": (
        ("presets/*.toml", ("title", "summary")),
        (
            "presets/*.toml",
            (
                "knobs.*.meaning", "knobs.*.unit", "warnings.sentence", "warnings.hint",
                "refusals.sentence", "refusals.hint", "needs.memory_note",
            ),
        ),
        ("presets/models/*.toml", ("origin", "preparation.what", "preparation.open")),
        (
            "presets/parts/*.toml",
            (
                "knobs.*.meaning", "knobs.*.unit", "warnings.sentence", "warnings.hint",
                "refusals.sentence", "refusals.hint",
            ),
        ),
    ),
    "planner": (
        ("presets/planner/memory.toml", ("terms.title", "terms.source")),
        ("presets/planner/processor.toml", ("parts.title", "parts.source")),
        ("presets/planner/boots.toml", ("rows.source",)),
        ("presets/planner/reductions.toml", ("steps.title", "steps.costs")),
    ),
    "clients": (
        ("presets/clients/*.toml", ("title", "summary", "steps", "snippets.title", "undo")),
    ),
    "alarms": (("runtimes/alarms.toml", ("alarm.title", "alarm.cause", "alarm.remedies.text")),),
    "slow_paths": (
        ("runtimes/slow_paths.toml", ("sign.title", "sign.costs.text", "sign.remedies.text")),
    ),
    "failures": (
        (
            "runtimes/failures.toml",
            ("signature.cause", "signature.remedies", "signature.remedies.text"),
        ),
    ),
    "traps": (("runtimes/client_traps.toml", ("trap.what", "trap.why")),),
    "recipes": (
        ("runtimes/*/runtime.toml", ("libraries.purpose",)),
        (
            "runtimes/*/runtime.toml",
            ("title", "patches.title", "steps.title", "steps.fallback", "steps.fallback_cost",
             "tools.without",
             "patches.fallback_cost", "notes.title", "notes.text"),
        ),
    ),
    "wsl": (("runtimes/wsl.toml", ("error.cause", "error.hint", "firmware.*")),),
}  # fmt: skip
"""Catalogue to files and the places in them; `*` is any one name. A list is passed through."""
_WORD = re.compile(r"(?<![\w`~/.])[a-z]{2,}(?!\w)")
"""What makes a text more than names and figures, which are the same in every language."""
_PLACE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
_SHORT = frozenset({"s"})


def collected(root: Path = ROOT) -> dict[str, str]:
    """Return every text of the data that the window shows, and the catalogue it belongs to."""
    found: dict[str, str] = {}
    for area, sources in SHOWN.items():
        for pattern, places in sources:
            for path in sorted(root.glob(pattern)):
                document = tomllib.loads(path.read_text(encoding="utf-8"))
                for place in places:
                    for text in _at(document, place.split(".")):
                        found.setdefault(text, area)
    return {text: area for text, area in found.items() if _is_words(text)}


def catalogues(language: Path) -> Iterator[tuple[Path, Catalog]]:
    """Yield the catalogues of a language."""
    for path in sorted((language / FOLDER).glob("*.po")):
        with path.open("rb") as file:
            yield path, read_po(file, locale=language.name, abort_invalid=True)


def translated(language: Path) -> dict[str, str]:
    """Return English to the other language, sorted."""
    pairs = {
        str(message.id): str(message.string)
        for _path, catalogue in catalogues(language)
        for message in catalogue
        if message.id and message.string
    }
    return dict(sorted(pairs.items()))


def compiled(language: Path) -> bytes:
    """Return the file that the window reads."""
    text = json.dumps(translated(language), ensure_ascii=False, indent=0)
    return f"{text}\n".encode()


def faults(language: Path, texts: dict[str, str]) -> list[str]:
    """Return what is wrong with a language's translations of data: a sentence each."""
    said: list[str] = []
    seen: dict[str, str] = {}
    for path, catalogue in catalogues(language):
        for message in catalogue:
            if not message.id:
                continue
            english, words = str(message.id), str(message.string)
            if english in seen:
                said.append(f"{path.name}: “{english}” stands in {seen[english]} too.")
            seen[english] = path.name
            if path.stem != BY_HAND and english not in texts:
                said.append(f"{path.name}: “{english}” is not used any more.")
            if not words or message.fuzzy:
                said.append(f"{path.name}: “{english}” has no words.")
            if not _places(words) <= _places(english):
                said.append(f"{path.name}: “{english}” has not the places of its translation.")
    missing = sorted(texts.keys() - seen.keys())
    return said + [f"{texts[one]}.po: “{one}” is missing." for one in missing]


def add_missing(language: Path, texts: dict[str, str]) -> int:
    """Add texts that no catalogue has, untranslated; return how many."""
    have = {path.stem: catalogue for path, catalogue in catalogues(language)}
    known = {str(message.id) for one in have.values() for message in one if message.id}
    new = {text: area for text, area in texts.items() if text not in known}
    for area in sorted(set(new.values())):
        catalogue = have.get(area) or fresh(language)
        for text in (text for text, its in new.items() if its == area):
            catalogue.add(text)
        write_catalogue(language / FOLDER / f"{area}.po", catalogue)
    return len(new)


def _at(node: object, place: list[str]) -> Iterator[str]:
    """Yield the texts at a place."""
    if isinstance(node, list):
        for one in node:
            yield from _at(one, place)
    elif isinstance(node, str) and not place:
        yield node
    elif isinstance(node, dict) and place:
        name, *rest = place
        for one in node.values() if name == "*" else (node.get(name),):
            yield from _at(one, rest)


def _places(text: str) -> set[str]:
    return set(_PLACE.findall(text))


def _is_words(text: str) -> bool:
    """Tell words for people from names alone: “Cherry Studio” is called so everywhere."""
    plain = _PLACE.sub("", text)
    return _WORD.search(plain) is not None or plain.endswith(".") or text in _SHORT
