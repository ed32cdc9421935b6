"""Where updates of the Studio stand, in words."""

import datetime
from collections.abc import Iterator

from studio.cli import update_words as words
from studio.cli.render import labelled
from studio.domain.self_update import UpdateState, UpdateStatus
from studio.domain.units import bytes_text

_MOST_CHANGES = 8


def status_text(status: UpdateStatus) -> str:
    """Return everything that is known, a line each."""
    return labelled(_rows(status))


def _rows(status: UpdateStatus) -> Iterator[tuple[str, str]]:
    yield words.VERSION, f"{status.version}, {words.CAME[status.came]}"
    yield words.UPDATE, _state(status)
    for change in status.changes[:_MOST_CHANGES]:
        yield words.CHANGES, change
    if len(status.changes) > _MOST_CHANGES:
        yield words.CHANGES, words.MORE_CHANGES.format(count=len(status.changes) - _MOST_CHANGES)
    yield words.FEED, _feed(status)
    if status.file is not None:
        yield words.PACKAGE, f"{status.file} ({bytes_text(status.bytes)})"
    if status.command is not None and _is_by_hand(status):
        yield words.NEXT, words.TYPE.format(command=status.command)
    if status.previous is not None:
        size = bytes_text(status.previous_bytes)
        yield words.PREVIOUS, words.PREVIOUS_IS.format(version=status.previous, size=size)
    if status.ends:
        is_ours = status.previous is not None
        sentence = words.ENDED if is_ours else words.ENDED_BY_HAND
        yield words.UNSTEADY, sentence.format(count=status.ends, version=status.previous)
    yield words.COPIES, _copies(status)
    if status.service_version not in (None, status.version):
        yield words.SERVICE, words.OLD_SERVICE.format(version=status.service_version)
    if status.failed is not None:
        yield words.FAILED, status.failed.message


def _state(status: UpdateStatus) -> str:
    version = status.waiting or status.offered or words.NO_VERSION
    if status.minimum_version is not None:
        return words.TOO_OLD.format(version=version, minimum=status.minimum_version)
    return words.STATES[status.state].format(version=version)


def _is_by_hand(status: UpdateStatus) -> bool:
    """Tell whether somebody else than the Studio has to act now."""
    return status.state in (UpdateState.OFFERED, UpdateState.FETCHED)


def _feed(status: UpdateStatus) -> str:
    if status.feed is None:
        return words.NOWHERE
    if status.checked_at is None:
        return status.feed
    return words.AT.format(feed=status.feed, day=_day(status.checked_at))


def _copies(status: UpdateStatus) -> str:
    found = [
        words.COPY.format(version=one.version, day=_day(one.made_at), size=bytes_text(one.bytes))
        for one in status.copies
    ]
    return ", ".join(found) or words.NO_COPIES


def _day(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
