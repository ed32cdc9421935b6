"""The frozen folder does not depend on where it was made."""

from pathlib import Path

from installer import freeze


def test_what_pip_noted_of_the_build_is_taken_out(tmp_path: Path) -> None:
    """Its sums cover scripts whose first line names the build's folder: two clones differed."""
    about = tmp_path / "_internal/keyring-25.7.0.dist-info"
    about.mkdir(parents=True)
    for name in ("RECORD", "INSTALLER", "REQUESTED", "METADATA", "entry_points.txt"):
        (about / name).write_text(name, encoding="ascii")

    freeze.forget_build(tmp_path)

    assert {path.name for path in about.iterdir()} == {"METADATA", "entry_points.txt"}
