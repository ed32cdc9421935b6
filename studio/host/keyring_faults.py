"""What a keyring may answer instead of a secret."""


class Unavailable(Exception):
    """There is no keyring, or it refuses or does not answer; the text is a part of a sentence."""
