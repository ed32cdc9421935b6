"""What may go from uv's cache, found in a cache that uv itself filled."""

import subprocess
import sys
from pathlib import Path

from studio.host import uv
from studio.host.uv_cache import fetched, unpacked
from tests.fakes.wheels import make_wheel


def _filled(folder: Path) -> Path:
    pins = [
        make_wheel(folder / "wheels", name, {f"{name}/__init__.py": name.encode()}, version=version)
        for name, version in (("weir_one", "1.0+cpu"), ("weir_two", "2.0"))
    ]
    requirements = folder / "requirements.txt"
    requirements.write_text("\n".join(pins).replace("weir_one", "weir-one") + "\n")
    command = [uv.binary(), "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--target", str(folder / "target"), "--no-index", "--no-config"]
    command += ["--find-links", str(folder / "wheels"), "--cache-dir", str(folder / "cache")]
    subprocess.run([*command, "-r", str(requirements)], check=True)
    return folder / "cache"


def test_links_notes_and_files_of_one_wheel_are_found(tmp_path: Path) -> None:
    """And those of another are not; with all of them gone, uv fetches the wheel again."""
    cache = _filled(tmp_path)

    found = list(unpacked(cache, {"weir-one==1.0-cpu"}))

    assert {pin for _place, pin in found} == {"weir-one==1.0-cpu"}
    places = [place for place, _pin in found]
    assert places[-1].parent.name == "archive-v0"
    assert (places[-1] / "weir_one" / "__init__.py").is_file()
    assert len(places) == 3
    assert all("weir-two" not in str(place) for place in places)


def test_a_cache_of_another_shape_holds_nothing_to_remove(tmp_path: Path) -> None:
    """A later uv may lay its cache out otherwise; then nothing is touched."""
    (tmp_path / "wheels-v99" / "index" / "weir-one").mkdir(parents=True)
    (tmp_path / "wheels-v99" / "index" / "weir-one" / "1.0-py3").symlink_to("/etc")

    assert list(unpacked(tmp_path, {"weir-one==1.0"})) == []
    assert list(unpacked(tmp_path / "missing", {"weir-one==1.0"})) == []


def test_what_came_from_a_folder_does_not_count_as_fetched(tmp_path: Path) -> None:
    """uv uses it only as long as the wheel lies in that folder."""
    cache = _filled(tmp_path)
    pins = {"weir-one==1.0-cpu", "weir-two==2.0"}
    folder = tmp_path / "wheels of this machine"
    folder.mkdir()
    (folder / "weir_two-3.0-py3-none-any.whl").touch()
    assert fetched(cache, pins) == fetched(cache, pins, [folder]) == set()
    (folder / "weir_one-1.0+cpu-py3-none-any.whl").touch()
    assert fetched(cache, pins, [folder]) == {"weir-one==1.0-cpu"}

    (place,) = cache.glob("wheels-v*/index/*/weir-two/*.rev")
    place.rename(place.with_suffix(".http"))

    assert fetched(cache, pins) == {"weir-two==2.0"}
