"""Silent slowness: what an engine says, and was given, that makes it slower than it could be.

Pure: lines, environment and facts come in, badges go out. What is known is data
(runtimes/slow_paths.toml). One `Watch` belongs to one boot, so a badge is gone when the next boot
does not show it. A line counts by its message, never by process, time or place.
"""

import dataclasses
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence

from studio.domain.remedies import Badge, Remedy, RemedyKind
from studio.serving.log_text import split_header
from studio.serving.slow_path_file import Opening, Sign, Signs, placeholders

_EVIDENCE_WIDTH = 300
_MOST_VALUES = 4
"""Of values of one name: more are a number."""
_VALUE_WIDTH = 200
_MESSAGE_WIDTH = 8_192
"""The engine's configuration, the longest line that is looked at, takes about 5,000 characters."""
_HEADER_WIDTH = 160
_KIND_WIDTH = 16
_IDLE_LINES = 64
"""After so many lines of one kind without any plain text of a sign, its other lines have none."""
_MOST_KINDS = 4_096
_STARTED = "Application startup complete"
_BANNER = "version "


@dataclasses.dataclass(slots=True, kw_only=True)
class _Found:
    evidence: str
    values: dict[str, list[str]]


class Watch:
    """Looks at one boot, and at the engine while it serves."""

    def __init__(
        self,
        signs: Signs,
        *,
        environment: Mapping[str, str] | None = None,
        argv: Sequence[str] = (),
        knobs: Collection[str] | None = None,
        names: Mapping[str, str] | None = None,
        has_cards: bool | None = None,
    ) -> None:
        """Begin with what the engine is started with.

        `knobs`: those of its preset; a remedy that needs another is left out. None: not known.
        `names`: `runtime` and `preset`, for commands to type.
        `has_cards`: whether the machine has any; None: not known, then the log alone tells.
        """
        self._signs = signs
        self._knobs = knobs
        self._names = dict(names or {})
        self._told = {sign.id: sign for sign in signs.signs if sign.is_told}
        self._gate = _gate(signs)
        self._kinds: dict[str, int] = {}
        self._found: dict[str, _Found] = {}
        self._contexts: set[str] = set()
        self._badges: tuple[Badge, ...] | None = None
        self._contexts.update(
            one.name for one in signs.contexts if has_cards is not None and one.cards is has_cards
        )
        self._look_at_start(environment or {}, argv)

    @property
    def badges(self) -> tuple[Badge, ...]:
        """What was seen so far, the dearest first."""
        if self._badges is None:
            self._badges = self._made()
        return self._badges

    def offer(self, line: str) -> bool:
        """Look at a line of the log; tells whether the badges may have changed."""
        kind = _kind(line)
        if kind is None:
            return False
        idle = self._kinds.get(kind, 0)
        if idle >= _IDLE_LINES:
            return False
        entries = [one for needle, found in self._gate if needle in line for one in found]
        if not entries:
            if idle or len(self._kinds) < _MOST_KINDS:
                self._kinds[kind] = idle + 1
            return False
        is_news = self._look(line, entries)
        if is_news:
            self._badges = None
        return is_news

    def tell(self, sign: str, **values: str) -> bool:
        """Take up what was found elsewhere; tells whether the badges may have changed.

        Raises: KeyError, when the file has no such sign that is told.
        """
        evidence = ", ".join(f"{name} {value}" for name, value in values.items())
        known = self._found.get(self._told[sign].id)
        told = {name: [value] for name, value in values.items()}
        if known is not None and known.values == told:
            return False
        self._found[sign] = _Found(evidence=evidence, values=told)
        self._badges = None
        return True

    def _look_at_start(self, environment: Mapping[str, str], argv: Sequence[str]) -> None:
        for context in self._signs.contexts:
            if context.variables is not None and context.variables.find(environment):
                self._contexts.add(context.name)
        command = shlex.join(argv)
        for sign in self._signs.signs:
            if sign.variables is not None:
                self._look_at_variables(sign, environment)
            if sign.arguments is not None:
                match = sign.arguments.search(command)
                if match is not None:
                    self._add(sign, match[0], {})

    def _look_at_variables(self, sign: Sign, environment: Mapping[str, str]) -> None:
        assert sign.variables is not None
        left = dict(environment)
        while (pair := sign.variables.find(left)) is not None:
            name, value = pair
            del left[name]
            self._add(sign, f"{name}={value}", {"variable": name, "value": value})

    def _look(self, line: str, entries: "_Entries") -> bool:
        """Return whether `line` is news, by what its plain text may belong to."""
        is_news = False
        level, message = split_header(line)
        message = message[:_MESSAGE_WIDTH]
        for opening, sign, context in entries:
            match = opening.pattern.match(message)
            if match is None:
                continue
            if context is not None:
                is_news |= context not in self._contexts
                self._contexts.add(context)
            elif sign is not None and level in sign.levels:
                is_news |= self._add(sign, message, match.groupdict())
        return is_news

    def _add(self, sign: Sign, evidence: str, values: Mapping[str, str | None]) -> bool:
        found = self._found.get(sign.id)
        is_news = found is None
        if found is None:
            found = self._found[sign.id] = _Found(evidence=_short(evidence), values={})
        for name, value in values.items():
            known = found.values.setdefault(name, [])
            value = value[:_VALUE_WIDTH].strip() if value else ""
            if value and value not in known and len(known) <= _MOST_VALUES:
                known.append(value)
                is_news = True
        return is_news

    def _made(self) -> tuple[Badge, ...]:
        made: list[tuple[bool, int, Badge]] = []
        for sign in self._signs.signs:
            found = self._found.get(sign.id)
            if found is None or not self._holds(sign.when):
                continue
            values = {**self._names, **_joined(found.values)}
            cost = next(
                (
                    one
                    for one in sign.costs
                    if self._holds(one.when) and set(placeholders(one.text)) <= values.keys()
                ),
                None,
            )
            if cost is None:
                continue
            badge = Badge(
                code=sign.id,
                title=sign.title.format_map(values),
                cost=cost.text.format_map(values),
                evidence=found.evidence,
                remedies=self._remedies(sign, values),
            )
            made.append((cost.is_small, sign.rank, badge))
        return tuple(badge for _, _, badge in sorted(made, key=lambda one: one[:2]))

    def _remedies(self, sign: Sign, values: Mapping[str, str]) -> tuple[Remedy, ...]:
        remedies = []
        for way in sign.ways:
            if not self._holds(way.when) or not set(placeholders(way.text)) <= values.keys():
                continue
            if self._knobs is not None and not way.settings.keys() <= set(self._knobs):
                continue
            command = way.command
            if command is not None and not set(placeholders(command)) <= values.keys():
                if way.kind is RemedyKind.COMMAND:
                    continue  # without its command it says nothing
                command = None
            remedies.append(
                Remedy(
                    kind=way.kind,
                    text=way.text.format_map(values),
                    settings=dict(way.settings),
                    command=command.format_map(values) if command else None,
                    part="runtime" if way.kind is RemedyKind.REPAIR else None,
                )
            )
        return tuple(remedies)

    def _holds(self, when: Iterable[str]) -> bool:
        return all(
            (name.removeprefix("!") in self._contexts) is not name.startswith("!") for name in when
        )


