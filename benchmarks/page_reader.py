"""A browser without its screen: has the viewer's page open, reads what it is sent and counts the pictures."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec.msgpack
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Subprotocol

_OF_A_PICTURE = {"SetPositionMessage", "SetOrientationMessage", "SceneNodeUpdateMessage"}
_SIZES = 16  # bytes in front of a window of messages: its size unpacked, and packed
# What a browser reports at first; viser does not draw for one that has not.
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (3.0, 3.0, 3.0),
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
    "fov": 0.8,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 600,
    "image_width": 800,
}


class PageReader:
    """Reads what the page sends of its scene, in a thread of its own.

    Args:
        view: connection to the scene, from `opened`.

    Attributes:
        arrivals: of each picture, by a steady clock [s].
        received: bytes.
    """

    def __init__(self, view: Connection) -> None:
        self.arrivals: list[float] = []
        self.received = 0
        threading.Thread(target=self._read, args=(view,), daemon=True).start()

    def _read(self, view: Connection) -> None:
        with suppress(ConnectionClosed):
            for window in view:
                assert isinstance(window, bytes)
                self.received += len(window)
                if any(message["type"] in _OF_A_PICTURE for message in messages(window)):
                    self.arrivals.append(time.monotonic())


def messages(window: bytes) -> list[dict[str, Any]]:
    """Messages that viser sends together, by the names of their fields."""
    size = int.from_bytes(window[8:_SIZES], "little")
    packed = zstandard.ZstdDecompressor().decompress(window[_SIZES : _SIZES + size])
    return list(msgspec.msgpack.decode(packed)["messages"])


@contextmanager
def reading(port: int) -> Iterator[PageReader]:
    """A reader that has the page open."""
    with opened(port) as view:
        yield PageReader(view)


@contextmanager
def opened(port: int, **settings: Any) -> Iterator[Connection]:
    """Opens the page as a browser does.

    Args:
        port: of the page on this computer.
        settings: of the connection to the scene, as of websockets.

    Yields:
        The connection to the scene. That to the page around it is read here.
    """
    address, protocol = f"ws://127.0.0.1:{port}", [Subprotocol(f"viser-v{viser.__version__}")]
    with (
        connect(f"{address}/control") as control,
        connect(f"{address}/view/", subprotocols=protocol, compression=None, max_size=None, **settings) as view,
    ):
        threading.Thread(target=_drain, args=(control,), daemon=True).start()
        view.send(msgspec.msgpack.encode(CAMERA))
        yield view


def _drain(connection: Connection) -> None:
    with suppress(ConnectionClosed):
        for _ in connection:
            pass
