"""What is typed to reach PowerShell, and what it may know of us."""

import base64

from studio.host import powershell


def test_a_script_survives_two_systems_quoting() -> None:
    """Quotes, dollars and umlauts arrive as they were."""
    script = "Write-Output \"ü $x 'y' | z\"\n"

    *_, name, encoded = powershell.command(script)

    assert name == "-EncodedCommand"
    assert base64.b64decode(encoded).decode("utf-16-le") == script


def test_it_gets_what_interop_needs_and_no_secret() -> None:
    """Without WSL_INTEROP no program of Windows starts; a key of ours is nobody's business."""
    made = powershell.environment(
        {"PATH": "/usr/bin", "WSL_INTEROP": "/run/WSL/1", "VLLM_API_KEY": "secret"}
    )

    assert made["WSL_INTEROP"] == "/run/WSL/1"
    assert "VLLM_API_KEY" not in made


def test_it_is_found_where_windows_path_was_left_out() -> None:
    """`appendWindowsPath=false` is common advice."""
    assert powershell.path({"PATH": "/usr/bin"}).endswith("WindowsPowerShell/v1.0")
