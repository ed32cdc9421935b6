"""What a model is, from its config and the heads of its weights; no weight is read.

What cannot be read becomes a sentence about this one model: a damaged file, a config of the wrong
type or a disk that goes away must not take the list down.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from studio.domain.errors import Damaged, StudioError
from studio.domain.library import LackingFile, ModelFacts, WeightsForm
from studio.models import gguf, inspect, quantisation, tensors
from studio.models.finding import File, Found, parts_of

T = TypeVar("T")

_INDEX = "model.safetensors.index.json"
_MOST_TEXT = 120
_MOST_PROBLEMS = 5
_MOST_HEADS = 1_024
_MOST_MIXTURES = 4
_INDEX_LIMIT_BYTES = 100 << 20
_CONTEXT = ("max_position_embeddings", "max_sequence_length", "seq_length", "n_positions")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".onnx", ".msgpack", ".h5", ".ckpt")
_MOST_CONTEXT = 1 << 40


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of one model, as it is kept between scans."""

    facts: ModelFacts
    missing: tuple[LackingFile, ...] = ()
    """What an index or the number in a GGUF's name says is there, and is not."""
    damaged: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def is_weights(name: str) -> bool:
    """Tell whether a file holds weights, by its name."""
    return name.lower().endswith((".safetensors", ".gguf", *_OTHER_WEIGHTS))


def read_files(found: Found) -> tuple[File, ...]:
    """Return those files whose content `describe` may read: a change of one asks for it again."""
    return tuple(
        file
        for file in found.files
        if file.name.endswith((".safetensors", ".gguf", ".GGUF"))
        or file.name in (inspect.CONFIG, _INDEX, "hf_quant_config.json", "params.json")
    )


def describe(found: Found) -> Described:
    """Return what a model is. Raises nothing of a stranger's making."""
    return _Describing(found).run()


