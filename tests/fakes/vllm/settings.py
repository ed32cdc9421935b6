"""Command line and environment of the fake engine."""

import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

BLOCK_TOKENS = 128
LAYERS = 30
WEIGHTS_BYTES = 538_060_032
"""SmolLM2-135M in float32."""
TOKEN_BYTES = 46_080
"""KV bytes a token takes in SmolLM2-135M in float32: 30 layers × 2 × 3 heads × 64 × 4 bytes."""

_GIB = 1 << 30
_SWITCHES = {
    "enforce-eager",
    "enable-prefix-caching",
    "enable-prompt-tokens-details",
    "enable-auto-tool-choice",
    "disable-uvicorn-access-log",
    "trust-remote-code",
    "enable-log-requests",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that one fake engine was told."""

    model: str
    served_names: tuple[str, ...]
    uds: str | None
    host: str
    port: int
    max_model_len: int
    kv_bytes: int
    max_num_seqs: int
    workers: int
    shutdown_timeout_s: int
    shows_cached_tokens: bool
    logs_access: bool
    arguments: Mapping[str, object]
    key: str | None
    boot_s: float
    boot_log: Path | None
    tokens_per_s: float
    tokens: int
    faults: Mapping[str, float]
    is_patched: bool
    """Whether it is as the Studio's own patches make it, or as upstream ships it."""

    @property
    def pool_tokens(self) -> int:
        """Return the KV pool, as the real engine counts it for this model."""
        return self.kv_bytes // TOKEN_BYTES // BLOCK_TOKENS * BLOCK_TOKENS

    @property
    def address(self) -> str:
        """Return where it listens, as its log says it."""
        return f"unix:{self.uds}" if self.uds else f"http://{self.host}:{self.port}"


def read(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> Settings:
    """Return what `argv` (from `serve` on) and the environment ask for; ends the process if bad."""
    if not argv or argv[0] != "serve":
        sys.stderr.write("usage: vllm [-h] [-v] {chat,complete,serve,bench,collect-env} ...\n")
        sys.exit(2)
    positional, flags = _split(argv[1:])
    model = positional[0] if positional else flags.get("model", ["Qwen/Qwen3-0.6B"])[0]
    names = flags.get("served-model-name") or [model]
    memory = flags.get("kv-cache-memory-bytes")
    space_gib = float(environ.get("VLLM_CPU_KVCACHE_SPACE") or 1)
    length = flags.get("max-model-len")
    boot_log = environ.get("FAKE_VLLM_BOOT_LOG")
    return Settings(
        model=model,
        served_names=tuple(names),
        uds=flags.get("uds", [None])[0],
        host=flags.get("host", ["0.0.0.0"])[0],
        port=int(flags.get("port", ["8000"])[0]),
        max_model_len=int(length[0]) if length else _model_limit(model),
        kv_bytes=int(memory[0]) if memory else int(space_gib * _GIB),
        max_num_seqs=int(flags.get("max-num-seqs", ["256"])[0]),
        workers=int(flags.get("tensor-parallel-size", ["1"])[0]),
        shutdown_timeout_s=int(flags.get("shutdown-timeout", ["0"])[0]),
        shows_cached_tokens="enable-prompt-tokens-details" in flags,
        logs_access="disable-uvicorn-access-log" not in flags,
        arguments=_as_logged(model, flags),
        key=environ.get("VLLM_API_KEY") or flags.get("api-key", [None])[0],
        boot_s=float(environ.get("FAKE_VLLM_BOOT_S") or 0.3),
        boot_log=Path(boot_log) if boot_log else None,
        tokens_per_s=float(environ.get("FAKE_VLLM_TOKENS_PER_S") or 200),
        tokens=int(environ.get("FAKE_VLLM_TOKENS") or 32),
        faults=_faults(environ.get("FAKE_VLLM_FAULT", "")),
        is_patched=not environ.get("FAKE_VLLM_UNPATCHED"),
    )


def _split(argv: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return positional words and flags with their words; unknown flags are accepted."""
    positional: list[str] = []
    flags: dict[str, list[str]] = {}
    taking: list[str] | None = None
    for word in argv:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            taking = flags[name] = [value] if equals else []
            if equals or name in _SWITCHES or name.startswith("no-"):
                taking = None
        elif taking is not None:
            taking.append(word)
        else:
            positional.append(word)
    return positional, flags


def _as_logged(model: str, flags: Mapping[str, list[str]]) -> dict[str, object]:
    arguments: dict[str, object] = {"model_tag": model, "model": model}
    for name, words in flags.items():
        value: object = words[0] if len(words) == 1 else words or True
        arguments[name.replace("-", "_")] = "***" if name == "api-key" else value
    return arguments


def _model_limit(model: str) -> int:
    try:
        config = json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))
        return int(config["max_position_embeddings"])
    except (OSError, ValueError, KeyError, TypeError):
        return 2048


def _faults(text: str) -> dict[str, float]:
    faults: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        faults[name] = float(value or 0)
    return faults
