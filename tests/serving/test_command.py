"""Preset to argv and environment: pure, so every rule is a case."""

import msgspec
import pytest

from studio.domain.errors import BadInput
from studio.domain.manifests import Knob, KnobKind, Preset, RuntimeRecipe, Serve
from studio.serving import command
from studio.serving.command import Places

PLACES = Places(
    python="/rt/python/bin/python3",
    runtime="/rt",
    runtime_id="abc",
    model="/models/tiny modèle",
    socket="/run/engine.sock",
    cache="/cache",
)


def recipe() -> RuntimeRecipe:
    """A runtime of two words."""
    return msgspec.convert(
        {
            "schema_version": 1,
            "name": "test-runtime",
            "title": "Test",
            "engine": "vllm",
            "engine_version": "0",
            "needs": {"platforms": ["linux-x86_64"], "disk_bytes": 1},
            "interpreter": {"series": "3.11"},
            "serve": {
                "command": ["{python}", "-m", "engine", "serve"],
                "environment": {"ENGINE_CACHE": "{cache}/engine", "SHARED": "recipe"},
            },
        },
        RuntimeRecipe,
    )


def preset(**knobs: Knob) -> Preset:
    """A preset with these knobs."""
    return msgspec.convert(
        {
            "schema_version": 1,
            "id": "test",
            "title": "Test",
            "expert": "test",
            "summary": "test",
            "runtime": "test-runtime",
            "served_name": "tiny",
            "model": {
                "id": "tiny",
                "title": "Tiny",
                "licence": "none",
                "origin": "made here",
                "disk_bytes": 1,
                "files": ["config.json"],
            },
            "knobs": msgspec.to_builtins(knobs),
            "arguments": ["--always"],
            "environment": {"SHARED": "preset"},
        },
        Preset,
    )


LENGTH = Knob(kind=KnobKind.INT, default=2048, minimum=16, maximum=8192, meaning="Tokens.")
EAGER = Knob(kind=KnobKind.BOOL, default=True, meaning="No compilation.")
SPACE = Knob(kind=KnobKind.INT, default=1, meaning="GiB.", environment="ENGINE_SPACE")
KIND = Knob(kind=KnobKind.STR, default="auto", choices=("auto", "float32"), meaning="Type.")
SHARE = Knob(kind=KnobKind.FLOAT, default=0.9, minimum=0, maximum=1, meaning="Share.")


def render(chosen: Preset, **overrides: str) -> command.Launch:
    """Render with these overrides."""
    return command.render(
        chosen, recipe(), overrides=overrides, places=PLACES, inherited={"PATH": "/bin", "X": "y"}
    )


def test_the_command_names_python_model_socket_and_knobs() -> None:
    """The line that people paste into an issue must be the line that runs."""
    launch = render(preset(max_model_len=LENGTH, enforce_eager=EAGER))

    assert launch.argv == (
        "/rt/python/bin/python3", "-m", "engine", "serve", "/models/tiny modèle",
        "--uds", "/run/engine.sock", "--served-model-name", "tiny",
        "--max-model-len", "2048", "--enforce-eager", "--always",
    )  # fmt: skip


def test_an_override_replaces_a_default_and_a_false_switch_says_no() -> None:
    """`--set` is how a person changes anything."""
    launch = render(
        preset(max_model_len=LENGTH, enforce_eager=EAGER), max_model_len="4k", enforce_eager="off"
    )

    assert "4096" in launch.argv
    assert "--no-enforce-eager" in launch.argv


def test_environment_comes_from_recipe_then_preset_then_knobs() -> None:
    """A preset may be stricter than its runtime; a knob is the person's own word."""
    launch = render(preset(space=SPACE), space="3")

    assert launch.environment == {
        "PATH": "/bin",
        "ENGINE_CACHE": "/cache/engine",
        "SHARED": "preset",
        "ENGINE_SPACE": "3",
    }


def test_chosen_cards_are_named_in_the_order_of_the_bus() -> None:
    """CUDA numbers cards by speed unless told otherwise; people read nvidia-smi."""
    launch = command.render(
        preset(), recipe(), overrides={}, places=PLACES, inherited={}, gpus=(1, 0)
    )

    assert launch.environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert launch.environment["CUDA_VISIBLE_DEVICES"] == "1,0"


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("max_model_len", "many", "a whole number"),
        ("max_model_len", "8", "at least 16"),
        ("max_model_len", "9000", "at most 8,192"),
        ("enforce_eager", "perhaps", "`true` or `false`"),
        ("dtype", "int3", "one of auto, float32"),
        ("share", "nan-ish", "a number"),
        ("share", "inf", "a number"),
        ("share", "1.5", "at most 1"),
    ],
)
def test_a_wrong_value_says_what_is_expected(name: str, text: str, part: str) -> None:
    """The person sees the knob, what it takes and what was typed."""
    chosen = preset(max_model_len=LENGTH, enforce_eager=EAGER, dtype=KIND, share=SHARE)

    with pytest.raises(BadInput, match=part) as caught:
        command.read_overrides(chosen, {name: text})

    assert caught.value.code == "knob-value"
    assert text in caught.value.message


def test_a_misspelt_knob_is_told_its_neighbour() -> None:
    """People type hyphens where vLLM's own flags have them."""
    with pytest.raises(BadInput) as caught:
        command.read_overrides(preset(max_model_len=LENGTH), {"max-model-length": "1"})

    assert caught.value.code == "knob-unknown"
    assert "`max_model_len`" in (caught.value.hint or "")


def test_the_sockets_of_the_engine_s_own_get_the_folder_of_ours() -> None:
    """It stays the same when the launch moves to another socket."""
    asked = msgspec.structs.replace(
        recipe(),
        serve=Serve(command=("{python}",), environment={"RPC": "{sockets}", "TMPDIR": "{cache}"}),
    )

    launch = command.render(
        preset(), asked, overrides={}, places=PLACES, inherited={"TMPDIR": "/somewhere/else"}
    ).at_socket("/run/engine-2.sock")

    assert launch.environment["RPC"] == "/run"
    assert launch.environment["TMPDIR"] == "/cache"


def test_an_unknown_placeholder_is_refused() -> None:
    """A recipe from a newer version must not run with a hole in its command."""
    wrong = msgspec.structs.replace(
        recipe(), serve=msgspec.structs.replace(recipe().serve, command=("{moon}",))
    )

    with pytest.raises(BadInput) as caught:
        command.render(preset(), wrong, overrides={}, places=PLACES, inherited={})

    assert caught.value.code == "placeholder-unknown"


def test_nothing_of_another_python_reaches_the_engine() -> None:
    """A Conda or a PYTHONPATH of the person's is how engines broke yesterday."""
    theirs = {"PYTHONPATH": "x", "LD_PRELOAD": "y", "CONDA_PREFIX": "z", "HOME": "/home/me"}

    launch = command.render(preset(), recipe(), overrides={}, places=PLACES, inherited=theirs)

    assert theirs.keys() & launch.environment.keys() == {"HOME"}
