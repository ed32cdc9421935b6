"""Stage rows and timeline."""

import msgspec
from pytestqt.qtbot import QtBot

from studio.domain.events import Stage, StageProgress, StageState
from studio.ui.state import Known
from studio.ui.theme import Look
from studio.ui.viewmodels.boot import boot_view
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.progress import Bar, StageRow, Timeline
from tests.ui.fake_service import PHASES, booting

RUNNING = StageProgress(
    of_up=True,
    stage=Stage.RUNTIME,
    state=StageState.RUNNING,
    title="Install",
    done=1 << 20,
    unit="bytes",
)


def test_a_bar_without_an_end_looks_unlike_every_share(qtbot: QtBot, look: Look) -> None:
    """Hatched means that nobody knows."""
    bar = Bar(look)
    qtbot.addWidget(bar)
    bar.resize(200, 6)
    pictures = []
    for share in (0.0, 0.5, 1.0, None):
        bar.show_share(share, Role.WATER)
        pictures.append(bar.grab().toImage())

    assert all(a != b for place, a in enumerate(pictures) for b in pictures[:place])


def test_a_stage_row_reads_as_one_sentence(qtbot: QtBot, look: Look) -> None:
    """Progress for who listens."""
    row = StageRow(look, "stage-runtime")
    qtbot.addWidget(row)

    row.show_stage(boot_view(Known(stages=(RUNNING,)), 0.0).stages[2])
    assert row.accessibleName() == "Install: Under way, 1.0 MiB of – · –/s, "

    done = msgspec.structs.replace(RUNNING, state=StageState.DONE, note="84 packages")
    row.show_stage(boot_view(Known(stages=(done,)), 0.0).stages[2])
    assert row.accessibleName() == "Install: Done, 1.0 MiB, 84 packages"


def test_the_timeline_grows_with_its_phases(qtbot: QtBot, look: Look) -> None:
    """Each phase is a row that is seen whole."""
    timeline = Timeline(look, "timeline")
    qtbot.addWidget(timeline)
    heights = []
    for count in range(1, len(PHASES) + 1):
        view = boot_view(Known(engine=booting(count, elapsed_s=PHASES[count - 1][1] + 1)), 0.0)
        assert view.timeline is not None
        timeline.show_timeline(view.timeline)
        assert not timeline.grab().isNull()
        heights.append(timeline.sizeHint().height())

    assert heights == sorted(set(heights))
    assert "Loading weights 5.7 s" in timeline.accessibleName()
