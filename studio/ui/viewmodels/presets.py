"""The preset chooser."""

import msgspec

from studio.domain.control import PresetInfo
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.server import EngineState
from studio.domain.units import bytes_text
from studio.ui.state import Known, Link, is_busy
from studio.ui.viewmodels.words import ButtonView, Role, Shape, Text


class PresetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One preset as a row to choose."""

    id: str
    title: str
    expert: str
    summary: str
    origin: str
    """Licence and origin of the model."""
    verdict: str
    verdict_role: Role
    verdict_shape: Shape
    download: str
    chosen: bool
    running: bool


class ChooserView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole chooser."""

    heading: str
    rows: tuple[PresetRow, ...]
    empty: str
    button: ButtonView
    facts: tuple[tuple[str, Text], ...]
    """This machine: label and value."""


def proposed(presets: tuple[PresetInfo, ...] | None) -> str | None:
    """Return the preset to mark when none was chosen; the service lists the best first."""
    usable = [preset.id for preset in presets or () if preset.usable]
    return usable[0] if usable else None


def chooser_view(known: Known, chosen: str | None) -> ChooserView:
    """Return the chooser with `chosen` marked."""
    running = known.engine.preset if known.engine.state is EngineState.READY else None
    rows = tuple(_row(preset, chosen, running) for preset in known.presets or ())
    return ChooserView(
        heading="Switch to another preset" if running else "What to serve",
        rows=rows,
        empty=_empty(known),
        button=_button(known, chosen, running),
        facts=_facts(known.host),
    )


def _row(preset: PresetInfo, chosen: str | None, running: str | None) -> PresetRow:
    if preset.id == running:
        verdict, role, shape = "Running now", Role.OK, Shape.DOT
    elif preset.usable:
        verdict, role, shape = "Fits this machine", Role.OK, Shape.TICK
    else:
        verdict = " ".join(preset.reasons) or "Does not fit this machine"
        role, shape = Role.WARN, Shape.TRIANGLE
    return PresetRow(
        id=preset.id,
        title=preset.title,
        expert=preset.expert,
        summary=preset.summary,
        origin=f"{preset.model} · licence {preset.licence} · from {preset.origin}",
        verdict=verdict,
        verdict_role=role,
        verdict_shape=shape,
        download=_download(preset),
        chosen=preset.id == chosen,
        running=preset.id == running,
    )


def _download(preset: PresetInfo) -> str:
    if preset.download_bytes is None:
        return "Download size not known"
    if preset.download_bytes == 0:
        return "All of it is on this machine"
    return f"Downloads {bytes_text(preset.download_bytes)} first"


def _empty(known: Known) -> str:
    if known.link is not Link.LIVE or known.presets is None:
        return "The presets appear when the service answers."
    return "There is no preset yet. Put one into the presets folder of the Studio."


def _button(known: Known, chosen: str | None, running: str | None) -> ButtonView:
    preset = next((item for item in known.presets or () if item.id == chosen), None)
    text = "Switch to this preset" if running else "Start"
    if known.link is not Link.LIVE:
        return ButtonView(text=text, enabled=False, tooltip="The service does not answer yet.")
    if preset is None:
        return ButtonView(text=text, enabled=False, tooltip="Choose a preset first.")
    if not preset.usable:
        return ButtonView(text=text, enabled=False, tooltip=" ".join(preset.reasons))
    if preset.id == running:
        return ButtonView(text=text, enabled=False, tooltip="This preset runs now.")
    return ButtonView(text=text, enabled=not is_busy(known), tooltip=f"Serve “{preset.title}”")


def _facts(host: HostSnapshot | None) -> tuple[tuple[str, Text], ...]:
    if host is None:
        unknown = Text(tooltip="The service looks at the machine when a preset is started.")
        labels = ("Card", "Processor", "Memory", "Disk", "System")
        return tuple((label, unknown) for label in labels)
    cores = f", {host.cpu_count} cores" if host.cpu_count else ""
    free = bytes_text(host.memory_free_bytes)
    return (
        *_cards(host),
        ("Processor", Text(text=f"{host.cpu_name or host.machine}{cores}")),
        ("Memory", Text(text=f"{bytes_text(host.memory_bytes)}, {free} free")),
        ("Disk", Text(text=f"{bytes_text(host.disk_free_bytes)} free")),
        ("System", Text(text=f"{host.os_name}{' in WSL' if host.is_wsl else ''}")),
    )


def _cards(host: HostSnapshot) -> tuple[tuple[str, Text], ...]:
    if not host.gpus:
        note = host.gpu_note or "No NVIDIA card was found."
        return (("Card", Text(text=note, tooltip=note)),)
    return tuple((f"Card {gpu.index}", _card(gpu, host.driver)) for gpu in host.gpus)


def _card(gpu: Gpu, driver: str | None) -> Text:
    return Text(
        text=f"{gpu.name}, {bytes_text(gpu.total_bytes)}",
        tooltip=f"{bytes_text(gpu.free_bytes)} free, driver {driver or 'not known'}",
    )
