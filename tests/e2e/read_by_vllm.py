"""Reads a prepared model with vLLM's own code: what it takes each layer for, and what it holds.

    python -I read_by_vllm.py make FOLDER       writes a small checkpoint, as the 27B's is laid out
    python -I read_by_vllm.py read FOLDER MADE  reads what was made of it

Run by the interpreter of a runtime. The layers are vLLM's, made as its Qwen3.5 makes them, their
parameters filled by their own loaders. Only a kernel for 8 bits stands in, since the processor has
none: it keeps what vLLM's own reader of packed numbers gives, for the comparison.
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file

HIDDEN, ROWS, WIDE = 256, 1000, 384
SHARD = "model.safetensors"
MTP = {
    "fc": (HIDDEN, 2 * HIDDEN),
    "layers.0.self_attn.q_proj": (2 * HIDDEN, HIDDEN),
    "layers.0.self_attn.k_proj": (128, HIDDEN),
    "layers.0.self_attn.v_proj": (128, HIDDEN),
    "layers.0.self_attn.o_proj": (HIDDEN, HIDDEN),
    "layers.0.mlp.gate_proj": (WIDE, HIDDEN),
    "layers.0.mlp.up_proj": (WIDE, HIDDEN),
    "layers.0.mlp.down_proj": (HIDDEN, WIDE),
}
EMBEDDING = "model.language_model.embed_tokens"
FUSED = {
    "qkv_proj": {"q_proj": "q", "k_proj": "k", "v_proj": "v"},
    "gate_up_proj": {"gate_proj": 0, "up_proj": 1},
}
"""What vLLM makes one layer of: the parts, and how its loader calls them."""


def make(folder):
    """Write matrices in 16 bits and the configuration that leaves them so."""
    torch.manual_seed(7)
    sides = {"lm_head": (ROWS, HIDDEN), EMBEDDING: (ROWS, HIDDEN)}
    sides |= {f"mtp.{name}": shape for name, shape in MTP.items()}
    tensors = {f"{name}.weight": torch.randn(shape).bfloat16() for name, shape in sides.items()}
    tensors["mtp.norm.weight"] = torch.ones(HIDDEN).bfloat16()
    save_file(tensors, folder / SHARD, {"format": "pt"})
    index = {"metadata": {"total_size": 0}, "weight_map": dict.fromkeys(tensors, SHARD)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    group = {
        "num_bits": 4,
        "type": "int",
        "symmetric": True,
        "strategy": "group",
        "group_size": 128,
    }
    quantisation = {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": group}},
        "ignore": ["lm_head", "re:.*embed_tokens.*", "re:.*visual.*", "re:.*mtp.*"],
    }
    (folder / "config.json").write_text(json.dumps({"quantization_config": quantisation}))


def stand_in():
    """Let the processor have a kernel for 8 bits, which keeps the numbers as vLLM reads them."""
    from vllm.model_executor.kernels import linear
    from vllm.model_executor.layers.quantization.utils.quant_utils import (
        unpack_quantized_values_into_int32 as unpacked,
    )
    from vllm.platforms import PlatformEnum

    class Kept(linear.MPLinearKernel):
        @classmethod
        def get_min_capability(cls):
            return -1

        @classmethod
        def can_implement(cls, config):
            return config.weight_type.size_bits == 8, "8 bits only"

        def process_weights_after_loading(self, layer):
            whole = unpacked(layer.weight_packed.data, self.config.weight_type, 1)
            whole = whole - self.config.weight_type.bias
            layer.back = in_steps(whole, layer.weight_scale.data)

        def apply_weights(self, layer, x, bias=None):
            raise NotImplementedError

    linear._POSSIBLE_KERNELS[PlatformEnum.CPU].insert(0, Kept)


def in_steps(whole, scales):
    """Return the numbers times the steps of their groups."""
    groups = whole.float().reshape(*scales.shape, -1)
    return (groups * scales.float()[..., None]).reshape(whole.shape)


def layers(config):
    """Return vLLM's layers by the names that they have in its Qwen3.5 (qwen3_5.py, _mtp.py)."""
    from vllm.model_executor.layers import linear
    from vllm.model_executor.layers import vocab_parallel_embedding as vocabulary

    head = vocabulary.ParallelLMHead(
        ROWS, HIDDEN, quant_config=config, prefix="language_model.lm_head"
    )
    # Stock 0.32 gives its Qwen3.5 no words about the embedding; the series' first patch does.
    embedding = vocabulary.VocabParallelEmbedding(
        ROWS, HIDDEN, quant_config=config, prefix="language_model.model.embed_tokens"
    )
    told = {"bias": False, "quant_config": config}
    at = "mtp.layers.0"
    return {
        "lm_head": head,
        EMBEDDING: embedding,
        "mtp.fc": linear.ColumnParallelLinear(2 * HIDDEN, HIDDEN, **told, prefix="mtp.fc"),
        f"{at}.self_attn.qkv_proj": linear.QKVParallelLinear(
            HIDDEN, 128, 4, 1, **told, prefix=f"{at}.self_attn.qkv_proj"
        ),
        f"{at}.self_attn.o_proj": linear.RowParallelLinear(
            HIDDEN, HIDDEN, **told, prefix=f"{at}.self_attn.o_proj"
        ),
        f"{at}.mlp.gate_up_proj": linear.MergedColumnParallelLinear(
            HIDDEN, [WIDE, WIDE], **told, prefix=f"{at}.mlp.gate_up_proj"
        ),
        f"{at}.mlp.down_proj": linear.RowParallelLinear(
            WIDE, HIDDEN, **told, prefix=f"{at}.mlp.down_proj"
        ),
    }


