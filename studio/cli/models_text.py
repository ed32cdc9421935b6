"""The library as text. Pure; names come from strangers' folders and are shown plain."""

import datetime
from collections.abc import Iterable, Sequence

from studio.cli import models_words as words
from studio.cli.cells import columns
from studio.cli.console import plain
from studio.domain.library import (
    CheckInfo,
    Library,
    LostModel,
    ModelDetail,
    ModelEntry,
    ModelImported,
    RemovePlan,
    RootInfo,
    RootState,
)
from studio.domain.units import UNKNOWN, bytes_text, counted, duration_text

_RIGHTS = (False, True, True, False, True, False, False)
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def list_text(library: Library, width: int) -> str:
    """Return every model in a line, then what is to be said about all of it."""
    lines = []
    if library.models:
        rows = [list(words.HEADINGS), *(_row(one) for one in library.models)]
        lines += columns(rows, _RIGHTS, 0, width)
        lines.append("")
        lines.append(
            words.TOTAL.format(
                models=counted(len(library.models), "model", "models"),
                size=bytes_text(library.size_bytes),
                took=library.took_s,
            )
        )
    else:
        lines.append(words.NONE)
    lines += [
        words.DOUBLE.format(extra=bytes_text(one.extra_bytes), models=", ".join(one.models))
        for one in library.doubles
    ]
    if library.not_compared_bytes:
        lines.append(words.NOT_COMPARED.format(size=bytes_text(library.not_compared_bytes)))
    lines += [_lost(one) for one in library.lost]
    lines += [text for one in library.roots if (text := _root_problem(one)) is not None]
    return "\n".join(plain(line) for line in lines)


def _lost(one: LostModel) -> str:
    sentence = words.LOST_DISK if one.is_folder_gone else words.LOST
    return sentence.format(
        name=one.name,
        size=UNKNOWN if one.size_bytes is None else bytes_text(one.size_bytes),
        uses=", ".join(one.uses),
        path=one.path,
        preset=one.uses[0] if one.uses else "PRESET",
    )


def _row(one: ModelEntry) -> list[str]:
    facts = one.facts
    state = words.STATES[one.state]
    if one.check is not None:
        state = f"{state}, {words.CHECK_STATES[one.check.state].partition(':')[0]}"
    context = f"{facts.context_tokens:,}" if facts.context_tokens is not None else UNKNOWN
    return [
        one.name,
        bytes_text(one.size_bytes),
        parameters_text(facts.parameters),
        facts.quantisation or UNKNOWN,
        context,
        state,
        ", ".join(one.uses) or UNKNOWN,
    ]


def parameters_text(count: int | None) -> str:
    """Return a number of parameters as people say it: `27.3 B`."""
    if count is None:
        return UNKNOWN
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:,.3g} {unit}"
    return str(count)


def _root_problem(root: RootInfo) -> str | None:
    if root.state is RootState.MISSING:
        # A cache that nothing was put into yet is nothing to speak of.
        is_usual = root.kind in ("own", "cache")
        return None if is_usual else words.ROOT_MISSING.format(path=root.path)
    if root.state is RootState.UNREADABLE:
        return words.ROOT_UNREADABLE.format(path=root.path, note=root.note or UNKNOWN)
    return words.ROOT_NOTE.format(path=root.path, note=root.note) if root.note else None


def roots_text(roots: Iterable[RootInfo]) -> str:
    """Return the folders that are searched."""
    return "\n".join(plain(_root_line(one)) for one in roots)


def _root_line(one: RootInfo) -> str:
    kind = words.KINDS[one.kind]
    if one.state is RootState.MISSING:
        return words.ROOT_GONE.format(path=one.path, kind=kind)
    if one.state is RootState.UNREADABLE:
        note = f": {one.note}" if one.note else ""
        return words.ROOT_UNREAD.format(path=one.path, kind=kind, note=note)
    return words.ROOT_LINE.format(
        path=one.path,
        kind=kind,
        models=counted(one.models, "model", "models"),
        size=bytes_text(one.size_bytes),
    )


def detail_text(detail: ModelDetail) -> str:
    """Return one model with its files."""
    one = detail.model
    pairs = [
        ("name", one.name),
        ("path", one.path),
        ("state", words.STATE_LONG[one.state]),
        ("what", _what(one)),
        ("size", f"{bytes_text(one.size_bytes)}, {counted(one.files, 'file', 'files')}"),
        ("context", _context(one)),
        ("origin", _origin(one)),
        ("proven", _proven(one)),
        ("checked", _checked(one)),
        ("uses", ", ".join(one.uses)),
        ("now", one.in_use_by or ""),
        ("same", ", ".join(one.same_as)),
        ("check", check_line(one.check) if one.check is not None else ""),
    ]
    shown = [(words.LABELS[key], text) for key, text in pairs if text]
    width = max(len(label) for label, _text in shown)
    lines = [f"{label:<{width}}  {text}" for label, text in shown]
    lines += [*one.problems, ""]
    lines += [
        words.MISSING_FILE.format(name=file.name, size=bytes_text(file.size_bytes))
        for file in one.missing
    ]
    lines += [words.DAMAGED_FILE.format(name=name) for name in one.damaged]
    lines += [words.CHANGED_FILE.format(name=name) for name in one.changed]
    lines += [
        f"{bytes_text(file.size_bytes):>11}  {(file.sha256 or UNKNOWN)[:12]:<12}  {file.name}"
        for file in detail.files
    ]
    if detail.left_out:
        lines.append(words.LEFT_OUT.format(count=f"{detail.left_out:,}"))
    return "\n".join(plain(line) for line in lines)


