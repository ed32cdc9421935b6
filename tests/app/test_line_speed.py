"""How fast the line is."""

from studio.app.line_speed import LineSpeed
from studio.domain.events import GatewayChanged, Stage, StageProgress, StageState
from studio.domain.units import MIB


def fetching(
    done: float, note: str = "Fetching CPython 3.12", unit: str = "bytes"
) -> StageProgress:
    """Return the progress of a download."""
    return StageProgress(
        stage=Stage.RUNTIME,
        state=StageState.RUNNING,
        title="x",
        note=note,
        done=done,
        unit=unit,
    )


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_bytes_and_seconds_of_fetching_add_up() -> None:
    """Over all parts that fetch, with what lies between them left out."""
    line = LineSpeed(_Clock())

    for done in (0, 5 * MIB, 10 * MIB):
        line.hear(fetching(done))
    line.hear(fetching(3, note="Compiling bytecode"))
    for done in (0, 2 * MIB):
        line.hear(fetching(done, note="Fetching the model"))

    assert line.take() == (12 * MIB, 3.0)
    assert line.take() == (0, 0.0)


def test_what_does_not_fetch_says_nothing() -> None:
    """Unpacking is faster than any line, and packages are no bytes."""
    line = LineSpeed(_Clock())

    for done in (0, 5, 10):
        line.hear(fetching(done, note="Unpacking"))
        line.hear(fetching(done, unit="packages"))
        line.hear(GatewayChanged(base_url=None))

    assert line.take() == (0, 0.0)


def test_a_download_that_begins_again_is_not_counted_backwards() -> None:
    """After a broken connection the counter starts anew."""
    line = LineSpeed(_Clock())

    for done in (0, 8 * MIB, 0, 4 * MIB):
        line.hear(fetching(done))

    assert line.take() == (12 * MIB, 2.0)