def parts_of(name):
    """Return the published names of a layer's parts, each with what its loader calls it."""
    above, _, own = name.rpartition(".")
    parts = FUSED.get(own)
    if parts is None:
        return {name: ()}
    return {f"{above}.{part}": (shard,) for part, shard in parts.items()}


def fill(name, layer, tensors):
    """Load a layer as vLLM's loader of models does; return the names of what went in."""
    taken = []
    for parameter, held in layer.named_parameters():
        for part, shard in parts_of(name).items():
            key = f"{part}.{parameter}"
            held.weight_loader(held, tensors[key], *shard)
            taken.append(key)
    return taken


def read(source, folder):
    """Fill all layers from what was made, and compare each matrix with what it was."""
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.distributed import init_distributed_environment, initialize_model_parallel
    from vllm.model_executor.layers.quantization.compressed_tensors import (
        compressed_tensors_embedding as embeddings,
    )
    from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors import (
        CompressedTensorsConfig,
    )

    before, made = load_file(source / SHARD), load_file(folder / SHARD)
    told = json.loads((folder / "config.json").read_bytes())["quantization_config"]
    stand_in()
    used, seen = set(), {}
    with set_current_vllm_config(VllmConfig()):
        rendezvous = f"file://{folder}/rendezvous"  # torch takes it as it stands
        init_distributed_environment(1, 0, rendezvous, 0, backend="gloo")
        initialize_model_parallel(1, 1)
        torch.set_default_dtype(torch.bfloat16)
        config = CompressedTensorsConfig.from_config(told)
        config.packed_modules_mapping = {name: list(parts) for name, parts in FUSED.items()}
        for name, layer in layers(config).items():
            used |= set(fill(name, layer, made))
            seen[name] = type(getattr(layer, "scheme", layer.quant_method)).__name__
            if isinstance(layer.quant_method, embeddings.CompressedTensorsEmbeddingWNA16Int):
                assert layer.quant_method.num_bits == 8
                # The same layout as the kernel of its look-up reads, which is Triton's.
                bytes_ = layer.weight_packed.data.view(torch.uint8).reshape(
                    layer.weight_packed.shape[0], -1
                )
                layer.back = in_steps(bytes_.int() - 128, layer.weight_scale.data)
            else:
                layer.quant_method.process_weights_after_loading(layer)
            require_near(name, layer, before)
    left = set(made) - used - {"mtp.norm.weight"}
    assert not left, left
    sys.stdout.write(f"{json.dumps(seen)}\n")


def require_near(name, layer, before):
    """Refuse a matrix of which any number is more than half a step off."""
    was = torch.cat([before[f"{part}.weight"] for part in parts_of(name)]).float()
    steps = layer.weight_scale.data.float()[: len(was)]
    off = (layer.back[: len(was)] - was).abs().reshape(*steps.shape, -1)
    assert (off <= 0.501 * steps[..., None]).all(), (name, (off / steps[..., None]).max())


if __name__ == "__main__":
    what, *places = sys.argv[1:]
    {"make": make, "read": read}[what](*map(pathlib.Path, places))
