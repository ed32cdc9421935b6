"""A second preset, and how a call is refused."""

from collections.abc import Awaitable

import pytest

from studio.domain.errors import StudioError
from tests.app.running import Running
from tests.fakes.catalogue import PRESET

OTHER = "fake-other"
LARGE_WHEEL = (
    '\n[model.wheel]\npackage = "large"\nversion = "1"\nmember = "x"\n'
    f'sha256 = "{"0" * 64}"\nmember_sha256 = "{"1" * 64}"\nbytes = 20_000_000_000\n'
)


async def refused(call: Awaitable[object]) -> StudioError:
    """Return the error that a call ends with."""
    with pytest.raises(StudioError) as caught:
        await call
    return caught.value


def another_preset(made: Running, *, model: str = "fake-model", more: str = "") -> None:
    """Put a second preset beside the first."""
    folder = made.paths.catalogue / "presets"
    text = (folder / f"{PRESET}.toml").read_text(encoding="utf-8")
    text = text.replace(f'id = "{PRESET}"', f'id = "{OTHER}"')
    text = text.replace('id = "fake-model"', f'id = "{model}"')
    (folder / f"{OTHER}.toml").write_text(text + more, encoding="utf-8")
