"""Bytes of an engine to lines: levels, escapes, secrets, progress bars, broken characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.redaction import redact
from studio.serving import log_text
from tests.fakes import recordings


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("(APIServer pid=9150) INFO 11-29 13:42:03 [api_utils.py:347] hello", "info"),
        ("(Worker_TP0 pid=1) WARNING 11-29 13:42:03 [a.py:1] hello", "warning"),
        ("(EngineCore pid=2709) ERROR 11-29 13:47:36 [core.py:1330] Traceback", "error"),
        ("DEBUG 11-29 13:42:03 [a.py:1] hello", "debug"),
        ("CRITICAL 11-29 13:42:03 [a.py:1] hello", "error"),
        ("INFO:     Started server process [9150]", "info"),
        ("(APIServer pid=592) INFO:     Application startup complete.", "info"),
        ("ERROR:    Exception in ASGI application", "error"),
        ("W1129 13:42:02.938000 9150 torch/_library/triton.py:53] Triton not available", "warning"),
        ("[W1129 13:42:33.396159002 utils.cpp:68] Warning: NUMA binding", "warning"),
        ("[rank0]:[W1129 13:47:37.59 ProcessGroupNCCL.cpp:1575] Warning: bye", "none"),
        ("/srv/lib/python3.11/dispatcher.py:138: FutureWarning: `x` is deprecated", "warning"),
        ("Traceback (most recent call last):", "none"),
        ("INFORMATION is not a level", "none"),
        ("", "none"),
    ],
)
def test_levels_of_every_shape_are_recognised(line: str, level: str) -> None:
    """The log view colours by level and `weir logs --level` filters by it."""
    assert log_text.level_of(line) == level


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-weir-Ab_12-xyz used", "key *** used"),
        ("token hf_abcDEF123456", "token ***"),
        ("Authorization: Bearer abc.def-123_x", "Authorization: Bearer ***"),
        ("authorization: bearer 'abcdefgh'", "authorization: bearer ***'"),
        ("env VLLM_API_KEY=verysecret next", "env VLLM_API_KEY=*** next"),
        ("{'VLLM_API_KEY': 'verysecret'}", "{'VLLM_API_KEY': '***'}"),
        ("serve m --api-key verysecret --port 1", "serve m --api-key *** --port 1"),
        ("the bearer of bad news", "the bearer of bad news"),
        ("risk-free task-based", "risk-free task-based"),
        ("the boot key is Zx9", "the boot key is ***"),
    ],
)
def test_secrets_are_masked(text: str, masked: str) -> None:
    """Logs are pasted into bug reports; a key in one is a key in the world."""
    assert redact(text, ("Zx9",)) == masked


def test_a_secret_broken_up_by_colour_codes_is_masked() -> None:
    """Escape sequences go first, so they cannot hide a key from the masking."""
    lines, _ = log_text.Splitter().feed(b"key sk-we\x1b[0mir-abcdef\x1b[31m123456 end\n", ())

    assert lines == ["key *** end"]


def test_escape_sequences_and_control_characters_go() -> None:
    """A log line must not move the cursor or set the title of whoever reads it."""
    raw = b"\x1b[1;32mgreen\x1b[0m \x1b]0;title\x07text\x00\x08 \xc2\x9bx \xe2\x80\xa8y\x1b[A\n"

    lines, _ = log_text.Splitter().feed(raw, ())

    assert lines == ["green text x y"]


def test_of_a_progress_bar_only_the_last_state_is_kept() -> None:
    """A bar writes hundreds of states; the reader of phases sees them, the log keeps one."""
    splitter = log_text.Splitter()

    first = splitter.feed(b"(EngineCore pid=8) \rCapturing  0%\rCapturing 40%", ())
    second = splitter.feed(b"\rCapturing 80%\rCapturing 100%\nnext\n", ())

    assert first == ([], ["(EngineCore pid=8) ", "Capturing  0%"])
    assert second == (["Capturing 100%", "next"], ["Capturing 40%", "Capturing 80%"])


def test_line_ends_of_multi_line_messages_are_one_line_end() -> None:
    """vLLM ends the lines of a logged traceback with a carriage return and a newline."""
    splitter = log_text.Splitter()

    lines, _ = splitter.feed(b"one\r", ())
    more, _ = splitter.feed(b"\ntwo\r\nthree\n", ())

    assert lines == []
    assert more == ["one", "two", "three"]


def test_a_character_split_between_two_reads_stays_whole() -> None:
    """Pipes cut anywhere; the banner and Chinese prompts are not ASCII."""
    data = "模型 █ ready\n".encode()

    splitter = log_text.Splitter()
    lines = [line for byte in data for line in splitter.feed(bytes([byte]), ())[0]]

    assert lines == ["模型 █ ready"]


def test_a_line_without_end_is_cut_and_its_rest_dropped() -> None:
    """Memory stays bounded, and the part of a secret before the cut does not survive."""
    secret = "sk-weir-" + "a" * 32
    splitter = log_text.Splitter()
    begin = b"x" * (log_text.LINE_LIMIT - 20)

    first, _ = splitter.feed(begin + secret[:30].encode(), ())
    second, _ = splitter.feed(secret[30:].encode() + b"y" * 100_000, ())
    third, _ = splitter.feed(b"z" * 100_000 + b"\nnext\n", ())

    assert len(first) == 1
    assert first[0].endswith("x … (cut)")
    assert "sk-" not in first[0]
    assert second == []
    assert third == ["next"]


def test_an_unfinished_line_is_given_out_at_the_end() -> None:
    """The last words of a killed engine often lack their newline."""
    splitter = log_text.Splitter()
    splitter.feed(b"50%\r60%", ())

    assert splitter.finish(()) == ["60%"]
    assert splitter.finish(()) == []


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_lines_do_not_depend_on_how_the_stream_was_cut(size: int) -> None:
    """The same log in different pieces gives the same lines."""
    data = recordings.raw(recordings.ENGINE / "cuda" / "r1-compiled-offload8" / "boot.log")
    whole, _ = log_text.Splitter().feed(data, ())

    splitter = log_text.Splitter()
    pieces: list[str] = []
    for start in range(0, len(data), size):
        pieces += splitter.feed(data[start : start + size], ())[0]

    assert pieces == whole
    assert len(whole) > 150


@given(st.lists(st.binary(max_size=80), max_size=12))
def test_no_bytes_can_break_the_splitter(pieces: list[bytes]) -> None:
    """An engine can print anything; lines never hold a line end or an escape character."""
    splitter = log_text.Splitter()
    lines: list[str] = []
    for piece in pieces:
        done, interim = splitter.feed(piece, ())
        lines += done + interim
    lines += splitter.finish(())

    assert not any(character in line for line in lines for character in "\n\r\x1b\x00\x7f")


SHARDS = "Loading safetensors checkpoint shards: {:3d}% Completed | {}/4 [00:0{}<00:00, 1it/s]"


def test_a_bar_whose_states_are_lines_is_one_line() -> None:
    """vLLM ends each state of the shards' bar; a model of sixty shards would write sixty lines."""
    splitter = log_text.Splitter()
    states = [SHARDS.format(25 * n, n, n) for n in range(5)]

    lines, interim = splitter.feed("".join(f"\r{one}\n" for one in states).encode(), ())
    more, _ = splitter.feed(f"\r{states[-1]}\n\nnext\n".encode(), ())

    assert lines == [states[-1]]
    assert interim == states[:-1]
    assert [line for line in more if line] == ["next"]


