"""`weir models`: without a service in this process, and with one as a program of its own."""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.__main__ import LocalConnector
from tests.cli.typed import Ran, through
from tests.fakes.weir import Weir, weir_home
from tests.models.made_models import cached, model, safetensors

Command = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let this process have a home and a cache of its own; return the cache."""
    for name in ("HF_HOME", "HF_HUB_CACHE", "WEIR_CATALOGUE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WEIR_HOME", str(tmp_path / "my höme"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cäche"))
    return tmp_path / "cäche" / "huggingface" / "hub"


@pytest.fixture
def alone(home: Path) -> Command:
    """Run a command line in this process, without a service."""

    return functools.partial(through, LocalConnector())


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Weir]:
    """Return a `weir` in which nothing was installed; its cache is below its own $HOME."""
    person = tmp_path / "pérson"
    person.mkdir()
    with weir_home(tmp_path / "its höme", None, person) as made:
        yield made


def document(ran: Ran) -> Any:
    """Return the document of a command that succeeded."""
    assert ran.status == 0, ran.out + ran.err
    return json.loads(ran.out)


def test_everything_works_without_a_service(home: Path, alone: Command, tmp_path: Path) -> None:
    """List, check, import, roots and removal, each in words and as a document."""
    cached(home)
    folder = model(tmp_path / "a folder" / "Mödel")

    assert "owner/name" in alone("models").out
    checked = document(alone("models", "verify", "name", "--json"))
    line = ("models", "import", str(folder), "--by", "link", "--name", "mine", "--json")
    taken = document(alone(*line))
    roots = document(alone("models", "roots", "add", str(folder.parent), "--json"))
    shown = document(alone("models", "show", "mine", "--json"))
    planned = document(alone("models", "rm", "mine", "--dry-run", "--json"))
    refused = alone("models", "rm", "mine")
    removed = alone("models", "rm", "mine", "--yes")
    left = {one["name"] for one in document(alone("models", "list", "--json"))["models"]}

    assert [one["state"] for one in checked] == ["ready"]
    assert taken["by"] == "link"
    assert roots[-1]["models"] == 1
    assert {one["name"] for one in shown["files"]} == {"config.json", "model.safetensors"}
    assert planned["freed_bytes"] == 0
    assert planned["stays_bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert refused.status == 4
    assert "--yes" in refused.err
    assert "0 B freed" in removed.out
    assert left == {"owner/name", "Mödel"}
    assert (folder / "model.safetensors").read_bytes() == safetensors()


def test_damage_is_an_exit_status_and_names_its_file(home: Path, alone: Command) -> None:
    """A script has to notice."""
    snapshot = cached(home)
    (snapshot / "model.safetensors").resolve().write_bytes(safetensors(fill=b"v"))

    done = alone("models", "verify", "owner/name")

    assert done.status == 4
    assert "damaged  model.safetensors" in done.out
    assert "is damaged: model.safetensors" in done.err
    assert document(alone("models", "show", "name", "--json"))["model"]["state"] == "damaged"


def test_a_service_does_the_same_and_goes_on_by_itself(here: Weir) -> None:
    """`--detach` returns at once; without it the check is waited for."""
    cached(Path(here.environment["HOME"]) / ".cache" / "huggingface" / "hub")
    here.begin_service()

    begun = here.json("models", "verify", "--detach")
    checked = here.json("models", "verify", "owner/name")
    removed = here.json("models", "rm", "owner/name", "--yes")

    assert len(begun["checks"]) == 1
    assert [one["state"] for one in checked] == ["ready"]
    assert removed["is_done"]


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("models", "show", "none"), 3, "model-unknown"),
        (("models", "rm", "none", "--yes"), 3, "model-unknown"),
        (("models", "import", "/no/such"), 3, "model-missing"),
        (("models", "roots", "add"), 2, "usage"),
        (("models", "verify", "--stop"), 2, "usage"),
    ],
)
def test_mistakes_are_told_with_their_code(
    alone: Command, words: tuple[str, ...], status: int, code: str
) -> None:
    """Nothing becomes a traceback."""
    done = alone(*words, "--json")

    assert (done.status, json.loads(done.out)["code"]) == (status, code)
