"""The machine, the ground and the contact forces as a viser scene in the browser."""

import contextlib
import io
import logging
import socket
from typing import Any

import numpy as np
import viser

from grouser.nodes.viewer.cylinders import CylinderView
from grouser.nodes.viewer.forces import contact_ball, force_point
from grouser.nodes.viewer.objects import ObjectsView
from grouser.nodes.viewer.shapes import add_shape, wxyz
from grouser.nodes.viewer.world import draw_world
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Visual
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.data.world import World
from grouser.physics.description.urdf.meshes import MeshError

ARROW_COLOUR = (190, 0, 110)  # a colour that machines do not have
COLLISION_COLOUR = (0.27, 0.51, 0.71)
VIEW_DIRECTION = np.array([0.7, 0.6, 0.39])  # from the machine to the camera: from its left front, a little above
VIEW_DISTANCE = 1.15  # of the machine's size
VIEW_ANGLE = np.radians(45.0)  # top to bottom
GRAVITY = 9.81  # [m/s2], only for the length of the arrows


def free_port() -> int:
    """A port of this computer that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Scene:
    """The scene in the browser, for this computer only: the page passes it on.

    Args:
        world: around the machine.

    Attributes:
        port: that viser listens on.
        objects: plain objects in it.
        problems: descriptions of parts of the world that cannot be drawn.
    """

    def __init__(self, world: World) -> None:
        # Browsers open and drop speculative connections: no traceback for those.
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
        # viser would print a box over the status line of `make run`; the node logs the address in one line.
        with contextlib.redirect_stdout(io.StringIO()):
            self.server = viser.ViserServer(host="127.0.0.1", port=free_port(), label="grouser", verbose=False)
        self.port = self.server.get_port()  # another one, if that was taken meanwhile
        self._links: dict[str, viser.FrameHandle] = {}
        self._poses: dict[str, Pose] = {}
        self._balls: list[tuple[str, Vector3, float]] = []
        # Of the links that have both; the panel selects which are visible.
        self._visuals: list[viser.SceneNodeHandle] = []
        self._collisions: list[viser.SceneNodeHandle] = []
        self._arrows: viser.ArrowsHandle | None = None
        self._contact_balls: dict[str, tuple[np.ndarray, float]] = {}
        self._cylinders: list[CylinderView] = []
        self._size = 1.0
        self._weight = 1.0
        self.problems = draw_world(self.server.scene, world)
        self.objects = ObjectsView(self.server.scene)
        self._add_panel()

    def _add_panel(self) -> None:
        gui = self.server.gui
        # Any: viser's own types call a text's value read-only, its documentation sets it.
        self._machine_text: Any = gui.add_text("machine", "waiting for robot_description", disabled=True)
        self._state_text: Any = gui.add_text("simulator", "waiting for /diagnostics", multiline=True, disabled=True)
        self._time_text: Any = gui.add_text("time", "-", disabled=True)
        self._speed_text: Any = gui.add_text("real time", "-", disabled=True)
        self.forces_box = gui.add_checkbox("contact forces", True)
        self.collision_box = gui.add_checkbox("collision shapes", False)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links in the scene."""
        return tuple(self._links)

    def show(self, machine: Machine) -> list[str]:
        """Replaces the machine; its links are at the origin until `move`.

        Returns:
            Descriptions of shapes that cannot be drawn: files without a mesh.
        """
        self._remove_machine()
        self._weight = GRAVITY * sum(link.inertial.mass for link in machine.links if link.inertial) or 1.0
        problems = []
        for link in machine.links:
            name = node_name(link.name)
            self._links[link.name] = self.server.scene.add_frame(name, show_axes=False)
            self._poses[link.name] = Pose()
            shapes: tuple[Visual | Collision, ...] = (*link.visuals, *link.collisions)
            for index, shape in enumerate(shapes):
                colour = shape.rgba if isinstance(shape, Visual) else (*COLLISION_COLOUR, 1.0)
                try:
                    handle, reach = add_shape(self.server.scene, f"{name}/{index}", shape.geometry, shape.pose, colour)
                except MeshError as problem:
                    problems.append(f"link '{link.name}': {problem}")
                    continue
                self._balls.append((link.name, shape.pose.position, reach))
                if link.visuals and link.collisions:
                    (self._visuals if isinstance(shape, Visual) else self._collisions).append(handle)
        self._cylinders = [CylinderView(self.server.scene, cylinder) for cylinder in machine.cylinders]
        self._contact_balls = {link.name: contact_ball(link) for link in machine.links if link.collisions}
        self._machine_text.value = machine.name
        self.refresh_visibility()
        return problems

    def _remove_machine(self) -> None:
        self.draw_forces({}, 0.0)
        for frame in self._links.values():
            frame.remove()
        for cylinder in self._cylinders:
            cylinder.remove()
        self._links.clear()
        self._poses.clear()
        self._cylinders.clear()
        self._balls.clear()
        self._visuals.clear()
        self._collisions.clear()

    def move(self, link: str, pose: Pose) -> None:
        """Sets the pose of a link in the world, if it has changed."""
        if pose == self._poses[link]:
            return
        self._poses[link] = pose
        frame = self._links[link]
        frame.wxyz = wxyz(pose)
        frame.position = pose.position

    def stretch_cylinders(self) -> None:
        """Moves every hydraulic cylinder to its attachments, after its links have moved."""
        for cylinder in self._cylinders:
            cylinder.stretch(self._poses)

    def draw_forces(self, wrenches: dict[str, np.ndarray], scale: float) -> None:
        """Draws an arrow along the contact force on each link, from where it acts; replaces those drawn before.

        Args:
            wrenches: by link, the force [N] and the moment about the link's origin [N m] in the link frame, (6,).
            scale: length of an arrow per newton [m/N]; 0: the machine's weight is drawn as long as the machine.
        """
        if not wrenches:
            if self._arrows is not None:
                self._arrows.remove()
                self._arrows = None
            return
        scale = scale or self._size / self._weight
        tails = np.array(
            [
                compose(self._poses[link], Pose(force_point(wrench, *self._contact_balls[link]))).position
                for link, wrench in wrenches.items()
            ]
        )
        forces = {link: (wrench[0], wrench[1], wrench[2]) for link, wrench in wrenches.items()}
        along = np.array([rotate(self._poses[link].quaternion, force) for link, force in forces.items()])
        arrows = np.stack([tails, tails + scale * along], axis=1).astype(np.float32)
        if self._arrows is None:
            width = 0.01 * self._size
            self._arrows = self.server.scene.add_arrows(
                "/contact_forces",
                arrows,
                ARROW_COLOUR,
                shaft_radius=width,
                head_radius=2.5 * width,
                head_length=6.0 * width,
                visible=self.forces_box.value,
            )
        elif not np.array_equal(self._arrows.points, arrows):
            self._arrows.points = arrows

    def refresh_visibility(self) -> None:
        """Shows and hides nodes by the panel's boxes."""
        for shape in self._visuals:
            shape.visible = not self.collision_box.value
        for shape in self._collisions:
            shape.visible = self.collision_box.value
        if self._arrows is not None:
            self._arrows.visible = self.forces_box.value

    def show_state(self, text: str) -> None:
        """Shows what the simulator does, in words."""
        self._state_text.value = text

    def show_time(self, time: float, speed: float) -> None:
        """Shows the simulation time [s] and how fast it runs, as a factor of real time."""
        self._time_text.value = f"{time:.1f} s"
        self._speed_text.value = f"{speed:.2f} x"

    def aim(self) -> None:
        """Points the camera of every browser, also of later ones, at the machine's present position."""
        low, high = self._corners()
        self._size = float(np.linalg.norm(high - low))
        self.aim_newcomers()
        start = self.server.initial_camera
        for client in self.server.get_clients().values():
            client.camera.fov = start.fov
            client.camera.position = start.position
            client.camera.look_at = start.look_at

    def aim_newcomers(self) -> None:
        """Points the initial camera, of later browsers and after a reset of the view, at the machine."""
        middle = np.mean(self._corners(), axis=0)
        start = self.server.initial_camera
        start.fov = VIEW_ANGLE
        start.position = middle + VIEW_DISTANCE * self._size * VIEW_DIRECTION
        start.look_at = middle

    def _corners(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest coordinates of the machine in the world [m]; a cube of 1 m without a machine."""
        balls = [compose(self._poses[link], Pose(centre)).position for link, centre, _ in self._balls]
        centres = np.array(balls or [(0.0, 0.0, 0.0)])
        reaches = np.array([reach for *_, reach in self._balls] or [0.5])[:, np.newaxis]
        return (centres - reaches).min(axis=0), (centres + reaches).max(axis=0)

    def stop(self) -> None:
        """Closes the page."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()


def node_name(link: str) -> str:
    """Name of a link in viser's scene, without slashes, which would make it a child of another node."""
    return f"/machine/{link.replace('/', '|')}"
