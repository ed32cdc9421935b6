"""A resolved preset + runtime + places → the engine's argv and environment. Pure.

Secrets never enter an argv: the engine's key is added to the environment by the supervisor, at the
last moment.
"""

import dataclasses
import re
from collections.abc import Mapping
from pathlib import PurePath

from studio.domain.errors import BadInput
from studio.domain.manifests import KnobValue, Preset, RuntimeRecipe
from studio.domain.rules import Resolved

INHERITED = (
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "TZ",
    "USER", "XDG_RUNTIME_DIR",
    "SSL_CERT_DIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)  # fmt: skip
"""What an engine may see of the person's environment. A Conda, a PYTHONPATH or an LD_PRELOAD of
theirs must not reach it: engines that worked yesterday break on those."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where this host keeps what the command names."""

    python: str
    runtime: str
    runtime_id: str
    model: str
    drafter: str = ""
    """Empty: the preset has none."""
    socket: str
    cache: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that is needed to start an engine, but its key."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    preset: str
    served_name: str
    runtime: str
    runtime_id: str
    knobs: Mapping[str, KnobValue]
    overrides: Mapping[str, str]
    python: str
    """Runs the guard."""
    socket: str
    ready_within_s: float
    drain_s: float
    stall_s: float = 180.0
    """How long it may have work and take no step."""
    cards: tuple[int, ...] = ()
    """NVML's numbers of the cards that it uses."""
    card_needs: Mapping[int, int] = dataclasses.field(default_factory=dict, compare=False)
    """Card to the bytes that the plan is certain of; empty where there is none."""

    def at_socket(self, socket: str) -> "Launch":
        """Return the same launch on another socket."""
        return dataclasses.replace(
            self,
            argv=tuple(part.replace(self.socket, socket) for part in self.argv),
            environment={
                name: value.replace(self.socket, socket) for name, value in self.environment.items()
            },
            socket=socket,
        )


def render(
    preset: Preset,
    resolved: Resolved,
    recipe: RuntimeRecipe,
    *,
    places: Places,
    inherited: Mapping[str, str],
) -> Launch:
    """Return the command for `resolved`, which came of `preset`, on `recipe`.

    Order in the environment: inherited < recipe < preset and knobs < cards.
    Raises: BadInput (`placeholder-unknown`).
    """
    known = dataclasses.asdict(places)
    known["sockets"] = str(PurePath(places.socket).parent)
    argv = [_fill(part, known, recipe.name) for part in recipe.serve.command]
    argv += [places.model, "--uds", places.socket, "--served-model-name", resolved.served_name]
    argv += resolved.arguments
    environment = {name: inherited[name] for name in INHERITED if name in inherited}
    for name, value in recipe.serve.environment.items():
        environment[name] = _fill(value, known, recipe.name)
    environment.update(resolved.environment)
    if resolved.gpus:
        # By number, which the V100 engine insists on; NVML counts in bus order, CUDA does not.
        environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(index) for index in resolved.gpus)
    return Launch(
        argv=tuple(argv),
        environment=environment,
        preset=preset.id,
        served_name=resolved.served_name,
        runtime=recipe.name,
        runtime_id=places.runtime_id,
        knobs=resolved.knobs,
        overrides=resolved.overrides,
        python=places.python,
        socket=places.socket,
        ready_within_s=preset.ready_within_s,
        drain_s=preset.drain_s,
        stall_s=preset.stall_s,
        cards=tuple(resolved.gpus),
    )


def _fill(text: str, known: Mapping[str, str], where: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise BadInput(
                "placeholder-unknown",
                f"`{where}` uses the placeholder {{{match[1]}}}, which does not exist.",
                hint="Known: " + ", ".join(f"{{{name}}}" for name in known) + ".",
            )
        return known[match[1]]

    return _PLACEHOLDER.sub(replace, text)
