"""A stand-in for OpenSSH's client: it runs the script here, and forwards ports by itself.

`install` puts it into a folder for the PATH. What it is told lies in files beside its log, since a
helper gets next to nothing of our environment.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

_VALUED = {"-o", "-L"}
_LOG = "FAKE_SSH_LOG"


class FakeSsh:
    """One stand-in in a folder of its own, and what was done with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "ssh.log"
        program = folder / "ssh"
        program.write_text(
            f"#!/bin/sh\n{_LOG}='{self._log}' exec '{sys.executable}' -IS '{__file__}' \"$@\"\n",
            encoding="utf-8",
        )
        program.chmod(0o755)

    def environ(self, home: Path) -> dict[str, str]:
        """Return an environment in which `ssh` is this one, and `home` the other machine's."""
        self._log.with_suffix(".home").write_text(str(home), encoding="utf-8")
        return {**os.environ, "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}"}

    def fail(self, words: str) -> None:
        """Fail from now on, with these words of ssh's."""
        self._log.with_suffix(".says").write_text(words, encoding="utf-8")

    def calls(self) -> list[list[str]]:
        """Return host, kind (`script` or `tunnel`) and process id of each call."""
        if not self._log.exists():
            return []
        return [line.split() for line in self._log.read_text(encoding="utf-8").splitlines()]


def parts(argv: list[str]) -> tuple[list[str], str, list[str]]:
    """Return what is forwarded, the host, and the command."""
    leads: list[str] = []
    rest = list(argv)
    while rest and rest[0] != "--":
        word = rest.pop(0)
        value = rest.pop(0) if word in _VALUED else ""
        if word == "-L":
            leads.append(value)
    return leads, rest[1], rest[2:]


async def lead(rule: str) -> asyncio.Server:
    """Listen, and pass everything on."""
    here, port, there, target = rule.split(":")

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(there, int(target))
        except OSError:
            writer.close()
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(pump(reader, far_writer))
            tasks.create_task(pump(far_reader, writer))

    return await asyncio.start_server(serve, here, int(port))


async def forward(rules: list[str]) -> None:
    """Forward until killed."""
    servers = [await lead(rule) for rule in rules]
    await asyncio.gather(*(server.serve_forever() for server in servers))


def main() -> int:
    """Do what ssh would, or fail as it would."""
    leads, host, command = parts(sys.argv[1:])
    log = Path(os.environ[_LOG])
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{host} {'tunnel' if leads else 'script'} {os.getpid()}\n")
    says = log.with_suffix(".says")
    if says.exists():
        sys.stderr.write(says.read_text(encoding="utf-8"))
        return 255
    if leads:
        asyncio.run(forward(leads))
        return 0
    home = log.with_suffix(".home").read_text(encoding="utf-8")
    environment = {**os.environ, "WEIR_HOME": home}
    return subprocess.run(["/bin/sh", "-c", command[0]], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
