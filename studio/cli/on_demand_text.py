"""What requests may start, and who waits, as text. Pure."""

import datetime
from collections.abc import Iterator

from studio.cli import on_demand_words as words
from studio.cli.render import table
from studio.domain.demand import DemandPreset, DemandReport, DemandSettings, NextStep, Queue
from studio.domain.units import duration_text, tokens_text

Pairs = list[tuple[str, str]]
_SEPARATOR = " · "


def report_text(report: DemandReport, now: float) -> str:
    """Return the choice, each listed preset, and what happens next."""
    chosen, queue = report.settings, report.queue
    on = words.ON if report.presets else words.ON_FOR_NOTHING
    state = on if chosen.is_on else words.OFF
    if queue.held_since is not None and chosen.is_on:
        state = words.HELD.format(time=_clock(queue.held_since))
    rows = [(words.LABEL_STATE, state)]
    listed = [line for one in report.presets for line in _preset_lines(one)]
    for number, line in enumerate(listed or [words.NOTHING_LISTED]):
        rows.append((words.LABEL_PRESETS if number == 0 else "", line))
    rows += _choices(chosen)
    taken = words.ROOM.format(waiting=queue.waiting, length=queue.length)
    rows.append((words.LABEL_QUEUE, taken))
    rows += _next_pairs(queue, now)
    rows += _failed_pairs(queue, now)
    text = table(rows)
    return f"{text}\n{words.ONE_CARD}" if len(report.presets) > 1 else text


def queue_text(queue: Queue, now: float) -> str:
    """Return who waits, one a line, and what happens next."""
    lines = [words.QUEUE_HEADINGS]
    lines += [
        (
            one.served_name,
            one.preset,
            request.key,
            request.route.removeprefix("/v1/"),
            words.YES if request.is_stream else words.NO,
            duration_text(max(0.0, now - request.since)),
        )
        for one in queue.presets
        for request in one.requests
    ]
    text = table(lines) if len(lines) > 1 else words.NOBODY
    more = [*_next_pairs(queue, now), *_failed_pairs(queue, now)]
    return "\n".join([text, *([table(more)] if more else [])])


def queue_pairs(queue: Queue, now: float) -> Pairs:
    """Return what of the queue belongs into `weir status`: nothing while there is nothing."""
    pairs: Pairs = [(words.LABEL_QUEUE, text) for text in _waiting(queue, now)]
    if queue.idle_stop_at is not None:
        left = duration_text(max(0.0, queue.idle_stop_at - now))
        pairs.append((words.LABEL_IDLE, words.IDLE_LEFT.format(time=left)))
    elif queue.idle_ttl_s is not None:
        busy = words.IDLE_BUSY.format(time=duration_text(queue.idle_ttl_s))
        pairs.append((words.LABEL_IDLE, busy))
    if queue.next is not None and queue.presets:
        pairs += _next_pairs(queue, now)
    if queue.held_since is not None:
        pairs.append((words.LABEL_STATE, words.HELD_SHORT))
    return pairs + _failed_pairs(queue, now)


def waiting_lines(queue: Queue, now: float) -> list[str]:
    """Return who waits for which model, what comes next and what failed; nobody: nothing."""
    if not queue.presets and not queue.failed:
        return []
    pairs = [*(_next_pairs(queue, now) if queue.presets else ()), *_failed_pairs(queue, now)]
    return [*_waiting(queue, now), *(text for _, text in pairs)]


def _waiting(queue: Queue, now: float) -> Iterator[str]:
    for one in queue.presets:
        form = words.WAITING_ONE if len(one.requests) == 1 else words.WAITING_MANY
        yield form.format(
            model=one.served_name,
            count=len(one.requests),
            time=duration_text(max(0.0, now - one.requests[0].since)),
            keys=", ".join(dict.fromkeys(request.key for request in one.requests)),
        )


def _preset_lines(one: DemandPreset) -> Iterator[str]:
    pieces = [words.LISTED.format(preset=one.preset, names=", ".join(one.names or (one.preset,)))]
    if one.max_model_len is not None:
        pieces.append(words.CONTEXT.format(tokens=tokens_text(one.max_model_len)))
    if one.ttl_s > 0:
        pieces.append(words.STOPS.format(time=duration_text(one.ttl_s)))
    else:
        pieces.append(words.STOPS_NEVER)
    if one.overrides:
        typed = " ".join(f"--set {name}={value}" for name, value in one.overrides.items())
        pieces.append(words.SETTINGS.format(settings=typed))
    yield _SEPARATOR.join(pieces)
    if one.problem is not None:
        yield f"  {one.problem.message} {one.problem.hint or ''}".rstrip()


def _choices(chosen: DemandSettings) -> Pairs:
    idle = words.IDLE_NEVER
    if chosen.ttl_s > 0:
        idle = words.IDLE_DEFAULT.format(time=duration_text(chosen.ttl_s))
    idle += words.ALSO_BY_HAND if chosen.ttl_by_hand else words.NOT_BY_HAND
    residence = words.RESIDENCE_AUTO
    if chosen.residence_s is not None:
        residence = words.RESIDENCE.format(time=duration_text(chosen.residence_s))
    wait = words.WAIT_AUTO
    if chosen.wait_s is not None:
        wait = words.WAIT.format(time=duration_text(chosen.wait_s))
    return [
        (words.LABEL_IDLE, idle),
        (words.LABEL_RESIDENCE, residence),
        (words.LABEL_WAIT, wait),
        (words.LABEL_ABANDONED, words.ABANDONED[chosen.abandoned.value]),
    ]


def _next_pairs(queue: Queue, now: float) -> Pairs:
    return [] if queue.next is None else [(words.LABEL_NEXT, _next(queue.next, now))]


def _next(step: NextStep, now: float) -> str:
    when = ""
    if step.at is not None:
        when = words.IN.format(time=duration_text(max(0.0, step.at - now)))
    return words.NEXT[step.reason].format(preset=step.preset, when=when)


def _failed_pairs(queue: Queue, now: float) -> Pairs:
    return [
        (
            words.LABEL_FAILED,
            words.FAILED.format(
                preset=one.preset,
                message=one.error.message,
                code=one.error.code,
                time=duration_text(max(0.0, one.until - now)),
            ),
        )
        for one in queue.failed
    ]


def _clock(at: float) -> str:
    """Return a moment as local time of day."""
    return f"{datetime.datetime.fromtimestamp(at).astimezone():%H:%M}"
