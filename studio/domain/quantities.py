"""Whole numbers as people type them, with one reading for every place that takes them. Pure."""

import re

_LONGEST = 100
_WHOLE = re.compile(r"(-?\d[\d_]*(?:\.\d+)?)\s*(?:([kKmMgGtT])(i?)[bB]?|i?[bB])?")
_BINARY = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def whole_number(text: str) -> int | None:
    """Read `4096`, `4_096`, `64k` (thousands), `64K` (1,024), `5.2G`, `4gib` (1,024); else None.

    As the engine reads them, so that a figure means the same to the Studio and to it; an `i` can
    only mean powers of 1,024.
    Source: vLLM 0.32, `human_readable_int` in utils/argparse_utils.py.
    """
    found = _WHOLE.fullmatch(text.strip())
    if found is None or len(found[1]) > _LONGEST:
        return None
    sign = found[2] or ""
    factor = _BINARY[sign.upper()] if found[3] else _BINARY.get(sign) or _DECIMAL.get(sign, 1)
    digits = found[1].replace("_", "")
    if "." not in digits:
        return int(digits) * factor
    return round(float(digits) * factor) if factor > 1 else None
