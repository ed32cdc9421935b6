"""Presets to text, as pure functions; their words stand in `preset_words`."""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from studio.cli import preparing_text, preparing_words, preset_words, words
from studio.cli.render import READABLE_WIDTH, cells_of, labelled, padded, verdict_text
from studio.domain.control import PresetInfo
from studio.domain.manifests import Expected, Knob, KnobValue, ModelSpec, Preset
from studio.domain.presets import ArgvResult, PresetDetail, PresetDiff, PresetText, ValueChange
from studio.domain.units import bytes_text, duration_text, latency_text, rate_text, tokens_text

_GAP = "  "
_SEPARATOR = " · "
_LEAST_WIDTH = 20
_LEAST_COLUMN = 40
"""Beside a long name too little is left of a narrow terminal: then it stands above."""


def list_text(presets: Sequence[PresetInfo], width: int = READABLE_WIDTH) -> str:
    """Return the presets, those that fit first, with verdict, licence and what is to be done."""
    if not presets:
        return words.NO_PRESETS
    column = max(cells_of(one.id) for one in presets) + len(_GAP)
    is_narrow = width - column < _LEAST_COLUMN
    indent = len(_GAP) if is_narrow else column
    blocks = []
    for one in presets:
        lines = _wrapped(_said(one), width - indent)
        if is_narrow:
            block = [one.id, *(_GAP + line for line in lines)]
        else:
            labels = [one.id, *("" for _ in lines[1:])]
            block = [
                padded(label, indent) + line for label, line in zip(labels, lines, strict=True)
            ]
        blocks.append("\n".join(block))
    return "\n\n".join(blocks)


def _said(one: PresetInfo) -> list[str]:
    if one.is_broken:
        return [preset_words.BROKEN, *one.reasons]
    marks = [preset_words.BEST] if one.is_best else []
    marks += [preset_words.OWN] if one.is_own else []
    marks += one.badges
    verdict = _SEPARATOR.join([verdict_text(one), *marks])
    lines = [one.title, one.expert, verdict, *one.reasons]
    if one.usable and one.notes:
        form = preset_words.ONE_STEP if len(one.notes) == 1 else preset_words.STEPS
        lines.append(f"{preset_words.NOTE_MARK} {form.format(count=len(one.notes), id=one.id)}")
    return lines


def detail_text(detail: PresetDetail, width: int = READABLE_WIDTH) -> str:
    """Return all about one preset."""
    preset = detail.preset
    blocks = [
        "\n".join(_wrapped([f"{preset.id}{_SEPARATOR}{preset.title}", preset.summary], width)),
        _labelled(_facts(detail), width),
        _section(preset_words.HEADING_NOTES, detail.notes, width),
        _section(preset_words.HEADING_REFUSALS, _refusals(detail), width),
        _section(preset_words.HEADING_RULES, _acting(detail), width),
        _section(preset_words.HEADING_WARNINGS, _warnings(detail), width),
        _section(preset_words.HEADING_KNOBS, _knobs(preset, detail.default_values), width),
        _section(preset_words.HEADING_MODELS, map(_model, preset.models), width),
        _section(preparing_words.HEADING_FILES, _files(detail), width),
        _section(preset_words.HEADING_EXPECTED, map(_expected, preset.expected), width),
        _section(preset_words.HEADING_UNVERIFIED, _gaps(preset), width),
    ]
    return "\n\n".join(block for block in blocks if block)


def _facts(detail: PresetDetail) -> list[tuple[str, str]]:
    preset, resolved = detail.preset, detail.resolved
    runtimes = preset.runtime
    if preset.other_runtimes:
        others = preset_words.OTHER_RUNTIMES.format(names=", ".join(preset.other_runtimes))
        runtimes = f"{runtimes} {others}"
    pairs = [
        (preset_words.EXPERT, preset.expert),
        (preset_words.FOR, detail.host),
        (preset_words.VERDICT, _verdict(detail)),
        (preset_words.RUNTIME, runtimes),
        (preset_words.SERVED_NAME, preset.served_name),
    ]
    if resolved is not None and resolved.gpus:
        pairs.append((preset_words.CARDS, ", ".join(str(one) for one in resolved.gpus)))
    if resolved is not None and resolved.badges:
        pairs.append((preset_words.BADGES, ", ".join(resolved.badges)))
    pairs.append((preset_words.FILE, detail.path))
    if preset.origin is not None:
        pairs.append((preset_words.COPIED_FROM, preset.origin.id))
    return pairs


