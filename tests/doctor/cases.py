"""Hosts of the catalogue, changed as a test wants, and what the doctor says of them."""

from pathlib import Path
from typing import Any

import msgspec

from studio.doctor import report
from studio.domain.doctor import Check
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.host import hosts
from studio.host.paths import Paths, bundled_root
from studio.runtimes.catalog import Catalog

PATHS = Paths(home=Path("/nowhere"), catalogue=bundled_root())
RECIPES: list[RuntimeRecipe] = Catalog(PATHS).recipes()
CU13 = ("cu13-hyperqwen-0.31.0", "cu13-hyperqwen-0.32.0")
SM70 = ("sm70-1cat-1.5.0", "sm70-1cat-1.5.2")
MIB = 1 << 20
GIB = 1 << 30


def host(name: str = "rtx3090-linux", /, **changes: Any) -> HostSnapshot:
    """Return a host of the catalogue with some facts changed."""
    return msgspec.structs.replace(hosts.load(name, PATHS).host, **changes)


def card(name: str = "rtx3090-linux", /, **changes: Any) -> Gpu:
    """Return the first card of a host of the catalogue with some facts changed."""
    return msgspec.structs.replace(host(name).gpus[0], **changes)


def with_card(**changes: Any) -> HostSnapshot:
    """Return a host whose only card, a 3090, has some facts changed."""
    return host(gpus=(card(**changes),))


def said(found: HostSnapshot, code: str, **more: Any) -> Check:
    """Return the one check of that code."""
    (only,) = all_said(found, code, **more)
    return only


def all_said(found: HostSnapshot, code: str, **more: Any) -> list[Check]:
    """Return every check of that code."""
    return [one for one in report.checks(found, RECIPES, **more) if one.code == code]
