"""A plan to text, as pure functions: the verdict first, then the arithmetic as table and bar."""

import textwrap
from collections.abc import Iterable, Sequence

from studio.cli import plan_words as words
from studio.cli import preparing_text
from studio.cli.render import READABLE_WIDTH, cells_of, labelled, table
from studio.domain.plans import LedgerItem, LedgerPlace, Plan, PlanVerdict
from studio.domain.units import bytes_text, duration_text, tokens_text

_BLOCKS = "█▓▒░▚▞▤▥▦▧"
_LETTERS = "#%*+=o~:x-"
_COLOURS = ("34", "36", "35", "32", "33", "94", "96", "95", "92", "93")
_FREE = {True: "·", False: "."}
_FREE_NAMES = ("free",)
WIDEST = 100
"""Wider lines are hard to read."""
_LEAST_SHARE_CELLS = 1
_LEAST_SOURCE = 20
_GAP_CELLS = 2
_LABEL_CELLS = 14


def plan_text(
    plan: Plan, width: int = READABLE_WIDTH, *, unicode: bool = True, colour: bool = False
) -> str:
    """Return a plan for people, in at most `width` columns."""
    marks = _marks(plan, unicode=unicode)
    parts = [
        _paragraph(verdict_sentence(plan), width),
        labelled(_folded(_pairs(plan), width)),
        _cards_part(plan, marks, width, unicode=unicode, colour=colour),
        _host_part(plan, width),
        _reductions(plan, width),
        _section(
            words.HEADING_UNKNOWN if plan.verdict is PlanVerdict.UNKNOWN else words.HEADING_REASONS,
            plan.reasons,
            width,
        ),
        _section(words.HEADING_WARNINGS, plan.warnings, width),
        _headroom(plan, width),
        _section(words.HEADING_ASSUMPTIONS, plan.assumptions, width),
    ]
    return "\n\n".join(part for part in parts if part)


# The verdict


def verdict_sentence(plan: Plan) -> str:
    """Return the verdict in one plain sentence."""
    name = f"`{plan.preset}`" if plan.preset else plan.model or words.UNNAMED
    reason = plan.reasons[0] if plan.reasons else None
    match plan.verdict:
        case PlanVerdict.FITS if plan.spills:
            over = bytes_text(-(plan.headroom_bytes or 0))
            return words.fits_by_spilling(name, over, _pool(plan))
        case PlanVerdict.FITS:
            return words.fits(name, _pool(plan))
        case PlanVerdict.FITS_IF | PlanVerdict.UNKNOWN if plan.may_start:
            return words.may_start(name, [one.title for one in plan.reductions if one.is_enough])
        case PlanVerdict.FITS_IF:
            enough = [one.title for one in plan.reductions]
            return words.fits_if(name, enough) if enough else words.fits_not(name, reason)
        case PlanVerdict.DOES_NOT_FIT:
            return words.fits_not(name, reason)
        case PlanVerdict.UNKNOWN:
            return words.not_known(name, reason, _pool(plan))


def _pool(plan: Plan) -> str | None:
    if plan.pool_tokens is None:
        return None
    error = words.ERROR_UNKNOWN
    if plan.pool_tokens_error == 0:
        error = words.EXACT
    elif plan.pool_tokens_error is not None:
        error = words.error_words(tokens_text(plan.pool_tokens_error))
    context = tokens_text(plan.max_model_len) if plan.max_model_len is not None else None
    return words.pool_words(tokens_text(plan.pool_tokens), error, _resident(plan), context)


def _resident(plan: Plan) -> str | None:
    return None if plan.resident_requests is None else f"{plan.resident_requests:,.2f}"


# What is asked for


def _pairs(plan: Plan) -> list[tuple[str, str]]:
    host = f"{plan.host} ({words.REPLAY})" if plan.is_replay else plan.host
    runtime = plan.runtime or plan.engine
    pairs = [(words.LABEL_MODEL, plan.model)]
    if plan.drafter:
        pairs.append((words.LABEL_DRAFTER, plan.drafter))
    pairs += [(words.LABEL_RUNTIME, runtime), (words.LABEL_HOST, host)]
    for card in plan.cards:
        pairs.append((words.LABEL_CARDS, f"{card.index}: {card.name}"))
    pairs += _pool_pairs(plan)
    if plan.headroom_bytes is not None:
        pairs.append((words.LABEL_HEADROOM, _left(plan)))
    return [*pairs, *_time_pairs(plan)]


