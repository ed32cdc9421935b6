"""A line between two programs on loopback: it takes time and lets so many bytes a second pass."""

import asyncio
import threading
import urllib.parse

_CHUNK = 64 << 10
_BURST_S = 0.01
"""A line does not idle because whoever carries its bytes woke up late."""
_QUEUED = 64
"""Pieces on their way at most, each way of each connection: 4 MiB, as a kernel has a window."""


class Line:
    """One delay and one bandwidth for all connections through it; runs in a thread of its own."""

    def __init__(self, *, one_way_s: float, bytes_per_s: float) -> None:
        self._one_way_s = one_way_s
        self._rate = bytes_per_s
        self._free_at = 0.0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Line":
        self._thread.start()
        return self

    def __exit__(self, *_what: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def to(self, url: str) -> str:
        """Return the address by which `url` is reached over this line."""
        port = urllib.parse.urlsplit(url).port
        assert port is not None
        made = asyncio.run_coroutine_threadsafe(self._open(port), self._loop)
        return f"http://127.0.0.1:{made.result()}"

    async def _open(self, port: int) -> int:
        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pump(reader, back, is_capped=False))
                tasks.create_task(self._pump(there, writer, is_capped=True))

        server = await asyncio.start_server(meet, "127.0.0.1", 0)
        return int(server.sockets[0].getsockname()[1])

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_capped: bool
    ) -> None:
        """Carry bytes one way: each waits for the line, and arrives a while later."""
        on_the_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_QUEUED)
        clock = self._loop.time

        async def arrive() -> None:
            while True:
                due, data = await on_the_way.get()
                await asyncio.sleep(max(0.0, due - clock()))
                if not data:
                    writer.close()
                    return
                writer.write(data)
                await writer.drain()

        async def depart() -> None:
            while True:
                data = await reader.read(_CHUNK)
                if is_capped:
                    free_at = max(self._free_at, clock() - _BURST_S)
                    self._free_at = free_at + len(data) / self._rate
                    await asyncio.sleep(max(0.0, self._free_at - clock()))
                await on_the_way.put((clock() + self._one_way_s, data))
                if not data:
                    return

        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(arrive())
                tasks.create_task(depart())
        except* OSError:  # one side has gone: so does the other
            writer.close()
