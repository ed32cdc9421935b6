"""A resolved preset to argv and environment: pure, so every rule is a case."""

import msgspec
import pytest

from studio.domain.errors import BadInput
from studio.domain.manifests import Knob, Preset, RuntimeRecipe, Serve
from studio.domain.rules import Resolved
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


RESOLVED = Resolved(
    preset="test",
    runtime="test-runtime",
    served_name="tiny",
    knobs={"max_model_len": 2048},
    overrides={"max_model_len": "2K"},
    arguments=("--max-model-len", "2048", "--always"),
    environment={"SHARED": "preset", "ENGINE_SPACE": "3"},
)


def render(
    resolved: Resolved = RESOLVED, chosen: RuntimeRecipe | None = None, **inherited: str
) -> command.Launch:
    """Render what was resolved."""
    return command.render(
        preset(), resolved, chosen or recipe(), places=PLACES, inherited=inherited
    )


def test_the_command_names_python_model_socket_and_arguments() -> None:
    """The line that people paste into an issue must be the line that runs."""
    launch = render()

    assert launch.argv == (
        "/rt/python/bin/python3", "-m", "engine", "serve", "/models/tiny modèle",
        "--uds", "/run/engine.sock", "--served-model-name", "tiny",
        "--max-model-len", "2048", "--always",
    )  # fmt: skip
    assert launch.overrides == {"max_model_len": "2K"}
    assert launch.knobs == {"max_model_len": 2048}


def test_environment_comes_from_the_person_then_recipe_then_preset() -> None:
    """A preset may be stricter than its runtime; what a person set elsewhere is the least."""
    launch = render(PATH="/bin", X="y", SHARED="theirs")

    assert launch.environment == {
        "PATH": "/bin",
        "ENGINE_CACHE": "/cache/engine",
        "SHARED": "preset",
        "ENGINE_SPACE": "3",
    }


def test_used_cards_are_named_in_the_order_of_the_bus() -> None:
    """CUDA numbers cards by speed unless told otherwise; people read nvidia-smi."""
    launch = render(msgspec.structs.replace(RESOLVED, gpus=(1, 0)))

    assert launch.environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert launch.environment["CUDA_VISIBLE_DEVICES"] == "1,0"


def test_without_cards_nothing_is_said_of_them() -> None:
    """The CPU engine is left alone."""
    assert not [name for name in render().environment if name.startswith("CUDA")]


def test_the_sockets_of_the_engine_s_own_get_the_folder_of_ours() -> None:
    """It stays the same when the launch moves to another socket."""
    asked = msgspec.structs.replace(
        recipe(),
        serve=Serve(command=("{python}",), environment={"RPC": "{sockets}", "TMPDIR": "{cache}"}),
    )

    launch = render(chosen=asked, TMPDIR="/somewhere/else").at_socket("/run/engine-2.sock")

    assert launch.environment["RPC"] == "/run"
    assert launch.environment["TMPDIR"] == "/cache"
    assert "/run/engine-2.sock" in launch.argv


def test_an_unknown_placeholder_is_refused() -> None:
    """A recipe from a newer version must not run with a hole in its command."""
    wrong = msgspec.structs.replace(
        recipe(), serve=msgspec.structs.replace(recipe().serve, command=("{moon}",))
    )

    with pytest.raises(BadInput) as caught:
        render(chosen=wrong)

    assert caught.value.code == "placeholder-unknown"


def test_nothing_of_another_python_reaches_the_engine() -> None:
    """A Conda or a PYTHONPATH of the person's is how engines broke yesterday."""
    theirs = {"PYTHONPATH": "x", "LD_PRELOAD": "y", "CONDA_PREFIX": "z", "HOME": "/home/me"}

    launch = render(**theirs)

    assert theirs.keys() & launch.environment.keys() == {"HOME"}
