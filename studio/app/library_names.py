"""Which model a person means: by its name, the end of it, or its path. Pure."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from studio.domain.errors import BadInput, NotFound
from studio.models.shelf import Model


def named(text: str, models: Sequence[Model]) -> Model:
    """Return the model that `text` names.

    Raises: NotFound (`model-unknown`), BadInput (`model-ambiguous`).
    """
    exact = [one for one in models if text in (one.entry.name, one.entry.path, one.found.folder)]
    if len(exact) == 1:
        return exact[0]
    folder = _path(text)
    wanted = text.casefold()
    found = exact or [
        one
        for one in models
        if one.entry.name.casefold() == wanted
        or one.entry.name.casefold().rpartition("/")[2] == wanted
        or (folder is not None and folder in (one.entry.path, one.found.cache_folder))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(
            "model-ambiguous",
            f"`{text[:200]}` names {len(found)} models.",
            hint=f"Name one by its path: {', '.join(one.entry.path for one in found[:3])}.",
        )
    names = {one.entry.name.casefold(): one.entry.name for one in models}
    close = difflib.get_close_matches(wanted[:200], list(names), n=1, cutoff=0.5)
    raise NotFound(
        "model-unknown",
        f"There is no model `{text[:200]}` here.",
        hint=f"Did you mean `{names[close[0]]}`?" if close else "`weir models list` shows all.",
    )


def _path(text: str) -> str | None:
    try:
        return str(Path(text).expanduser()) if "/" in text else None
    except RuntimeError:  # `~nobody` names no home
        return None
