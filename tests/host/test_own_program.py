"""Where the program lies, and what of it is ours to remove."""

from pathlib import Path

from studio.host import own_program


def installed(prefix: Path) -> Path:
    """Return the folder of one version, as the .run leaves it."""
    program = prefix / "opt/weir-studio"
    for version in ("1.0", "1.1"):
        (program / version).mkdir(parents=True)
        (program / version / "weir").touch()
    (program / "current").symlink_to("1.1")
    (prefix / "bin").mkdir()
    (prefix / "bin/weir").symlink_to(program / "current/weir")
    entry = prefix / "share/applications/weir-studio.desktop"
    entry.parent.mkdir(parents=True)
    entry.touch()
    (program / "installed").write_text(f"{prefix}/bin/weir\n{entry}\n", encoding="utf-8")
    return program / "1.1"


def test_a_program_of_ones_own_lists_all_versions_links_and_entries(tmp_path: Path) -> None:
    """Nothing of it stays."""
    found = own_program.of(installed(tmp_path))

    names = {str(path.relative_to(tmp_path)) for path in found.paths}
    assert names == {
        "bin/weir", "share/applications/weir-studio.desktop", "opt/weir-studio/1.0",
        "opt/weir-studio/1.1", "opt/weir-studio/current", "opt/weir-studio/installed",
    }  # fmt: skip
    assert found.folders == (tmp_path / "opt/weir-studio",)
    assert found.notes == ()


def test_a_link_that_somebody_replaced_is_theirs(tmp_path: Path) -> None:
    """`~/.local/bin/weir` may be another program by now."""
    folder = installed(tmp_path)
    (tmp_path / "bin/weir").unlink()
    (tmp_path / "bin/weir").write_text("theirs", encoding="utf-8")

    assert tmp_path / "bin/weir" not in own_program.of(folder).paths


def test_a_package_of_the_systems_and_a_checkout_are_removed_by_other_means(
    tmp_path: Path,
) -> None:
    """And the words say by which."""
    package = own_program.of(own_program.SYSTEM_FOLDER)
    assert package.paths == ()
    assert "apt remove weir-studio" in package.notes[0]
    assert "by hand" in own_program.of(tmp_path / "somewhere").notes[0]
    assert "checkout" in own_program.find().notes[0]
