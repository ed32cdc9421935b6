"""A vLLM of somebody else's, as the fake service knows it; its key is `right`."""

import httpx
import msgspec

from studio.domain.adopt import AdoptRequest, AdoptResult, Forgotten
from studio.domain.errors import BadInput
from studio.domain.server import AdoptedInfo

ADOPTED = AdoptedInfo(
    name="Bob's", url="http://127.0.0.1:8000", version="0.32.0", models=("theirs", "adapter")
)


def about_adopted(path: str, request: httpx.Request) -> object:
    """Answer a call about what is adopted."""
    if request.method == "GET":
        return ADOPTED
    if path.endswith("/forget"):
        return Forgotten(was_adopted=True, name=ADOPTED.name)
    asked = msgspec.json.decode(request.content, type=AdoptRequest)
    if asked.key != "right":
        raise BadInput("adopt-key-refused", "It wants a key.", hint="Use `--key-file FILE`.")
    return AdoptResult(
        base_url="http://127.0.0.1:18020/v1",
        api_key="sk-weir-new",
        served_name="theirs",
        max_model_len=2048,
        pool_tokens=23_296,
        adopted=ADOPTED,
        notes=("It serves 2 models.",),
    )
