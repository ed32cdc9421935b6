"""What an uninstaller asks about."""

from pathlib import Path

from studio.domain.library import RootKind
from studio.host.paths import Paths
from studio.models.removable import removable
from studio.models.roots import roots
from tests.models.made_models import cached, model, safetensors


def test_each_folder_is_listed_with_what_it_would_free(tmp_path: Path) -> None:
    """References and folders that are not there are nobody's to remove."""
    paths = Paths(home=tmp_path / "home", catalogue=tmp_path)
    model(paths.models / "m")
    cached(tmp_path / "hub")
    cached(tmp_path / "hub", "o/second")
    one = model(tmp_path / "elsewhere")

    found = removable(
        roots(paths.models, tmp_path / "hub", [str(tmp_path / "none")], [str(one)]), paths
    )

    size = len(safetensors()) + (one / "config.json").stat().st_size
    assert [(item.kind, item.models, item.is_ours) for item in found] == [
        (RootKind.OWN, 1, True),
        (RootKind.CACHE, 2, False),
    ]
    assert found[0].size_bytes == size
    assert found[1].size_bytes >= 2 * size
