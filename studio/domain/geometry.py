"""What of a model decides the size of its KV cache: layer kinds, heads, windows, states.

A preset's model ships this as data for the time before a download; the model's own `config.json`
wins once it is on disk (studio/planner).
"""

import enum

import msgspec


class LayerKind(enum.StrEnum):
    """What a layer keeps between two engine steps."""

    FULL = "full"
    """Attention over all tokens: keys and values of each."""
    SLIDING = "sliding"
    """Attention over the last `window` tokens."""
    MLA = "mla"
    """One compressed vector for each token, shared by all heads."""
    CHUNKED = "chunked"
    """Attention within the current chunk of `window` tokens."""
    CROSS = "cross"
    """Attention over what an encoder made of the input: as many tokens as one step takes."""
    LINEAR = "linear"
    """A gated-delta-net, Mamba or similar layer: one state a request, whatever its length."""


class LayerSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Layers of one kind and shape. Which fields count depends on `kind`; the rest is None."""

    kind: LayerKind
    count: int
    kv_heads: int | None = None
    head_size: int | None = None
    value_size: int | None = None
    """A head's values, where they are not as long as its keys (`head_size`)."""
    window: int | None = None
    """In tokens, for `sliding` and `chunked`."""
    latent_size: int | None = None
    """Elements kept for each token, for `mla`: compressed vector and rotary part together."""
    cell_bytes: int | None = None
    """Bytes of one token in one layer where the model fixes them, whatever the KV cache type
    (an indexer's keys)."""
    conv_kernel: int | None = None
    """Of a `linear` layer's convolution; it keeps one step less."""
    conv_channels: int | None = None
    conv_groups: int | None = None
    """Groups of `conv_group_width` channels among them that every shard needs whole (Mamba 2)."""
    conv_group_width: int | None = None
    state_heads: int | None = None
    state_head_size: int | None = None
    """Rows of one head's state."""
    state_width: int | None = None
    """Columns of one head's state."""
    checkpoints_prefill: bool = False
    """vLLM keeps one state more a request for a checkpoint inside the prefill (Mamba 2, 0.32)."""


class ModelGeometry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model (a target or a drafter) as the planner sees it."""

    architecture: str
    layers: tuple[LayerSet, ...]
    query_heads: int | None = None
    hidden_size: int | None = None
    vocabulary: int | None = None
    context_tokens: int | None = None
    """The longest context that the model was made for."""
    default_context_tokens: int | None = None
    """What the engine takes where no context is asked for; None: the longest."""
    weight_bytes: dict[str, int] = {}
    """Part (`body`, `lm_head`, `embedding`, `vision`, `mtp`) to bytes on the card at TP 1."""
    mtp_layers: tuple[LayerSet, ...] = ()
    """The layers of the built-in draft module; they have a KV cache only when it is used."""
    dtype: str | None = None
    """Of the model's activations, as `config.json` names it: `bfloat16`."""
    state_dtype: str | None = None
    """What its linear layers keep their state in unless an argument says otherwise."""
    kv_cache_dtype: str | None = None
    """What `auto` means for a checkpoint that was quantised together with its KV cache."""
    is_complete: bool = True
    """False: sources give it only in part, so a forecast is never called exact."""
    assumptions: tuple[str, ...] = ()
    """What was taken for granted where the config is silent, in words."""
    source: str | None = None