def read(lines: Iterable[str], signs: Signs) -> tuple[Badge, ...]:
    """Return the badges of a finished log; of several boots the last one counts."""
    watch, is_old = Watch(signs), False
    for line in lines:
        if is_old and _BANNER in line and _is_banner(line):
            watch, is_old = Watch(signs), False
        is_old = is_old or _STARTED in line
        watch.offer(line)
    return watch.badges


def _is_banner(line: str) -> bool:
    message = split_header(line)[1]
    return not message.partition(_BANNER)[0].strip(" █▀▄")


_Entries = list[tuple[Opening, Sign | None, str | None]]


def _gate(signs: Signs) -> tuple[tuple[str, _Entries], ...]:
    """Return plain text → what may match a line with it: `in` turns a line away in 50 ns."""
    gate: dict[str, _Entries] = {}
    for context in signs.contexts:
        for opening in context.openings:
            gate.setdefault(opening.needle, []).append((opening, None, context.name))
    for sign in signs.signs:
        for opening in sign.openings:
            gate.setdefault(opening.needle, []).append((opening, sign, None))
    return tuple(gate.items())


def _kind(line: str) -> str | None:
    """Return where in the engine's source a line comes from, and how it begins; None: not said.

    Only lines with it are the engine's own: a flood of anything else costs one look.
    """
    end = line.find("] ", 0, _HEADER_WIDTH)
    return None if end < 0 else line[line.rfind("[", 0, end) : end + 2 + _KIND_WIDTH]


def _joined(values: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return each name's values as text; more than a few become a number."""
    joined = {}
    for name, known in values.items():
        if known:
            more = len(known) > _MOST_VALUES
            joined[name] = ", ".join(known[:_MOST_VALUES]) + (" and more" if more else "")
    return joined


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _EVIDENCE_WIDTH else text[: _EVIDENCE_WIDTH - 1] + "…"
