"""Sentences of the service in the person's language."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer import told as catalogue
from studio.domain.server import BootPhase
from studio.monitor.room import room
from studio.serving.boot_words import Scene, note
from studio.serving.forecast import Left
from studio.ui import language, told
from studio.ui.told import NOTHING, Told

ROOT = Path(__file__).resolve().parents[2]
CHINESE = ROOT / "assets/locale/zh_CN"
SMALL = Told(
    {
        "Chat, fast": "快速聊天",
        "The disk at {mount} is full.": "{mount} 已满。",
        "Close {program} first.": "关掉 {program}。",
        "{cause} Requests wait.": "{cause}请求在等。",
        "Asked for {asked:,} of {asked}.": "要 {asked}。",
        "{sentence}": "never",
        "Not now: {why}": "现在不行：{why}",
        "{one} or {other}": "{one} 或 {other}",
        "It failed: {why}.": "失败：{why}。",
        "It needs {what} now.": "现在需要 {what} 才行。",
        "two cards": "两张卡",
        "seen here on {day}": "{day} 在这里看到",
        "{source}; {count} blocks in it": "{source}；其中 {count} 块",
        "One more failed too.": "另一个也失败了。",
        "Look at the log. It says more.": "看日志，里面有更多。",
        "There is no {kind} `{name}`.": "没有{kind} `{name}`。",
        "model": "模型",
    }
)
JOINED = frozenset(
    {
        "It needs a card of compute capability",
        "cards here have at most", "of free disk", "tokens are more", "tokens takes",
        "one request waits", "Room for one more", "a few seconds left",
        "wants another key", "The engine ended with exit code",
        "The engine was ended by signal", "The service's answer cannot be understood",
        "The service's answer has status",
        "larger than at the boot of", "smaller than at the boot of", "more of the card",
        "on this card", "on this card at", "on this processor", "on this processor at", "% more",
        "which publishes a port of a container)",
    }
)  # fmt: skip
"""Phrases that code makes of a count and a word, or of two parts."""
SYSTEMS_OWN = frozenset(
    {
        "Permission denied", "No such file or directory", "No space left on device",
        "Disk quota exceeded", "Read-only file system", "Input/output error", "Is a directory",
        "Not a directory", "File exists", "Too many open files", "Cannot allocate memory",
        "Operation not permitted", "Connection refused", "Connection reset by peer",
        "Network is unreachable", "No route to host", "Address already in use",
        "Cannot assign requested address", "Name or service not known",
        "Temporary failure in name resolution", "Exec format error",
        "Invalid enum value", "- at `", "no such file or directory", "permission denied",
        "connection reset by peer", "network is unreachable", "self-signed certificate",
        "self-signed certificate in certificate chain", "certificate has expired",
        "unable to get local issuer certificate", "] certificate verify failed",
        "Connect call failed", "file is not a database", "database disk image is malformed",
        "database is locked", "database or disk is full", "attempt to write a readonly database",
        "disk I/O error", "Compressed file ended before the end-of-stream marker was reached",
        "Corrupt input data", "Input data was truncated", "JSON is malformed",
        "Object missing required field `", "Password was not given but private key is encrypted",
        "Unable to load PEM file", "invalid header", "truncated header",
    }
)  # fmt: skip
"""Reasons that Linux, OpenSSL, SQLite and Python give, inside of the Studio's sentences."""


@pytest.fixture(scope="module")
def chinese() -> Told:
    """Return the shipped sentences."""
    return told.read(CHINESE)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Chat, fast", "快速聊天"),
        ("The disk at /srv/My disk is full.", "/srv/My disk 已满。"),
        ("The disk at /a is full. Close chrome first.", "/a 已满。关掉 chrome。"),
        ("Not now: The disk at /a is full. Chat, fast", "现在不行：/a 已满。快速聊天"),
        ("The disk at /a is full. Nobody knows this one.", "/a 已满。Nobody knows this one."),
        ("The disk at /a is full. Requests wait.", "/a 已满。请求在等。"),
        ("Asked for 5 of 5.", "要 5。"),
        ("Asked for 5 of 6.", "Asked for 5 of 6."),
        ("A preset of mine", "A preset of mine"),
        ("Write 5 or 6", "Write 5 or 6"),
        ("5 or 6", "5 或 6"),
        ("cu13-vllm-0.31.0 or cu13-vllm-0.32.0", "cu13-vllm-0.31.0 或 cu13-vllm-0.32.0"),
        ("A GeForce RTX 3090 or RTX 4090", "A GeForce RTX 3090 或 RTX 4090"),
        ("red or GeForce RTX 4090", "red or GeForce RTX 4090"),
        ("Say yes or no to it", "Say yes or no to it"),
        ("It failed: no name. One more failed too.", "失败：no name。另一个也失败了。"),
        ("It failed: no name. Nobody knows this.", "失败：no name。Nobody knows this."),
        ("It failed: no. Look at the log. It says more.", "失败：no。看日志，里面有更多。"),
        ("Chat, fast; Close chrome first.", "快速聊天；关掉 chrome。"),
        ("It needs two cards now.", "现在需要两张卡才行。"),
        ("It needs 2 GPUs now.", "现在需要 2 GPUs 才行。"),
        ("seen here on Monday; 5 blocks in it", "Monday 在这里看到；其中 5 块"),
        ("Chat, fast; nobody knows this", "Chat, fast; nobody knows this"),
        ("There is no model `model`.", "没有模型 `model`。"),
        ("There is no model ``.", "没有模型 ``。"),
        ("", ""),
        ("多余 {brace} (.*", "多余 {brace} (.*"),
    ],
)
def test_a_sentence_is_found_with_its_places_or_stays(said: str, shown: str) -> None:
    """Figures and names go where the other language wants them; the rest is left alone."""
    assert SMALL.say(said) == shown


