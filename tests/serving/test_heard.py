"""What is kept of a log: what may speak of a failure, by boots, in bounded memory."""

from studio.serving.heard import Hearing

BEGIN = "INFO 11-29 13:00:00 [a.py:1] non-default args: {'model': 'x'}"
UP = "INFO:     Application startup complete."
STOP = "INFO 11-29 13:00:00 [a.py:1] [shutdown] API server: shutdown triggered"


def hear(*lines: str) -> Hearing:
    """Return what is kept of `lines`."""
    hearing = Hearing()
    hearing.take(lines)
    return hearing


def texts(hearing: Hearing) -> list[str]:
    """Return the messages of the last boot."""
    return [message.text for message in hearing.boot.messages]


def test_only_what_may_speak_of_a_failure_is_kept() -> None:
    """Information is nine tenths of a log."""
    hearing = hear("INFO 11-29 13:00:00 [a.py:1] x", "ERROR 11-29 13:00:00 [a.py:1] y", "z", "")

    assert texts(hearing) == ["y", "z"]
    assert hearing.lines == 4
    assert [message.text for message in hearing.boot.last] == ["x", "y", "z"]


def test_a_boot_starts_afresh_and_the_one_before_is_kept_once() -> None:
    """Yesterday's failure is not today's."""
    hearing = hear(BEGIN, "one", BEGIN, "two", UP, BEGIN, "three")

    assert texts(hearing) == ["three"]
    assert not hearing.boot.is_up
    assert hearing.before is not None
    assert hearing.before.is_up
    assert [message.text for message in hearing.before.messages] == ["two"]


def test_after_a_stop_nothing_counts_until_the_next_boot() -> None:
    """A drained engine says many frightening things; the boot before it ended well."""
    hearing = hear(BEGIN, "one", STOP, "EngineDeadError", BEGIN, "two")

    assert texts(hearing) == ["two"]
    assert hearing.before is None


def test_messages_know_whether_the_server_had_answered() -> None:
    """A full card at the boot and one while serving are mended in different ways."""
    hearing = hear("one", UP, "two")

    assert [message.is_up for message in hearing.boot.messages] == [False, True]


def test_a_long_log_keeps_the_first_of_messages_that_differ_in_numbers_only() -> None:
    """And all that is rare, wherever it stands."""
    lines = [f"ValueError: request {number} failed" for number in range(20_000)]
    hearing = hear(*lines, "OSError: rare", *lines)

    assert len(hearing.boot.messages) < 8_100
    assert "OSError: rare" in texts(hearing)


def test_a_long_log_of_nothing_but_rare_messages_is_bounded_too() -> None:
    """Whatever a stranger pastes."""
    words = "ghijklmnopqrstuvwxyz"
    lines = (
        f"{words[n % 20]}{words[n // 20 % 20]}{words[n // 400 % 20]}{words[n // 8000 % 20]}"
        for n in range(60_000)
    )

    assert len(hear(*lines).boot.messages) <= 24_000
