"""OpenSSH's client as a helper: one command on another machine, and a tunnel to it.

Nothing here asks a person anything: ssh has no terminal, so a key, an agent or `SSH_ASKPASS` has to
do. What ssh says is turned into sentences; its words are those of OpenSSH 9 (`sshconnect.c`).
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.domain.errors import BadInput, ServiceUnreachable, StudioError
from studio.host import process
from studio.host.process import Running

_CONNECT_S = 10
_RUN_S = 40.0
_PASSED = (
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
)
"""What ssh needs of our environment to find an agent, or to ask for a passphrase in a window."""
_FAILED = 255
"""ssh's own exit status; any other is the remote command's."""
_SAYINGS = (
    (
        "host key verification failed",
        "ssh-host-key",
        "ssh does not know the key of {host}, or it has changed.",
        "Run `ssh {host}` once in a terminal, and say yes if the key is right.",
    ),
    (
        "permission denied",
        "ssh-login-refused",
        "{host} refused the login by key.",
        "`ssh {host}` has to work without a password: see `ssh-copy-id` and `ssh-add`.",
    ),
    (
        "could not resolve hostname",
        "ssh-host-unknown",
        "There is no machine called {host}.",
        "Write it as you write it after `ssh`.",
    ),
    (
        "connection refused",
        "ssh-refused",
        "{host} is there, but no ssh server answers.",
        "Start sshd there, or name its port in `~/.ssh/config`.",
    ),
    (
        "address already in use",
        "ssh-port-taken",
        "The local end of the tunnel to {host} is taken.",
        "It is tried again by itself with another port.",
    ),
    (
        "timed out",
        "ssh-unreachable",
        "{host} does not answer.",
        "Is it awake, and is a VPN missing?",
    ),
    (
        "no route to host",
        "ssh-unreachable",
        "{host} cannot be reached from this network.",
        "Is it awake, and is a VPN missing?",
    ),
)
"""What ssh says, in small letters; code, sentence and hint of ours. The first that fits."""


def require_host(host: str) -> str:
    """Return `host`, which must not be taken for an option. Raises: BadInput (`ssh-host`)."""
    name = host.strip()
    is_one_word = all(one.isprintable() and not one.isspace() for one in name)
    if not name or name.startswith("-") or not is_one_word:
        raise BadInput(
            "ssh-host",
            f"{host!r} is no host for ssh.",
            hint="Write it as after `ssh`: `gpu-box`, `ada@gpu-box`, or a name of `~/.ssh/config`.",
        )
    return name


async def run_script(host: str, script: str, *, environ: Mapping[str, str] = os.environ) -> str:
    """Run a script of the POSIX shell on `host` and return what it printed.

    Raises: ServiceUnreachable (`ssh-…`), HostLacks (`program-missing`).
    """
    lines: list[str] = []
    argv = [*_ssh(environ), "--", require_host(host), f"sh -c {shlex.quote(script)}"]
    done = await process.run(
        argv, env=_environment(environ), timeout_s=_RUN_S, on_line=lines.append
    )
    if done.timed_out:
        raise said(host, ("timed out",))
    if done.exit_code == _FAILED:
        raise said(host, done.tail)
    return "\n".join(lines)


async def tunnel(
    host: str, ports: Mapping[int, int], *, environ: Mapping[str, str] = os.environ
) -> Running:
    """Lead local ports to ports of `host`'s loopback; the tunnel lives until it is ended.

    Raises: BadInput (`ssh-host`), HostLacks (`program-missing`).
    """
    leads = [
        word
        for here, there in ports.items()
        for word in ("-L", f"127.0.0.1:{here}:127.0.0.1:{there}")
    ]
    argv = [*_ssh(environ), "-N", *leads, "--", require_host(host)]
    return await process.start(argv, env=_environment(environ))


def said(host: str, lines: Sequence[str]) -> StudioError:
    """Return what ssh's last lines mean, as an error."""
    words = "\n".join(lines).lower()
    for part, code, sentence, hint in _SAYINGS:
        if part in words:
            return ServiceUnreachable(
                code, sentence.format(host=host), hint=hint.format(host=host), evidence=tuple(lines)
            )
    return ServiceUnreachable(
        "ssh-failed",
        f"The program ssh could not reach {host}.",
        hint=f"`ssh -v {host}` says more.",
        evidence=tuple(lines),
    )


def quoted(text: str) -> str:
    """Return `text` as one word of the POSIX shell."""
    return shlex.quote(text)


def _ssh(environ: Mapping[str, str]) -> list[str]:
    """Return ssh with what must hold whatever a person's configuration says."""
    can_ask = bool(environ.get("SSH_ASKPASS"))
    options = {
        "BatchMode": "no" if can_ask else "yes",
        "ControlMaster": "no",
        "ControlPath": "none",
        "ConnectTimeout": str(_CONNECT_S),
        "ExitOnForwardFailure": "yes",
        "ServerAliveInterval": "10",
        "ServerAliveCountMax": "3",
        "PermitLocalCommand": "no",
        "ForwardAgent": "no",
        "ForwardX11": "no",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    return ["ssh", "-T", *words]


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    passed = {name: environ[name] for name in _PASSED if environ.get(name)}
    return process.helper_environment({**passed, "LC_ALL": "C"}, environ=environ)


def token_of(path: Path) -> str:
    """Return the token in a file. Raises: BadInput (`token-unreadable`)."""
    try:
        token = path.expanduser().read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            "token-unreadable",
            f"The token cannot be read from {path}: {error}.",
            hint="It is `service/token` in the Studio's folder on the other machine.",
        ) from error
    if not token:
        raise BadInput("token-unreadable", f"{path} is empty; no service runs there.")
    return token
