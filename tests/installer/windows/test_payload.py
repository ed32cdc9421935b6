"""The folder for Windows, in parts: what goes in, in which form, and what is refused."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QImageReader

from installer import freeze
from installer.windows import build, icon, payload, side, weir_archive

HERE = Path(payload.__file__).parent


def test_every_python_that_may_build_has_its_windows_one() -> None:
    """By its hash, and of the same minor version, whose bytecode it runs."""
    with (HERE / "cpython.toml").open("rb") as file:
        rows = tomllib.load(file)["cpython"]
    assert {row["minor"] for row in rows} >= {"3.11", "3.12", "3.13"}
    for row in rows:
        assert re.fullmatch(r"[0-9a-f]{64}", row["sha256"])
        assert row["version"].startswith(f"{row['minor']}.")
        assert payload.cpython(row["minor"]).tag == row["minor"].replace(".", "")
    with pytest.raises(RuntimeError, match=r"3\.99"):
        payload.cpython("3.99")


def test_packages_are_parted_by_what_they_hold(tmp_path: Path) -> None:
    """Only Python goes into the archive; a library has to be a file; types are for nobody."""
    site, inside, pure = tmp_path / "site", tmp_path / "inside", tmp_path / "pure"
    for name in (
        "plain/__init__.py", "plain/py.typed", "plain/a.pyi", "binary/x.pyd", "binary/b.py",
        "binary/c.pyx", "setuptools/s.py", "hf_xet/h.pyd", "plain-1.0.dist-info/METADATA",
        "plain-1.0.dist-info/RECORD", "uv-1.0.dist-info/METADATA", "single.py", "core.pyd",
    ):  # fmt: skip
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text("", encoding="ascii")
    inside.mkdir()
    pure.mkdir()

    payload._packages(site, inside, pure)

    def found(folder: Path) -> list[str]:
        return [path.relative_to(folder).as_posix() for path in freeze.files(folder)]

    assert found(pure) == ["plain/__init__.py", "plain/py.typed", "single.py"]
    assert found(inside) == [
        "binary/b.py", "binary/x.pyd", "core.pyd", "plain-1.0.dist-info/METADATA",
    ]  # fmt: skip


def sources(folder: Path) -> Path:
    """Write modules: a package, one without `__init__`, and one whose sets have an order."""
    for name, text in {
        "whole/__init__.py": "A = frozenset({'one', 'two', 'three', 'four'})\n",
        "whole/part.py": "def fail():\n    raise ValueError(__file__)\n",
        "space/inner/leaf.py": "LEAF = 'lëaf'\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_equal_sources_give_an_equal_archive(tmp_path: Path) -> None:
    """In whatever folder they are built: its name is not in the bytecode."""
    made = []
    for name in ("one", "another place"):
        folder = sources(tmp_path / name)
        payload._bytecode(folder)
        payload._archive(folder, tmp_path / f"{name}.zip")
        made.append((tmp_path / f"{name}.zip").read_bytes())

    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]
    assert b"space/inner/" in made[0]


def test_modules_are_imported_from_an_archive(tmp_path: Path) -> None:
    """Also out of a package without `__init__`, and packed ones, as Python's own archive has."""
    pure = sources(tmp_path / "pure")
    payload._bytecode(pure)
    payload._archive(pure, tmp_path / "äpp.zip")
    with zipfile.ZipFile(tmp_path / "äpp.zip") as stored:
        entries = {name: stored.read(name) for name in stored.namelist()}
    with zipfile.ZipFile(tmp_path / "packed.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in entries.items():
            packed.writestr(name, data)
    script = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import weir_archive\n"
        "weir_archive.install(pathlib.Path(sys.argv[2]))\n"
        "import space.inner.leaf, whole.part, json\n"
        "assert 'json' in sys.modules and len(whole.A) == 4\n"
        "assert whole.part.__file__.endswith('part.pyc'), whole.part.__file__\n"
        "print(ascii(space.inner.leaf.LEAF))\n"
        "try: import whole.missing\n"
        "except ModuleNotFoundError as error: print(error.name)\n"
    )
    for archive in ("äpp.zip", "packed.zip"):
        command = [sys.executable, "-I", "-c", script, str(HERE), str(tmp_path / archive)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.split() == ["'l\\xebaf'", "whole.missing"], done.stderr


def test_an_archive_without_the_module_says_which(tmp_path: Path) -> None:
    """As Python does: whoever reads the message has to know what is missing."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr("x.pyc", b"")
    with pytest.raises(ImportError, match="holds no y"):
        weir_archive.Archive(tmp_path / "a.zip").get_code("y")


def test_the_icon_has_all_sizes(tmp_path: Path) -> None:
    """Windows shows another one in each place."""
    icon.write(freeze.ROOT / "assets/icons/app.svg", tmp_path / "weir.ico")

    reader = QImageReader(str(tmp_path / "weir.ico"))
    assert reader.imageCount() == len(icon.SIZES)
    assert reader.read().width() in icon.SIZES


def test_the_picture_beside_the_pages_is_a_bitmap_of_their_shape(tmp_path: Path) -> None:
    """NSIS takes no other kind, and stretches what has another shape."""
    side.write(freeze.ROOT / "assets/icons/app.svg", tmp_path / "side.bmp")

    picture = QImage(str(tmp_path / "side.bmp"))
    raw = (tmp_path / "side.bmp").read_bytes()
    assert (raw[:2], int.from_bytes(raw[28:30], "little")) == (b"BM", 24)  # bits a dot
    assert picture.width() * 314 == picture.height() * 164
    assert picture.pixelColor(164, 20).name() != picture.pixelColor(164, 600).name()


@pytest.mark.parametrize("name", ["icuuc.dll", "mscms.dll", "left.py"])
def test_what_only_a_test_puts_there_is_refused(tmp_path: Path, name: str) -> None:
    """A stand-in of ours in Windows' place would break every program beside it."""
    (tmp_path / name).touch()
    with pytest.raises(RuntimeError, match=re.escape(name)):
        payload._require_clean(tmp_path)


def test_a_machine_without_the_tools_is_told_their_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The other packages are built all the same; nothing is left out without a word."""
    monkeypatch.setenv("PATH", str(tmp_path))
    said = str(build.lacks())
    assert "nsis" in said
    assert "gcc-mingw-w64-x86-64" in said
