"""Pictures of the pages about runtimes and models, for `tests.ui.screenshots`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QPushButton

from studio.domain.events import StageProgress, StageState
from studio.ui.controllers.models import ModelsController
from studio.ui.controllers.runtimes import RuntimesController
from studio.ui.pages.models import Part
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.runtimes import Deed
from tests.ui.fake_models import FAILED, GGUF, PARTLY, PAUSED, QUEUED, RUNNING, TINY, FakeModels
from tests.ui.fake_runtimes import (
    BROKEN,
    INSTALLING,
    OLDER,
    QWEN,
    UNKNOWN_SIGNER,
    VOLTA,
    FakeRuntimes,
)
from tests.ui.opened import opened

if TYPE_CHECKING:
    from tests.ui.screenshots import Studio

Shoot = Callable[["Studio", Path], None]


def runtime_pages(
    studio: "Studio", folder: Path, theme: str, wait: Callable[[Callable[[], bool]], None],
    shoot: Shoot,
) -> None:  # fmt: skip
    """Write the pictures of the page of runtimes."""
    fake, window = FakeRuntimes(studio.service), studio.window
    page = opened(window, PageId.RUNTIMES, RuntimesController)
    area = page.area

    def settle() -> None:
        wait(lambda: area.detail is not None and not area.pending)

    def picture(name: str) -> None:
        settle()
        shoot(studio, folder / f"{theme}-runtimes{name}.png")

    picture("")
    fake.verdict = BROKEN
    page.do(Deed.VERIFY)
    picture("-broken")
    area.forget_done()
    page.view.free_asked.emit()
    picture("-free")
    area.keep_all()
    studio.service.publish(INSTALLING)
    area.choose(OLDER.name)
    wait(lambda: page.view.work.isVisible())
    picture("-installing")
    studio.service.publish(
        StageProgress(stage=INSTALLING.stage, state=StageState.DONE, title=INSTALLING.title)
    )
    wait(lambda: not page.view.work.isVisible())
    area.choose(QWEN.name)
    picture("-waits")
    area.choose(VOLTA.name)
    settle()
    fold = window.findChild(QPushButton, "runtime-notes-fold")
    assert fold is not None
    fold.setChecked(True)
    picture("-notes")
    fake.refusal = UNKNOWN_SIGNER
    page.import_from("/media/stick/cpu.weir", "")
    picture("-signer")
    area.dismiss()
    area.choose("cpu-vllm-0.32.0")
    window.resize(900, 600)
    picture("-900")
    window.resize(1180, 760)
    window.show_page(PageId.SERVE)


def model_pages(
    studio: "Studio", folder: Path, theme: str, wait: Callable[[Callable[[], bool]], None],
    shoot: Shoot,
) -> None:  # fmt: skip
    """Write the pictures of the page of models."""
    fake, window = FakeModels(studio.service), studio.window
    fake.downloads = [RUNNING, QUEUED, PAUSED, FAILED]
    page = opened(window, PageId.MODELS, ModelsController)
    area = page.area

    def picture(name: str) -> None:
        wait(lambda: area.library is not None and not area.pending)
        shoot(studio, folder / f"{theme}-models{name}.png")

    picture("")
    area.choose(TINY.path)
    area.check(TINY.path)
    picture("-checking")
    area.choose(PARTLY.path)
    picture("-partly")
    area.choose(GGUF.path)
    area.plan_removal(GGUF.path)
    picture("-remove")
    area.keep()
    page.view.show_part(Part.DOWNLOADS)
    picture("-downloads")
    page.view.show_part(Part.FOLDERS)
    picture("-folders")
    window.resize(900, 600)
    page.view.show_part(Part.DOWNLOADS)
    picture("-downloads-900")
    page.view.show_part(Part.LIBRARY)
    picture("-900")
    window.resize(1180, 760)
    for name, open_dialog in (
        ("get", page.open_get),
        ("take", page.open_import),
        ("hubs", page.open_hubs),
    ):
        open_dialog()
        dialog = window.findChildren(QDialog)[-1]
        wait(lambda: not area.pending)
        if not dialog.grab().save(str(folder / f"{theme}-models-{name}.png")):
            raise OSError(folder)
        dialog.close()
    window.show_page(PageId.SERVE)