def _what(one: ModelEntry) -> str:
    facts = one.facts
    count = parameters_text(facts.parameters)
    parts = [facts.architecture, None if count == UNKNOWN else f"{count} parameters"]
    return ", ".join(text for text in (*parts, facts.quantisation, facts.form.value) if text)


def _context(one: ModelEntry) -> str:
    return f"{one.facts.context_tokens:,} tokens" if one.facts.context_tokens is not None else ""


def _origin(one: ModelEntry) -> str:
    if one.repository is None:
        return ""
    refs = f" ({', '.join(one.refs)})" if one.refs else ""
    return f"{one.repository} at {one.revision or UNKNOWN}{refs}"


def _proven(one: ModelEntry) -> str:
    if one.proven_at_s is None:
        return ""
    source = words.SOURCES.get(one.proven_by or "", one.proven_by or UNKNOWN)
    return words.PROVEN.format(when=_when(one.proven_at_s), source=source)


def _checked(one: ModelEntry) -> str:
    last = one.last_check
    if last is None:
        return ""
    bad = len(last.damaged) + len(last.unreadable)
    return words.CHECKED.format(
        when=_when(last.at_s),
        files=counted(last.files, "file", "files"),
        compared=last.compared,
        bad=words.CHECKED_BAD.format(count=bad) if bad else "",
    )


def _when(at_s: float) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(at_s, tz=datetime.UTC).astimezone()
    except (OverflowError, OSError, ValueError):  # a record may say anything
        return UNKNOWN
    return moment.strftime("%Y-%m-%d %H:%M")


def check_line(one: CheckInfo) -> str:
    """Return how far a check is."""
    return plain(
        words.CHECK_LINE.format(
            name=one.model,
            state=words.CHECK_STATES[one.state],
            done=bytes_text(one.done_bytes),
            total=bytes_text(one.total_bytes),
            rate=f", {bytes_text(one.rate)}/s" if one.rate else "",
            left=f", {duration_text(one.left_s)} left" if one.left_s is not None else "",
        )
    )


def verified_text(models: Sequence[ModelEntry]) -> str:
    """Return what checks came to."""
    return "\n".join(plain(line) for one in models for line in _verified(one))


def _verified(one: ModelEntry) -> list[str]:
    if one.state == "ready" and one.last_check is not None and one.last_check.compared == 0:
        return [words.FIRST_DIGESTS.format(name=one.name)]
    if one.state == "ready":
        source = words.SOURCES.get(one.proven_by or "", one.proven_by or UNKNOWN)
        return [
            words.WHOLE.format(
                name=one.name,
                files=counted(one.files, "file", "files"),
                size=bytes_text(one.size_bytes),
                source=source,
            )
        ]
    lines = [words.NOT_WHOLE.format(name=one.name, state=words.STATES[one.state])]
    lines += [f"  {words.DAMAGED_FILE.format(name=name)}" for name in one.damaged]
    lines += [
        f"  {words.MISSING_FILE.format(name=file.name, size=bytes_text(file.size_bytes))}"
        for file in one.missing
    ]
    unreadable = one.last_check.unreadable if one.last_check is not None else ()
    lines += [f"  {words.UNREADABLE_FILE.format(name=name)}" for name in unreadable]
    return lines


def plan_text(plan: RemovePlan) -> str:
    """Return what goes with a model."""
    if plan.is_reference:
        lines = [words.REMOVE_REFERENCE.format(name=plan.name, path=plan.path)]
    else:
        lines = [
            words.REMOVE_PLAN.format(
                name=plan.name,
                files=counted(plan.files, "file", "files"),
                path=plan.path,
                freed=bytes_text(plan.freed_bytes),
            )
        ]
        if plan.stays_bytes and plan.stays is not None:
            size = bytes_text(plan.stays_bytes)
            lines.append(words.REMOVE_STAYS.format(size=size, reason=plan.stays))
    if plan.uses:
        lines.append(words.REMOVE_USES.format(presets=", ".join(plan.uses)))
    if plan.refusal is not None:
        lines.append(words.REFUSED.format(reason=plan.refusal.message))
        lines += [plan.refusal.hint] if plan.refusal.hint else []
    return "\n".join(plain(line) for line in lines)


def imported_text(done: ModelImported) -> str:
    """Return what an import came to."""
    how = words.HOW_COPY
    if done.by == "reference":
        how = words.HOW_REFERENCE
    elif done.by == "link":
        how = words.HOW_LINK
    elif done.cloned:
        how = words.HOW_CLONE
    lines = [
        words.IMPORTED.format(name=done.model.name, size=bytes_text(done.model.size_bytes), how=how)
    ]
    if done.reason is not None:
        lines.append(words.IMPORT_REASON.format(reason=done.reason))
    return "\n".join(plain(line) for line in lines)
