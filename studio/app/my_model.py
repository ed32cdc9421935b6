"""`weir presets make`: a preset of the person's own from any model folder, with values that fit.

The folder is used where it lies and never written to. The preset is an ordinary file that may be
edited; `[values]` holds what the planner chose.
"""

import asyncio
import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path

from studio.app.machine import Machine
from studio.app.plan_cases import Case, Folder, of_folder, read_folder
from studio.app.plans import Plans
from studio.domain.errors import BadInput, HostLacks
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.domain.plans import MadePreset, MakeRequest, PlanRequest
from studio.domain.units import tokens_text
from studio.host import wsl
from studio.host.files import write_atomic
from studio.host.paths import Paths
from studio.models.finding import RECORDS
from studio.planner import budget, propose
from studio.planner.arguments import Arguments
from studio.planner.card_ledger import Ground
from studio.planner.outcome import Outcome
from studio.planner.propose import Proposal
from studio.planner.work import Attempt, whole, work_out
from studio.presets.store import PresetStore
from studio.runtimes import verdict
from studio.runtimes.catalog import Catalog

_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tekken.json")
_FILE_KINDS = (".json", ".safetensors", ".jinja", ".model", ".txt", ".py")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A preset before it is written."""

    id: str
    folder: Folder
    recipe: RuntimeRecipe
    proposal: Proposal
    ranks: int
    notes: tuple[str, ...]


class MyModels:
    """Makes presets of model folders."""

    def __init__(
        self,
        *,
        paths: Paths,
        presets: PresetStore,
        catalog: Catalog,
        plans: Plans,
        machine: Machine,
    ) -> None:
        self._paths = paths
        self._presets = presets
        self._catalog = catalog
        self._plans = plans
        self._machine = machine

    async def make(self, request: MakeRequest) -> MadePreset:
        """Write a preset and return it with its plan.

        Raises: NotFound (`model-missing`, `config-missing`, `runtime-unknown`), BadInput
        (`model-without-weights`, `preset-exists`, `preset-id`, …), HostLacks (`no-runtime-fits`,
        `not-writable`, …), Damaged (`weights-damaged`).
        """
        self._machine.require_real()
        host = await self._machine.look()
        draft = await asyncio.to_thread(functools.partial(self._draft, request, host))
        path = self._presets.own_folder / f"{draft.id}.toml"
        text = _written(draft)
        await asyncio.to_thread(functools.partial(write_atomic, path, text.encode()))
        found = await self._plans.plan(PlanRequest(preset=draft.id, gpus=request.gpus))
        return MadePreset(id=draft.id, path=str(path), plan=found, notes=draft.notes)

    def _draft(self, request: MakeRequest, host: HostSnapshot) -> _Draft:
        folder = read_folder(Path(wsl.meant(request.folder)))
        _require_weights(folder)
        preset_id = self._free_id(request, folder)
        recipe = self._runtime(request, host)
        ranks = max(1, len(request.gpus)) if request.gpus is not None else 1
        return _Draft(
            id=preset_id,
            folder=folder,
            recipe=recipe,
            proposal=self._proposal(folder, recipe, host, request, ranks),
            ranks=ranks,
            notes=tuple(_notes(folder)),
        )

    def _free_id(self, request: MakeRequest, folder: Folder) -> str:
        preset_id = request.id or slug(folder.path.name)
        if not _ID.fullmatch(preset_id):
            raise BadInput(
                "preset-id",
                f"`{preset_id}` cannot be a preset's id: it takes small letters, digits, dots and "
                "dashes, and begins with a letter or a digit.",
                hint="Name another with `--id`.",
            )
        if preset_id in self._presets.ids() and not (
            request.replace and self._presets.is_own(preset_id)
        ):
            raise BadInput(
                "preset-exists",
                f"There is a preset `{preset_id}` already.",
                hint="Choose another with `--id`, or overwrite one of your own with `--replace`.",
            )
        return preset_id

    def _runtime(self, request: MakeRequest, host: HostSnapshot) -> RuntimeRecipe:
        if request.runtime is not None:
            return self._catalog.recipe(request.runtime)
        able = [one for one in self._catalog.recipes() if not verdict.reasons_against(one, host)]
        if not able:
            raise HostLacks(
                "no-runtime-fits",
                "No runtime of this version works on this machine.",
                hint="`weir runtime list` says for each what is missing.",
            )
        return max(able, key=lambda one: (one.needs.gpu, _version(one.engine_version), one.name))

    def _proposal(
        self,
        folder: Folder,
        recipe: RuntimeRecipe,
        host: HostSnapshot,
        request: MakeRequest,
        ranks: int,
    ) -> Proposal:
        around = budget.Surroundings(
            tables=self._plans.tables(),
            memory_bytes=host.available_memory_bytes,
            is_wsl=host.is_wsl,
        )
        case = of_folder(
            folder.path,
            None,
            engine_name=recipe.name,
            recipe=recipe,
            known=self._plans.document("runtimes/arguments.toml", Arguments),
            ground=Ground(host=host, lines=self._plans.seen.known().lines),
            around=around,
            overrides={"tensor_parallel_size": str(ranks)} if ranks > 1 else {},
            gpus=request.gpus,
        )
        tried = functools.partial(_tried, case, around)
        if not recipe.needs.gpu:
            return propose.for_memory(
                case.subject,
                tried,
                weights_bytes=folder.weights_bytes,
                processes_bytes=around.tables.processor.bytes,
            )
        return propose.for_cards(case.subject, tried, ranks=ranks)


def _tried(case: Case, around: budget.Surroundings, settings: Mapping[str, object]) -> Outcome:
    base = case.attempt(case.overrides)
    attempt = Attempt(
        settings=settings,
        cards=base.cards,
        budget=budget.forecast(case.subject, settings, base.cards, around),
        shortfalls=base.shortfalls,
    )
    return work_out(case.subject, attempt)


def slug(name: str) -> str:
    """Return a folder's name as a preset's id: `My Model (v2)` becomes `my-model-v2`."""
    text = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
    return text[:64].rstrip("-.") or "my-model"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _require_weights(folder: Folder) -> None:
    if folder.missing:
        first = ", ".join(folder.missing[:3])
        raise BadInput(
            "model-without-weights",
            f"{folder.path} lacks weight files that its index names: {first}.",
            hint="Finish the download; `weir plan --model` works without them.",
        )
    if folder.weights_bytes is None:
        raise BadInput(
            "model-without-weights",
            f"{folder.path} holds no safetensors files, so there is nothing to serve.",
            hint="`weir plan --model` works without them.",
        )


def _notes(folder: Folder) -> list[str]:
    notes = list(folder.geometry.assumptions)
    names = {path.name for path in folder.path.iterdir()}
    if not names.intersection(_TOKENIZERS):
        notes.append("It has no tokenizer: the engine will not start without one.")
    if "chat_template.jinja" not in names and not _has_template(folder.path):
        notes.append("It has no chat template: it completes texts, and chat requests are refused.")
    return notes


def _has_template(folder: Path) -> bool:
    try:
        return '"chat_template"' in (folder / "tokenizer_config.json").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


# The file


def _written(draft: _Draft) -> str:
    folder, name = draft.folder, draft.folder.path.name
    context = whole(draft.proposal.settings, "max_model_len")
    kind = "card" if draft.recipe.needs.gpu else "cpu"
    lines = [
        f"# Made by `weir presets make` from {_comment(str(folder.path))}.",
        "# The planner chose [values]; change them as you like.",
        "schema_version = 1",
        f"id = {_toml(draft.id)}",
        f"title = {_toml(name)}",
        f"expert = {_toml(f'{folder.geometry.architecture}, {tokens_text(context)} of context')}",
        f"summary = {_toml('A model of your own, with values that the planner chose.')}",
        f"runtime = {_toml(draft.recipe.name)}",
        f"served_name = {_toml(draft.id)}",
        f'uses = ["my-model", "my-model-{kind}"]',
        "",
    ]
    if draft.recipe.needs.gpu:
        lines += ["[needs]", f"gpus = {draft.ranks}", ""]
    lines += ["[values]"]
    lines += [f"{key} = {_toml(value)}" for key, value in draft.proposal.settings.items()]
    lines += ["", *_model_lines(folder, draft.id)]
    return "\n".join(lines) + "\n"


def _model_lines(folder: Folder, model_id: str) -> list[str]:
    sizes = {
        path.name: path.stat().st_size
        for path in sorted(folder.path.iterdir())
        if path.is_file() and path.suffix in _FILE_KINDS and path.name not in RECORDS
    }
    lines = [
        "[model]",
        f"id = {_toml(model_id)}",
        f"title = {_toml(folder.path.name)}",
        f"licence = {_toml('not known to the Studio: the page of the model says it')}",
        f"origin = {_toml('a folder of your own')}",
        f"folder = {_toml(str(folder.path))}",
        f"disk_bytes = {sum(sizes.values())}",
        f"files = [{', '.join(_toml(name) for name in sizes)}]",
        "",
        "[model.sizes]",
    ]
    return [*lines, *(f"{_toml(name)} = {size}" for name, size in sizes.items())]


def _toml(value: object) -> str:
    """Return a plain value as TOML; its basic strings are those of JSON but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
