"""What the prefix-cache doctor found, in sentences."""

import datetime

from studio.cli import cache_words as words
from studio.cli.render import count_text, moment_text, table
from studio.domain.cache import CacheClient, CacheFinding, CacheReport, ChangeKind, Place
from studio.domain.units import UNKNOWN, duration_text, percent_text


def report_text(report: CacheReport) -> str:
    """Return all of it: findings first, then how each client fares."""
    blocks = [] if report.is_live else [words.NOT_LIVE]
    blocks += [finding_text(one) for one in report.findings]
    if not report.findings:
        blocks.append(words.NOTHING)
    if report.clients:
        blocks.append(table([words.HEADINGS, *(_row(one) for one in report.clients)]))
    elif report.is_live:
        blocks.append(words.NO_CLIENTS)
    if report.not_compared:
        blocks.append(words.NOT_COMPARED.format(count=count_text(report.not_compared)))
    return "\n\n".join(blocks)


def finding_text(finding: CacheFinding) -> str:
    """Return one finding: who, what, how often, what it costs, what to do."""
    what = _what(finding.place)
    if finding.is_between_conversations:
        what += words.BETWEEN
    head = words.FOUND.format(
        client=finding.agent or words.NO_AGENT, key=finding.key, model=finding.model, what=what
    )
    if finding.ended_at is not None:
        head = words.ENDED.format(when=_moment(finding.ended_at)) + head
    rows = [
        (
            words.LABEL_SEEN,
            words.SEEN.format(
                changed=finding.changed,
                compared=finding.compared,
                first=_moment(finding.first_seen),
                last=_moment(finding.last_seen),
            ),
        )
    ]
    if finding.place.tokens is not None and finding.place.kind is not ChangeKind.NOT_KEPT:
        same = words.SAME.format(tokens=count_text(finding.place.tokens))
        rows.append((words.LABEL_SAME, same))
    if finding.lost_tokens is not None:
        rows.append((words.LABEL_COST, _cost(finding)))
    rows.append((words.LABEL_REMEDY, _remedy(finding)))
    return f"{head}\n{table([('', *row) for row in rows])}"


def _what(place: Place) -> str:
    where = ""
    if place.line is not None and place.characters is not None:
        characters = count_text(place.characters)
        if place.within == 1:
            spot = words.EXACTLY.format(characters=characters)
        else:
            spot = words.WITHIN.format(characters=characters, within=place.within)
        where = words.PLACE.format(line=count_text(place.line), where=spot)
    if place.looks_like is not None:
        mark = words.MARKS.get(place.looks_like, place.looks_like)
        where += words.LOOKS_LIKE.format(mark=mark)
    number = UNKNOWN if place.number is None else place.number
    return words.WHERE[place.kind].format(number=number, role=place.role or UNKNOWN, place=where)


def _cost(finding: CacheFinding) -> str:
    text = words.COST.format(tokens=count_text(finding.lost_tokens or 0))
    if finding.lost_s is not None and finding.prefill_tokens_per_s is not None:
        text += words.COST_TIME.format(
            seconds=duration_text(finding.lost_s),
            speed=count_text(round(finding.prefill_tokens_per_s)),
        )
    return text


def _remedy(finding: CacheFinding) -> str:
    if finding.adjustment is not None and finding.place.kind is not ChangeKind.LATE_SYSTEM:
        return words.REMEDY_ADJUST.format(adjustment=finding.adjustment, key=finding.key)
    return words.REMEDIES[finding.place.kind]


def _row(one: CacheClient) -> tuple[str, ...]:
    share = None
    if one.cached_tokens is not None and one.prompt_tokens:
        share = one.cached_tokens / one.prompt_tokens
    return (
        one.agent or words.NO_AGENT,
        one.key,
        one.model,
        count_text(one.requests),
        count_text(one.prompt_tokens),
        percent_text(share),
    )


def _moment(at_s: float) -> str:
    return moment_text(datetime.datetime.fromtimestamp(at_s, datetime.UTC).isoformat())
