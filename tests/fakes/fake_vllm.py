"""A stand-in for `vllm serve`: the same command line, log, processes, answers and ways to die.

    python fake_vllm.py serve MODEL [--uds PATH | --host HOST --port PORT] [any other flag]

Standard library only, so that it starts in a tenth of a second. What it says is recorded from a
real vLLM 0.32.0 (tests/data/engine). Environment:

    VLLM_API_KEY               the key that every path but /health asks for
    FAKE_VLLM_UNPATCHED        set: as upstream ships it, without the Studio's own patches (only /v1
                               and /inference ask for the key, and no ledger is printed)
    FAKE_VLLM_BOOT_S           seconds of the boot, default 0.3; the recorded cadence, sped up
    FAKE_VLLM_BOOT_LOG         another recorded boot log
    FAKE_VLLM_TOKENS_PER_S     pace of each stream, default 200; 0: as fast as can be
    FAKE_VLLM_TOKENS           tokens of an answer that nothing cuts short, default 32
    FAKE_VLLM_FAULT            comma-separated:
        refuse-kv refuse-kv-cold (the first time only) port-in-use die-in-boot hang-in-boot
        slow-boot=SECONDS
        die-on-first-request die-after=SECONDS stall ignore-sigterm spew=LINES_PER_S
        stall-after=REQUESTS (no token for any later one), deaf (the server lives on, and says 200
        to /health, when EngineCore is dead)
    With --tensor-parallel-size N there are N workers.

SIGTERM and SIGINT end it with status 0 (running requests end with `abort`, or are drained for
`--shutdown-timeout` seconds); SIGKILL of this process leaves EngineCore and Worker behind, as those
of an engine without our patch against it, which guard and sweep have to cope with. A dead
EngineCore or Worker ends it with status 0, too.
"""

import sys
from pathlib import Path


def main() -> int:
    """Run until told to stop; returns the exit status."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.fakes.vllm import boot, settings  # the path above is needed first

    return boot.run(settings.read(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
