"""Exit statuses: one meaning, however it is written."""

import pytest

from studio.serving.exit_codes import canonical, name_of


@pytest.mark.parametrize(
    ("codes", "name"),
    [
        ((-9, 137), "SIGKILL"),
        ((-11, 139), "SIGSEGV"),
        ((-6, 134), "SIGABRT"),
        ((-15, 143), "SIGTERM"),
        ((3221225477, -1073741819, 18446744072635809797, 18446744072635810000),
         "STATUS_ACCESS_VIOLATION (0xC0000005)"),
        ((3221225786, -1073741510, 18446744072635810106), "STATUS_CONTROL_C_EXIT (0xC000013A)"),
        ((3221226505, -1073740791, 18446744072635812000),
         "STATUS_STACK_BUFFER_OVERRUN (0xC0000409)"),
        ((3221225781, -1073741515), "STATUS_DLL_NOT_FOUND (0xC0000135)"),
        ((0xC0000999,), "status 0xC0000999"),
    ],
)  # fmt: skip
def test_every_form_of_a_status_means_the_same(codes: tuple[int, ...], name: str) -> None:
    """Shells, Python, Windows and JavaScript each have their own."""
    assert {name_of(code) for code in codes} == {name}
    assert len({canonical(code) for code in codes}) == 1


@pytest.mark.parametrize("code", [0, 1, 2, 127, 128, 255, 193, -200, 1 << 40, 1 << 70, -(1 << 70)])
def test_other_numbers_mean_themselves(code: int) -> None:
    """A status that means nothing special is no signal."""
    assert canonical(code) == code
    assert name_of(code)
