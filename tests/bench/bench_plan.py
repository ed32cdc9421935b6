"""How long the plans of all presets take on each host of the catalogue, in processor time.

python -m tests.bench.bench_plan
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from studio.app.boots_seen import BootsSeen
from studio.app.machine import Machine
from studio.app.plans import Plans
from studio.app.settings import SettingsFile
from studio.domain.plans import PlanRequest
from studio.host import hosts
from studio.host.paths import Paths, bundled_root
from studio.planner.card_ledger import Ground
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog

LIMIT_S = 0.050
_ROUNDS = 7


def plans_of(home: Path) -> tuple[Plans, PresetStore, Paths]:
    """Return a planner over the shipped catalogue."""
    paths = Paths(home=home, catalogue=bundled_root())
    store = PresetStore(paths)
    made = Plans(
        paths=paths,
        presets=store,
        catalog=Catalog(paths),
        settings=SettingsFile(paths.settings_file),
        machine=Machine(paths),
        own_pids=frozenset,
    )
    return made, store, paths


def measure(host_id: str, home: Path) -> tuple[float, float]:
    """Return the processor seconds of all plans on one host: arithmetic alone, and with reading."""
    made, store, paths = plans_of(home)
    host = hosts.of_catalogue(host_id, paths).host
    ground = Ground(host=host, is_replay=True)
    known = BootsSeen(home / "none.json").known()
    presets = store.all()
    recipes = {one.name: one for one in Catalog(paths).recipes()}
    ready = [
        made.case_of(preset, recipes[preset.runtime], ground, known, {}, None) for preset in presets
    ]
    requests = [PlanRequest(preset=preset.id) for preset in presets]
    arithmetic, whole = [], []
    for _ in range(_ROUNDS):
        started = time.process_time()
        for request, (case, around) in zip(requests, ready, strict=True):
            made.judged(request, case, around)
        arithmetic.append(time.process_time() - started)
        started = time.process_time()
        for preset in store.all():
            case, around = made.case_of(preset, recipes[preset.runtime], ground, known, {}, None)
            made.judged(PlanRequest(preset=preset.id), case, around)
        whole.append(time.process_time() - started)
    return statistics.median(arithmetic), statistics.median(whole)


def main() -> int:
    """Print the table; fail when the arithmetic is slower than it may be."""
    is_slow = False
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _, store, paths = plans_of(home)
        print(f"{len(store.all())} presets; limit {LIMIT_S * 1000:.0f} ms for the arithmetic")
        for entry in hosts.listed(paths):
            arithmetic, whole = measure(entry.id, home)
            is_slow |= arithmetic > LIMIT_S
            print(
                f"{entry.id:<18}{arithmetic * 1000:7.1f} ms   "
                f"with reading all files {whole * 1000:7.1f} ms"
            )
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
