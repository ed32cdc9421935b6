"""The cards in `weir status`."""

from studio.cli.card_text import card_pairs
from studio.domain.cards import CardSample
from studio.domain.control import GatewayInfo, ServiceInfo, Status
from studio.domain.hardware import HostSnapshot
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot, EngineState
from tests.cli.test_gpu_text import H200


def status(tick: Tick | None, host: HostSnapshot | None = None) -> Status:
    """Return a status with these parts."""
    return Status(
        service=ServiceInfo(version="1", pid=1, started_at=0.0, home="/home"),
        engine=EngineSnapshot(state=EngineState.STOPPED),
        gateway=GatewayInfo(),
        tick=tick,
        host=host,
    )


def test_status_names_each_card_as_it_is_now() -> None:
    """The look at the start of the service is old."""
    lost = CardSample(index=1, name="NVIDIA H200", is_lost=True)

    pairs = card_pairs(status(Tick(at=0.0, cards=(H200, lost))))

    assert [text for _, text in pairs] == [
        "0: NVIDIA H200, 84.36 GiB of 140.40 GiB, 100 % busy, 47 °C",
        "1: NVIDIA H200, lost: it answers no more",
    ]


def test_status_without_any_cards_says_nothing_of_them() -> None:
    """Most machines that try the Studio have none."""
    assert card_pairs(status(Tick(at=0.0, cards=()))) == []
    assert card_pairs(status(None)) == []
