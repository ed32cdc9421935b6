"""Times as people write them, and which entries they want."""

import datetime

import pytest

from studio.domain.errors import BadInput
from studio.domain.logs import Filter, LogLimits, moment, require_limits
from studio.domain.tracebacks import LogEntry

NOW = datetime.datetime(2026, 11, 29, 14, 30).astimezone().timestamp()
HOUR = 3600.0


def _entry(
    text: str = "x", *, level: str = "info", process: str | None = None, whole: tuple[str, ...] = ()
) -> LogEntry:
    return LogEntry(
        seq=1, at=0.0, source="engine", level=level, text=text, process=process, whole=whole
    )


@pytest.mark.parametrize(
    ("text", "ago_s"),
    [
        ("10m", 600),
        ("10 min", 600),
        ("1.5h", 1.5 * HOUR),
        ("2d", 48 * HOUR),
        ("90s", 90),
        (" 1H ", HOUR),
        ("14:00", HOUR / 2),
        ("9:30", 5 * HOUR),
        ("15:00", 23.5 * HOUR),
        ("today", 14.5 * HOUR),
        ("yesterday", 38.5 * HOUR),
        ("2026-11-29", 14.5 * HOUR),
        ("2026-11-29 14:00", HOUR / 2),
        ("2026-11-29T14:00:00", HOUR / 2),
    ],
)
def test_times_are_read_as_people_write_them(text: str, ago_s: float) -> None:
    """A clock that lies ahead is yesterday's: nothing was written in the future."""
    assert moment(text, NOW) == pytest.approx(NOW - ago_s)


def test_a_zone_counts() -> None:
    """Times are copied out of reports, which say UTC."""
    assert moment("1970-01-01T00:01:00Z", NOW) == 60.0
    assert moment("1970-01-01T01:01:00+01:00", NOW) == 60.0


@pytest.mark.parametrize(
    "text", ["", "soon", "10", "10y", "25:00", "2026-13-01", "-5m", "1e9h", "٣m"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    """With the ways to write one."""
    with pytest.raises(BadInput) as caught:
        moment(text, NOW)

    assert caught.value.code == "time-invalid"
    assert caught.value.hint is not None


def _passing(wanted: Filter, entries: list[LogEntry]) -> list[bool]:
    return [wanted.passes(entry) for entry in entries]


def test_a_level_takes_the_more_serious_too() -> None:
    """Asking for warnings means: whatever is at least a warning."""
    entries = [_entry(level=level) for level in ("debug", "info", "warning", "error")]

    assert _passing(Filter(level="warning"), entries) == [False, False, True, True]


def test_an_entry_without_a_level_belongs_to_the_last_of_its_process() -> None:
    """The lines that say why have no level of their own; those of another process do not help."""
    entries = [
        _entry(level="error", process="A"),
        _entry(level="none", process="A"),
        _entry(level="none", process="B"),
        _entry(level="info", process="A"),
        _entry(level="none", process="A"),
    ]

    assert _passing(Filter(level="error"), entries) == [True, True, False, False, False]


@pytest.mark.parametrize("level", ["none", ""])
def test_before_any_level_it_counts_as_information(level: str) -> None:
    """The engine's banner has no level and is no error."""
    assert _passing(Filter(level="info"), [_entry(level=level)]) == [True]
    assert _passing(Filter(level="warning"), [_entry(level=level)]) == [False]


def test_a_search_minds_no_case_and_looks_into_tracebacks() -> None:
    """Nobody remembers whether it was KV or kv, or in which frame."""
    entries = [_entry("KV cache size"), _entry("E: x", whole=("in kv_CACHE.py",)), _entry("other")]

    assert _passing(Filter(grep="kv.cache"), entries) == [True, True, False]
    assert Filter().is_open
    assert not Filter(grep="x").is_open


def test_a_search_sees_what_is_shown() -> None:
    """The mark before a line of ours stands on the screen, not in the text."""
    shown = Filter(grep="^studio: r", shown=lambda entry: f"studio: {entry.text}")

    assert _passing(shown, [_entry("Ready"), _entry("Not ready")]) == [True, False]


@pytest.mark.parametrize("limits", [LogLimits(file_mib=0), LogLimits(files=101)])
def test_limits_have_limits(limits: LogLimits) -> None:
    """0 files would keep nothing, and a million would fill any disk."""
    with pytest.raises(BadInput):
        require_limits(limits)

    assert require_limits(LogLimits(files=100)).files == 100
