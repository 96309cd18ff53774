"""Cameras of the browsers: where they begin, presets, following, and the lens."""

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
import viser

from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import rotate

# From the machine to the camera, in the frame of the machine's root turned upright: x ahead, y to the left.
DIRECTIONS = {
    "machine": (0.7, 0.6, 0.39),  # from its left front, a little above
    "front": (1.0, 0.0, 0.12),
    "side": (0.0, 1.0, 0.12),
    "top": (-0.001, 0.0, 1.0),
}
VIEW_DISTANCE = 1.15  # of the machine's size
VIEW_ANGLE = np.radians(45.0)  # top to bottom
# A lens from so far away that its rays are nearly parallel; the browser has no orthographic camera.
LENSES = {"perspective": VIEW_ANGLE, "nearly parallel": np.radians(3.0)}
REPORT = 1.0  # [s] within which a browser reports a camera that was moved
FOLLOWED = 0.002  # motion of the machine that a camera follows, of its size

Corners = Callable[[], np.ndarray]


class Follower:
    """Moves the camera of one browser as the machine moves.

    The browser reports its camera late. The next motion waits for the report of the one before: it would otherwise
    begin where the camera no longer is, and undo what the user has done meanwhile.

    Args:
        client: the browser.
        leader: place of the link that it follows [m].
    """

    def __init__(self, client: viser.ClientHandle, leader: np.ndarray) -> None:
        self._camera, self._leader = client.camera, leader
        self._waiting: tuple[np.ndarray, np.ndarray] | None = None  # place before and after the last motion
        self._since = 0.0
        client.camera.on_update(self._hear)

    def restart(self, leader: np.ndarray) -> None:
        """Takes note that the camera points at the machine, with the leader there [m]."""
        self._leader, self._waiting = leader, None

    def follow(self, leader: np.ndarray, least: float, wanted: bool) -> None:
        """Moves the camera, unless it is on its way.

        Args:
            leader: where that link is now [m].
            least: motion that is followed [m].
            wanted: whether the camera follows; else it stands still.
        """
        camera, moved = self._camera, leader - self._leader
        if not wanted or camera.update_timestamp == 0.0:  # the browser has not said where its camera is
            self._leader = leader
        elif np.linalg.norm(moved) >= least and (self._waiting is None or monotonic() - self._since > REPORT):
            self._leader, self._since = leader, monotonic()
            place = camera.position
            self._waiting = (place, place + moved)
            camera.position = place + moved  # and its target with it

    def _hear(self, camera: viser.CameraHandle) -> None:
        """Takes a report of the browser, in a thread of the server."""
        if (waiting := self._waiting) is not None:
            before, after = (np.linalg.norm(camera.position - place) for place in waiting)
            if after < before:
                self._waiting = None


class Cameras:
    """Points the cameras of all browsers at the machine.

    Args:
        server: of the page, with its panel.
        corners: lowest and highest coordinates of the machine in the world [m], shape (2, 3).
        root: pose of the machine's root in the world.
        leader: pose of the link that the cameras follow.
    """

    def __init__(
        self, server: viser.ViserServer, corners: Corners, root: Callable[[], Pose], leader: Callable[[], Pose]
    ) -> None:
        self._server, self._corners, self._root, self._leader = server, corners, root, leader
        self._followers: dict[int, Follower] = {}  # by the numbers of the browsers
        # What the browsers ask for, in threads of the server; `follow` answers.
        self._wanted: deque[tuple[viser.ClientHandle | None, str]] = deque()
        self.size = 1.0
        gui = server.gui
        with gui.add_folder("camera"):
            self.presets: Any = gui.add_button_group("from", tuple(DIRECTIONS))
            self.lens: Any = gui.add_dropdown("lens", tuple(LENSES))
            self.follow_box: Any = gui.add_checkbox("follow the machine", True)
        self.presets.on_click(lambda event: self._wanted.append((event.client, self.presets.value)))
        self.lens.on_update(lambda event: self._wanted.append((event.client, "machine")))

    def aim(self) -> None:
        """Points the camera of every browser, also of later ones, at the machine's present position."""
        low, high = self._corners()
        self.size = float(np.linalg.norm(high - low))
        self.aim_newcomers()
        for client in self._server.get_clients().values():
            self._turn(client, "machine")

    def aim_newcomers(self) -> None:
        """Points the initial camera, of later browsers and after a reset of the view, at the machine."""
        start = self._server.initial_camera
        start.fov = LENSES[self.lens.value]
        start.position, start.look_at = self._place("machine")

    def follow(self) -> None:
        """Moves all cameras as the machine has moved, and turns those whose browsers want it."""
        while self._wanted:
            self._turn(*self._wanted.popleft())
        place = np.array(self._leader().position)
        clients = self._server.get_clients()
        self._followers = {key: self._followers.get(key) or Follower(clients[key], place) for key in clients}
        for follower in self._followers.values():
            follower.follow(place, FOLLOWED * self.size, self.follow_box.value)

    def _turn(self, client: viser.ClientHandle | None, direction: str) -> None:
        """Points the camera of a browser at the machine from a direction."""
        if client is None:
            return
        camera = client.camera
        camera.fov = LENSES[self.lens.value]
        camera.position, camera.look_at = self._place(direction)
        if client.client_id in self._followers:
            self._followers[client.client_id].restart(np.array(self._leader().position))

    def _place(self, direction: str) -> tuple[np.ndarray, np.ndarray]:
        """Position of a camera in a direction from the machine, and the point that it looks at [m]."""
        low, high = self._corners()
        middle = 0.5 * (low + high)
        x, y, z, w = self._root().quaternion
        yaw = 0.5 * np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        along = rotate((0.0, 0.0, float(np.sin(yaw)), float(np.cos(yaw))), DIRECTIONS[direction])
        distance = VIEW_DISTANCE * self.size * np.tan(0.5 * VIEW_ANGLE) / np.tan(0.5 * LENSES[self.lens.value])
        return middle + distance * np.array(along) / np.linalg.norm(along), middle
