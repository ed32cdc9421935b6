"""The library: what models lie on this machine, whole or not, used by whom."""

import datetime
import enum

import msgspec

from studio.domain.library import (
    CheckInfo,
    CheckState,
    Library,
    LostModel,
    ModelEntry,
    RootKind,
)
from studio.domain.proofs import ModelState
from studio.domain.units import UNKNOWN, bytes_text, duration_text, tokens_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.dates import instant_text
from studio.ui.viewmodels.picks import ID_SHOWN, SignView
from studio.ui.viewmodels.words import ButtonView, Role, Shape, Text, listed, plural

_THOUSAND = 1_000
_MOST_NAMES = 3
_SOURCES = {
    "huggingface": marked("Hugging Face"),
    "modelscope": marked("ModelScope"),
    "spec": marked("a preset"),
    "import": marked("what it was at its first check"),
}
"""What a model was compared with, by the name that its record has for it."""


class ModelDeed(enum.StrEnum):
    """What a button does with the model in front."""

    CHECK = "check"
    STOP = "stop"
    FETCH = "fetch"
    REMOVE = "remove"


class ModelCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of the table: words, and what it is sorted by."""

    text: str
    value: float | str | None = None
    tooltip: str = ""


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One model of the table."""

    id: str
    cells: tuple[ModelCell, ...]


class CheckView(msgspec.Struct, frozen=True, kw_only=True):
    """A check under way."""

    word: str
    share: float | None
    amount: str


class ModelView(msgspec.Struct, frozen=True, kw_only=True):
    """The model in front."""

    title: str
    sign: SignView
    reasons: tuple[str, ...]
    facts: tuple[tuple[str, Text], ...]
    path: str
    check: CheckView | None
    deeds: tuple[tuple[ModelDeed, ButtonView], ...]


_STATES: dict[ModelState, tuple[str, Shape, Role]] = {
    ModelState.READY: (marked("Ready"), Shape.TICK, Role.OK),
    ModelState.UNKNOWN: (marked("Not checked"), Shape.RING, Role.QUIET),
    ModelState.UNPROVEN: (marked("Unproven"), Shape.RING, Role.QUIET),
    ModelState.INCOMPLETE: (marked("Incomplete"), Shape.HALF, Role.WARN),
    ModelState.DAMAGED: (marked("Damaged"), Shape.CROSS, Role.HARM),
}
_MEANINGS: dict[ModelState, str] = {
    ModelState.READY: marked("Every file was read here and is what it should be."),
    ModelState.UNKNOWN: marked("Something is known to compare with; a check does that."),
    ModelState.UNPROVEN: marked(
        "Nothing is known to compare with. A check keeps the digests and compares from then on."
    ),
    ModelState.INCOMPLETE: marked("Files are missing."),
    ModelState.DAMAGED: marked("Files are not what they should be."),
}
_CHECKS: dict[CheckState, str] = {
    CheckState.QUEUED: marked("Check waits for its turn"),
    CheckState.RUNNING: marked("Checking every byte"),
    CheckState.WAITING: marked("Check waits while the engine is busy"),
    CheckState.DONE: marked("Checked"),
    CheckState.FAILED: marked("Check failed"),
}
_UNDER_WAY = (CheckState.QUEUED, CheckState.RUNNING, CheckState.WAITING)


def model_rows(library: Library | None, *, is_live: bool = True) -> tuple[ModelRow, ...]:
    """Return the table."""
    models = library.models if library is not None else ()
    known = (_known_now(one, is_live=is_live) for one in models)
    return tuple(ModelRow(id=one.path, cells=_cells(one)) for one in known)


def _known_now(entry: ModelEntry, *, is_live: bool) -> ModelEntry:
    """Return what is known of a model: who holds and who reads it, only while somebody says so."""
    if is_live:
        return entry
    return msgspec.structs.replace(entry, in_use_by=None, check=None)


def matching(rows: tuple[ModelRow, ...], sought: str) -> tuple[ModelRow, ...]:
    """Return the rows in which every word that is sought stands somewhere."""
    words = sought.casefold().split()
    if not words:
        return rows
    return tuple(
        row
        for row in rows
        if all(word in " ".join(cell.text for cell in row.cells).casefold() for word in words)
    )


def summary(library: Library | None) -> str:
    """Return how much lies here, and how much of it twice."""
    if library is None or not library.models:
        return ""
    parts = [plural(len(library.models), "model", "models"), bytes_text(library.size_bytes)]
    twice = sum(one.extra_bytes for one in library.doubles)
    if twice:
        parts.append(t("{size} of it lie here twice").format(size=bytes_text(twice)))
    if library.not_compared_bytes:
        parts.append(
            t("{size} not yet compared").format(size=bytes_text(library.not_compared_bytes))
        )
    return " · ".join(parts)


