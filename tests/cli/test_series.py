"""`weir runtime series` as a person types it, without a service."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.typed import Typed
from tests.fakes.catalogue import copy_data
from tests.fakes.git import git, make_repository
from tests.runtimes import standin
from tests.runtimes.standin import NAME, StandIn
from tests.runtimes.test_series import FILES, pinned

ROOT = Path(__file__).parents[2]


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A catalogue whose runtime takes a series of another project."""
    made = standin.make(tmp_path)
    copy_data(made.paths.catalogue / "runtimes")
    make_repository(tmp_path / "upstream", FILES)
    pinned(made, tmp_path / "upstream")
    return made


def weir(stand_in: StandIn, *argv: str) -> subprocess.CompletedProcess[str]:
    """Type a command."""
    catalogue = {"WEIR_CATALOGUE": str(stand_in.paths.catalogue)}
    return Typed(stand_in.paths.home, catalogue).try_(*argv)


def test_a_series_is_fetched_and_listed_without_a_service(stand_in: StandIn) -> None:
    """Before anything large is fetched, and again from what is kept."""
    ran = weir(stand_in, "runtime", "series", NAME)
    again = weir(stand_in, "runtime", "series", NAME, "--json")

    assert ran.returncode == 0, ran.stderr
    assert "   1  big.patch\n   2  larger.patch\n" in ran.stdout
    assert "new files of kvarn/files/tiny" in ran.stdout
    document = json.loads(again.stdout)
    (source,) = document["sources"]
    assert source["words"] == "kept from before"
    assert Path(source["file"]).is_file()
    assert [one["title"] for one in document["sets"]] == ["Series", "Kernels"]
    assert not (stand_in.paths.home / "service" / "service.json").exists()


def test_a_series_that_is_another_one_is_refused_in_words(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """With its code for programs, and the differences for people."""
    repository = tmp_path / "upstream"
    old = git(repository, "rev-parse", "HEAD").decode().strip()
    (repository / "patches" / "series").write_bytes(b"larger.patch\nbig.patch\n")
    git(repository, "commit", "-q", "-a", "-m", "Other order")
    stand_in.edit(old, git(repository, "rev-parse", "HEAD").decode().strip())

    ran = weir(stand_in, "runtime", "series", NAME)
    document = weir(stand_in, "runtime", "series", NAME, "--json")

    assert ran.returncode == 4
    assert "number 1 is larger.patch, expected big.patch" in ran.stderr
    assert json.loads(document.stdout)["code"] == "series-unexpected"


def test_steps_are_asked_for_and_left_out_with_a_pin(stand_in: StandIn) -> None:
    """And a step that the recipe does not have is named with those that it has."""
    stand_in.edit(
        "[probe]\n",
        '[[steps]]\nname = "extra"\ntitle = "Extra"\ndefault = false\n'
        'commands = [["true"]]\n[probe]\n',
    )

    known = weir(stand_in, "runtime", "pin", NAME, "--with", "extra")
    wrong = weir(stand_in, "runtime", "pin", NAME, "--without", "nothing")

    assert known.returncode == 0, known.stderr
    pins = json.loads((stand_in.paths.home / "runtime-pins.json").read_text())
    assert pins["runtimes"][NAME]["steps"] == {"extra": True}
    assert wrong.returncode == 3
    assert "Its steps: extra." in wrong.stderr
