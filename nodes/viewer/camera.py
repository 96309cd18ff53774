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
VIEW_ANGLE = np.radians(45.0)  # top to bottom
VIEW_DISTANCE = 0.5 / np.sin(0.5 * VIEW_ANGLE)  # of the machine's size: a sphere around it fills the picture
# A lens from so far away that its rays are nearly parallel; the browser has no orthographic camera.
LENSES = {"perspective": VIEW_ANGLE, "nearly parallel": np.radians(3.0)}
REPORT = 1.0  # [s] within which a browser reports a camera that was moved
FOLLOWED = 0.002  # motion of the machine that a camera follows, of its size

Corners = Callable[[], np.ndarray]


class Follower:
    """Moves the camera of one browser as the machine moves.

    The browser reports its camera late, and place and aim one after the other; while it loads, it reports a camera of
    its own. The next motion waits for the report of both: it would otherwise begin where the camera no longer is, and
    undo what the user or the motion before has done.

    Args:
        client: the browser.
        leader: place of the link that it follows [m].
    """

    def __init__(self, client: viser.ClientHandle, leader: np.ndarray) -> None:
        self._camera, self._leader = client.camera, leader
        # Place and aim of the camera as reported, and as sent since [m], (2, 2, 3); None: what was sent is reported.
        self._sent: np.ndarray | None = None
        self._since = 0.0
        client.camera.on_update(self._hear)

    def turn(self, place: np.ndarray, aim: np.ndarray, leader: np.ndarray) -> None:
        """Points the camera.

        Args:
            place, aim: position of the camera, and the point that it looks at [m].
            leader: where the link that it follows is now [m].
        """
        self._move(np.stack([place, aim]), leader)

    def follow(self, leader: np.ndarray, least: float, wanted: bool) -> None:
        """Moves the camera, unless it is on its way.

        Args:
            leader: where that link is now [m].
            least: motion that is followed [m].
            wanted: whether the camera follows; else it stands still.
        """
        moved, sent = leader - self._leader, self._sent
        if not wanted:
            self._leader = leader
        elif np.linalg.norm(moved) >= least and (sent is None or monotonic() - self._since > REPORT):
            self._move((self._view() if sent is None else sent[1]) + moved, leader)

    def _view(self) -> np.ndarray:
        return np.stack([self._camera.position, self._camera.look_at])

    def _move(self, wanted: np.ndarray, leader: np.ndarray) -> None:
        reported = self._view() if self._sent is None else self._sent[0]
        self._sent, self._since, self._leader = np.stack([reported, wanted]), monotonic(), leader
        self._camera.position, self._camera.look_at = wanted

    def _hear(self, _camera: viser.CameraHandle) -> None:
        """Takes a report of the browser, in a thread of the server, once it has both the new aim and a new place."""
        if (sent := self._sent) is not None:
            place, aim = self._view()
            to_reported, to_wanted = np.linalg.norm(aim - sent[:, 1], axis=1)
            if to_wanted <= to_reported and not np.array_equal(place, sent[0, 0]):
                self._sent = None


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
        clients = self._server.get_clients()
        self._followers = {key: self._follower(client) for key, client in clients.items()}
        for follower in self._followers.values():
            follower.follow(self._leader_place(), FOLLOWED * self.size, self.follow_box.value)

    def _leader_place(self) -> np.ndarray:
        return np.array(self._leader().position)

    def _follower(self, client: viser.ClientHandle) -> Follower:
        """The follower of a browser; a new one turns to the machine, whatever camera its browser has reported."""
        if client.client_id not in self._followers:
            self._followers[client.client_id] = follower = Follower(client, self._leader_place())
            follower.turn(*self._place("machine"), self._leader_place())
        return self._followers[client.client_id]

    def _turn(self, client: viser.ClientHandle | None, direction: str) -> None:
        """Points the camera of a browser at the machine from a direction."""
        if client is None:
            return
        client.camera.fov = LENSES[self.lens.value]
        self._follower(client).turn(*self._place(direction), self._leader_place())

    def _place(self, direction: str) -> tuple[np.ndarray, np.ndarray]:
        """Position of a camera in a direction from the machine, and the point that it looks at [m]."""
        low, high = self._corners()
        middle = 0.5 * (low + high)
        x, y, z, w = self._root().quaternion
        yaw = 0.5 * np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        along = rotate((0.0, 0.0, float(np.sin(yaw)), float(np.cos(yaw))), DIRECTIONS[direction])
        distance = VIEW_DISTANCE * self.size * np.tan(0.5 * VIEW_ANGLE) / np.tan(0.5 * LENSES[self.lens.value])
        return middle + distance * np.array(along) / np.linalg.norm(along), middle
