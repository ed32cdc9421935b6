"""Changes requests that an engine would refuse, by rule, and says so; all else passes as it came.

Which rules are on is the person's choice, for all keys or for one. A rule is looked at only when
one of its words stands in the body, and a body that nothing fits is not touched.
"""

import collections
import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import assert_never

import msgspec

from studio.gateway import trap_fields, trap_messages, traps
from studio.gateway.draft import Body, Draft, Fields
from studio.gateway.engine import EngineTarget
from studio.gateway.estimate import text_of
from studio.gateway.key import Key
from studio.gateway.traps import Action, Trap

ALL = "all"
"""Stands for every rule in what the person chose."""
_MOST_NOTES = 12
_MOST_BYTES = 32 << 20
"""What is changed is held twice; a larger body is not."""
_MOST_NOTE = 160

logger = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """A body as it goes on."""

    body: Body
    fields: Fields
    notes: tuple[str, ...] = ()
    """What was changed, by which rule; empty: nothing."""


class Adjuster:
    """The rules, and which of them are on."""

    def __init__(self, rules: Iterable[Trap] = ()) -> None:
        self.rules = tuple(rules)
        self.times: collections.Counter[str] = collections.Counter()
        """How often each rule changed something since the service started."""
        self._chosen: Mapping[str, bool] = {}
        self._of_keys: Mapping[str, Mapping[str, bool]] = {}
        self._fitting: dict[tuple[str | None, str | None], tuple[Trap, ...]] = {}

    def choose(self, chosen: Mapping[str, bool], of_keys: Mapping[str, Mapping[str, bool]]) -> None:
        """Replace what the person chose: rule to on or off, for everybody and for keys by id."""
        self._chosen, self._of_keys = dict(chosen), {k: dict(v) for k, v in of_keys.items()}

    def is_on(self, rule: Trap, key_id: str | None) -> bool:
        """Tell whether a rule is on for a key: its own choice goes first, a rule before `all`."""
        of_key = self._of_keys.get(key_id or "", {})
        for chosen in (of_key, self._chosen):
            if rule.id in chosen:
                return chosen[rule.id]
            if chosen.get(ALL) is False:
                return False
        return not rule.is_asked

    def fitting(self, engine: EngineTarget) -> tuple[Trap, ...]:
        """Return the rules that are for an engine, on or off."""
        facts = (engine.template, engine.runtime)
        if facts not in self._fitting:
            self._fitting = {facts: tuple(one for one in self.rules if one.fits(engine))}
        return self._fitting[facts]

    def adjust(
        self, body: Body, fields: Fields, route: str, engine: EngineTarget, key_id: str | None
    ) -> Adjusted:
        """Return the body to send; never fails: what cannot be changed goes on as it is."""
        try:
            if len(body) <= _MOST_BYTES:
                return self._adjusted(body, fields, route, engine, key_id)
            logger.info("a request is too large to be changed; it goes on as it is")
        except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
            logger.info("a request is not as the rules expect; it goes on as it is")
        return Adjusted(body=body, fields=fields)

    def _adjusted(
        self, body: Body, fields: Fields, route: str, engine: EngineTarget, key_id: str | None
    ) -> Adjusted:
        draft: Draft | None = None
        notes: list[str] = []
        text = text_of(body)
        for rule in self.fitting(engine):
            if route not in rule.routes or not self.is_on(rule, key_id):
                continue
            if not rule.may_apply(text, fields):
                continue
            draft = draft or Draft(fields, route)
            found = [note for action in rule.do for note in _done(draft, action, engine)]
            if found:
                self.times[rule.id] += 1
                notes += [f"{rule.id}: {note}"[:_MOST_NOTE] for note in found]
        if draft is None or not draft.is_changed:
            return Adjusted(body=body, fields=fields)
        return Adjusted(body=draft.body(), fields=draft.fields(), notes=tuple(notes[:_MOST_NOTES]))


def change_for(
    adjuster: Adjuster | None, route: str, engine: EngineTarget, key: Key | None
) -> Callable[[Body, Fields], Adjusted] | None:
    """Return what changes a body of a request for this engine, where anything may."""
    if adjuster is None:
        return None
    key_id = key.id if key is not None else None
    return lambda body, fields: adjuster.adjust(body, fields, route, engine, key_id)


def _done(draft: Draft, action: Action, engine: EngineTarget) -> Iterable[str]:
    """Carry out one action."""
    match action:
        case traps.MapValue():
            return trap_fields.map_value(draft, action)
        case traps.DropField():
            return trap_fields.drop_field(draft, action)
        case traps.Cap():
            return trap_fields.cap(draft, action, engine.context_tokens)
        case traps.Tools():
            return trap_fields.tools(draft, action)
        case traps.ToolFormats():
            return trap_fields.tool_formats(draft, action)
        case traps.StopWords():
            return trap_fields.stop_words(draft, action)
        case traps.SchemaWords():
            return trap_fields.schema_words(draft, action)
        case _:
            return _done_in_messages(draft, action)


def _done_in_messages(
    draft: Draft,
    action: traps.Roles
    | traps.Systems
    | traps.Parts
    | traps.Documents
    | traps.Arguments
    | traps.EmptyContent
    | traps.StripLine,
) -> Iterable[str]:
    match action:
        case traps.Roles():
            return trap_messages.roles(draft, action)
        case traps.Systems():
            return trap_messages.systems(draft, action)
        case traps.Parts():
            return trap_messages.parts(draft, action)
        case traps.Documents():
            return trap_messages.documents(draft, action)
        case traps.Arguments():
            return trap_messages.arguments(draft)
        case traps.EmptyContent():
            return trap_messages.empty_content(draft, action)
        case traps.StripLine():
            return trap_messages.strip_line(draft, action)
        case _:
            assert_never(action)