def test_without_translations_everything_stays(tmp_path: Path) -> None:
    """English, and a language whose file is missing."""
    assert NOTHING.say("Chat, fast") == "Chat, fast"
    assert told.read(tmp_path) is NOTHING


def test_the_window_speaks_them_with_its_language() -> None:
    """One call changes both kinds of words, and changes them back."""
    try:
        language.speak("zh_CN", ROOT / "assets")
        assert language.told("Chat, fast") == "快速聊天"
    finally:
        language.speak("en", ROOT / "assets")
    assert language.told("Chat, fast") == "Chat, fast"


def test_no_shipped_sentence_is_taken_for_another(chinese: Told) -> None:
    """Each one filled with values comes out as its own translation, not as that of a wider one."""
    wrong = []
    for english, words in catalogue.translated(CHINESE).items():
        names = dict.fromkeys(re.findall(r"\{(\w+)", english))
        values = {name: str(number) for number, name in enumerate(names, start=71)}
        if chinese.say(_filled(english, values)) != _filled(words, values):
            wrong.append(english)

    assert wrong == []


def test_a_pattern_that_opens_with_a_place_takes_no_beginning_of_another_sentence(
    chinese: Told,
) -> None:
    """`{free} of {what} is free.` would make one foreign heap of two languages."""
    said = "The engine needs 3.10 GiB for the KV cache; 1.84 GiB of memory is free."

    assert chinese.say(said) == said
    assert chinese.say("1.84 GiB is free.") != "1.84 GiB is free."


def test_a_long_unknown_sentence_is_turned_away_quickly(chinese: Told) -> None:
    """An alarm is said anew every second; a look through all patterns has to be nothing."""
    text = "word " * 2_000 + "."

    assert chinese.say(text) == text
    assert len(chinese.say("x" * 100_000)) == 100_000


def test_no_two_places_stand_beside_each_other() -> None:
    """`{state}{name}` would cut a word in two: nobody knows where the one ends."""
    together = [one for one in catalogue.translated(CHINESE) if "}{" in one]

    assert together == []


def test_every_sentence_of_the_catalogue_by_hand_still_stands_in_code() -> None:
    """Who rewords a sentence of the service finds its translation here."""
    code = "\0".join(_texts())
    lost = []
    for path, one in catalogue.catalogues(CHINESE):
        if path.stem == catalogue.BY_HAND:
            texts = [str(message.id) for message in one if message.id]
            lost = [part for text in texts for part in _plain(text) if part not in code]

    assert set(lost) - SYSTEMS_OWN == JOINED


@pytest.mark.parametrize("phase", list(BootPhase))
def test_what_a_boot_is_doing_is_said_in_chinese(phase: BootPhase, chinese: Told) -> None:
    """It is the line that a person looks at for the first five minutes."""
    lefts = (
        Left(remaining_s=None, usual_s=None, is_late=False),
        Left(remaining_s=100.0, usual_s=None, is_late=False),
        Left(remaining_s=2.0, usual_s=None, is_late=False),
        Left(remaining_s=None, usual_s=20.0, is_late=True),
        Left(remaining_s=None, usual_s=None, is_late=True),
    )
    for left, cold, loaded in itertools.product(lefts, (None, True, False), (None, 5_000_000)):
        scene = Scene(
            phase=phase,
            spent_s=30.0,
            left=left,
            is_cold=cold,
            share=None if loaded else 0.5,
            loaded_bytes=loaded,
            to_load_bytes=9_000_000 if cold else None,
        )
        assert _english(chinese.say(note(scene))) == set()


@pytest.mark.parametrize("free", [0, 5_000, 30_000, 200_000, 3_000_000])
@pytest.mark.parametrize(("running", "waiting"), [(0, 0), (1, 0), (8, 0), (8, 1), (8, 20)])
def test_what_fits_now_is_said_in_chinese(
    free: int, running: int, waiting: int, chinese: Told
) -> None:
    """It stands under the first of the big three."""
    said = room(
        pool_tokens=3_100_000,
        used_tokens=3_100_000 - free,
        running=running,
        waiting=waiting,
        seats=8,
        context_tokens=1_000_000,
        block_tokens=16,
    )

    assert _english(chinese.say(said.sentence)) == set()


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)(?::[^{}]*)?\}", lambda place: values[place[1]], text)


def _plain(text: str) -> Iterator[str]:
    """Yield its phrases: what joins them may come from another line of code."""
    for part in re.split(r"\{\w+\}|[;:.] |[,;:.(]", text):
        if " " in part.strip():
            yield part.strip()


def _texts() -> Iterator[str]:
    for path in sorted((ROOT / "studio").rglob("*.py")):
        if "ui" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def _english(text: str) -> set[str]:
    """Return the English words of a text, units and names left out."""
    return set(re.findall(r"[A-Za-z]{2,}", text)) - {
        "token", "Python", "KV", "MB", "MiB", "GiB", "min", "Windows",
    }  # fmt: skip
