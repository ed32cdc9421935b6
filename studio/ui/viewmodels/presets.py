"""The preset chooser."""

import msgspec

from studio.domain.control import PresetInfo
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.server import EngineState
from studio.domain.units import bytes_text
from studio.ui.language import t, told
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
        heading=t("Switch to another preset") if running else t("What to serve"),
        rows=rows,
        empty=_empty(known),
        button=_button(known, chosen, running),
        facts=machine_facts(known.host),
    )


def _row(preset: PresetInfo, chosen: str | None, running: str | None) -> PresetRow:
    if preset.id == running:
        verdict, role, shape = t("Running now"), Role.OK, Shape.DOT
    elif preset.usable:
        verdict, role, shape = t("Suits this hardware"), Role.OK, Shape.TICK
    else:
        verdict = " ".join(told(one) for one in preset.reasons) or t("Does not fit this machine")
        role, shape = Role.WARN, Shape.TRIANGLE
    return PresetRow(
        id=preset.id,
        title=told(preset.title),
        expert=preset.expert,
        summary=told(preset.summary),
        origin=t("{model} · licence {licence} · from {origin}").format(
            model=preset.model, licence=preset.licence, origin=preset.origin
        ),
        verdict=verdict,
        verdict_role=role,
        verdict_shape=shape,
        download=_download(preset),
        chosen=preset.id == chosen,
        running=preset.id == running,
    )


def _download(preset: PresetInfo) -> str:
    if preset.download_bytes is None:
        return t("Download size not known")
    if preset.download_bytes == 0:
        return t("All of it is on this machine")
    return t("Downloads {download_bytes} first").format(
        download_bytes=bytes_text(preset.download_bytes)
    )


def _empty(known: Known) -> str:
    if known.link is not Link.LIVE or known.presets is None:
        return t("The presets appear when the service answers.")
    return t("There is no preset yet. Put one into the presets folder of the Studio.")


def _button(known: Known, chosen: str | None, running: str | None) -> ButtonView:
    preset = next((item for item in known.presets or () if item.id == chosen), None)
    text = t("Switch to this preset") if running else t("Start")
    if known.link is not Link.LIVE:
        return ButtonView(text=text, enabled=False, tooltip=t("The service does not answer yet."))
    if preset is None:
        return ButtonView(text=text, enabled=False, tooltip=t("Choose a preset first."))
    if not preset.usable:
        return ButtonView(
            text=text, enabled=False, tooltip=" ".join(told(one) for one in preset.reasons)
        )
    if preset.id == running:
        return ButtonView(text=text, enabled=False, tooltip=t("This preset runs now."))
    return ButtonView(
        text=text,
        enabled=not is_busy(known),
        tooltip=t("Serve “{title}”").format(title=told(preset.title)),
    )


def machine_facts(host: HostSnapshot | None) -> tuple[tuple[str, Text], ...]:
    """Return the machine in a few lines: label and value."""
    if host is None:
        unknown = Text(tooltip=t("The service looks at the machine when a preset is started."))
        labels = (t("Card"), t("Processor"), t("Memory"), t("Disk"), t("System"))
        return tuple((label, unknown) for label in labels)
    cores = t(", {cpu_count} cores").format(cpu_count=host.cpu_count) if host.cpu_count else ""
    free = bytes_text(host.memory_free_bytes)
    return (
        *_cards(host),
        (t("Processor"), Text(text=f"{host.cpu_name or host.machine}{cores}")),
        (
            t("Memory"),
            Text(
                text=t("{memory_bytes}, {free} free").format(
                    memory_bytes=bytes_text(host.memory_bytes), free=free
                )
            ),
        ),
        (
            t("Disk"),
            Text(
                text=t("{disk_free_bytes} free").format(
                    disk_free_bytes=bytes_text(host.disk_free_bytes)
                )
            ),
        ),
        (t("System"), Text(text=_system(host))),
    )


def _system(host: HostSnapshot) -> str:
    return t("{name} in WSL").format(name=host.os_name) if host.is_wsl else str(host.os_name)


def _cards(host: HostSnapshot) -> tuple[tuple[str, Text], ...]:
    if not host.gpus:
        note = told(host.gpu_note or "") or t("No NVIDIA card was found.")
        return ((t("Card"), Text(text=note, tooltip=note)),)
    return tuple(
        (t("Card {index}").format(index=gpu.index), _card(gpu, host.driver)) for gpu in host.gpus
    )


def _card(gpu: Gpu, driver: str | None) -> Text:
    return Text(
        text=f"{gpu.name}, {bytes_text(gpu.total_bytes)}",
        tooltip=t("{free_bytes} free, driver {driver}").format(
            free_bytes=bytes_text(gpu.free_bytes), driver=driver or t("not known")
        ),
    )