def _pool_pairs(plan: Plan) -> list[tuple[str, str]]:
    pairs = []
    if plan.blocks is not None and plan.block_size is not None:
        each = "–" if plan.blocks_per_request is None else f"{plan.blocks_per_request:,}"
        text = words.block_words(f"{plan.blocks:,}", tokens_text(plan.block_size), each)
        pairs.append((words.LABEL_POOL, text))
    if len(plan.parts) > 1:
        pieces = [
            words.part_words(f"{one.blocks_per_request:,}", one.kind, f"{one.layers:,}")
            for one in plan.parts
        ]
        pairs.append((words.LABEL_REQUEST, ", ".join(pieces)))
    if plan.max_model_len is not None:
        longest = None
        if plan.longest_context is not None and plan.longest_context != plan.max_model_len:
            longest = tokens_text(plan.longest_context)
        now = tokens_text(plan.max_model_len)
        pairs.append((words.LABEL_CONTEXT, words.context_words(now, longest)))
    if plan.seats is not None:
        pairs.append((words.LABEL_SEATS, words.seats_words(f"{plan.seats:,}", _resident(plan))))
    return pairs


def _left(plan: Plan) -> str:
    assert plan.headroom_bytes is not None
    text = bytes_text(plan.headroom_bytes)
    if plan.headroom_error_bytes:
        text += f", {words.error_words(bytes_text(plan.headroom_error_bytes))}"
    return text


def _time_pairs(plan: Plan) -> list[tuple[str, str]]:
    pairs = []
    if plan.download_bytes == 0:
        pairs.append((words.LABEL_DOWNLOAD, words.NOTHING_TO_DOWNLOAD))
    elif plan.download_bytes is not None:
        duration = duration_text(plan.download_s) if plan.download_s is not None else None
        text = words.download_words(bytes_text(plan.download_bytes), duration)
        pairs.append((words.LABEL_DOWNLOAD, text))
    for model in plan.files.models if plan.files is not None else ():
        pairs += [(words.LABEL_FILES, text) for text in preparing_text.needs(model)]
    cold = duration_text(plan.boot_cold_s) if plan.boot_cold_s is not None else None
    warm = duration_text(plan.boot_warm_s) if plan.boot_warm_s is not None else None
    if cold or warm:
        pairs.append((words.LABEL_BOOT, words.boot_words(cold, warm, plan.boot_source)))
    return pairs


# Table and bar


def _on_cards(plan: Plan) -> list[LedgerItem]:
    return [item for item in plan.ledger if item.place is LedgerPlace.CARD]


def _marks(plan: Plan, *, unicode: bool) -> dict[str, str]:
    """Return the sign of each item of the cards, in bar and table alike."""
    signs = _BLOCKS if unicode else _LETTERS
    names = dict.fromkeys(item.name for item in _on_cards(plan))
    marks = {}
    for name in names:
        if name in _FREE_NAMES:
            marks[name] = _FREE[unicode]
        else:
            marks[name] = signs[len(marks) % len(signs)]
    return marks


def _cards_part(
    plan: Plan, marks: dict[str, str], width: int, *, unicode: bool, colour: bool
) -> str:
    """Return a table and a bar for the cards; one for all where they are alike."""
    items = _on_cards(plan)
    if not items:
        return ""
    parts = []
    for gpu in dict.fromkeys(item.gpu for item in items):
        mine = [item for item in items if item.gpu == gpu]
        title = words.LEDGER_ONE.format(index=gpu) if gpu is not None else words.LEDGER_CARD
        if gpu is None and len(plan.gpus) > 1:
            title = words.LEDGER_CARDS.format(count=len(plan.gpus))
        drawing = bar(mine, marks, width, unicode=unicode, colour=colour)
        parts.append(
            "\n".join(line for line in (title, drawing, _rows(mine, marks, width)) if line)
        )
    return "\n\n".join(parts)


def _rows(items: Sequence[LedgerItem], marks: dict[str, str], width: int) -> str:
    rows = [words.HEADINGS]
    for item in items:
        mark = marks.get(item.name, "")
        title = f"{mark} {item.title}" if mark else item.title
        rows.append((title, bytes_text(item.bytes), _error(item), item.source))
    return _aligned(rows, width)


def _error(item: LedgerItem) -> str:
    if item.error_bytes is None:
        return ""
    return words.EXACT if item.error_bytes == 0 else bytes_text(item.error_bytes)


