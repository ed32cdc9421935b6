"""huggingface_hub's folders, found as huggingface_hub itself finds them."""

import importlib
import os
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants as theirs
import pytest

from studio.host import hf_folders

NAMES = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN_PATH", "XDG_CACHE_HOME")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Return an environment that names none of them; the library is as it was afterwards."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA", "/data disk/ä")
    monkeypatch.setenv("HOME", "/home/grüß")
    yield monkeypatch
    monkeypatch.undo()
    importlib.reload(theirs)


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"HF_HOME": "~/models"},
        {"HF_HOME": "$DATA/hf"},
        {"HF_HOME": "${DATA}x/$DATA"},
        {"HF_HOME": "~"},
        {"HF_HOME": "/a/~/b"},
        {"HF_HOME": "$NOT_SET/hf"},
        {"HF_HOME": "$ä/${}/$/hf"},
        {"HF_HOME": "~nobody-here/hf"},
        {"HF_HOME": "~root/hf"},
        {"HF_HOME": "beside"},
        {"XDG_CACHE_HOME": "$DATA/cache"},
        {"XDG_CACHE_HOME": "~/c"},
        {"HF_HUB_CACHE": "$DATA/hub", "HF_HOME": "/elsewhere"},
        {"HF_HUB_CACHE": "~/hub", "HUGGINGFACE_HUB_CACHE": "/older"},
        {"HUGGINGFACE_HUB_CACHE": "${DATA}/older"},
        {"HUGGINGFACE_HUB_CACHE": "~/older"},
        {"HF_TOKEN_PATH": "$DATA/token", "HF_HOME": "/elsewhere"},
        {"HF_TOKEN_PATH": "~/token"},
    ],
)
def test_all_folders_are_where_the_library_itself_has_them(
    bare: pytest.MonkeyPatch, named: dict[str, str]
) -> None:
    """A cache that is found elsewhere is 20 GB fetched twice."""
    for name, value in named.items():
        bare.setenv(name, value)
    importlib.reload(theirs)

    environ = dict(os.environ)

    assert hf_folders.home(environ) == Path(theirs.HF_HOME)
    assert hf_folders.cache(environ) == Path(theirs.HF_HUB_CACHE)
    assert hf_folders.token_file(environ) == Path(theirs.HF_TOKEN_PATH)


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_of_nothing_counts_as_unset(bare: pytest.MonkeyPatch, name: str) -> None:
    """The library would take the folder that the program happens to run in."""
    bare.setenv(name, "")

    environ = dict(os.environ)

    assert hf_folders.home(environ) == Path("/home/grüß/.cache/huggingface")
    assert hf_folders.cache(environ) == Path("/home/grüß/.cache/huggingface/hub")
    assert hf_folders.token_file(environ) == Path("/home/grüß/.cache/huggingface/token")
