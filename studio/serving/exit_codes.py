"""Exit statuses in all the forms they are met in, and their names.

Pure. A shell says 137 where Python says -9; Windows reports an NTSTATUS as a large number, as a
negative one, or stretched to 64 bits; JavaScript rounds the last to 16 digits
(0xC0000409 → 18446744072635812000).
"""

import signal

_HALF, _WHOLE, _LONG = 1 << 31, 1 << 32, 1 << 64
_SHELL_BASE, _SHELL_LAST = 128, 128 + 64
_SEVERE, _BEYOND = 0xC000_0000, 0xD000_0000
_STATUSES = {
    0xC000_0005: "STATUS_ACCESS_VIOLATION",
    0xC000_0006: "STATUS_IN_PAGE_ERROR",
    0xC000_0017: "STATUS_NO_MEMORY",
    0xC000_001D: "STATUS_ILLEGAL_INSTRUCTION",
    0xC000_0094: "STATUS_INTEGER_DIVIDE_BY_ZERO",
    0xC000_009A: "STATUS_INSUFFICIENT_RESOURCES",
    0xC000_00FD: "STATUS_STACK_OVERFLOW",
    0xC000_012D: "STATUS_COMMITMENT_LIMIT",
    0xC000_0135: "STATUS_DLL_NOT_FOUND",
    0xC000_0139: "STATUS_ENTRYPOINT_NOT_FOUND",
    0xC000_013A: "STATUS_CONTROL_C_EXIT",
    0xC000_0142: "STATUS_DLL_INIT_FAILED",
    0xC000_0374: "STATUS_HEAP_CORRUPTION",
    0xC000_0409: "STATUS_STACK_BUFFER_OVERRUN",
    0xC000_0417: "STATUS_INVALID_CRUNTIME_PARAMETER",
    0xC000_0420: "STATUS_ASSERTION_FAILURE",
    0xC000_0602: "STATUS_FAIL_FAST_EXCEPTION",
}
"""Those a dying program ends with. Source: [MS-ERREF] 2.3."""
_FREQUENT = (0xC000_0005, 0xC000_0409)


def canonical(code: int) -> int:
    """Return one number for one meaning: a negative signal, an unsigned NTSTATUS, or `code`."""
    status = _status(code)
    if status is not None:
        return status
    if _SHELL_BASE < code <= _SHELL_LAST:
        return _SHELL_BASE - code
    return code


def name_of(code: int) -> str:
    """Return the signal's or the status's name, else the number: `SIGKILL`, `status 1`."""
    meaning = canonical(code)
    if meaning in _STATUSES:
        return f"{_STATUSES[meaning]} (0x{meaning:08X})"
    if meaning >= _SEVERE:
        return f"status 0x{meaning:08X}"
    if meaning < 0:
        try:
            return signal.Signals(-meaning).name
        except ValueError:
            return f"signal {-meaning}"
    return f"status {code}"


def _status(code: int) -> int | None:
    """Return the NTSTATUS that `code` stands for, or None when it is no such thing."""
    if _SEVERE <= code < _BEYOND:
        return code
    if _SEVERE <= code + _WHOLE < _BEYOND:
        return code + _WHOLE
    if code < _LONG - _HALF:
        return None
    if code % 1000:
        return code - _LONG + _WHOLE if code < _LONG else None
    rounded = [one for one in (*_FREQUENT, *_STATUSES) if float(one + _LONG - _WHOLE) == code]
    near = [one for one in (*_FREQUENT, *_STATUSES) if _written(one + _LONG - _WHOLE) == code]
    return next(iter(rounded + near), None)


def _written(number: int) -> int:
    """Return `number` as JavaScript writes it: the shortest digits that give the same double."""
    digits, _, exponent = f"{float(number)!r}".partition("e")
    whole, _, rest = digits.partition(".")
    places = int(exponent or 0)
    return int((whole + rest).ljust(places + 1, "0")[: places + 1])
