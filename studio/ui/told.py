"""Sentences of the service in the person's language: from data as they stand, or filled in.

A preset's summary comes as its file says it; a cause comes with names and figures in its places.
Both are found by their English, so the service and its control API know one language and a
preset of the person's own says what its author wrote. Pure but for reading the one file.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

COMPILED = "LC_MESSAGES/told.json"
"""English to the other language, under the folder of a language."""
_PLACE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
_LITERAL = re.compile(r"`\{(\w+)(?::[^{}]*)?\}`")
"""What is typed or named just so, even where it reads like a word."""
_END = re.compile(r"(?<=[.!?]) +(?=[^a-z\s])")
"""Between two sentences: the next one begins with a capital, a figure or a mark."""
_BORDER = re.compile(rf"{_END.pattern}|; ")
_LEAST_LETTERS = 3
"""A pattern says at least so much itself: one that is all places would take any sentence."""
_WEAK = 8
"""A pattern that says less joins parts (`{one} or {other}`): it counts only where each part is
known, or it would put one foreign word into a sentence that nobody translated."""
_FOREIGN = re.compile(r"(?<![^\s(])[A-Za-z][a-z]{2,}(?![^\s,.;:!?)])")
"""A plain word; `cu13-vllm-0.32.0` and `GeForce` are names, which stay as they are."""
_CLAUSE = re.compile(r"[;:.?] ")
"""A first place with such a mark inside took the beginning of another sentence: `{free} is free`
fits whatever ends so."""
_HAN = r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
_SPACED = (re.compile(rf"{_HAN} \Z"), re.compile(rf"\A {_HAN}"))
_ONE_HAN = re.compile(_HAN)
_DEEPEST = 3
"""A sentence may hold another one in a place, that one a name; more is no sentence of ours."""
_MOST_CLAUSES = 8
_LONGEST_RUN = 3
"""Of sentences that are one text of the catalogue."""
_KEPT = 4096


class _Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """One text with places."""

    anchor: str
    """Its longest plain part: what lacks it is turned away at once."""
    form: re.Pattern[str]
    names: tuple[str, ...]
    literals: frozenset[str]
    words: str
    opens: bool
    """It begins with a place."""
    weight: int
    """How many plain characters it has: of two that fit, the one that says more is meant."""


class Told:
    """The sentences of one language; without any, each stays as it is."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        """Take English sentences with their translations."""
        self._exact = {one: words for one, words in sentences.items() if not _PLACE.search(one)}
        made = (_pattern(one, words) for one, words in sentences.items() if _PLACE.search(one))
        found = (one for one in made if one.weight >= _LEAST_LETTERS)
        self._patterns = sorted(found, key=lambda one: -one.weight)
        self._whole = functools.lru_cache(maxsize=_KEPT)(lambda text: self._look(text, 0))

    def say(self, text: str) -> str:
        """Return `text` in the language; a sentence that nobody translated stays as it is."""
        return self._whole(text) if text and (self._exact or self._patterns) else text

    def _stopped(self, text: str, depth: int) -> str:
        """Return what stands in a place: a sentence may have lost its stop on the way there."""
        if text.endswith(".") or _ONE_HAN.search(text) or not _FOREIGN.search(text):
            return text
        whole = self._look(f"{text}.", depth)
        return whole.removesuffix("。") if _ONE_HAN.search(whole) else text

    def _look(self, text: str, depth: int) -> str:
        found = self._one(text, depth)
        if found is not None:
            return found
        ways = (
            self._in_a_row(text, depth),
            self._one(text, depth, wide=True),
            self._clauses(text, depth),
        )
        return min((way for way in ways if way is not None), key=_foreign_words, default=text)

    def _in_a_row(self, text: str, depth: int) -> str | None:
        """Return sentences behind each other; those that nobody translated stay."""
        parts = _END.split(text)
        said = list(self._runs(parts, depth)) if len(parts) > 1 else []
        if all(now is None for _, now in said):
            return None
        return _joined([now or was for was, now in said])

    def _runs(self, parts: list[str], depth: int) -> Iterator[tuple[str, str | None]]:
        """Yield sentences, or some in a row that are one text, with their translation."""
        at = 0
        while at < len(parts):
            runs = [parts[at:end] for end in range(min(len(parts), at + _LONGEST_RUN), at + 1, -1)]
            found = ((run, self._one(" ".join(run), depth)) for run in runs)
            run, now = next(
                (one for one in found if one[1] is not None), (parts[at : at + 1], None)
            )
            was = " ".join(run)
            if now is None and (alone := self._look(was, depth)) != was:
                now = alone
            yield was, now
            at += len(run)

    def _clauses(self, text: str, depth: int) -> str | None:
        """Return a list of clauses, each of which is known: no sentence of two languages."""
        parts = text.split("; ", _MOST_CLAUSES)
        said = [self._one(part, depth) for part in parts] if len(parts) > 1 else []
        known = [one for one in said if one is not None]
        return "；".join(known) if known and len(known) == len(parts) else None

    def _one(self, text: str, depth: int, *, wide: bool = False) -> str | None:
        """Return the words for one text; with `wide` a place may reach into a next clause."""
        exact = self._exact.get(text)
        if exact is not None or depth > _DEEPEST:
            return exact
        for pattern in self._patterns:
            if pattern.anchor not in text:
                continue
            match = pattern.form.fullmatch(text)
            if match is None or (not wide and any(map(_BORDER.search, match.groups()))):
                continue
            said = self._filled(pattern, match.groups(), depth)
            if said is not None:
                return said
        return None

    def _filled(self, pattern: _Pattern, groups: tuple[str, ...], depth: int) -> str | None:
        values = {
            name: value if name in pattern.literals else self._look(value, depth + 1)
            for name, value in zip(pattern.names, groups, strict=True)
        }
        values = {name: self._stopped(value, depth + 1) for name, value in values.items()}
        if pattern.opens and values[pattern.names[0]] == groups[0] and _CLAUSE.search(groups[0]):
            return None
        if pattern.weight < _WEAK and any(_FOREIGN.search(value) for value in values.values()):
            return None
        return _put(pattern.words, values)


NOTHING = Told({})
"""English: what the service says is what is shown."""


def read(language: Path) -> Told:
    """Return the sentences in the folder of a language; none where there is no such file."""
    try:
        raw = (language / COMPILED).read_bytes()
    except FileNotFoundError:
        return NOTHING
    return Told(msgspec.json.decode(raw, type=dict[str, str]))


def _pattern(text: str, words: str) -> _Pattern:
    plain = _PLACE.split(text)[::2]
    names = tuple(dict.fromkeys(_PLACE.findall(text)))
    numbers = {name: number for number, name in enumerate(names, start=1)}
    literals = frozenset(_LITERAL.findall(text))
    form, seen = re.escape(plain[0]), set[str]()
    for name, after in zip(_PLACE.findall(text), plain[1:], strict=True):
        some = "(.*?)" if name in literals else "(.+?)"
        form += f"\\{numbers[name]}" if name in seen else some
        form += re.escape(after)
        seen.add(name)
    return _Pattern(
        anchor=max(plain, key=len),
        form=re.compile(form, re.DOTALL),
        names=names,
        literals=literals,
        words=words,
        opens=not plain[0],
        weight=sum(map(len, plain)),
    )


def _put(words: str, values: Mapping[str, str]) -> str:
    """Return `words` with values in their places: no space between two Chinese characters."""
    said, *rest = _PLACE.split(words)
    for name, after in zip(rest[::2], rest[1::2], strict=True):
        value = values.get(name, f"{{{name}}}")
        if _SPACED[0].search(said) and _ONE_HAN.match(value):
            said = said[:-1]
        said += value
        is_tight = _SPACED[1].match(after) and _ONE_HAN.fullmatch(value[-1:])
        said += after[1:] if is_tight else after
    return said


def _foreign_words(text: str) -> int:
    return len(_FOREIGN.findall(text))


def _joined(parts: list[str]) -> str:
    """Join sentences: a full-width mark brings its own space."""
    said = parts[0]
    for part in parts[1:]:
        said += part if said.endswith(("。", "！", "？", "；")) else f" {part}"
    return said
