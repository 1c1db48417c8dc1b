"""The network between ranks: a TCP proxy that can be slow, lossy, dead or cut.

A rank with troubled_rank preloaded and RANK_LINK set to the proxy's port connects to
127.HIGH.LOW.(RANK + 1) at that port instead of 127.0.0.1 at HIGH * 256 + LOW: all of 127 leads to
the loopback, so the address tells who wants to go where.
"""

import asyncio
import contextlib
import random
import socket
import struct
import threading

STORE, RANKS = "store", "ranks"  # kinds of connections: to what the first rank serves, and gloo's


class Link:
    """What is carried, either way; `store` is the first rank's port. Attributes may be set at any
    time."""

    def __init__(self, store):
        self.store = store
        self.delay = 0.0  # seconds, each way
        self.lost = 0.0  # share of what is sent that arrives as late as TCP sends it again
        self.swallows = frozenset()  # kinds of which nothing arrives any more
        self.swallows_back = frozenset()  # the same, of what goes to who connected
        self.resets = frozenset()  # kinds that are reset once half of the next message has arrived
        self.from_ranks = None  # whose connections these are, if not everybody's
        self.await_text = None  # until one of them carries that, all is well
        self.carried = dict.fromkeys((STORE, RANKS), 0)  # bytes
        self.loop = asyncio.new_event_loop()
        self.ended = asyncio.Event()
        self.listening = socket.create_server(("0.0.0.0", 0), backlog=256)
        self.port = self.listening.getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self.serve(),))
        self.thread.start()

    async def serve(self):
        server = await asyncio.start_server(self.connected, sock=self.listening)
        await self.ended.wait()
        server.close()
        carrying = asyncio.all_tasks() - {asyncio.current_task()}
        for task in carrying:
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)

    def close(self):
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join()
        self.loop.close()

    async def connected(self, reader, writer):
        _, high, low, rank = map(int, writer.get_extra_info("sockname")[0].split("."))
        port = high * 256 + low
        there = await self.reach(port)
        if there is None:
            writer.transport.abort()
            return
        kind = STORE if port == self.store else RANKS
        ends = (writer, there[1])
        # What the first rank says to its own store passes no network.
        is_real = kind == RANKS or rank > 1
        with contextlib.suppress(asyncio.CancelledError):  # when this proxy is closed
            await asyncio.gather(self.carry(kind, rank - 1, is_real, False, reader, ends[1], ends),
                                 self.carry(kind, rank - 1, is_real, True, there[0], ends[0], ends))

    @staticmethod
    async def reach(port):
        """Tries until somebody listens there, as the one who connects would."""
        for _ in range(100):
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
        return None

    async def carry(self, kind, rank, is_real, is_back, reader, writer, ends):
        try:
            while data := await reader.read(1 << 16):
                self.carried[kind] += len(data)
                if is_real and self.from_ranks in (None, rank):
                    data = await self.suffer(kind, is_back, data, ends)
                writer.write(data)
                await writer.drain()
            await self.pass_end(kind, rank, is_back)
            writer.close()
        except OSError:
            await self.pass_end(kind, rank, is_back)
            for end in ends:
                end.transport.abort()

    def is_swallowed(self, kind, is_back):
        return kind in (self.swallows_back if is_back else self.swallows)

    async def pass_end(self, kind, rank, is_back):
        """Returns when the end of a connection arrives, if it does."""
        is_hit = self.from_ranks in (None, rank) and not self.await_text
        if is_hit and self.is_swallowed(kind, is_back):
            await self.ended.wait()

    async def suffer(self, kind, is_back, data, ends):
        """What arrives of it."""
        if self.await_text:
            if self.await_text not in data:
                return data
            self.await_text = None
        if self.is_swallowed(kind, is_back):
            return b""
        if kind in self.resets:
            writer = ends[0 if is_back else 1]
            writer.write(data[:len(data) // 2])
            await writer.drain()
            for end in ends:
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                        struct.pack("ii", 1, 0))
            raise ConnectionResetError
        again = 0.2 if random.random() < self.lost else 0.0  # Linux' TCP_RTO_MIN
        if self.delay + again > 0:
            await asyncio.sleep(self.delay + again)
        return data
