"""Sentences that code puts together of several pieces: the whole is said in the language."""

import re
from pathlib import Path

import pytest

from studio.ui import told
from studio.ui.told import Told

ROOT = Path(__file__).resolve().parents[2]
_COMMAND = re.compile(r"`[^`]*`")
_ENGLISH = re.compile(r"[A-Za-z]{3,} [a-z]{2,}")
SAID = (
    "second try, warm: loading weights, 40 %",
    (
        "Cards here: 0 A, 1 B. Choose again with `--gpus`, or look at the cable and the"
        " power of the missing one."
    ),
    "The card chosen earlier, RTX 3090 (GPU-71), is not here.",
    "This machine has no card 3 or 4 (cards here: none).",
    "It is written for a machine with two cards that this one does not have.",
    "The engine died while it was measured (decode): it left no word.",
    "`x` cannot be `y`.",
    "Write seconds or a span such as `90s`, `30m` or `2h`, at most 24 hours, or `default`.",
    "mine waits while other is served, next switch in 12 s",
    "mine waits: first, other is about to start",
    "owner/name is used by process 71 (python), which has its files open.",
    "owner/name is used by the engine (mine, ready).",
    "The pool is 1,234 tokens smaller than forecast (68,605 tokens).",
    "The pool is 1,234 tokens larger than forecast, within its error bar of ±2,000.",
    "There is no remedy 4; the last one is 3.",
    "`mine` cannot be started by a request: its runtime `cpu-vllm` is not installed.",
    "A limit of 0.1 MB a second is too low.",
    (
        "Version 2 did not come up: it ended with status 1, and its last line was: no. Version 1 is"
        " back, with databases and settings as they were."
    ),
    (
        "Version 2 did not come up: it ended by itself or was ended before it had proven itself."
        " Version 1 is back, with databases and settings as they were."
    ),
    (
        "Version 2 did not come up within 60 s, or was cut off. Version 1 is back, with databases"
        " and settings as they were."
    ),
    "Version 2 ended 3 times by itself soon after the update. Version 1 is back.",
    (
        "Version 2 came up and falls short: it lists no presets. Version 1 is back; databases that"
        " the newer one had changed are as they were."
    ),
    "feed.json is not signed by the Studio's release key, but by 71:ab.",
    "a.weir is not unpacked: 'lib/x' is a link to '/etc', outside the runtime.",
    "a.weir is not a whole runtime of the Studio: its index cannot be read (71).",
    "T is not as it was installed, so it is not exported: 2 files differ.",
    "It needs a card of compute capability 8.0 to 12.1; here: V100 (7.0).",
    "an NVIDIA card of compute capability 8.0 or newer",
    (
        "The patch a does not fit b: hunk 2 of 3 (@@ -1 +1 @@): its lines are not in the file."
        " 2 more hunks are rejected too."
    ),
    "a.patch, line 71: the hunk has more lines than its header says.",
    "T does not run on this machine: the engine does not know --x; Python is 3.11, expected 3.12.",
    (
        "`S` at commit 71ab is not the series that the recipe of T describes: a is listed twice;"
        " expected 12 patches, found 11."
    ),
    "x.zip: an archive without git's data, which has the tree 71ab, not 72cd",
    "The patches at commit 71ab cannot be had: The network is switched off by WEIR_OFFLINE.",
    "Which commits owner/name has cannot be asked: x.org is not there, or not open to everybody.",
    "Version 2 did not come up: The service did not start. Version 1 is back.",
    "The service did not start. Its last words are in /srv/log.",
)


@pytest.fixture(scope="module")
def chinese() -> Told:
    """Return the shipped sentences."""
    return told.read(ROOT / "assets/locale/zh_CN")


@pytest.mark.parametrize("said", SAID)
def test_what_code_puts_together_is_said_whole(said: str, chinese: Told) -> None:
    """A piece that no pattern takes would stand in English in the middle of a sentence."""
    assert _ENGLISH.findall(_COMMAND.sub("", chinese.say(said))) == []