def lost_words(library: Library | None) -> str:
    """Return what presets miss, a line for each; most often nothing."""
    return "\n".join(_lost(one) for one in (library.lost if library is not None else ()))


def _lost(one: LostModel) -> str:
    sentence = (
        t("{name}, which {uses} needs, lies in {path}, and that folder is not there now.")
        if one.is_folder_gone
        else t("{name}, which {uses} needs, was removed or moved from {path}, not by the Studio.")
    )
    return sentence.format(name=one.name, uses=listed(one.uses), path=one.path)


def empty_words(library: Library | None, *, is_live: bool, sought: str = "") -> str:
    """Return what stands where no model is."""
    if library is None:
        live = t("Looking which models lie on this machine.")
        return live if is_live else t("The models appear when the service answers.")
    if not library.models:
        return t(
            "No model was found. Get one from a hub, take one in that lies here, or add a folder."
        )
    if not matching(model_rows(library), sought):
        return t("No model matches “{sought}”.").format(sought=sought.strip())
    return ""


def found(library: Library | None, path: str | None) -> ModelEntry | None:
    """Return the model in front."""
    models = library.models if library is not None else ()
    return next((one for one in models if one.path == path), None)


def model_view(
    entry: ModelEntry, checks: tuple[CheckInfo, ...], *, is_live: bool, is_busy: bool
) -> ModelView:
    """Return the model in front; `checks` are those under way."""
    entry = _known_now(entry, is_live=is_live)
    checks = checks if is_live else ()
    check = next((one for one in checks if one.path == entry.path), entry.check)
    is_checked = check is not None and check.state in _UNDER_WAY
    return ModelView(
        title=entry.name,
        sign=sign_of(entry),
        reasons=_reasons(entry),
        facts=_facts(entry),
        path=entry.path,
        check=_check(check) if check is not None and is_checked else None,
        deeds=_deeds(entry, is_checked=is_checked, rests=_rests(is_live=is_live, is_busy=is_busy)),
    )


def sign_of(entry: ModelEntry) -> SignView:
    """Return how a model stands."""
    word, shape, role = _STATES[entry.state]
    return SignView(text=t(word), shape=shape, role=role)


def _cells(entry: ModelEntry) -> tuple[ModelCell, ...]:
    facts = entry.facts
    state, meaning = t(_STATES[entry.state][0]), t(_MEANINGS[entry.state])
    unknown = t("Neither config nor headers say.")
    weights = facts.quantisation
    return (
        ModelCell(text=entry.name, value=entry.name.casefold(), tooltip=entry.path),
        ModelCell(text=state, value=state, tooltip=meaning),
        ModelCell(
            text=parameters_text(facts.parameters),
            value=facts.parameters,
            tooltip=unknown if facts.parameters is None else f"{facts.parameters:,}",
        ),
        ModelCell(text=weights or UNKNOWN, value=weights, tooltip="" if weights else unknown),
        ModelCell(
            text=bytes_text(entry.size_bytes),
            value=entry.size_bytes,
            tooltip=plural(entry.files, "file", "files"),
        ),
        ModelCell(text=_uses(entry), value=_uses(entry), tooltip="\n".join(entry.uses)),
    )


def parameters_text(count: int | None) -> str:
    """Return how many parameters a model has: `27.4 B`, `135 M`."""
    if count is None:
        return UNKNOWN
    for unit, size in (("T", _THOUSAND**4), ("B", _THOUSAND**3), ("M", _THOUSAND**2)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:,}"


def _uses(entry: ModelEntry) -> str:
    if entry.in_use_by:
        return told(entry.in_use_by)
    more = len(entry.uses) - _MOST_NAMES
    names = listed(entry.uses[:_MOST_NAMES])
    return f"{names} +{more}" if more > 0 else names


def _reasons(entry: ModelEntry) -> tuple[str, ...]:
    said = [] if entry.state is ModelState.READY else [t(_MEANINGS[entry.state])]
    said += [
        t("Missing: {file}, {size}").format(file=one.name, size=bytes_text(one.size_bytes))
        for one in entry.missing[:8]
    ]
    if len(entry.missing) > 8:
        said.append(plural(len(entry.missing) - 8, "more", "more"))
    said += [t("Damaged: {file}").format(file=one) for one in entry.damaged[:8]]
    said += [
        t("Written since it was checked: {file}").format(file=one) for one in entry.changed[:8]
    ]
    if entry.same_as:
        others = listed(entry.same_as)
        said.append(t("The very same weights lie here again: {models}.").format(models=others))
    return (*said, *(told(one) for one in entry.problems))


