"""Keys, usage and requests as people read them."""

import csv
import io

from studio.cli import key_text
from studio.domain.control import KeyInfo
from studio.domain.keys import KeyLimits, RequestEntry, UsageRow
from studio.domain.secrets import StoreKind

KEY = KeyInfo(
    id="a1", name="laptop", prefix="sk-weir-abcd", created_at="2026-11-29T10:00:00+00:00",
    last_used_at="2026-11-29T11:00:00+00:00", last_address="10.0.0.7",
    limits=KeyLimits(models=("qwen", "demo"), tokens_per_day=2_000_000, expires_at="2027-01-31"),
    requests=1200, errors=3, prompt_tokens=5, cached_tokens=4, generated_tokens=3,
)  # fmt: skip
ROW = UsageRow(
    key_id="a1", key="laptop", begins_at="2026-11-29", requests=1200, errors=3, estimated=2,
    prompt_tokens=1_000_000, cached_tokens=900_000, generated_tokens=50_000, ttft_p50_s=0.31,
    ttft_p95_s=2.4, tok_s_p50=132.4, tok_s_p5=None,
)  # fmt: skip
ENTRY = RequestEntry(
    at="2026-11-29T11:00:00.123+00:00", request_id="r", key_id=None, key=None,
    route="/v1/chat/completions", model=None, address="10.0.0.7", status=401,
    code="key-missing", is_stream=False, has_client_left=True, is_estimated=True, ttft_s=None,
    duration_s=0.01, prompt_tokens=None, cached_tokens=None, generated_tokens=None,
)  # fmt: skip


def test_one_key_shows_its_limits_and_its_use() -> None:
    """All that a person wants to know before changing it."""
    text = key_text.key_text(KEY)

    for part in ("qwen, demo", "2,000,000", "2027-01-31", "10.0.0.7", "1,200, 3 failed"):
        assert part in text
    assert "none: every model" in key_text.key_text(KeyInfo(id="1", name="n", prefix="p",
                                                           created_at="x"))  # fmt: skip


def test_the_state_says_why_a_key_does_not_work() -> None:
    """Revoked, expired, limited: three different answers to the same question."""
    plain = KeyInfo(id="1", name="n", prefix="p", created_at="x")

    assert key_text.state_text(plain) == "works"
    assert key_text.state_text(KEY) == "works, limited"
    expired = KeyInfo(id="1", name="n", prefix="p", created_at="x", has_expired=True)
    assert key_text.state_text(expired) == "expired"


def test_usage_is_a_table_and_says_what_is_estimated() -> None:
    """Unknown is shown as unknown."""
    lines = key_text.usage_text([ROW]).splitlines()

    assert lines[0].startswith("SINCE")
    assert lines[1].split()[:3] == ["2026-11-29", "laptop", "1,200"]
    assert "132" in lines[1]
    assert "2 answers were cut off" in lines[2]
    assert key_text.usage_text([]).startswith("No key was used")


def test_requests_say_what_went_wrong() -> None:
    """The code is what troubleshooting is looked up by."""
    line = key_text.requests_text([ENTRY]).splitlines()[1]

    assert "(none)" in line
    assert "chat/completions  401" in line
    assert line.endswith("key-missing, client left, estimated")


def test_csv_has_every_field_and_no_formula() -> None:
    """A key named `=HYPERLINK(…)` must stay a name in a spreadsheet."""
    evil = UsageRow(
        key_id="a1", key='=HYPERLINK("x")', begins_at=None, requests=1, errors=0, estimated=0,
        prompt_tokens=1, cached_tokens=0, generated_tokens=1,
    )  # fmt: skip

    (read,) = csv.DictReader(io.StringIO(key_text.csv_text([evil], UsageRow)))

    assert read["key"] == '\'=HYPERLINK("x")'
    assert (read["begins_at"], read["requests"], read["ttft_p50_s"]) == ("", "1", "")
    assert set(read) == set(UsageRow.__struct_fields__)


def test_keys_that_can_be_shown_again_are_named_with_their_place() -> None:
    """A key on the disk is worth knowing of."""
    kept = [
        KeyInfo(id=name, name=name, prefix="p", created_at="x", stored=kind)
        for name, kind in (("a", StoreKind.KEYRING), ("b", StoreKind.FILE), ("c", None))
    ]

    text = key_text.keys_text(kept)

    assert "system's keyring, for `weir keys reveal`: `a`" in text
    assert "only you can read, for `weir keys reveal`: `b`" in text
    assert "`c`" not in text
    assert "Kept" not in key_text.keys_text(kept[2:])
    assert "in a file that only you can read" in key_text.key_text(kept[1])
    assert "Kept" not in key_text.key_text(kept[2])
