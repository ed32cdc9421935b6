"""How a model's weights are stored, in the words that people use for it. Pure.

A config is a stranger's: every field may be of any type, and what does not fit says nothing.
"""

from collections.abc import Iterator, Mapping

_MOST = 60
_WIDTH_KEYS = ("bits", "w_bit", "num_bits", "weight_bits")
_NAMES = {
    "gptq": "GPTQ",
    "gptq_marlin": "GPTQ",
    "awq": "AWQ",
    "awq_marlin": "AWQ",
    "fp8": "FP8",
    "fbgemm_fp8": "FP8",
    "mxfp4": "MXFP4",
    "modelopt": "modelopt",
    "modelopt_fp4": "NVFP4",
    "bitsandbytes": "bitsandbytes",
    "compressed-tensors": "compressed-tensors",
}


def settings_of(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return what a config says of quantisation; empty where it says nothing."""
    for place in (config, config.get("text_config"), config.get("quantization")):
        if not isinstance(place, Mapping):
            continue
        for key in ("quantization_config", "compression_config"):
            found = place.get(key)
            if isinstance(found, Mapping):
                return found
    modelopt = config.get("quantization")
    return modelopt if isinstance(modelopt, Mapping) and "quant_algo" in modelopt else {}


def widths(settings: Mapping[str, object]) -> frozenset[int]:
    """Return to how many bits weights are packed, each width once."""
    found = set(_widths(settings))
    if settings.get("load_in_4bit") is True or _is_nvfp4(settings) or _is_mxfp4(settings):
        found.add(4)
    return frozenset(found)


def label(settings: Mapping[str, object], types: Mapping[str, int]) -> str | None:
    """Return what the weights are: a method and its width, or the type of most numbers."""
    if not settings:
        plain = {name: count for name, count in types.items() if name}
        return max(plain, key=lambda name: plain[name], default=None)
    if _is_nvfp4(settings):
        return "NVFP4"
    method = settings.get("quant_method", settings.get("quant_algo"))
    name = method if isinstance(method, str) and method.isprintable() else "quantised"
    name = _NAMES.get(name, name[:_MOST])
    if name in ("FP8", "MXFP4"):
        return name
    bits = sorted(widths(settings))
    if bits == [8] and "float" in set(_kinds(settings)):
        return f"FP8, {name}"
    return f"{name}, {' and '.join(map(str, bits))} bits" if bits else name


def _groups(settings: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    groups = settings.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping):
            yield weights


def _widths(settings: Mapping[str, object]) -> Iterator[int]:
    for place in (settings, *_groups(settings)):
        for key in _WIDTH_KEYS:
            bits = place.get(key)
            if isinstance(bits, int) and not isinstance(bits, bool) and 0 < bits <= 32:
                yield bits


def _kinds(settings: Mapping[str, object]) -> Iterator[str]:
    for group in _groups(settings):
        kind = group.get("type")
        if isinstance(kind, str):
            yield kind


def _is_nvfp4(settings: Mapping[str, object]) -> bool:
    said = [settings.get("format"), settings.get("quant_algo"), settings.get("quant_method")]
    return any(isinstance(one, str) and "nvfp4" in one.lower() for one in said)


def _is_mxfp4(settings: Mapping[str, object]) -> bool:
    return settings.get("quant_method") == "mxfp4"
