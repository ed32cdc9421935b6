"""What is said of keys that are kept to be shown again."""

from collections.abc import Sequence

from studio.cli import kept_key_words as words
from studio.domain.control import KeyInfo
from studio.domain.secrets import StoreInfo, StoreKind


def made_text(key: KeyInfo, store: StoreInfo) -> str:
    """Say that a key was made and where it is kept; `store` is where it should have gone."""
    if key.stored is StoreKind.KEYRING:
        return words.MADE_IN_KEYRING.format(name=key.name, where=store.where)
    if store.kind is StoreKind.KEYRING:
        return words.MADE_IN_FILE_INSTEAD.format(name=key.name, where=store.where)
    return words.MADE_IN_FILE.format(name=key.name, where=store.where, reason=store.reason)


def kept_text(keys: Sequence[KeyInfo]) -> str | None:
    """Say which keys can be shown again, and where they are kept; None for none."""
    lines = []
    for kind, sentence in words.KEPT.items():
        names = [f"`{key.name}`" for key in keys if key.stored is kind]
        if names:
            lines.append(sentence.format(names=", ".join(names)))
    return "\n".join(lines) or None
