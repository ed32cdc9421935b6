"""Patch series and build steps to text, as pure functions."""

from studio.cli import series_words as words
from studio.domain.runtimes import BuiltStep, FetchedSeries
from studio.domain.units import bytes_text, duration_text


def series_text(found: FetchedSeries) -> str:
    """Return every series with its patches in order, and where they are kept."""
    if not found.sets:
        return words.NO_SERIES.format(name=found.runtime)
    blocks = []
    for one in found.sets:
        head = f"{one.title} · {one.repository} at {one.commit}"
        lines = [f"{number:4}  {name}" for number, name in enumerate(one.patches, 1)]
        blocks.append("\n".join([head, *lines]))
    kept = [
        f"{one.words}, {bytes_text(one.bytes)}. {words.KEPT.format(file=one.file)}"
        for one in found.sources
    ]
    return "\n\n".join([*blocks, "\n".join(kept)])


def built_text(one: BuiltStep) -> str:
    """Return in one line what became of a build step."""
    pieces = [words.STATES[one.state]]
    if one.seconds is not None:
        pieces[0] += f" in {duration_text(one.seconds)}"
    if one.reason is not None:
        pieces.append(one.reason.rstrip("."))
    if one.fallback is not None:
        pieces.append(words.INSTEAD.format(fallback=one.fallback))
    if one.cost is not None:
        pieces.append(words.COST.format(cost=one.cost))
    pieces += [f"{name}: {where}" for name, where in one.tools.items()]
    if one.log is not None:
        pieces.append(words.LOG.format(log=one.log))
    return f"{one.title}: {'; '.join(pieces)}."
