"""A vLLM that others run: which one clients are served from, and the form that names one. Pure."""

import msgspec

from studio.domain.adopt import AdoptResult
from studio.domain.errors import ErrorInfo
from studio.domain.server import AdoptedInfo
from studio.domain.units import UNKNOWN, tokens_text
from studio.ui.language import t, told
from studio.ui.viewmodels.dates import epoch_text
from studio.ui.viewmodels.settings import CardView, Kind, Machine, RowView, fact
from studio.ui.viewmodels.words import ButtonView, listed

OPEN, FORGET = "adopt.open", "adopt.forget"
_KEY_CODES = ("adopt-key-refused", "adopt-key-invalid")
_KEY_FILE = "--key-file"
EXAMPLE = "http://127.0.0.1:8000"
"""How an address is written; stands in the empty field."""


class FormView(msgspec.Struct, frozen=True, kw_only=True):
    """How the form stands: resting while the vLLM is asked, with what the service said of it."""

    is_enabled: bool
    button: ButtonView
    problem: str = ""
    is_about_key: bool = False
    """The key is what has to be typed, or typed anew."""


def adopt_card(machine: Machine) -> CardView:
    """Return which vLLM is adopted and how it is let go, or the button that adopts one."""
    found = machine.adopted
    return CardView(
        id="adopt",
        title=t("A vLLM that already runs"),
        about=t(
            "Your clients keep one address and keys of their own, and pool and tok/s are in view. "
            "The Studio asks it and never starts, stops or changes it: Stop is not offered."
        ),
        rows=_none() if found is None else _adopted(found),
    )


def _none() -> tuple[RowView, ...]:
    row = RowView(
        id=OPEN,
        title=t("Serve from it"),
        kind=Kind.DEED,
        value=t("None is adopted."),
        button=t("Adopt…"),
    )
    return (row,)


def _adopted(found: AdoptedInfo) -> tuple[RowView, ...]:
    rows = [
        fact("adopt.name", t("Adopted"), found.name),
        fact("adopt.url", t("Address"), found.url, is_mono=True),
        fact("adopt.version", t("Version"), found.version or UNKNOWN),
        fact("adopt.models", t("Models"), listed(found.models) or UNKNOWN),
        fact("adopt.seen", t("Answered last"), epoch_text(found.seen_at)),
    ]
    forget = RowView(
        id=FORGET,
        title=t("Let go of it"),
        kind=Kind.DEED,
        value=t("It runs on, as it is; an engine of the Studio's own can be served then."),
        button=t("Let go"),
    )
    return (*rows, forget)


def form_view(error: ErrorInfo | None, *, is_asking: bool, address: str) -> FormView:
    """Return the form while `address` stands in it."""
    text = t("Asking it") if is_asking else t("Adopt")
    return FormView(
        is_enabled=not is_asking,
        button=ButtonView(text=text, enabled=bool(address.strip()) and not is_asking),
        problem=_words(error) if error is not None and not is_asking else "",
        is_about_key=error is not None and error.code in _KEY_CODES,
    )


def _words(error: ErrorInfo) -> str:
    """Return what the service said; a key has a field here, so a hint about a file is not."""
    if error.code == "adopt-key-refused":
        return t("It wants a key, or another one than this.")
    hint = told(error.hint) if error.hint else ""
    if error.code in _KEY_CODES or _KEY_FILE in hint:
        hint = t("Type its key below its address.")
    return f"{told(error.message)} {hint}".strip()


def done_lines(result: AdoptResult) -> tuple[str, ...]:
    """Return what was adopted, where clients connect, and what there is to note."""
    found = result.adopted
    head = t("“{name}” is adopted: vLLM {version} at {url}.").format(
        name=found.name, version=found.version or UNKNOWN, url=found.url
    )
    figures = t("Model {model} · context {context} · pool {pool}").format(
        model=result.served_name,
        context=tokens_text(result.max_model_len),
        pool=tokens_text(result.pool_tokens),
    )
    where = t("Chat clients connect to {url}.").format(url=result.base_url)
    once = (t("Their first key stands on Serve, this once."),) if result.api_key else ()
    return (head, figures, where, *once, *(told(note) for note in result.notes))
