"""Who is trusted, as the service says it."""

from studio.domain.bundles import Signer, SignerList
from studio.ui.viewmodels.signers import signers_view

FINGERPRINT = "0123456789abcdef" * 4


def test_nobody_is_shown_before_the_service_answered() -> None:
    """An empty list would say that nobody is trusted."""
    assert signers_view(None, can_act=True) is None


def test_the_studios_own_key_is_named_and_stays() -> None:
    """Without it a person's own exports could not be installed again."""
    view = signers_view(
        SignerList(
            signers=(
                Signer(fingerprint=FINGERPRINT, is_own=True),
                Signer(fingerprint=FINGERPRINT[::-1], trusted_at="2026-11-02T10:00:00+00:00"),
            )
        ),
        can_act=False,
    )

    assert view is not None
    own, other = view.rows
    assert (own.name, own.can_forget, own.since) == ("This Studio", False, "its own key")
    assert (other.name, other.can_forget) == ("without a name", True)
    assert other.fingerprint == FINGERPRINT[::-1]
