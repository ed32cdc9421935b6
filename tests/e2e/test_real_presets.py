"""What presets render, read by the real vLLM's own argument parser."""

import json
import subprocess
from pathlib import Path

import pytest

from studio.runtimes import folder as runtime_folders
from tests.conftest import Serving
from tests.presets.samples import bundled_all, fit_on

pytestmark = pytest.mark.real

_PARSE = """
import json, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser

parser = make_arg_parser(FlexibleArgumentParser())
read = {}
for name, argv in json.load(open(sys.argv[1])).items():
    found = parser.parse_args(argv)
    read[name] = [found.max_model_len, found.max_num_seqs, found.prefix_cache_retention_interval]
print("READ " + json.dumps(read))
"""
_SERIES_ONLY = {"kvarn_k4v2_g128": "fp8"}
"""A cache type that the series registers, to one that the stock parser knows."""


def test_the_real_parser_reads_every_preset_of_the_stock_arguments(
    serving: Serving, tmp_path: Path
) -> None:
    """JSON, switches and `None` included; the V100 engine has arguments of its own."""
    wanted = [one.id for one in bundled_all() if not one.id.startswith("v100")]
    rendered = {}
    for preset_id in wanted:
        resolved = fit_on(preset_id, "rtx4090-wsl2").resolved
        assert resolved is not None
        rendered[preset_id] = [_SERIES_ONLY.get(word, word) for word in resolved.arguments]
    listed = tmp_path / "arguments.json"
    listed.write_text(json.dumps(rendered))
    paths = serving.weir.paths
    runtime = runtime_folders.current(paths, "cpu-vllm-0.32.0")
    assert runtime is not None
    folder = runtime_folders.folder_of(paths, runtime)

    ran = subprocess.run(
        [runtime_folders.python_of(paths, runtime), "-I", "-c", _PARSE, listed],
        env={
            "LD_LIBRARY_PATH": str(folder / "lib"),
            "HOME": str(tmp_path),
            "VLLM_CACHE_ROOT": str(tmp_path),
            "PATH": "/usr/bin:/bin",
        },
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr[-2000:]
    (line,) = [one for one in ran.stdout.splitlines() if one.startswith("READ ")]
    read = json.loads(line.removeprefix("READ "))
    assert read["27b-dflash2"] == [65_536, 8, None]
    assert read["27b-huge"] == [245_760, 2, 13_056]
    assert read["27b-int4-256k"] == [256_000, 1, 0]
    assert set(read) == set(wanted)
