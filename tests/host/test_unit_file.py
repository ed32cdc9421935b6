"""A unit that systemd itself accepts, whatever a path is called; and whose file it is."""

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.host import unit_file
from studio.host.unit_file import Unit

HARD = 'a b%h "q" \\back $HOME ünï\t✓;#\x01'
UNIT = Unit(
    command=[sys.executable, "-m", "studio"],
    environment={"WEIR_HOME": "/srv/weir"},
    stop_s=110,
    systemd=252,
    version="0.1.0",
)


def verified(text: str, folder: Path) -> str:
    """Return what `systemd-analyze verify` finds wrong with a unit."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not on this machine")
    file = folder / unit_file.NAME
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [program, "--user", "--man=no", "verify", str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={"XDG_RUNTIME_DIR": str(folder), "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode == 0) is (done.stderr == "")
    return done.stderr


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """A unit with one wrong word is one that never starts."""
    text = unit_file.render(UNIT)

    assert verified(text, tmp_path) == ""
    assert "Type=notify" in text
    assert "KillMode=mixed" in text
    assert "TimeoutStopSec=110" in text


@pytest.mark.parametrize(
    "name", ["ünï cödé", "100%h", "a$b", 'quo"te', "it's", "back\\slash", "#;"]
)
def test_systemd_finds_the_program_wherever_it_lies(tmp_path: Path, name: str) -> None:
    """People's folders are called as they like; systemd looks whether the program is there."""
    program = tmp_path / name / "python"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = unit_file.render(dataclasses.replace(UNIT, command=[str(program), HARD]))

    assert verified(text, tmp_path) == ""


def test_systemd_reads_the_program_that_was_meant(tmp_path: Path) -> None:
    """The check above can fail: a program that is not there is noticed, by its plain name."""
    text = unit_file.render(dataclasses.replace(UNIT, command=["/no/such pro%gram"]))

    assert "/no/such pro%gram" in verified(text, tmp_path)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
def test_a_home_of_any_name_can_be_read_back(name: str) -> None:
    """Whose unit it is decides whether it may be overwritten."""
    home = f"/{name}"

    text = unit_file.render(dataclasses.replace(UNIT, environment={"A": "b", "WEIR_HOME": home}))

    assert unit_file.home_of(text) == home
    assert unit_file.is_ours(text)


def test_a_variable_in_an_argument_stays_words() -> None:
    """systemd would put a variable's value in its place."""
    assert unit_file.argument("$HOME/100%") == '"$$HOME/100%%"'
    assert unit_file.quoted("$HOME") == '"$HOME"', "Environment= knows no variables"


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text + "Nice=5\n",
        lambda text: text.replace("KillMode=mixed", "KillMode=process"),
        lambda text: text.replace("# digest: ", "# digest: 0"),
        lambda _text: "[Service]\nExecStart=/bin/true\n",
        lambda _text: "",
    ],
)
def test_what_a_person_changed_is_theirs(changed) -> None:
    """Their work must not be lost by an update of ours."""
    assert not unit_file.is_ours(changed(unit_file.render(UNIT)))


@pytest.mark.parametrize(("systemd", "grows"), [(None, False), (253, False), (254, True)])
def test_a_growing_pause_is_asked_for_where_systemd_knows_it(
    systemd: int | None, grows: bool
) -> None:
    """An older one would warn about a word that it does not know at each start."""
    text = unit_file.render(dataclasses.replace(UNIT, systemd=systemd))

    assert ("RestartSteps=" in text) is grows
    assert "RestartSec=2" in text


def test_the_difference_shows_what_would_be_lost() -> None:
    """Yes or no can only be said by who sees what it is about."""
    text = unit_file.render(UNIT)

    lines = unit_file.difference(text.replace("mixed", "process"), text)

    assert "-KillMode=process" in lines
    assert "+KillMode=mixed" in lines
