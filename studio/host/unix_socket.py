"""Connecting to a Unix socket whose backlog may be full.

Unlike TCP it makes nobody wait: it refuses at once, which uvloop takes for an error and asyncio for
a connection that comes later.
"""

import asyncio
import socket

_FULL_S = 0.005
"""Between two tries: a server that runs takes its backlog in well under a millisecond."""


async def connected(path: str) -> socket.socket:
    """Return a socket that is connected to `path`; waits as long as its caller lets it.

    Raises: OSError.
    """
    pipe = socket.socket(socket.AF_UNIX)
    try:
        pipe.setblocking(False)
        while True:
            try:
                pipe.connect(path)
            except BlockingIOError:
                await asyncio.sleep(_FULL_S)
            else:
                return pipe
    except BaseException:
        pipe.close()
        raise
