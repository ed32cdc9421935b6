"""The file of slow paths: checked when it is read, so that no wrong entry waits for its day."""

import re
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.domain.manifests import Preset
from studio.domain.remedies import RemedyKind
from studio.host.paths import Paths
from studio.presets.store import PresetStore
from studio.serving.slow_path_file import load, needle_of

FILE = Path(__file__).resolve().parents[2] / "runtimes" / "slow_paths.toml"
SIGN = """
[[sign]]
id = "some-sign"
title = "Some sign"
patterns = ['''A plain opening (?P<what>.+)''']
costs = [{ text = "{what}" }]
source = "a test"
remedies = [{ kind = "advice", text = "Do this." }]
"""
HEAD = "schema_version = 1\n[contexts.hybrid]\npatterns = ['''Padding mamba''']\n"


def written(folder: Path, text: str) -> Path:
    """Return a file of that text."""
    path = folder / "slow_paths.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("pattern", "needle"),
    [
        (r"Plain text", "Plain text"),
        (r"Initializing a V\d LLM engine .*?, enforce_eager=True\b", ", enforce_eager=True"),
        (r"A\.b\.cdef", "A.b.cdef"),
        (r"colou?r of a thing", "r of a thing"),
        (r"(?:one|two) and the rest", " and the rest"),
        (r"x{2} many", " many"),
        (r"[a-z\]]+ after a class", " after a class"),
        (r"[^]]x after a class", "x after a class"),
        (r"this|that", ""),
        (r"(?P<all>nothing outside)", ""),
    ],
)
def test_the_needle_stands_in_every_match(pattern: str, needle: str) -> None:
    """Lines without it are turned away unseen: one that could match must not be."""
    assert needle_of(pattern) == needle


def test_needles_of_the_file_stand_in_what_their_patterns_match() -> None:
    """The gate and the patterns must agree, or a sign is blind."""
    signs = load(FILE)

    for sign in signs.signs:
        for opening in sign.openings:
            assert len(opening.needle) >= 6
            assert re.sub(r"\W", "", opening.needle) in re.sub(r"\W", "", opening.pattern.pattern)


def test_every_sign_has_a_cost_with_a_source_and_something_to_do() -> None:
    """A badge without them is an alarm that nobody can act on."""
    for sign in load(FILE).signs:
        assert sign.source
        assert sign.title[0].isupper() or sign.title.startswith("{")
        assert not sign.title.endswith(".")
        assert all(cost.text.endswith(".") for cost in sign.costs)
        assert all(way.text.endswith(".") for way in sign.ways)
        assert not sign.costs[-1].when, "the last cost holds everywhere"


def test_settings_of_remedies_are_knobs_of_presets(tmp_path: Path) -> None:
    """A button that sets what no preset knows would fail when it is pressed."""
    presets: list[Preset] = PresetStore(Paths(home=tmp_path, catalogue=FILE.parents[1])).all()
    known = {name: knob for preset in presets for name, knob in preset.knobs.items()}

    for sign in load(FILE).signs:
        for way in sign.ways:
            assert bool(way.settings) == (way.kind is RemedyKind.RESTART_WITH)
            assert way.settings.keys() <= known.keys(), sign.id


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SIGN.replace("some-sign", "Some"), "lower-case words with hyphens"),
        (SIGN + SIGN, "stands there twice"),
        (SIGN.replace("A plain opening ", r"\w+ "), "plain characters in a row"),
        (SIGN.replace("A plain", "(?i)a plain"), "case should count"),
        (SIGN.replace("(?P<what>.+)", "(?P<what>.+"), "unterminated"),
        (SIGN.replace("{what}", "{other}"), "{other}, which nothing finds"),
        (SIGN.replace("{what}", "{what"), "expected '}'"),
        (SIGN.replace("patterns", "#"), "nothing by which it is seen"),
        (SIGN.replace('{ text = "{what}" }', ""), "should have costs and remedies"),
        (SIGN + 'when = ["!moon"]', "the context `!moon`, which does not exist"),
        (SIGN.replace('kind = "advice"', 'kind = "command"'), "should have one"),
        (SIGN.replace('kind = "advice"', 'kind = "restart-with"'), "settings belong to"),
        (SIGN.replace("Do this.", '", settings = { a = "b" }, command = "'), "settings belong"),
        (SIGN.replace('"advice"', '"pray"'), "Invalid enum value"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, text: str, said: str) -> None:
    """The file grows by hands; each mistake says where it is."""
    with pytest.raises(BadInput, match="document-invalid|" + re.escape(said)) as caught:
        load(written(tmp_path, HEAD + text))

    assert said in caught.value.message
    assert "slow_paths.toml" in caught.value.message


def test_another_schema_is_refused(tmp_path: Path) -> None:
    """A newer file must not be half understood."""
    with pytest.raises(BadInput, match="schema_version should be 1"):
        load(written(tmp_path, HEAD.replace("= 1", "= 2") + SIGN))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """An installation without its data cannot serve; it has to say so."""
    with pytest.raises(NotFound, match="There is no file"):
        load(tmp_path / "slow_paths.toml")
