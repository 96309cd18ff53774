"""An asyncio event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any


class EventLoopThread:
    """Runs coroutines for threads that have no event loop.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any], timeout: float | None = None) -> Any:
        """Runs a coroutine and returns its result, or raises what it raises.

        Args:
            coroutine: to run.
            timeout: after which it is cancelled [s]; None: none.

        Raises:
            TimeoutError: it took longer.
        """

        async def limited():
            return await asyncio.wait_for(coroutine, timeout)

        try:
            return asyncio.run_coroutine_threadsafe(limited(), self._loop).result()
        except asyncio.TimeoutError:
            raise TimeoutError(f"no answer within {timeout:g} s") from None

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Starts a coroutine and does not wait; it deals with its own failures."""
        asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """Cancels what is running, and ends the thread."""
        asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
