"""The server of the page: one port for the files of the page, the scene of viser, and the control of the machine."""

import asyncio
import errno
import gzip
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

import viser
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from grouser.physics.base.errors import ParameterError

VIEW, CONTROL = "/view/", "/control"
_FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/hands.js": ("hands.js", "text/javascript"),
    "/link.js": ("link.js", "text/javascript"),
    "/circuit.js": ("circuit.js", "text/javascript"),
    "/program.js": ("program.js", "text/javascript"),
    "/replay.js": ("replay.js", "text/javascript"),
    "/pictures.js": ("pictures.js", "text/javascript"),
}
_LARGEST = 2**26  # bytes of a message: pictures that viser asks a browser for
_OWN_NAMES = ("localhost", "127.0.0.1", "::1")
_START = 10.0  # longest time in which the server starts [s]


class PageServer:
    """Serves the page in a thread of its own, from `start` on; browsers that come before wait.

    Args:
        host: address to listen on.
        port: TCP port; 0: a free one.
        scene_port: where viser listens on this computer.
        control: runs the control of one browser until it leaves.

    Attributes:
        port: the one it listens on.
        scene_port: as given; can be set while browsers are there, which then ask for the scene anew.
        loop: of the thread.

    Raises:
        ParameterError: the port is taken, or the host is no address of this machine.
    """

    def __init__(
        self, host: str, port: int, scene_port: int, control: Callable[[ServerConnection], Awaitable[None]]
    ) -> None:
        self._host = host
        self.scene_port = scene_port
        self._control = control
        self._files = {path: _packed(_read(file), kind) for path, (file, kind) in _FILES.items()}
        self._files[VIEW] = _packed((Path(viser.__file__).parent / "client/build/index.html").read_bytes(), "text/html")
        listening = _listen(host, port)
        self.port: int = listening.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._started = threading.Event()
        # Browsers open and drop speculative connections: no traceback for those.
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
        self._thread = threading.Thread(target=self._run, args=(listening,), name="page", daemon=True)

    def start(self) -> None:
        """Answers browsers, once `control` can."""
        self._thread.start()
        self._started.wait(_START)

    def stop(self) -> None:
        """Closes the page."""
        self.loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    def _run(self, listening: socket.socket) -> None:
        try:
            self.loop.run_until_complete(self._serve(listening))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            self.loop.close()

    async def _serve(self, listening: socket.socket) -> None:
        server = await serve(
            self._talk,
            sock=listening,
            process_request=self._answer,
            select_subprotocol=_first,
            compression=None,  # the scene is packed already
            max_size=_LARGEST,
        )
        self._started.set()
        await self._ending.wait()
        server.close()
        await server.wait_closed()
        own = asyncio.current_task()
        left = [task for task in asyncio.all_tasks() if task is not own]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """A file, or None for a connection that stays open."""
        refusal = self._refusal(request)
        if refusal:
            return connection.respond(403, f"{refusal}\n")
        path = urlsplit(request.path).path
        if request.headers.get("Upgrade", "").lower() == "websocket":
            if path == CONTROL or path.rstrip("/") == VIEW.rstrip("/"):
                return None
            return connection.respond(404, f"nothing answers at {path}\n")
        if path == VIEW.rstrip("/"):
            return Response(301, "Moved Permanently", Headers({"Location": VIEW, "Content-Length": "0"}), b"")
        found = self._files.get(path)
        if found is None:
            return connection.respond(404, f"there is no file {path}\n")
        headers, body = found
        return Response(200, "OK", headers, body)

    def _refusal(self, request: Request) -> str:
        """Why a request is refused: pages of other sites must not command the machine; "" if it is not."""
        host = request.headers.get("Host", "")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"a page of {origin} may not use this one"
        name = urlsplit(f"//{host}").hostname
        if self._host in _OWN_NAMES and name not in _OWN_NAMES:
            return f"this page is for this computer: open it as localhost, not as {name}"
        return ""

    async def _talk(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        if urlsplit(connection.request.path).path == CONTROL:
            await self._control(connection)
        else:
            await self._forward(connection)

    async def _forward(self, browser: ServerConnection) -> None:
        """Passes messages on between a browser and viser; one that is slow holds up nobody else."""
        wanted = [browser.subprotocol] if browser.subprotocol else None
        address = f"ws://127.0.0.1:{self.scene_port}"
        try:
            async with connect(address, subprotocols=wanted, compression=None, max_size=None, proxy=None) as scene:
                tasks = [asyncio.create_task(_pass_on(*ends)) for ends in ((browser, scene), (scene, browser))]
                try:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
        except OSError:
            await browser.close(1011, "the scene has ended")


async def _pass_on(source, target) -> None:
    with suppress(ConnectionClosed):
        async for message in source:
            await target.send(message)


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        ParameterError: the port is taken, or the host is no address of this machine.
    """
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise ParameterError("host", host, f"it must be an address of this machine ({error.strerror})") from error
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise ParameterError("host", host, "it must be an address of this machine") from error
        raise ParameterError(
            "port",
            port,
            f"no server can listen on {host}:{port} ({error.strerror}); stop the program that has the port, or "
            f"choose another one with --port NUMBER of grouser run, or --ros-args -p port:=NUMBER of the viewer",
        ) from error
    return listening


def _first(_connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    return offered[0] if offered else None


def _read(name: str) -> bytes:
    return resources.files(__package__).joinpath(name).read_bytes()


def _packed(content: bytes, kind: str) -> tuple[Headers, bytes]:
    """Headers and body of a file, which browsers ask for anew each time."""
    body = gzip.compress(content)
    headers = Headers(
        {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Encoding": "gzip",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-cache",
        }
    )
    return headers, body
