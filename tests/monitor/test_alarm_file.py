"""The file of alarms: checked when it is read, so that no wrong entry waits for its day."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.monitor.alarm_file import load, placeholders
from studio.monitor.signs import SIGNS
from tests.monitor.scenes import FILE

HEAD = """
schema_version = 1
[intended]
cpu-kv-tier = ['(?P<gib>x)']
host-kv = []
expert-ring = []
ple-disk = []
sm70-paths = []
"""
ALARM = """
[[alarm]]
code = "spill-swap"
severity = "harm"
raise_after_s = 3.0
clear_after_s = 15.0
limits = { bytes = 1 }
title = "{bytes}"
cause = "{bytes}."
source = "a test"
remedies = [{ kind = "restart-with", text = "To {a_knob}.", settings = { a_knob = "-{excess}" } }]
"""


def written(folder: Path, text: str) -> Path:
    """Return a file of that text."""
    path = folder / "alarms.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_that_ships_is_whole() -> None:
    """Every sign has its rule, and every rule its sign."""
    assert {rule.code for rule in load(FILE).rules} == SIGNS.keys()


def test_a_small_file_is_read(tmp_path: Path) -> None:
    """The cases below break this one."""
    assert [rule.code for rule in load(written(tmp_path, HEAD + ALARM)).rules] == ["spill-swap"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("schema_version = 1", "schema_version = 2", "schema_version should be 1"),
        ('"spill-swap"', '"spill-lava"', "nothing looks for it"),
        ("limits = { bytes = 1 }", "limits = {}", "its limits should be bytes"),
        ("limits = { bytes = 1 }", "limits = { bytes = 1, tea = 2 }", "its limits should be bytes"),
        ('title = "{bytes}"', 'title = "{coffee}"', "names {coffee}"),
        ('title = "{bytes}"', 'title = "{bytes"', "in `{bytes`"),
        ("To {a_knob}", "To {another}", "names {another}"),
        ('"-{excess}"', '"-{a_knob}"', "names {a_knob}"),
        ('kind = "restart-with"', 'kind = "advice"', "settings belong to `restart-with`"),
        (
            'kind = "restart-with", text = "To {a_knob}.", settings = { a_knob = "-{excess}" }',
            'kind = "command", text = "Do."',
            "should have one",
        ),
        ('text = "To {a_knob}."', 'text = "T", when = ["rain"]', "the condition `rain`"),
        ("clear_after_s = 15.0", "clear_after_s = -1.0", "below 0"),
        ("clear_after_s = 15.0", "clear_after_s = 15.0\nease = 0", "ease"),
        ("(?P<gib>x)", "(?P<gib>x", "[intended]"),
        ("host-kv = []", "", "[intended] should have"),
        ('severity = "harm"', 'severity = "doom"', "severity"),
        ('source = "a test"', 'source = "a test"\ncolour = "red"', "colour"),
    ],
)
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    """Whoever adds an alarm sees at once what is wrong with it."""
    text = HEAD + ALARM
    assert before in text

    with pytest.raises(BadInput) as caught:
        load(written(tmp_path, text.replace(before, after, 1)))

    assert caught.value.code == "document-invalid"
    assert said in caught.value.message


def test_one_alarm_twice_is_refused(tmp_path: Path) -> None:
    """The second would silently win."""
    with pytest.raises(BadInput, match="stands there twice"):
        load(written(tmp_path, HEAD + ALARM + ALARM))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A catalogue of one's own may lack it."""
    with pytest.raises(NotFound):
        load(tmp_path / "alarms.toml")


def test_names_in_braces_are_found() -> None:
    """What a text may ask for is checked against what is measured."""
    assert placeholders("{one} and {two}, not {{three}}") == {"one", "two"}
