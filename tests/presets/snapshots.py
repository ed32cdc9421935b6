"""Every preset on every host of the catalogue, as text: tests/data/presets/<id>.txt.

    python -m tests.presets.snapshots       writes them anew; the difference is to be reviewed

A host for which the same comes out as for an earlier one says so instead of repeating it.
"""

import sys
from pathlib import Path

from studio.presets import choose
from tests.presets.samples import HOSTS, bundled_all, fit_on

FOLDER = Path(__file__).resolve().parents[1] / "data" / "presets"


def text_of(preset_id: str) -> str:
    """Return one preset's snapshot."""
    blocks: list[str] = []
    seen: dict[str, str] = {}
    for host in HOSTS:
        body = _body(fit_on(preset_id, host))
        blocks.append(f"== {host}\n" + (f"as on {seen[body]}\n" if body in seen else body))
        seen.setdefault(body, host)
    return "\n".join(blocks)


def _body(fit: choose.Fit) -> str:
    resolved = fit.resolved
    assert resolved is not None
    lines = [f"does not fit: {reason}" for reason in fit.reasons]
    lines += [f"refused ({one.name}): {one.sentence}" for one in resolved.refusals]
    if not lines:
        lines.append("fits")
    if resolved.gpus:
        lines.append(f"cards: {', '.join(str(one) for one in resolved.gpus)}")
    lines += [f"badge: {badge}" for badge in resolved.badges]
    lines += [f"warning ({one.name}): {one.sentence}" for one in resolved.warnings]
    lines.append("rules: " + " ".join(resolved.rules))
    lines += [f"{name}={value}" for name, value in sorted(resolved.environment.items())]
    for word in resolved.arguments:
        if word.startswith("--"):
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write all; return the exit status."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = {f"{one.id}.txt": text_of(one.id) for one in bundled_all()}
    for old in FOLDER.glob("*.txt"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
