"""The cards that a person chose: kept by the card's own id, because numbers move between boots."""

from studio.app.settings import Settings
from studio.domain.control import UpRequest
from studio.domain.errors import HostLacks, NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.plans import LedgerItem, LedgerPlace, Plan

_NOT_THE_ENGINES = frozenset(("not-ours", "free", "margin"))
"""Lines of a plan's ledger that the engine does not take."""


def remembered(settings: Settings, host: HostSnapshot) -> tuple[int, ...] | None:
    """Return the numbers that the chosen cards have now, None when none were chosen.

    Raises: HostLacks (`gpu-missing`), which names the card that is gone.
    """
    if settings.gpu_uuids is None:
        return settings.gpus
    by_uuid = {card.uuid: card.index for card in host.gpus if card.uuid is not None}
    for uuid in settings.gpu_uuids:
        if uuid not in by_uuid:
            listed = ", ".join(f"{card.index} {card.name}" for card in host.gpus) or "none"
            name = settings.gpu_names.get(uuid)
            raise HostLacks(
                "gpu-missing",
                f"The card chosen earlier, {name + ' ' if name else ''}({uuid}), is not here.",
                hint=f"Cards here: {listed}. Choose again with `--gpus`, or look at the cable and "
                "the power of the missing one.",
                data={"uuid": uuid},
            )
    return tuple(by_uuid[uuid] for uuid in settings.gpu_uuids)


def require_known(gpus: tuple[int, ...] | None, host: HostSnapshot) -> None:
    """Refuse the number of a card that is not here.

    Raises: NotFound (`gpu-unknown`).
    """
    known = {card.index for card in host.gpus}
    missing = [index for index in gpus or () if index not in known]
    if missing:
        listed = ", ".join(f"{card.index} {card.name}" for card in host.gpus) or "none"
        raise NotFound(
            "gpu-unknown",
            f"There is no card {missing[0]} on this machine.",
            hint=f"Cards here: {listed}.",
        )


def choice(gpus: tuple[int, ...] | None, host: HostSnapshot) -> dict[str, object]:
    """Return what settings keep of a choice of cards: ids where all have one, else numbers."""
    chosen = [card for card in host.gpus if gpus is not None and card.index in gpus]
    if gpus is None or any(card.uuid is None for card in chosen) or len(chosen) != len(gpus):
        return {"gpus": gpus, "gpu_uuids": None, "gpu_names": {}}
    by_index = {card.index: card for card in chosen}
    ordered = [by_index[index] for index in gpus]
    return {
        "gpus": gpus,
        "gpu_uuids": tuple(card.uuid for card in ordered),
        "gpu_names": {card.uuid: card.name for card in ordered if card.uuid is not None},
    }


def needs(plan: Plan, request: UpRequest) -> dict[int, int]:
    """Return the bytes of each card that the engine will take for certain: its ledger's sum, with
    every line at the lower end of its error. Nothing where that is not known, or may spill.
    """
    if request.allow_spill:
        return {}
    found = {}
    for card in plan.cards:
        items = [item for item in plan.ledger if _is_on(item, card.index)]
        sizes = [max(0, item.bytes - (item.error_bytes or 0)) for item in items if item.bytes]
        if sizes:
            found[card.index] = sum(sizes)
    return found


def _is_on(item: LedgerItem, card: int) -> bool:
    is_taken = item.place is LedgerPlace.CARD and item.name not in _NOT_THE_ENGINES
    return is_taken and item.gpu in (None, card)
