"""Containers and the limits of control groups, of both versions."""

from pathlib import Path

import pytest

from studio.domain.hardware import UNLIMITED
from studio.host import container

GIB = 1 << 30


def put(root: Path, **files: str) -> None:
    """Write files; `__` in a name stands for a slash."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_bare_machine_has_none(tmp_path: Path) -> None:
    """Nothing to say, nothing shown."""
    put(tmp_path, proc__self__cgroup="0::/init.scope\n")

    assert container.facts(environ={}, root=tmp_path) is None


@pytest.mark.parametrize(
    ("files", "environ", "kind"),
    [
        ({".dockerenv": ""}, {}, "docker"),
        ({"run__.containerenv": ""}, {}, "podman"),
        ({"run__systemd__container": "lxc\n"}, {}, "lxc"),
        ({"run__systemd__container": "rocket"}, {}, "other"),
        ({}, {"container": "podman"}, "podman"),
        ({}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"proc__1__cgroup": "12:memory:/kubepods/burstable/pod1\n"}, {}, "kubernetes"),
        ({"proc__1__cgroup": "12:memory:/docker/abc\n"}, {}, "docker"),
    ],
)
def test_each_kind_is_known_by_its_mark(
    files: dict[str, str], environ: dict[str, str], kind: str, tmp_path: Path
) -> None:
    """What to do about a limit differs from kind to kind."""
    put(tmp_path, **files)

    found = container.facts(environ=environ, root=tmp_path)

    assert found is not None
    assert found.kind == kind
    assert found.memory_limit_bytes is None


def test_wsl_with_systemd_is_no_container(tmp_path: Path) -> None:
    """systemd calls it one."""
    put(tmp_path, run__systemd__container="wsl\n")

    assert container.facts(environ={}, root=tmp_path) is None


def test_the_tightest_limit_on_the_way_up_counts(tmp_path: Path) -> None:
    """A pod's limit stands above the container's own `max`."""
    put(tmp_path, proc__self__cgroup="0::/pod/one\n")
    put(tmp_path / "sys/fs/cgroup/pod/one", **{"memory.max": "max\n", "cpu.max": "max 100000\n"})
    put(
        tmp_path / "sys/fs/cgroup/pod", **{"memory.max": f"{8 * GIB}\n", "cpu.max": "250000 100000"}
    )

    found = container.facts(environ={"container": "lxc"}, root=tmp_path)

    assert found is not None
    assert found.memory_limit_bytes == 8 * GIB
    assert found.cpu_limit == 2.5


def test_the_first_version_of_control_groups(tmp_path: Path) -> None:
    """Its `no limit` is a number beyond reach."""
    put(tmp_path, **{".dockerenv": "", "proc__self__cgroup": "5:cpu,cpuacct:/\n4:memory:/a\n"})
    memory = tmp_path / "sys/fs/cgroup/memory"
    put(memory, **{"a__memory.limit_in_bytes": str(2 * GIB)})
    put(memory, **{"memory.limit_in_bytes": "9223372036854771712"})
    put(
        tmp_path / "sys/fs/cgroup/cpu",
        **{"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"},
    )

    found = container.facts(environ={}, root=tmp_path)

    assert found is not None
    assert found.memory_limit_bytes == 2 * GIB
    assert found.cpu_limit == UNLIMITED


def test_a_limit_without_a_container_is_told_too(tmp_path: Path) -> None:
    """systemd can limit a user's session; the engine dies just the same."""
    put(tmp_path, proc__self__cgroup="0::/user.slice\n")
    put(tmp_path / "sys/fs/cgroup/user.slice", **{"memory.max": str(4 * GIB)})

    found = container.facts(environ={}, root=tmp_path)

    assert found is not None
    assert (found.kind, found.memory_limit_bytes) == ("control-group", 4 * GIB)


@pytest.mark.parametrize("text", ["", "lots", "-5", "max max"])
def test_nonsense_is_no_limit(text: str, tmp_path: Path) -> None:
    """Unknown is not zero."""
    put(tmp_path, **{".dockerenv": "", "proc__self__cgroup": "0::/\nnonsense\n"})
    put(tmp_path / "sys/fs/cgroup", **{"memory.max": text, "cpu.max": text})

    found = container.facts(environ={}, root=tmp_path)

    assert found is not None
    assert found.memory_limit_bytes is None
