"""Removes models, after saying what that frees and who stands in the way."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.app.library_checks import Checks
from studio.app.library_names import named
from studio.app.library_scan import Scanner
from studio.app.library_uses import require_free, require_not_prepared
from studio.app.settings import SettingsFile
from studio.domain.downloads import DownloadList
from studio.domain.errors import Busy, StudioError
from studio.domain.library import RemovePlan, RemoveRequest, RootKind
from studio.domain.server import EngineSnapshot
from studio.host.files import exclusive, from_os_error
from studio.models import known, removing
from studio.models.checked import forget_checked
from studio.models.digests import DigestBook
from studio.models.proof import SIDECARS, sidecar
from studio.models.shelf import Model


class Removal:
    """What goes out of one home's library."""

    def __init__(
        self,
        models: Path,
        settings: SettingsFile,
        scanner: Scanner,
        checks: Checks,
        digests: DigestBook,
        *,
        engine: Callable[[], EngineSnapshot],
        downloads: Callable[[], DownloadList],
    ) -> None:
        """`engine` and `downloads` tell who holds a model."""
        self._models = models
        self._settings = settings
        self._scanner = scanner
        self._checks = checks
        self._digests = digests
        self._engine = engine
        self._downloads = downloads

    async def remove(self, request: RemoveRequest) -> RemovePlan:
        """Remove a model, or say what that would do; one caller at a time.

        Raises: NotFound (`model-unknown`), BadInput (`model-ambiguous`), Busy (`model-in-use`,
        `model-is-root`, `model-outside-root`), HostLacks (`not-writable`).
        """
        model = named(request.name, (await self._scanner.scan()).models)
        plan = await self._plan(model)
        refusal = await self._refusal(model)
        if request.dry_run:
            info = refusal.info if refusal is not None else None
            return msgspec.structs.replace(plan, refusal=info)
        if refusal is not None:
            raise refusal
        if plan.is_reference:
            gone = model.found.root.path
            kept = tuple(one for one in self._settings.now.model_references if one != gone)
            self._settings.change(model_references=kept)
            await asyncio.to_thread(self._scanner.dismiss, model)
        else:
            await asyncio.to_thread(self._remove, model)
        return msgspec.structs.replace(plan, is_done=True)

    def finish(self) -> None:
        """Finish what a kill cut off. Blocks. Raises: OSError, HostLacks."""
        if not removing.is_left(self._models):
            return
        with exclusive(self._models / ".removing.lock") as is_ours:
            if is_ours:
                removing.finish(self._models)

    async def _plan(self, model: Model) -> RemovePlan:
        try:
            weighed = await asyncio.to_thread(removing.weigh, model.found)
        except OSError as error:
            raise from_os_error(error, model.place) from error
        is_reference = model.found.root.kind is RootKind.REFERENCE
        stays = None
        if is_reference:
            stays = "it is only mentioned here, and stays where it is"
        elif weighed.is_link:
            stays = "only a link to it goes"
        elif weighed.stays_bytes:
            stays = "the same files have other names elsewhere"
        return RemovePlan(
            name=model.entry.name,
            path=str(model.place),
            freed_bytes=weighed.freed_bytes,
            files=weighed.files,
            stays_bytes=weighed.stays_bytes,
            stays=stays,
            is_reference=is_reference,
            uses=model.entry.uses,
        )

    async def _refusal(self, model: Model) -> StudioError | None:
        try:
            require_free(
                model, self._engine(), self._downloads(), self._checks.of(str(model.place))
            )
            specs = self._scanner.specs()
            await asyncio.to_thread(require_not_prepared, self._models, specs, model)
            await asyncio.to_thread(removing.require_removable, model.found)
        except StudioError as error:
            return error
        return None

    def _remove(self, model: Model) -> None:
        models = self._models
        with exclusive(models / ".removing.lock") as is_ours:
            if not is_ours:
                raise Busy(
                    "model-in-use",
                    "Another process of the Studio is removing a model.",
                    hint="Wait for its end; then run this again.",
                )
            records = [sidecar(model.place, models, kind) for kind in (SIDECARS, known.KNOWN)]
            with contextlib.suppress(OSError):
                removing.finish(models)
            removing.remove(model.found, models)
            for record in records:
                record.unlink(missing_ok=True)
            forget_checked(model.place, models)
            self._digests.forget(model.found.files)
            self._scanner.forget(model)
