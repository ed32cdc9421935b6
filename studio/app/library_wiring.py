"""Joins the library with what it asks of the other parts."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from studio.app.bus import Bus
from studio.app.library import ModelLibrary
from studio.app.service_life import is_working
from studio.app.wiring import Parts
from studio.domain.downloads import DownloadList, HubName
from studio.domain.server import EngineSnapshot, EngineState
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.hub.access import Access

_ON_ITS_WAY = (EngineState.PREPARING, EngineState.STARTING, EngineState.BACKING_OFF)


def made(
    parts: Parts,
    bus: Bus,
    *,
    engine: Callable[[], EngineSnapshot],
    downloads: Callable[[], DownloadList],
) -> ModelLibrary:
    """Return the library of one service."""

    def is_busy() -> bool:
        return engine().state in _ON_ITS_WAY or is_working(parts.sampler.last)

    return ModelLibrary(
        parts.paths,
        parts.settings,
        lambda: hub_cache(parts.paths),
        presets=parts.presets.all,
        engine=engine,
        is_busy=is_busy,
        downloads=downloads,
        publish=bus.publish,
        listeners=lambda: bus.listeners,
    )


def hub_cache(paths: Paths, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the cache of huggingface_hub, by the rule that downloads follow too."""
    access = Access(paths=paths, policy=NetworkPolicy(), environ=environ)
    return access.cache(HubName.HUGGING_FACE).absolute()
