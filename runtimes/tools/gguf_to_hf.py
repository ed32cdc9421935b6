"""Turns a GGUF file of the llama architecture into a folder in Hugging Face layout.

    python -I gguf_to_hf.py [--packages FOLDER] [--dtype float32] MODEL.gguf FOLDER

Reading and dequantising is the `gguf` package's work (`--packages` says where it lies), writing
that of `safetensors`. Here are the names, the order of rows in q and k, the configuration and the
tokenizer. Only byte-level BPE vocabularies (`gpt2`) with a known pre-tokenizer are accepted: a
wrong guess would give a model that answers, badly. Prints `progress DONE TOTAL` in bytes.
"""

import argparse
import json
import pathlib
import re
import sys

ARCHITECTURE = "llama"
TENSORS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
LAYER_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
DERIVED = frozenset(["rope_freqs.weight"])
LAYER = re.compile(r"blk\.(\d+)\.(\w+)\.weight")
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
SPLITTERS = {
    "smollm": [{"type": "Digits", "individual_digits": True}, BYTE_LEVEL],
    "gpt-2": [BYTE_LEVEL],
}
CONTROL, USER_DEFINED = 3, 4
DTYPES = ("float32", "float16")


class Source:
    """The GGUF file: its fields by name, its tensors dequantised."""

    def __init__(self, path):
        import gguf

        self._dequantize = gguf.quants.dequantize
        self._reader = gguf.GGUFReader(path)
        self.tensors = self._reader.tensors

    def field(self, name, default=None):
        """Return a field's value, or `default`."""
        found = self._reader.get_field(name)
        return default if found is None else found.contents()

    def need(self, name):
        """Return a field's value; a file without it is refused."""
        value = self.field(name)
        if value is None:
            raise SystemExit(f"The file has no field {name}.")
        return value

    def number(self, name):
        """Return a number of the architecture's own section."""
        return self.need(f"{ARCHITECTURE}.{name}")

    def values(self, tensor):
        """Return a tensor as float32 in row-major order, rows first."""
        return self._dequantize(tensor.data, tensor.tensor_type).reshape(tensor.shape[::-1])


def target_name(name):
    """Return the Hugging Face name of a tensor, or None for one that is derived at load time."""
    if name in TENSORS:
        return TENSORS[name]
    layer = LAYER.fullmatch(name)
    if layer and layer[2] in LAYER_TENSORS:
        return f"model.layers.{layer[1]}.{LAYER_TENSORS[layer[2]]}.weight"
    if name in DERIVED:
        return None
    raise SystemExit(f"The tensor {name} has no place in a {ARCHITECTURE} model.")


def rows_in_halves(values, heads):
    """Return q or k rows ordered for rotation by halves.

    GGUF keeps the two numbers that are rotated together side by side (0, 1, 2, 3 ...); transformers
    keeps all first ones of a head, then all second ones (0, 2, ... 1, 3, ...).
    """
    rows, columns = values.shape
    pairs = values.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.transpose(0, 2, 1, 3).reshape(rows, columns)


def weights(source, dtype):
    """Return every tensor under its new name, reporting bytes as they are made."""
    import numpy

    heads = {
        "attn_q": source.number("attention.head_count"),
        "attn_k": source.number("attention.head_count_kv"),
    }
    itemsize = numpy.dtype(dtype).itemsize
    total = sum(int(tensor.n_elements) for tensor in source.tensors) * itemsize
    made, done = {}, 0
    for tensor in source.tensors:
        name = target_name(tensor.name)
        done += int(tensor.n_elements) * itemsize
        if name is None:
            continue
        values = source.values(tensor)
        part = tensor.name.split(".")[-2]
        if part in heads:
            values = rows_in_halves(values, heads[part])
        made[name] = numpy.ascontiguousarray(values, dtype=dtype)
        print(f"progress {done} {total}", flush=True)
    return made


def config(source, dtype, *, is_tied):
    """Return `config.json`."""
    width = source.number("embedding_length")
    heads = source.number("attention.head_count")
    theta = source.field(f"{ARCHITECTURE}.rope.freq_base", 10_000.0)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": width,
        "intermediate_size": source.number("feed_forward_length"),
        "num_hidden_layers": source.number("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": source.number("attention.head_count_kv"),
        "head_dim": source.field(f"{ARCHITECTURE}.rope.dimension_count", width // heads),
        "max_position_embeddings": source.number("context_length"),
        "vocab_size": len(source.need("tokenizer.ggml.tokens")),
        "rms_norm_eps": shortest(source.number("attention.layer_norm_rms_epsilon")),
        "rope_theta": theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": theta},
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": is_tied,
        "use_cache": True,
        "dtype": dtype,
        **token_ids(source),
    }


def shortest(value):
    """Return a float32 read as a double in the digits it was meant in: 1e-05, not 9.99...e-06."""
    return float(f"{value:.7g}")


def token_ids(source):
    """Return the ids of the special tokens that the file names."""
    names = {"bos": "bos", "eos": "eos", "pad": "padding"}
    ids = {short: source.field(f"tokenizer.ggml.{long}_token_id") for short, long in names.items()}
    return {f"{short}_token_id": number for short, number in ids.items() if number is not None}


def tokenizer(source):
    """Return `tokenizer.json`."""
    kind = source.need("tokenizer.ggml.model")
    splitter = source.need("tokenizer.ggml.pre")
    if kind != "gpt2" or splitter not in SPLITTERS:
        raise SystemExit(f"The tokenizer {kind} with pre-tokenizer {splitter} is not known here.")
    tokens = source.need("tokenizer.ggml.tokens")
    types = source.need("tokenizer.ggml.token_type")
    added = [
        {
            "id": number,
            "content": tokens[number],
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": token_type == CONTROL,
        }
        for number, token_type in enumerate(types)
        if token_type in (CONTROL, USER_DEFINED)
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": SPLITTERS[splitter]},
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [merge.split(" ", 1) for merge in source.need("tokenizer.ggml.merges")],
        },
    }


def tokenizer_config(source):
    """Return `tokenizer_config.json`."""
    tokens = source.need("tokenizer.ggml.tokens")
    named = {name.removesuffix("_id"): tokens[number] for name, number in token_ids(source).items()}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": source.number("context_length"),
        **named,
    }


def convert(source, folder, dtype):
    """Write the whole folder."""
    from safetensors.numpy import save_file

    architecture = source.need("general.architecture")
    if architecture != ARCHITECTURE:
        raise SystemExit(f"The architecture {architecture} is not known here.")
    documents = {
        "tokenizer.json": tokenizer(source),
        "tokenizer_config.json": tokenizer_config(source),
        "generation_config.json": token_ids(source),
    }
    made = weights(source, dtype)
    documents["config.json"] = config(source, dtype, is_tied="lm_head.weight" not in made)
    folder.mkdir(parents=True)
    save_file(made, folder / "model.safetensors", metadata={"format": "pt"})
    for name, document in documents.items():
        text = json.dumps(document, ensure_ascii=False, indent=1)
        (folder / name).write_text(text, encoding="utf-8")
    template = source.field("tokenizer.chat_template")
    if template is not None:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")


def main():
    """Read the command line and convert."""
    parser = argparse.ArgumentParser(description="GGUF (llama) to a Hugging Face folder.")
    parser.add_argument("--packages", help="folder that holds the gguf package")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    if given.packages:
        sys.path.append(given.packages)
    convert(Source(given.source), given.folder, given.dtype)


if __name__ == "__main__":
    main()
