"""Where huggingface_hub keeps its files on this machine, by its own rules.

Source: huggingface_hub 2.4, constants.py: `~` is expanded first, then `$NAME` and `${NAME}`; the
older name of the cache's variable counts where the newer is not set. One difference: a variable
that is set to nothing counts as unset, since the library's answer would be a folder of whatever
place the program was started in.
"""

import re
from collections.abc import Mapping
from pathlib import Path

_VARIABLE = re.compile(r"\$(?:(\w+)|\{([^}]*)\})", re.ASCII)


def home(environ: Mapping[str, str]) -> Path:
    """Return the folder of all that huggingface_hub keeps (`HF_HOME`)."""
    named = environ.get("HF_HOME")
    if not named:
        outer = environ.get("XDG_CACHE_HOME") or "~/.cache"
        named = str(Path(outer) / "huggingface")
    return Path(expanded(named, environ))


def cache(environ: Mapping[str, str]) -> Path:
    """Return the folder of its repositories (`HF_HUB_CACHE`)."""
    named = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(expanded(named or str(home(environ) / "hub"), environ))


def token_file(environ: Mapping[str, str]) -> Path:
    """Return the file of the token that `hf auth login` writes (`HF_TOKEN_PATH`)."""
    named = environ.get("HF_TOKEN_PATH")
    return Path(expanded(named or str(home(environ) / "token"), environ))


def expanded(text: str, environ: Mapping[str, str]) -> str:
    """Return a path with home folder and variables put in; what is not known stays as it is."""
    return _VARIABLE.sub(
        lambda found: environ.get(found[1] or found[2] or "", found[0]), _user(text, environ)
    )


def _user(text: str, environ: Mapping[str, str]) -> str:
    own = environ.get("HOME")
    if own is not None and (text == "~" or text.startswith("~/")):
        return (own.rstrip("/") + text[1:]) or "/"
    try:
        return str(Path(text).expanduser())
    except RuntimeError:  # `~nobody` names no home
        return text
