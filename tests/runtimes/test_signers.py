"""Whose runtimes are accepted."""

import stat
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Busy, Damaged, NotFound
from studio.host import signing
from studio.host.files import exclusive
from studio.host.paths import Paths
from studio.runtimes import signers

ONE = "0123-4567-89ab-cdef-0123-4567-89ab-cdef"
TWO = "ffff-4567-89ab-cdef-0123-4567-89ab-cdef"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return an empty home."""
    return Paths(home=tmp_path, catalogue=tmp_path)


def test_at_first_nobody_is_trusted_and_no_key_is_made(paths: Paths) -> None:
    """A look must not leave a secret behind."""
    assert signers.listed(paths).signers == ()
    assert not paths.signing.exists()


def test_the_own_key_is_trusted_without_being_listed_by_hand(paths: Paths) -> None:
    """A runtime that one exported oneself comes back."""
    signer, _ = signing.own(signers.key_file(paths))

    (own,) = signers.listed(paths).signers
    assert (own.fingerprint, own.is_own) == (signer.fingerprint, True)
    assert signers.find(paths, signer.fingerprint) == own


def test_trusted_once_named_and_forgotten(paths: Paths) -> None:
    """Trusting again keeps the day, and a new name replaces the old one."""
    signers.trust(paths, ONE.upper().replace("-", " "))
    since = signers.find(paths, ONE)
    signers.trust(paths, ONE, "The lab")
    signers.trust(paths, TWO)

    named = signers.find(paths, ONE)
    assert since is not None
    assert named is not None
    assert (named.name, named.trusted_at) == ("The lab", since.trusted_at)
    assert stat.S_IMODE((paths.signing / "signers.json").stat().st_mode) == 0o600
    assert [one.fingerprint for one in signers.forget(paths, "The lab").signers] == [TWO]
    assert signers.forget(paths, TWO.replace("-", "")).signers == ()


def test_what_cannot_be_forgotten_is_named(paths: Paths) -> None:
    """A stranger, the own key, a name that two have, and one that nobody has."""
    signer, _ = signing.own(signers.key_file(paths))
    signers.trust(paths, ONE, "twin")
    signers.trust(paths, TWO, "twin")
    for reference, kind, code in (
        ("aaaa" * 8, NotFound, "signer-not-trusted"),
        (signer.fingerprint, BadInput, "signer-own"),
        ("twin", BadInput, "signer-ambiguous"),
        ("nobody", NotFound, "signer-not-trusted"),
    ):
        with pytest.raises(kind) as caught:
            signers.forget(paths, reference)
        assert caught.value.code == code
    assert len(signers.listed(paths).signers) == 3


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb", "a\x1b[31m"])
def test_a_name_is_a_line_of_text(paths: Paths, name: str) -> None:
    """It is shown in a terminal, and must not colour it."""
    with pytest.raises(BadInput) as caught:
        signers.trust(paths, ONE, name)

    assert caught.value.code == "signer-name"


def test_two_changes_at_once_do_not_lose_one(paths: Paths) -> None:
    """The window and the terminal."""
    signers.trust(paths, ONE)
    with exclusive(paths.signing / "signers.lock"), pytest.raises(Busy):
        signers.trust(paths, TWO)
    signers.trust(paths, TWO)

    assert len(signers.listed(paths).signers) == 2


def test_a_damaged_list_trusts_nobody(paths: Paths) -> None:
    """And is not written over: it says whom a person chose."""
    signers.trust(paths, ONE)
    (paths.signing / "signers.json").write_text("{half")

    for attempt in (lambda: signers.find(paths, ONE), lambda: signers.trust(paths, TWO)):
        with pytest.raises(Damaged) as caught:
            attempt()
        assert caught.value.code == "document-damaged"
    assert (paths.signing / "signers.json").read_text() == "{half"
