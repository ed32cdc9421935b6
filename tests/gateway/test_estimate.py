"""Guesses for prompts whose count never came."""

from studio.gateway.estimate import PromptRatio, text_bytes, text_of


def test_a_guess_follows_what_was_counted():
    """Chinese and English differ twofold; the requests of this machine say which it is."""
    ratio = PromptRatio()
    assert ratio.guess(4_000) == 1_000

    for _ in range(10):
        ratio.learn(3_000, 1_500)
    ratio.learn(0, 10)
    ratio.learn(10, None)

    assert ratio.guess(4_000) == 2_000


def test_old_requests_count_for_less():
    """Another model means another tokenizer."""
    ratio = PromptRatio()
    ratio.learn(40_000_000, 10_000_000)
    for _ in range(40):
        ratio.learn(10_000_000, 5_000_000)

    assert 1_900 < ratio.guess(4_000) <= 2_000


def test_a_picture_is_no_text():
    """A photo of 8 MB is some hundred tokens; taken for text it would use up a key's day."""
    before = b'{"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},'
    url, end = b'{"type":"image_url","image_url":{"url":"data:image/png', b'"}}]}]}'

    body = before + url + b";base64," + b"A" * 8_000_000 + end

    assert text_bytes(body) == len(before + url + end)
    assert text_bytes(b"x" * 100_000) == 100_000
    assert text_bytes(b"x" * 100_000 + b";base64,cut off") == 100_015
    assert text_bytes(b'";base64,AAAA"') == 14, "what is small is not looked at"


def test_words_are_looked_for_beside_pictures():
    """Dozens of rules look for words; a photo holds none."""
    before = b'{"messages":[{"url":"data:image/png'
    body = before + b";base64," + b"A" * 100_000 + b'"},{"url":"data:audio/wav'
    body += b";base64," + b"B" * 10 + b'"}]}'

    assert text_of(body) == before + b'"},{"url":"data:audio/wav"}]}'
    assert text_of(bytearray(body)) == text_of(body)
    assert text_of(b"x" * 100_000) == b"x" * 100_000
