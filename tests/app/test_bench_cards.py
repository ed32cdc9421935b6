"""What cards did while they were measured."""

from studio.app.bench_cards import CardWatch
from studio.domain.cards import CardSample
from studio.domain.hardware import Gpu
from studio.domain.metrics import Tick

GPU = Gpu(index=0, name="NVIDIA GeForce RTX 3090", uuid="GPU-1", total_bytes=24 << 30)


def tick(at: float, **card: object) -> Tick:
    """Return a tick with one card."""
    return Tick(at=at, cards=(CardSample(index=0, uuid="GPU-1", name="RTX 3090", **card),))


def test_power_is_a_mean_and_temperature_a_peak() -> None:
    """One sample at the end would be of a card at rest."""
    watch = CardWatch([GPU])
    watch.take(tick(1.0, power_w=100.0, temperature_c=60, throttle=("sw-power-cap",)))
    watch.take(tick(2.0, power_w=300.0, temperature_c=80, power_limit_w=250.0, throttle=()))
    watch.take(tick(2.0, power_w=900.0))
    watch.take(None)

    [card] = watch.cards()

    assert card.power_w == 200.0
    assert card.temperature_max_c == 80
    assert card.power_limit_w == 250.0
    assert card.throttle == ("sw-power-cap",)
    assert card.memory_bytes == 24 << 30


def test_what_the_driver_does_not_tell_is_unknown() -> None:
    """Not zero watts."""
    watch = CardWatch([Gpu(index=3, name="card", power_limit_w=70.0)])
    watch.take(Tick(at=1.0, cards=(CardSample(index=3, name="card"),)))
    watch.take(Tick(at=2.0))

    [card] = watch.cards()

    assert card.power_w is None
    assert card.temperature_max_c is None
    assert card.power_limit_w == 70.0


def test_cards_that_do_not_compute_are_not_listed() -> None:
    """The second card of the machine has nothing to do with it."""
    watch = CardWatch([])
    watch.take(tick(1.0, power_w=100.0))

    assert watch.cards() == ()
