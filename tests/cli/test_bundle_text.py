"""Exports, imports and signers in words."""

import msgspec

from studio.cli.bundle_text import NO_SIGNERS, exported_text, imported_text, signers_text
from studio.domain.bundles import SignerList
from tests.cli.bundle_samples import EXPORTED, FINGERPRINT, IMPORTED, SIGNERS


def test_a_new_key_is_mentioned_once() -> None:
    """A person has to know that there is a secret now."""
    old = msgspec.structs.replace(EXPORTED, is_new_key=False)

    assert "key was made just now" in exported_text(EXPORTED)
    assert "key was made" not in exported_text(old)


def test_what_was_there_already_is_not_called_installed_anew() -> None:
    """A second import changes nothing and says so."""
    there = msgspec.structs.replace(IMPORTED, was_there=True, signer=None)

    assert "was installed and whole already" in imported_text(there, 200)
    assert FINGERPRINT in imported_text(there, 200)


def test_another_version_than_the_catalogue_s_is_said() -> None:
    """It runs, and an update will be offered."""
    other = msgspec.structs.replace(IMPORTED, is_catalogued=False)

    assert "would make another one" in imported_text(other, 200)
    assert "would make another one" not in imported_text(IMPORTED, 200)


def test_nobody_is_said_in_words_and_somebody_as_a_table() -> None:
    """An empty table explains nothing."""
    assert signers_text(SignerList()).replace("\n", " ") == NO_SIGNERS
    lines = signers_text(SIGNERS).splitlines()
    assert len(lines) == 3
    assert lines[2].startswith(FINGERPRINT)
    narrow = signers_text(SIGNERS, len(FINGERPRINT) + 1)
    assert FINGERPRINT in narrow.splitlines()
    assert all(len(line) <= len(FINGERPRINT) + 1 for line in narrow.splitlines())
