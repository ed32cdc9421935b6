"""Diagnoses and remedies as a service sends them."""

from studio.domain.control import UpResult
from studio.domain.diagnosis import Diagnosis, Fixed, Match, Offered, RemedyList
from studio.domain.remedies import Remedy, RemedyKind

LOWER = Remedy(
    kind=RemedyKind.RESTART_WITH,
    text="Lower max_model_len to 16256 or less.",
    settings={"max_model_len": "16256"},
)
INSTALL = Remedy(
    kind=RemedyKind.COMMAND,
    text="Install a compiler.",
    command="sudo apt install build-essential",
)
FAILURE = Match(
    code="kv-cache-too-small",
    cause="A request of 32,768 tokens needs 0.12 GiB of KV cache; 0.06 GiB is available.",
    evidence=("ValueError: To serve at least one request\x1b[31m",),
    remedy=LOWER.text,
    remedies=(LOWER, INSTALL),
)
FOLLOWS = Match(code="engine-start-failed", cause="The engine failed while starting.")
DIAGNOSIS = Diagnosis(matches=(FAILURE, FOLLOWS), source="/srv/engine.log", lines=165)
OFFERED = RemedyList(
    preset="cpu-demo",
    failure=FAILURE,
    offered=(
        Offered(
            number=1,
            about="kv-cache-too-small",
            remedy=LOWER,
            command="weir up cpu-demo --set max_model_len=16256",
        ),
        Offered(number=2, about="kv-cache-too-small", remedy=INSTALL, command=INSTALL.command),
        Offered(number=3, about="eager-mode", remedy=Remedy(kind=RemedyKind.RESTART, text="Go.")),
    ),
)
FIXED = Fixed(
    taken=OFFERED.offered[0],
    repaired=("cpu-vllm",),
    result=UpResult(
        base_url="http://127.0.0.1:18020/v1",
        preset="cpu-demo",
        served_name="smollm2",
        runtime="cpu-vllm",
        runtime_id="0123456789abcdef",
    ),
)