def _verdict(detail: PresetDetail) -> str:
    """Return the verdict with its reasons; a refusal stands in a section of its own."""
    if detail.usable:
        return f"{preset_words.FITS}."
    refused = [] if detail.resolved is None else [one.sentence for one in detail.resolved.refusals]
    reasons = [reason for reason in detail.reasons if reason not in refused]
    if detail.reasons and not reasons:
        return preset_words.FITS_NOT_REFUSED
    return " ".join([f"{preset_words.FITS_NOT}.", *reasons])


def _acting(detail: PresetDetail) -> list[str]:
    """Return why rules acted that look at the host; the others are the preset's own matter."""
    acted = set(detail.resolved.rules) if detail.resolved is not None else set()
    found = []
    for rule in detail.preset.rules:
        when = rule.when
        of_host = (
            when.wsl,
            when.cards or None,
            when.min_card_bytes,
            when.max_card_bytes,
            when.compute_capabilities or None,
            when.min_compute_capability,
            when.max_compute_capability,
            when.nvlink,
            when.desktop,
            when.nvcc,
            when.runtimes or None,
        )
        if rule.name in acted and any(one is not None for one in of_host):
            found.append(rule.why)
    return found


def _warnings(detail: PresetDetail) -> list[str]:
    if detail.resolved is None:
        return []
    return [one.in_words for one in detail.resolved.warnings]


def argv_notes_text(found: ArgvResult, width: int = READABLE_WIDTH) -> str:
    """Return what stands beside a command: for which machine it is, and what is in its way."""
    head = preset_words.ARGV_FOR.format(host=found.host, runtime=found.runtime)
    lines = _wrapped([head], width)
    for note in (*found.badges, *found.notes):
        first, *rest = _wrapped([note], width - len(_GAP)) or [""]
        lines += [f"{preset_words.NOTE_MARK} {first}", *(_GAP + line for line in rest)]
    return "\n".join(lines)


def _refusals(detail: PresetDetail) -> list[str]:
    return [] if detail.resolved is None else [one.in_words for one in detail.resolved.refusals]


def saved_text(before: PresetText, made: PresetText, width: int = READABLE_WIDTH) -> str:
    """Return what a change came to: where it is, whether a copy was made, whether it is refused."""
    if made.text == before.text:
        head = preset_words.NOT_CHANGED
    elif made.is_own and not before.is_own:
        head = preset_words.COPY_CHANGED.format(id=made.id, path=made.path)
    else:
        head = preset_words.SAVED.format(id=made.id, path=made.path)
    lines = [head]
    if made.refusals:
        lines += _wrapped([preset_words.REFUSED.format(id=made.id)], width)
        lines += [_GAP + line for line in _wrapped(made.refusals, width - len(_GAP))]
    return "\n".join(lines)


def _knobs(preset: Preset, values: Mapping[str, KnobValue]) -> list[str]:
    return [
        f"{name} = {_value_text(knob, values.get(name, knob.default))}{_limits(knob)}: "
        f"{knob.meaning}"
        for name, knob in preset.knobs.items()
    ]


def _value_text(knob: Knob, value: KnobValue | None) -> str:
    if value is None:
        return preset_words.NO_VALUE
    for word, meant in knob.words.items():
        if value == meant:
            return word
    if isinstance(value, bool):
        return "true" if value else "false"
    unit = f" {knob.unit}" if knob.unit else ""
    return f"{value:,}{unit}" if isinstance(value, int) else f"{value}{unit}"


def _limits(knob: Knob) -> str:
    if knob.choices:
        return f" ({', '.join(knob.choices)})"
    if knob.minimum is None or knob.maximum is None:
        return ""
    return f" ({knob.minimum:,.12g} to {knob.maximum:,.12g})"


def _model(spec: ModelSpec) -> str:
    pieces = [
        spec.title,
        preset_words.LICENCE.format(licence=spec.licence),
        preset_words.ON_DISK.format(size=bytes_text(spec.disk_bytes)),
    ]
    for source in spec.sources:
        revision = (
            preset_words.REVISION.format(revision=source.revision[:12])
            if source.revision is not None
            else preset_words.NO_REVISION
        )
        pieces.append(f"{source.repository} ({source.hub}, {revision})")
    if not spec.sources:
        pieces.append(spec.origin)
    if spec.preparation:
        steps = ", ".join(step.name for step in spec.preparation)
        pieces.append(preset_words.PREPARED.format(steps=steps))
    return _SEPARATOR.join(pieces)


