"""What models of a preset may still need, and a service that says so."""

import httpx
import msgspec

from studio.domain.errors import HostLacks
from studio.domain.preparing import (
    ModelStanding,
    PrepareRequest,
    PresetStanding,
    SourceStanding,
    StepStanding,
    StepState,
    WantedFile,
)
from studio.domain.proofs import ModelState
from tests.cli.fake_service import FakeService

COMMIT = "1f05c441c4e64ae0549de44fa9ea5a6d43610314"
BASE = ModelStanding(
    id="base", title="Base", state=ModelState.INCOMPLETE, is_usable=False, folder="/models/base",
    sources=(
        SourceStanding(
            repository="a/base", hub="Hugging Face", revision=COMMIT, folder="/hf",
            missing=tuple(WantedFile(name=f"{n}.safetensors", size_bytes=n << 30)
                          for n in range(1, 24)),
            download_bytes=19_500_000_000, is_listed=True,
        ),
        SourceStanding(repository="a/here", hub="Hugging Face", is_here=True, folder="/hf/here"),
    ),
    steps=(
        StepStanding(name="lm-head", what="Store it.", state=StepState.DUE, takes_s=50.0,
                     memory_bytes=600_000_000, disk_bytes=5_000_000_000),
        StepStanding(name="template", what="T.", state=StepState.LEFT_OUT, open="Nobody says how."),
        StepStanding(name="ids", what="I.", state=StepState.OPEN),
    ),
    download_bytes=19_500_000_000, disk_bytes=24_500_000_000,
)  # fmt: skip
FAST = ModelStanding(
    id="fast", title="Fast", state=ModelState.INCOMPLETE, is_usable=False, folder="/models/fast",
    base="base", package="weights 1.0", download_bytes=None, disk_bytes=1,
    advice="Put the files there by hand.",
)  # fmt: skip
READY = ModelStanding(
    id="drafter", title="Drafter", state=ModelState.READY, is_usable=True, folder="/hf/d",
    steps=(StepStanding(name="lm-head", what="S.", state=StepState.DONE),),
)  # fmt: skip
MISSING = PresetStanding(
    preset="27b", models=(BASE, FAST, READY), download_bytes=None, disk_bytes=24_500_000_001,
    is_usable=False, note="The hub cannot be asked.",
)  # fmt: skip
HERE = PresetStanding(preset="27b", models=(READY,), download_bytes=0, disk_bytes=0, is_usable=True)


class PreparingService(FakeService):
    """A service that knows one preset; with `consent` it gets it."""

    async def _answer(self, path: str, request: httpx.Request) -> object:
        if path.startswith("/models/missing/"):
            assert dict(request.url.params) == {"listed": "1"}
            return MISSING
        if path == "/models/prepare":
            asked = msgspec.json.decode(request.content, type=PrepareRequest)
            if not asked.consent:
                raise HostLacks("large-download", "It is large.", hint="Agree with `--yes`.")
            return HERE
        return await super()._answer(path, request)