def test_bars_of_two_workers_are_two_lines() -> None:
    """They draw at the same time, each its own."""
    splitter = log_text.Splitter()
    text = ""
    for n in range(5):
        for worker in (0, 1):
            text += f"(Worker_TP{worker} pid={worker + 5}) {SHARDS.format(25 * n, n, n)}\n"

    lines = splitter.feed(text.encode(), ())[0]

    assert len(lines) == 2
    assert all("100% Completed" in line for line in lines)


def test_a_bar_that_stops_half_way_keeps_its_last_state() -> None:
    """That it was at 50 % is the best hint there is."""
    half = SHARDS.format(50, 2, 2)
    stopped, killed = log_text.Splitter(), log_text.Splitter()

    lines, _ = stopped.feed(f"\r{SHARDS.format(25, 1, 1)}\n\r{half}\nValueError: no\n".encode(), ())
    killed.feed(f"\r{half}\n".encode(), ())

    assert lines == [half, "ValueError: no"]
    assert killed.finish(()) == [half]


def test_a_percentage_in_a_sentence_is_no_bar() -> None:
    """Throughput lines come every ten seconds, and each counts."""
    line = "INFO 11-29 15:06:54 [loggers.py:310] GPU KV cache usage: 9.9%, Prefix hit rate: 67.8%"

    assert log_text.Splitter().feed(f"{line}\n{line}\n".encode(), ())[0] == [line, line]