def _facts(entry: ModelEntry) -> tuple[tuple[str, Text], ...]:
    facts = entry.facts
    found: list[tuple[str, Text]] = [
        (t("Place"), Text(text=entry.path)),
        (t("Size"), Text(text=f"{bytes_text(entry.size_bytes)} · {_files(entry)}")),
        (t("Weights"), Text(text=_weights(entry))),
        (t("Context"), Text(text=tokens_text(facts.context_tokens))),
    ]
    if entry.repository is not None:
        revision = (entry.revision or UNKNOWN)[:ID_SHOWN]
        refs = f" ({', '.join(entry.refs)})" if entry.refs else ""
        text = f"{entry.repository} · {revision}{refs}"
        found.append((t("Origin"), Text(text=text, tooltip=entry.revision or "")))
    found.append((t("Used by"), Text(text=_used(entry))))
    if entry.proven_at_s is not None:
        when = _moment(entry.proven_at_s)
        by = entry.proven_by or UNKNOWN
        source = t(_SOURCES[by]) if by in _SOURCES else by
        text = t("{when}, against {source}").format(when=when, source=source)
        found.append((t("Proven"), Text(text=text)))
    last = entry.last_check
    if last is not None:
        compared = t("{compared} of {files} compared").format(
            compared=last.compared, files=plural(last.files, "file", "files")
        )
        if not last.compared and not last.damaged and not last.unreadable:
            compared = t("the first one: its digests are what later checks compare with")
        found.append((t("Last check"), Text(text=f"{_moment(last.at_s)}, {compared}")))
    return tuple(found)


def _files(entry: ModelEntry) -> str:
    return plural(entry.files, "file", "files")


def _weights(entry: ModelEntry) -> str:
    facts = entry.facts
    parts = [
        facts.architecture or UNKNOWN,
        parameters_text(facts.parameters),
        facts.quantisation or UNKNOWN,
        facts.form.value,
    ]
    return " · ".join(parts)


def _used(entry: ModelEntry) -> str:
    parts = [*([told(entry.in_use_by)] if entry.in_use_by else []), *entry.uses]
    return listed(parts) if parts else t("no preset")


def _moment(at_s: float) -> str:
    return instant_text(datetime.datetime.fromtimestamp(at_s, datetime.UTC).isoformat())


def _check(check: CheckInfo) -> CheckView:
    share = check.done_bytes / check.total_bytes if check.total_bytes else None
    amount = t("{done} of {total}").format(
        done=bytes_text(check.done_bytes), total=bytes_text(check.total_bytes)
    )
    if check.left_s is not None:
        amount = t("{rate}, {left} left").format(rate=amount, left=duration_text(check.left_s))
    return CheckView(word=t(_CHECKS[check.state]), share=share, amount=amount)


def _rests(*, is_live: bool, is_busy: bool) -> str:
    if not is_live:
        return t("The service does not answer yet.")
    return t("Wait for what is under way.") if is_busy else ""


def _deeds(
    entry: ModelEntry, *, is_checked: bool, rests: str
) -> tuple[tuple[ModelDeed, ButtonView], ...]:
    can_fetch = entry.repository is not None and entry.state in (
        ModelState.INCOMPLETE,
        ModelState.DAMAGED,
    )
    forget = entry.root_kind is RootKind.REFERENCE

    def button(text: str, tooltip: str, *, visible: bool = True) -> ButtonView:
        return ButtonView(text=text, visible=visible, enabled=not rests, tooltip=rests or tooltip)

    return (
        (ModelDeed.FETCH, button(t("Fetch what is missing"), t(_FETCH), visible=can_fetch)),
        (ModelDeed.CHECK, button(t("Check"), t(_CHECK), visible=not is_checked)),
        (ModelDeed.STOP, button(t("Stop the check"), t(_STOP), visible=is_checked)),
        (ModelDeed.REMOVE, button(t("Forget…") if forget else t("Remove…"), t(_REMOVE))),
    )


_FETCH = marked("Get the files that are missing or wrong from the hub again")
_CHECK = marked("Read every byte in the background and compare it with what is known")
_STOP = marked("End it; what was read stays read")
_REMOVE = marked("Show first what that would free")
