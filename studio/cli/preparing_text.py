"""What models still need, in words. Pure."""

from collections.abc import Iterator

from studio.cli import preparing_words as words
from studio.domain.preparing import (
    ModelStanding,
    PresetStanding,
    SourceStanding,
    StepStanding,
    StepState,
)
from studio.domain.proofs import ModelState
from studio.domain.units import bytes_text, duration_text

_MOST_FILES = 20
_INDENT = "  "
_COMMIT = 12


def standing_text(found: PresetStanding) -> str:
    """Return models one after another with what each needs, and the sum."""
    lines = []
    for model in found.models:
        head, *rest = model_lines(model)
        lines += [head, *(_INDENT + line for line in rest)]
    if found.note is not None:
        lines.append(words.NOTE.format(note=found.note))
    return "\n".join([*lines, sum_text(found)])


def needs(model: ModelStanding) -> Iterator[str]:
    """Yield in short what has to be fetched for a model and done to it."""
    for source in model.sources:
        if not source.is_here:
            size = _size(source.download_bytes)
            yield words.NEEDS_FILES.format(repository=source.repository, size=size)
    due = [one.name for one in model.steps if one.state is StepState.DUE]
    if due and not model.is_usable:
        yield words.NEEDS_STEPS.format(id=model.id, steps=", ".join(due))


def flat_lines(found: PresetStanding) -> list[str]:
    """Return the same as `standing_text`, one line for each thing."""
    return standing_text(found).splitlines()


def sum_text(found: PresetStanding) -> str:
    """Return how much is to be fetched and how much room that takes."""
    if found.is_usable:
        return words.NOTHING
    disk = bytes_text(found.disk_bytes)
    if found.download_bytes is None:
        return words.SUM_UNKNOWN.format(disk=disk)
    return words.SUM.format(download=bytes_text(found.download_bytes), disk=disk)


def model_lines(model: ModelStanding) -> list[str]:
    """Return one model: how it stands, then a line for each thing that it needs."""
    lines = [words.HEAD.format(id=model.id, title=model.title, state=_state(model))]
    if model.is_usable:
        lines.append(words.LIES.format(folder=model.folder))
        return [*lines, *(_step(one) for one in model.steps)]
    if model.lay_in is not None:
        lines.append(words.LAY_IN.format(folder=model.lay_in))
    if model.base is not None:
        lines.append(words.BASE.format(base=model.base))
    if model.package is not None:
        size = _size(model.download_bytes)
        lines.append(words.PACKAGE.format(package=model.package, size=size))
    for source in model.sources:
        lines += _source(source)
    lines += [_step(one) for one in model.steps]
    if model.advice is not None:
        lines.append(model.advice)
    return lines


def _state(model: ModelStanding) -> str:
    if not model.is_usable:
        return words.NOT_HERE
    match model.state:
        case ModelState.READY:
            return words.READY
        case ModelState.DAMAGED | ModelState.INCOMPLETE:
            return words.DAMAGED
        case _:
            return words.UNPROVEN


def _source(source: SourceStanding) -> Iterator[str]:
    revision = f"@{source.revision[:_COMMIT]}" if source.revision is not None else ""
    if source.is_here:
        yield words.SOURCE_HERE.format(
            repository=source.repository, revision=revision, folder=source.folder
        )
        return
    yield words.FETCH.format(
        repository=source.repository,
        revision=revision,
        hub=source.hub,
        size=_size(source.download_bytes),
        folder=source.folder,
    )
    for one in source.missing[:_MOST_FILES]:
        yield _INDENT + words.FILE.format(name=one.name, size=_size(one.size_bytes))
    if len(source.missing) > _MOST_FILES:
        yield _INDENT + words.MORE_FILES.format(count=f"{len(source.missing) - _MOST_FILES:,}")


def _step(step: StepStanding) -> str:
    match step.state:
        case StepState.DONE:
            return words.STEP_DONE.format(name=step.name)
        case StepState.LEFT_OUT:
            return words.STEP_LEFT_OUT.format(name=step.name, why=step.open or words.NO_REASON)
        case StepState.OPEN:
            return words.STEP_OPEN.format(name=step.name, why=step.open or words.NO_REASON)
        case StepState.DUE:
            return words.STEP.format(name=step.name, what=step.what, about=_about(step))


def _about(step: StepStanding) -> str:
    pieces = []
    if step.takes_s is not None:
        pieces.append(words.TAKES.format(duration=duration_text(step.takes_s)))
    if step.memory_bytes is not None:
        pieces.append(words.NEEDS_MEMORY.format(size=bytes_text(step.memory_bytes)))
    if step.disk_bytes is not None:
        pieces.append(words.NEEDS_DISK.format(size=bytes_text(step.disk_bytes)))
    return f" ({', '.join(pieces)})" if pieces else ""


def _size(size: int | None) -> str:
    return words.SIZE_UNKNOWN if size is None else bytes_text(size)
