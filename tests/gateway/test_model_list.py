"""The list of models: what runs, what may be started, and aliases of both."""

import json

import pytest

from studio.domain.demand import DemandPreset
from studio.domain.errors import ErrorInfo
from studio.domain.keys import KeyLimits
from studio.gateway.dialects import Refusal
from studio.gateway.engine import EngineTarget
from studio.gateway.key import Key
from studio.gateway.model_list import listed, one, startable
from studio.host.http_client import Upstream

ENGINE = EngineTarget(upstream=Upstream(port=1), key=None, served_name="big", preset="big-long")
RUNNING = [{"id": "big", "max_model_len": 4096}]
PROBLEM = ErrorInfo(code="not-installed", message="x", hint=None, exit_status=4)
PRESETS = (
    DemandPreset(preset="big-long", served_name="big", ttl_s=0, names=("big", "big-long")),
    DemandPreset(preset="big-fast", served_name="big", ttl_s=0, names=("big-fast",)),
    DemandPreset(
        preset="small", served_name="mini", ttl_s=0, names=("mini", "small"), max_model_len=512
    ),
    DemandPreset(preset="gone", ttl_s=0, names=("gone",), problem=PROBLEM),
)


def key(**limits: object) -> Key:
    """Return a key that may do this."""
    return Key(id="1", name="k", prefix="p", digest="d", created_at="", limits=KeyLimits(**limits))


def ids(models: bytes) -> list[str]:
    """Return the names of a list."""
    return [str(model["id"]) for model in json.loads(models)["data"]]


def test_each_preset_stands_there_once_under_a_name_that_means_it() -> None:
    """Two presets of one public name are told apart; one that cannot start is not offered."""
    more = startable(PRESETS)

    nothing_runs = listed(key(), [], None, more, {})
    running = listed(key(), list(RUNNING), ENGINE, more, {})

    assert ids(nothing_runs) == ["big", "big-fast", "mini"]
    assert ids(running) == ["big", "big-fast", "mini"]
    mini = json.loads(one(running, "mini"))
    assert mini["weir"] == {"preset": "small", "on_demand": True}
    assert mini["max_model_len"] == 512
    assert "weir" not in json.loads(one(running, "big"))


def test_the_second_preset_of_a_name_runs_and_the_first_is_not_offered_for_it() -> None:
    """The public name means what runs."""
    engine = EngineTarget(upstream=Upstream(port=1), key=None, served_name="big", preset="big-fast")

    assert ids(listed(key(), list(RUNNING), engine, startable(PRESETS), {})) == ["big", "mini"]


def test_aliases_stand_beside_what_they_mean() -> None:
    """Of what runs and of what may be started; by public name or by preset."""
    aliases = {"gpt": "", "tiny": "mini", "long": "big-long", "nobody": "none"}

    found = listed(key(), list(RUNNING), ENGINE, startable(PRESETS), aliases)

    assert ids(found) == ["big", "big-fast", "mini", "gpt", "tiny", "long"]
    assert json.loads(one(found, "tiny"))["max_model_len"] == 512
    assert json.loads(one(found, "long"))["max_model_len"] == 4096


def test_a_key_sees_what_it_may_use() -> None:
    """And learns nothing of the rest."""
    found = listed(key(models=("mini",)), list(RUNNING), ENGINE, startable(PRESETS), {})

    assert ids(found) == ["mini"]
    with pytest.raises(Refusal) as unknown:
        one(found, "big")
    assert unknown.value.status == 404
    assert "big-fast" not in unknown.value.message