class _Describing:
    def __init__(self, found: Found) -> None:
        self._found = found
        self._files = {file.name: file for file in found.files}
        self._missing: list[LackingFile] = []
        self._damaged: list[str] = []
        self._problems: list[str] = []

    def run(self) -> Described:
        """Read config and heads."""
        config = self._config()
        shards = self._shards()
        ggufs = [name for name in self._files if name.lower().endswith(".gguf")]
        if shards:
            facts = self._safetensors(config, shards)
        elif ggufs:
            facts = self._ggufs(config, ggufs)
        else:
            facts = ModelFacts(
                architecture=_architecture(config),
                context_tokens=_context(config),
                quantisation=quantisation.label(quantisation.settings_of(config), {}),
            )
        return Described(
            facts=facts,
            missing=tuple(self._missing),
            damaged=tuple(self._damaged),
            problems=tuple(self._problems[:_MOST_PROBLEMS]),
        )

    def _config(self) -> dict[str, object]:
        config = self._object(inspect.CONFIG)
        more = self._object("hf_quant_config.json")
        if "quantization" in more and "quantization_config" not in config:
            config = {**config, "quantization": more["quantization"]}
        return config

    def _object(self, name: str) -> dict[str, object]:
        file = self._files.get(name)
        if file is None or file.size is None:
            return {}
        try:
            return inspect.object_of(Path(file.path))
        except StudioError as error:
            self._problems.append(error.message)
            return {}

    def _shards(self) -> list[str]:
        """Return the safetensors files that an engine would load; note those that lack."""
        indexed = self._indexed()
        for name in indexed:
            file = self._files.get(name)
            if file is None or file.size is None:
                self._missing.append(LackingFile(name=name))
        here = sorted(name for name in self._files if name.endswith(".safetensors"))
        if indexed:
            return [name for name in indexed if name in self._files]
        top = [name for name in here if "/" not in name] or here
        merged = [name for name in top if not name.startswith("consolidated")]
        return merged or top

    def _indexed(self) -> list[str]:
        file = self._files.get(_INDEX)
        if file is None or file.size is None:
            return []
        try:
            index = inspect.object_of(Path(file.path), _INDEX_LIMIT_BYTES)
        except StudioError as error:
            self._problems.append(error.message)
            return []
        named = index.get("weight_map")
        names = set(named.values()) if isinstance(named, Mapping) else set()
        return sorted(
            name for name in names if isinstance(name, str) and Path(name).name == name != ""
        )

    def _safetensors(self, config: Mapping[str, object], shards: list[str]) -> ModelFacts:
        settings = quantisation.settings_of(config)
        bits = quantisation.widths(settings)
        parameters: int | None = 0
        types: dict[str, int] = {}
        for name in shards[:_MOST_HEADS]:
            count = self._count(name, bits)
            if count is None or count.parameters is None:
                parameters = None
            elif parameters is not None:
                parameters += count.parameters
            for kind, elements in (count.types if count is not None else {}).items():
                types[kind] = types.get(kind, 0) + elements
        is_whole = len(shards) <= _MOST_HEADS and not self._missing
        return ModelFacts(
            form=WeightsForm.SAFETENSORS,
            architecture=_architecture(config),
            parameters=parameters if is_whole else None,
            quantisation=quantisation.label(settings, types),
            context_tokens=_context(config),
        )

    def _count(self, name: str, bits: frozenset[int]) -> tensors.TensorCount | None:
        file = self._files[name]
        if file.size is None:
            return None
        try:
            return tensors.count(Path(file.path), bits)
        except StudioError as error:
            self._note(name, error)
            return None

    def _note(self, name: str, error: StudioError) -> None:
        self._problems.append(error.message)
        if isinstance(error, Damaged):
            self._damaged.append(name)

    def _ggufs(self, config: Mapping[str, object], names: list[str]) -> ModelFacts:
        heads: dict[str, gguf.GgufHead] = {}
        for name in names[:_MOST_HEADS]:
            self._note_parts(name)
            head = self._head(name)
            if head is not None:
                heads[name] = head
        # Beside the model's own file there may be another one, such as the eyes of a chat model.
        main = [name for name in names if "mmproj" not in name.lower()] or names
        groups: dict[str, list[str]] = {}
        for name in main:
            groups.setdefault(parts_of(name)[0], []).append(name)
        told = [heads[name] for name in main if name in heads]
        is_whole = len(told) == len(main) and not self._missing
        # Several files that are no parts are the same model in several mixtures.
        sums = [sum(heads[name].parameters for name in group if name in heads)
                for group in groups.values()]  # fmt: skip
        firsts = [heads[group[0]] for group in groups.values() if group[0] in heads]
        mixtures = sorted({head.mixture for head in firsts if head.mixture is not None})
        return ModelFacts(
            form=WeightsForm.GGUF,
            architecture=_architecture(config) or _first(head.architecture for head in told),
            parameters=max(sums) if is_whole else None,
            quantisation=", ".join(mixtures[:_MOST_MIXTURES]) or None,
            context_tokens=_context(config) or _first(head.context_tokens for head in told),
        )

    def _note_parts(self, name: str) -> None:
        lacking = {one.name for one in self._missing}
        for part in parts_of(name):
            if part not in self._files and part not in lacking:
                self._missing.append(LackingFile(name=part))

    def _head(self, name: str) -> gguf.GgufHead | None:
        file = self._files[name]
        if file.size is None:
            return None
        try:
            return gguf.read(Path(file.path))
        except StudioError as error:
            self._note(name, error)
            return None


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _architecture(config: Mapping[str, object]) -> str | None:
    named = config.get("architectures")
    first = named[0] if isinstance(named, list) and named else config.get("model_type")
    is_text = isinstance(first, str) and first.isprintable() and 0 < len(first) <= _MOST_TEXT
    return first if is_text and isinstance(first, str) else None


def _context(config: Mapping[str, object]) -> int | None:
    for place in (config, config.get("text_config"), config.get("llm_config")):
        for key in _CONTEXT if isinstance(place, Mapping) else ():
            value = place.get(key) if isinstance(place, Mapping) else None
            is_count = isinstance(value, int) and not isinstance(value, bool)
            if is_count and isinstance(value, int) and 0 < value <= _MOST_CONTEXT:
                return value
    return None
