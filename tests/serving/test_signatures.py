"""The catalogue of failures as a file: its mistakes are named, its words and patterns are sound."""

import re
import tomllib
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.domain.remedies import RemedyKind
from studio.serving import diagnose, signatures
from studio.serving.signatures import Computed

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "runtimes" / "failures.toml"
SIGNATURES = signatures.load(FILE)
KNOWN = tomllib.loads(
    (ROOT / "tests/data/engine/known-failure-lines.toml").read_text(encoding="utf-8")
)["line"]
HEAD = 'schema_version = 2\n[[signature]]\nid = "a-b"\npatterns = ["x"]\n'
KNOBS = {
    name
    for path in (ROOT / "presets").rglob("*.toml")
    for name in tomllib.loads(path.read_text(encoding="utf-8")).get("knobs", {})
}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("schema_version = 1\nsignature = []", "schema_version"),
        ('schema_version = 2\n[[signature]]\nid = "one"\npatterns = ["x"]\ncause = ["c"]', "id is"),
        ('schema_version = 2\n[[signature]]\nid = "a-b"\ncause = ["c"]', "patterns or exit_codes"),
        (
            'schema_version = 2\n[[signature]]\nid = "a-b"\npatterns = ["("]\ncause = ["c"]',
            "pattern",
        ),
        (
            'schema_version = 2\n[[signature]]\nid = "a-b"\npatterns = ["x"]\ncause = ["{y}"]',
            "{y}",
        ),
        (
            'schema_version = 2\n[[signature]]\nid = "a-b"\npatterns = ["x"]\ncause = ["{"]',
            "`{`",
        ),
        (
            'schema_version = 2\n[[signature]]\nid = "a-b"\npattern = ["x"]\ncause = ["c"]',
            "pattern",
        ),
        (
            HEAD + 'cause = ["c"]\nremedies = [{ text = "T.", settings = { a = "1" } }]',
            "restart-with",
        ),
        (HEAD + 'cause = ["c"]\nremedies = [{ text = "T.", kind = "repair" }]', "part"),
        (HEAD + 'cause = ["c"]\nremedies = [{ text = "T.", kind = "command" }]', "command"),
        (HEAD + 'cause = ["c"]\ncomputed = { n = { of = "gone" } }', "{gone}"),
        (HEAD + 'cause = ["c"]\nremedies = ["Set it to {y}."]', "{y}"),
        (
            "schema_version = 2"
            + 2 * '\n[[signature]]\nid = "a-b"\npatterns = ["x"]\ncause = ["c"]',
            "twice",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    """People add signatures without touching the code; their mistakes must be found at once."""
    path = tmp_path / "failures.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadInput) as caught:
        signatures.load(path)

    assert caught.value.code == "document-invalid"
    assert complaint in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A catalogue of one's own may lack it."""
    with pytest.raises(NotFound):
        signatures.load(tmp_path / "failures.toml")


def test_words_for_people_keep_the_house_style() -> None:
    """Sentence case, a full stop, no exclamation mark, no `please`, no `simply`."""
    for signature in SIGNATURES:
        for sentence in (*signature.cause, *(one.text for one in signature.remedies)):
            assert sentence[0].isupper() or sentence[0] in "{`"
            assert sentence.endswith((".", "}", "`"))
            assert not re.search(r"!|\b[Pp]lease\b|\b[Ss]imply\b|\b[Ss]orry\b", sentence)


@pytest.mark.parametrize(
    "known", KNOWN, ids=[f"{one['code']}-{number}" for number, one in enumerate(KNOWN)]
)
def test_every_known_line_is_recognised(known: dict[str, str]) -> None:
    """Strangers paste one line; that has to be enough."""
    found = diagnose.matches([known["text"]], None, SIGNATURES)

    assert [one.code for one in found][:1] == [known["code"]]
    assert "{" not in found[0].message or "{" in known["text"]


def test_the_list_of_known_lines_is_long_and_says_where_each_comes_from() -> None:
    """Wordings are facts; a fact has a source."""
    assert len(KNOWN) >= 300
    assert all(one["source"] for one in KNOWN)
    assert sum("not looked up" in one["source"] for one in KNOWN) <= 1
    assert len({one["text"] for one in KNOWN}) == len(KNOWN)


def test_what_a_pattern_cannot_match_without_stands_in_all_that_it_matches() -> None:
    """A wrong shortcut would silently switch a signature off."""
    for one in KNOWN:
        for signature in SIGNATURES:
            for pattern in signature.patterns:
                if pattern.regex.search(one["text"]):
                    assert pattern.needle in one["text"]


def test_patterns_bind_to_words_and_not_to_a_machine() -> None:
    """No number of a version, no port, no path of an installation decides."""
    for signature in SIGNATURES:
        for pattern in signature.patterns:
            text = pattern.regex.pattern
            assert not re.search(r"site-packages|dist-packages|/home/|/usr/|\b0\\?\.[23]\d\b", text)


def test_settings_of_remedies_are_knobs_of_some_preset() -> None:
    """A misspelt knob would never be offered, and nobody would notice."""
    named = {
        name for signature in SIGNATURES for one in signature.remedies for name in one.settings
    }

    assert named - KNOBS == set()


def test_most_failures_offer_something_to_do_besides_advice() -> None:
    """A remedy is an action wherever there is one."""
    with_action = [
        signature.id
        for signature in SIGNATURES
        if any(one.kind is not RemedyKind.ADVICE for one in signature.remedies)
    ]

    assert len(with_action) > len(SIGNATURES) / 2
    assert all(signature.remedies for signature in SIGNATURES)


def test_computed_values_round_down_and_know_when_they_are_not_known() -> None:
    """A share that is rounded up does not fit."""
    share = Computed(of="free", over="total", digits=2)

    assert share.value({"free": 12.199, "total": 31.74}) == 0.38
    assert Computed(of="free", times=0.5).value({"free": 5}) == 2
    assert share.value({"free": 1}) is None
    assert share.value({"free": 1, "total": 0}) is None
    assert share.value({"free": "x", "total": 2}) is None


def test_the_table_of_codes_in_the_manual_is_that_of_the_file() -> None:
    """Who looks a code up finds it, in the order of the topics."""
    text = (ROOT / "docs/user/troubleshooting.md").read_text(encoding="utf-8")
    table = text.split("<!-- failures: begin -->")[1].split("<!-- failures: end -->")[0]

    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \| (.+) \|$", table, re.MULTILINE)

    assert [code for code, _, _ in rows] == [signature.id for signature in SIGNATURES]
    assert not [code for code, meaning, _ in rows if "{" in meaning]


def test_few_patterns_lack_a_shortcut() -> None:
    """Each of those is tried on every line of a log of any length."""
    without = [
        pattern.regex.pattern
        for signature in SIGNATURES
        for pattern in signature.patterns
        if len(pattern.needle) < 3
    ]

    assert len(without) < 25, without
