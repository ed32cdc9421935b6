"""What can be done about a failure or a slow path: an action that the Studio can take, or words."""

import enum

import msgspec

from studio.domain.manifests import Document


class RemedyKind(enum.StrEnum):
    """What taking a remedy means."""

    RESTART_WITH = "restart-with"
    """Start the same preset again with `settings` on top of what was asked for."""
    RESTART = "restart"
    """Start the same again, as it is."""
    CHOOSE = "choose"
    """Serve something else: another preset, runtime or model; `command` says how to look."""
    REPAIR = "repair"
    """Mend what is installed: runtime or model; then start again."""
    COMMAND = "command"
    """Only the person can do it, by typing `command` (install a compiler, raise a limit)."""
    ADVICE = "advice"
    """Only words."""


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do. Whoever shows it offers a button where `can_apply` is true."""

    kind: RemedyKind
    text: str
    """One sentence that says what is done and, where known, what it costs."""
    settings: dict[str, str] = {}
    """Knobs as typed after `--set`; for `restart-with` only."""
    command: str | None = None
    part: str | None = None
    """Of `repair`: `runtime` or `model`."""

    @property
    def can_apply(self) -> bool:
        """Tell whether the Studio can do it without the person's hands."""
        return self.kind in (RemedyKind.RESTART_WITH, RemedyKind.RESTART, RemedyKind.REPAIR)


class Way(Document, frozen=True, kw_only=True):
    """What can be done, as a data file says it: where `when` holds, and with names in braces."""

    kind: RemedyKind
    text: str
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    command: str | None = None
    when: tuple[str, ...] = ()
    """Conditions of the file; `!` before one: where it does not hold."""

    @property
    def fault(self) -> str | None:
        """Return what contradicts itself in it, as the end of a sentence."""
        if bool(self.settings) != (self.kind is RemedyKind.RESTART_WITH):
            return "settings belong to `restart-with`, and to nothing else"
        if self.kind is RemedyKind.COMMAND and not self.command:
            return "a remedy of the kind `command` should have one"
        return None


class Badge(msgspec.Struct, frozen=True, kw_only=True):
    """A sign that the engine runs on a slower or poorer path than it could."""

    code: str
    title: str
    """A few words: `Eager mode`."""
    cost: str
    """What it costs, with its source where there is a figure: `decode 1.5 to 2 times slower`."""
    evidence: str
    """The log line, or the setting, that shows it."""
    remedies: tuple[Remedy, ...] = ()