def _aligned(rows: Sequence[Sequence[str]], width: int) -> str:
    """Return rows with figures to the right and sources folded at `width`."""
    figures = (1, 2)
    sizes = [max(cells_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = max(_LEAST_SOURCE, width - sum(sizes[:3]) - 3 * _GAP_CELLS)
    shown = []
    for row in rows:
        cells = list(row)
        for column in figures:
            cells[column] = " " * (sizes[column] - cells_of(cells[column])) + cells[column]
        first, *rest = textwrap.wrap(
            cells[3], room, break_long_words=False, break_on_hyphens=False
        ) or [""]
        shown.append([*cells[:3], first])
        shown += [["", "", "", line] for line in rest]
    return table(shown)


def bar(
    items: Sequence[LedgerItem],
    marks: dict[str, str],
    width: int,
    *,
    unicode: bool = True,
    colour: bool = False,
) -> str:
    """Return the items as one bar whose cells add up; every known item has at least one."""
    known = [(item.name, item.bytes) for item in items if item.bytes is not None and item.bytes > 0]
    total = sum(size for _, size in known)
    cells = min(width, READABLE_WIDTH) - 2
    if not total or len(known) >= cells:
        return ""
    counts = _shares([size for _, size in known], cells)
    pieces = []
    for place, ((name, _size), count) in enumerate(zip(known, counts, strict=True)):
        text = marks.get(name, " ") * count
        if colour and name not in _FREE_NAMES:
            text = f"\x1b[{_COLOURS[place % len(_COLOURS)]}m{text}\x1b[0m"
        pieces.append(text)
    left, right = ("▕", "▏") if unicode else ("[", "]")
    return f"{left}{''.join(pieces)}{right}"


def _shares(sizes: Sequence[int], cells: int) -> list[int]:
    """Return cells for each size that add up to `cells`, at least one each."""
    total = sum(sizes)
    spare = cells - len(sizes) * _LEAST_SHARE_CELLS
    exact = [size * spare / total for size in sizes]
    counts = [int(share) for share in exact]
    by_rest = sorted(range(len(sizes)), key=lambda place: counts[place] - exact[place])
    for place in by_rest[: spare - sum(counts)]:
        counts[place] += 1
    return [count + _LEAST_SHARE_CELLS for count in counts]


def _host_part(plan: Plan, width: int) -> str:
    parts = []
    for place, heading in words.PLACES.items():
        rows = [
            (item.title, bytes_text(item.bytes), _error(item), item.source)
            for item in plan.ledger
            if item.place is place
        ]
        if rows:
            parts.append(f"{heading}\n{_aligned([words.HEADINGS, *rows], width)}")
    return "\n\n".join(parts)


# What follows


def _reductions(plan: Plan, width: int) -> str:
    if not plan.reductions:
        return ""
    is_enough = plan.reductions[-1].is_enough
    headings = {
        True: words.HEADING_REDUCTIONS_ENOUGH,
        False: words.HEADING_REDUCTIONS_NOT,
        None: words.HEADING_REDUCTIONS_OPEN,
    }
    lines = [headings[is_enough]]
    for number, one in enumerate(plan.reductions, 1):
        text = f"{one.title} (--set {one.knob}={one.value}). {one.costs}"
        lines += _hanging(f"  {number}. ", text, width)
    if is_enough and plan.preset:
        settings = " ".join(f"--set {one.knob}={one.value}" for one in plan.reductions)
        lines += _hanging("  ", words.try_words(f"weir up {plan.preset} {settings}"), width)
    return "\n".join(lines)


def _headroom(plan: Plan, width: int) -> str:
    if not plan.headroom:
        return ""
    rungs = [(rung.bytes, words.OUTCOMES[rung.outcome.value], rung.case) for rung in plan.headroom]
    if plan.headroom_bytes is not None:
        rungs.append((plan.headroom_bytes, words.HEADROOM_HERE, plan.preset or ""))
    rungs.sort(key=lambda rung: -rung[0])
    rows = [(bytes_text(size), became, case) for size, became, case in rungs]
    sizes = [max(cells_of(row[column]) for row in rows) for column in (0, 1)]
    room = max(_LEAST_SOURCE, width - 2 - sum(sizes) - 2 * _GAP_CELLS)
    shown: list[tuple[str, str, str]] = []
    for size, became, case in rows:
        first, *rest = textwrap.wrap(case, room, break_long_words=False) or [""]
        shown += [(size, became, first), *(("", "", line) for line in rest)]
    lines = table(shown).splitlines()
    return "\n".join([words.HEADING_HEADROOM, *(f"  {line}" for line in lines)])


def _section(title: str, lines: Iterable[str], width: int) -> str:
    body = [piece for line in lines for piece in _hanging("  - ", line, width)]
    return "\n".join([title, *body]) if body else ""


def _hanging(lead: str, text: str, width: int) -> list[str]:
    indent = " " * len(lead)
    return textwrap.wrap(
        text,
        max(20, width),
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _paragraph(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def _folded(pairs: Iterable[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    found = []
    for label, text in pairs:
        lines = textwrap.wrap(
            text, max(20, width - _LABEL_CELLS), break_long_words=False, break_on_hyphens=False
        )
        found += [(label, line) for line in lines or [""]]
    return found
