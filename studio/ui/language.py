"""The window's own words in the person's language, by gettext; English is what stands in the code.

`t` and `nt` are called inside functions, when a text is made: a module-level text would keep the
language of its import. Tables of texts at module level hold `marked(...)` and go through `t` later.
`told` is for sentences that the service sends (`told.py`).
Catalogues: `assets/locale/<language>/<area>.po`, compiled into one `LC_MESSAGES/weir.mo`.
"""

import gettext
from collections.abc import Sequence
from pathlib import Path

from studio.ui import told as sentences
from studio.ui.viewmodels import ways

DOMAIN = "weir"
SOURCE = "en"
CHINESE = "zh_CN"
LANGUAGES = (SOURCE, CHINESE)
NAMES = {SOURCE: "English", CHINESE: "简体中文"}
"""As their speakers call them, whatever is spoken now."""

_TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})

_language = SOURCE
_now: gettext.NullTranslations = gettext.NullTranslations()
_told: sentences.Told = sentences.NOTHING
_ways: ways.Ways = ways.Ways()


def suited(system: Sequence[str]) -> str:
    """Return the language for what the system prefers, the dearest first (`zh-Hans-CN`, `de`).

    Readers of traditional characters get what they prefer next, at last English.
    """
    for name in system:
        parts = name.replace("_", "-").lower().split("-")
        if parts[0] == SOURCE:
            return SOURCE
        if parts[0] == "zh" and not _TRADITIONAL & set(parts):
            return CHINESE
    return SOURCE


def speak(language: str, assets: Path) -> None:
    """Use `language` (`en`, `zh_CN`) from now on; one that is not here falls back to English."""
    found = gettext.translation(DOMAIN, str(assets / "locale"), languages=[language], fallback=True)
    global _language, _now, _told, _ways
    _language = language
    _ways = ways.read(assets / "ways.toml")
    _now = found if language != SOURCE else gettext.NullTranslations()
    _told = (
        sentences.NOTHING if language == SOURCE else sentences.read(assets / "locale" / language)
    )


def spoken() -> str:
    """Return the language spoken now."""
    return _language


def t(text: str) -> str:
    """Return `text` in the language spoken now; fill its places with `.format` afterwards."""
    return _now.gettext(text) if text else ""


def nt(one: str, many: str, count: int) -> str:
    """Return the form of a text that belongs to `count`."""
    return _now.ngettext(one, many, count)


def told(text: str) -> str:
    """Return what the service said (a summary, a cause, a remedy) in the language spoken now.

    A command that the window has a button for becomes that button (`ways.py`).

    What nobody translated stays as it is: rare errors, and texts of the person's own.
    """
    return _ways.here(_told.say(text), t)


def marked(text: str) -> str:
    """Return `text` as it is: it stands in a table, is collected, and is translated when shown."""
    return text