def _files(detail: PresetDetail) -> list[str]:
    return [] if detail.files is None else preparing_text.flat_lines(detail.files)


def _expected(row: Expected) -> str:
    head = ", ".join(piece for piece in (row.card, row.pin, row.date, row.case) if piece)
    figures = [
        form.format(**{key: text})
        for form, key, text in (
            (preset_words.POOL, "tokens", _or_none(row.pool_tokens, tokens_text)),
            (preset_words.DECODE, "rate", _or_none(row.decode_tokens_per_s, rate_text)),
            (preset_words.STEP, "count", _or_none(row.tokens_per_step, "{:.2f}".format)),
            (preset_words.TOTAL, "rate", _or_none(row.total_tokens_per_s, rate_text)),
            (preset_words.PREFILL, "rate", _or_none(row.prefill_tokens_per_s, rate_text)),
            (preset_words.FIRST_TOKEN, "time", _or_none(row.first_token_s, latency_text)),
        )
        if text is not None
    ]
    if row.boot_s is not None:
        form = preset_words.BOOT if row.boot_warm_s is None else preset_words.BOOT_WARM
        figures.append(
            form.format(time=duration_text(row.boot_s), warm=duration_text(row.boot_warm_s))
        )
    if row.note:
        figures.append(row.note)
    said = "; ".join(figures)
    return f"{head}: {said}. {row.source}." if head else f"{said}. {row.source}."


def _or_none(value: float | None, form: Any) -> str | None:
    return None if value is None else str(form(value))


def _gaps(preset: Preset) -> list[str]:
    return [f"{gap.name}: {gap.what}" for gap in preset.unverified] + [
        f"{spec.id}, {gap.name}: {gap.what}" for spec in preset.models for gap in spec.unverified
    ]


def diff_text(diff: PresetDiff, width: int = READABLE_WIDTH) -> str:
    """Return what differs, one value after the other: conflicts first."""
    form = preset_words.THREE_WAY if diff.is_three_way else preset_words.TWO_WAY
    blocks = ["\n".join(_wrapped([form.format(mine=diff.mine, theirs=diff.theirs)], width))]
    if diff.note is not None:
        blocks.append("\n".join(_wrapped([diff.note], width)))
    if not diff.changes:
        blocks.append(preset_words.UNCHANGED if diff.is_three_way else preset_words.SAME)
    order = list(preset_words.CHANGES)
    order.sort(key=lambda kind: kind != "conflict")
    for kind in order:
        changes = [one for one in diff.changes if one.kind == kind]
        if changes:
            lines = [f"{preset_words.CHANGES[kind]}:"]
            for one in changes:
                lines += _change(one, diff.is_three_way, diff.theirs, width)
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _change(one: ValueChange, is_three_way: bool, theirs: str, width: int) -> list[str]:
    if not is_three_way:
        sides = [(preset_words.YOURS, one.mine), (theirs, one.theirs)]
    else:
        sides = [
            (preset_words.WAS, one.base),
            (preset_words.YOURS, one.mine),
            (preset_words.NOW, one.theirs),
        ]
    pieces = [f"{label} {_plain(value)}" for label, value in sides]
    indent = _GAP + _GAP
    room = width - len(indent)
    on_one_line = _SEPARATOR.join(pieces)
    lines = [on_one_line] if cells_of(on_one_line) <= room else _wrapped(pieces, room)
    return [f"{_GAP}{one.name}", *(indent + line for line in lines)]


def _plain(value: object) -> str:
    if value is None:
        return preset_words.NOTHING
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _section(heading: str, lines: Iterable[str], width: int) -> str:
    shown = list(lines)
    if not shown:
        return ""
    made = [heading]
    for line in shown:
        wrapped = textwrap.wrap(line, max(_LEAST_WIDTH, width - 2 * len(_GAP)))
        made += [_GAP + (_GAP if number else "") + text for number, text in enumerate(wrapped)]
    return "\n".join(made)


def _labelled(pairs: Sequence[tuple[str, str]], width: int) -> str:
    if width < READABLE_WIDTH:
        return "\n".join(
            line for label, text in pairs for line in _wrapped([f"{label}: {text}"], width)
        )
    column = len(_GAP) + max(cells_of(label) for label, _ in pairs) + len(_GAP)
    made = []
    for label, text in pairs:
        first, *rest = textwrap.wrap(text, width - column) or [""]
        made.append((label, first))
        made += [("", line) for line in rest]
    return labelled(made)


def _wrapped(texts: Iterable[str], width: int) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, max(_LEAST_WIDTH, width))]
