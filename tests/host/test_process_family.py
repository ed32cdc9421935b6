"""The end of a helper where there are no process groups, as on Windows."""

import subprocess

import psutil

from studio.host.process import kill_family
from tests.fakes.waiting import until


def test_a_program_and_all_that_it_started_is_ended() -> None:
    """On Windows a helper that takes too long is ended so; what is gone already is no error."""
    with subprocess.Popen(["/bin/sh", "-c", "sleep 60 & sleep 60 & wait"]) as shell:
        leader = psutil.Process(shell.pid)
        until(lambda: len(leader.children()) == 2, "both children")
        children = leader.children()

        assert kill_family(shell.pid)

        shell.wait()
        until(lambda: not any(_lives(one) for one in children), "the end of the children")
    assert not kill_family(shell.pid)


def _lives(one: psutil.Process) -> bool:
    return one.is_running() and one.status() != psutil.STATUS_ZOMBIE
