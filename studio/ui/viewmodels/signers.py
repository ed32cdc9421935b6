"""Who is trusted to sign runtimes that are installed from files. Pure."""

import msgspec

from studio.domain.bundles import Signer, SignerList
from studio.ui.language import t
from studio.ui.viewmodels.dates import instant_text


class SignerView(msgspec.Struct, frozen=True, kw_only=True):
    """One signer."""

    fingerprint: str
    name: str
    since: str
    can_forget: bool
    spoken: str


class SignersView(msgspec.Struct, frozen=True, kw_only=True):
    """All of them; None of the page where nobody asked yet."""

    rows: tuple[SignerView, ...]
    about: str
    can_act: bool


def signers_view(found: SignerList | None, *, can_act: bool) -> SignersView | None:
    """Return who is trusted; None while that is not known."""
    if found is None:
        return None
    return SignersView(
        rows=tuple(_row(one) for one in found.signers),
        about=t(
            "A runtime in a file is installed only when somebody on this list signed it. Compare "
            "a fingerprint over another way, by telephone for one, before you trust it."
        ),
        can_act=can_act,
    )


def _row(one: Signer) -> SignerView:
    name = t("This Studio") if one.is_own else one.name or t("without a name")
    since = (
        t("its own key")
        if one.is_own
        else t("since {when}").format(when=instant_text(one.trusted_at))
    )
    return SignerView(
        fingerprint=one.fingerprint,
        name=name,
        since=since,
        can_forget=not one.is_own,
        spoken=t("Trust {name} no more").format(name=name),
    )
