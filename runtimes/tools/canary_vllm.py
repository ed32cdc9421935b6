"""Lets a vLLM show that it works here: run by a finished runtime, before it is used.

    python -I canary_vllm.py '{"version": "0.32.0", "extension": "vllm._C", "is_full": true}'

Quick: the engine is of its version, its compiled operators load, and one of them computes what
plain torch computes; with `"device": "cuda"` on the first card, and every card multiplies as the
processor does. Full: the engine boots with all its processes on a model of some ten thousand random
numbers and continues a prompt, twice the same, unless the recipe says that it does not boot one
(`"boots": false`). It prints `WEIR-CANARY` and the findings.

The quick part on a processor leaves out what the package imports for itself: torch's compiler, all
of it Python, takes longer than everything else here, and the boot that follows imports it anyway.
"""

import importlib
import importlib.metadata
import importlib.util
import json
import pathlib
import sys
import time
import types

PROMPT = [1, 5, 9, 33]
TOKENS = 4
FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, OSError),
    *(RuntimeError, TypeError, ValueError),
)
"""What an engine that does not work raises; anything else ends the script, with its traceback."""
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "vocab_size": 256,
    "max_position_embeddings": 128,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "tie_word_embeddings": True,
}


CARD = {"dtype": "float16", "gpu_memory_utilization": 0.02}
"""A type that every card has, and a share that is free beside an engine that serves."""
PROCESSOR = {"dtype": "float32"}


def leave_bare(name):
    """Let parts of a package be imported without what the package itself imports."""
    found = importlib.util.find_spec(name)
    if found is not None and found.submodule_search_locations is not None:
        bare = types.ModuleType(name)
        bare.__path__ = list(found.submodule_search_locations)
        sys.modules[name] = bare


def version(asked):
    """The package is the version that the recipe names."""
    if "distribution" in asked:
        found = importlib.metadata.version(asked["distribution"])
    else:
        found = importlib.import_module("vllm.version").__version__
    return found.split("+")[0] == asked["version"], found


def operators(asked):
    """The compiled operators load, and one computes right."""
    import torch

    importlib.import_module(asked["extension"])
    device = asked.get("device", "cpu")
    given = torch.linspace(-4, 4, 2 * 64, dtype=torch.float32, device=device).reshape(1, 128)
    out = torch.empty(1, 64, dtype=torch.float32, device=device)
    torch.ops._C.silu_and_mul(out, given)
    wanted = torch.nn.functional.silu(given[:, :64]) * given[:, 64:]
    error = (out - wanted).abs().max().item()
    return error < 1e-4, f"silu_and_mul is off by {error:.1e}"


def cards(asked):
    """Every card multiplies small whole numbers in half precision without an error."""
    import torch

    kind = asked["device"]
    left = torch.arange(64 * 64).reshape(64, 64) % 7 - 3
    right = torch.arange(64 * 64).reshape(64, 64) % 5 - 2
    wanted = left @ right
    count = torch.cuda.device_count()
    for number in range(count):
        place = torch.device(kind, number)
        out = (left.half().to(place) @ right.half().to(place)).cpu()
        if not torch.equal(out.long(), wanted):
            return False, f"card {number} ({torch.cuda.get_device_name(place)}) multiplies wrong"
    return count > 0, f"{count} cards multiply right"


def boot(asked):
    """The engine boots and continues a prompt."""
    from vllm import LLM, SamplingParams

    folder = pathlib.Path(asked["folder"]) / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(MODEL))
    engine = LLM(
        model=str(folder),
        load_format="dummy",
        skip_tokenizer_init=True,
        enforce_eager=True,
        max_model_len=64,
        max_num_seqs=2,
        kv_cache_memory_bytes=1 << 24,
        disable_log_stats=True,
        **(CARD if asked.get("device") == "cuda" else PROCESSOR),
    )
    settings = SamplingParams(max_tokens=TOKENS, temperature=0, detokenize=False, ignore_eos=True)
    said = []
    for _again in range(2):
        (one,) = engine.generate([{"prompt_token_ids": PROMPT}], settings)
        said.append(list(one.outputs[0].token_ids))
    is_well = len(said[0]) == TOKENS and said[0] == said[1]
    return is_well and all(0 <= token < 256 for token in said[0]), f"it said {said}"


def main():
    """Try what the first argument asks for, and print what came of it."""
    asked = json.loads(sys.argv[1])
    checks = [version, operators]
    if asked.get("device") == "cuda":
        checks.append(cards)
    if asked["is_full"] and asked.get("boots", True):
        checks.append(boot)
    if not asked["is_full"] and asked.get("device") != "cuda":
        leave_bare("vllm")
    findings = []
    for check in checks:
        began = time.monotonic()
        try:
            is_well, said = check(asked)
        except FAULTS as error:
            is_well, said = False, f"{type(error).__name__}: {error}"
        seconds = round(time.monotonic() - began, 2)
        finding = {"name": check.__name__, "is_well": is_well, "said": said, "seconds": seconds}
        findings.append(finding)
        if not is_well:
            break
    print("WEIR-CANARY " + json.dumps(findings), flush=True)


if __name__ == "__main__":
    main()
