"""The machine, the ground and the contact forces as a viser scene in the browser."""

import contextlib
import io
import logging
import math
import socket
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import viser

from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.viewer.blocks import BlocksView
from grouser.nodes.viewer.buckets import BucketView
from grouser.nodes.viewer.camera import Cameras
from grouser.nodes.viewer.colours import Colour
from grouser.nodes.viewer.cylinders import CHAMBERS, CylinderView, pressure_scale
from grouser.nodes.viewer.extent import Extent
from grouser.nodes.viewer.falling import FallingSoil
from grouser.nodes.viewer.forces import ForceArrows
from grouser.nodes.viewer.grains import CHOICES, STONE, GrainsView
from grouser.nodes.viewer.labels import Labels
from grouser.nodes.viewer.links import LinkTree
from grouser.nodes.viewer.objects import ObjectsView
from grouser.nodes.viewer.plots import Plots
from grouser.nodes.viewer.pushing import PushTool
from grouser.nodes.viewer.shapes import add_shape
from grouser.nodes.viewer.soils import dug, soil_colour
from grouser.nodes.viewer.terrain import PLAIN, SCALES, TerrainView
from grouser.nodes.viewer.tracks import TrackView
from grouser.nodes.viewer.values import Values
from grouser.nodes.viewer.world import draw_world, has_ruts, terrain_view
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Visual
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import World
from grouser.physics.description.urdf.meshes import MeshError
from grouser.runtime.belt_shoes import BeltShoes
from grouser.runtime.drawn_links import drawn_links

COLLISION_COLOUR = (0.27, 0.51, 0.71, 1.0)


def free_port() -> int:
    """A port of this computer that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Scene:
    """The scene in the browser, for this computer only: the page passes it on.

    Args:
        world: around the machine.
        metres_per_newton: length of the arrows of contact forces [m/N]; 0: by the machine's size and weight.

    Attributes:
        port: that viser listens on.
        nodes: name of the node of each link of the machine.
        objects: plain objects in it.
        forces: the arrows of contact forces.
        labels: of parts that were clicked.
        pushes: of parts that are dragged.
        cameras: of the browsers.
        plots: of chosen signals.
        terrain: soft ground with its ruts; None for other ground.
        grains: of the world; None for a world without.
        blocks: deformable ones of the world; None for a world without.
        falling: soil in the air; None on rigid ground.
        problems: descriptions of parts of the world that cannot be drawn.
    """

    def __init__(self, world: World, metres_per_newton: float = 0.0) -> None:
        # Browsers open and drop speculative connections: no traceback for those.
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
        # A browser that has just been closed is no mistake.
        warnings.filterwarnings("ignore", message="Queued a .* on a closed connection", category=UserWarning)
        # viser would print a box over the status line of `make run`; the node logs the address in one line.
        with contextlib.redirect_stdout(io.StringIO()):
            self.server = viser.ViserServer(host="127.0.0.1", port=free_port(), label="grouser", verbose=False)
        self.port = self.server.get_port()  # another one, if that was taken meanwhile
        self.nodes: dict[str, str] = {}
        self._links: LinkTree | None = None
        self._frames = ReceivedFrames()
        self._extent = Extent()
        # Of the links that have both; the panel selects which are visible.
        self._visuals: list[viser.SceneNodeHandle] = []
        self._collisions: list[viser.SceneNodeHandle] = []
        self._collisions_shown: bool | None = None
        self._cylinders: list[CylinderView] = []
        self._tracks: dict[str, TrackView] = {}  # by their sprockets' joints
        self._machine: Machine | None = None
        self._buckets: list[BucketView] = []
        self._soil = world.soil
        self._leader = ""
        self._legends: list[str] = []
        self._grain_legend = ""
        self.labels = Labels(self.server.scene)
        self.pushes = PushTool(self.server.scene)
        self.forces = ForceArrows(self.server.scene, metres_per_newton)
        self.problems = draw_world(self.server.scene, world)
        ground = world.ground
        soil = ground.soil if ground is not None and has_ruts(ground) else None
        self.terrain: TerrainView | None = (
            terrain_view(self.server.scene, ground, soil) if ground is not None and soil is not None else None
        )
        self.grains = GrainsView(self.server.scene) if world.grains is not None else None
        self.blocks = BlocksView(self.server.scene) if world.blocks is not None else None
        self.falling = None if world.soil is None else _falling_soil(self.server.scene, world.soil)
        self.objects = ObjectsView(self.server.scene)
        self._add_panel()

    def _add_panel(self) -> None:
        tabs = self.server.gui.add_tab_group()
        with tabs.add_tab("view"):
            self._add_view()
        with tabs.add_tab("plots"):
            self.plots = Plots(self.server.gui)

    def _add_view(self) -> None:
        gui = self.server.gui
        # Any: viser's own types call a text's value read-only, its documentation sets it.
        self._machine_text: Any = gui.add_text("machine", "waiting for robot_description", disabled=True)
        self._state_text: Any = gui.add_text("simulator", "waiting for /diagnostics", multiline=True, disabled=True)
        self._time_text: Any = gui.add_text("time", "-", disabled=True)
        self._speed_text: Any = gui.add_text("real time", "-", disabled=True)
        self.forces_box = gui.add_checkbox("contact forces", True)
        self.pressures_box = gui.add_checkbox("pressures", True)
        self.collision_box = gui.add_checkbox("collision shapes", False)
        self._ground_choice: Any = gui.add_dropdown("ground shows", (*SCALES, PLAIN), visible=self.terrain is not None)
        shown = self.grains is not None
        self._grain_choice: Any = gui.add_dropdown("grains show", CHOICES, initial_value=STONE, visible=shown)
        self._legend: Any = gui.add_html("")
        self.cameras = Cameras(
            self.server, lambda: self._extent.corners(self._frames.world), self._root_pose, self._leader_pose
        )

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links in the scene."""
        return tuple(self.nodes)

    @property
    def has_belts(self) -> bool:
        """Whether the machine has tracks."""
        return bool(self._tracks)

    def show(self, machine: Machine) -> list[str]:
        """Replaces the machine; its links are at the origin until `move`.

        Returns:
            Descriptions of shapes that cannot be drawn: files without a mesh.
        """
        self.labels.describe(machine)
        self._remove_machine()
        self._machine, moving = machine, moving_links(machine)
        self.forces.describe(machine, moving)
        self.pushes.clear()
        first = [joint.child for joint in machine.joints if joint.parent not in moving and joint.child in moving]
        self._leader = first[0] if first else machine.root
        problems = []
        owners = {link.name: owner for link, owner in drawn_links(machine)}
        self._links = LinkTree(self.server.scene, machine, owners)
        self.nodes = self._links.nodes
        for link, owner in drawn_links(machine):
            name = self.nodes[link.name]
            shapes: tuple[Visual | Collision, ...] = (*link.visuals, *link.collisions)
            for index, shape in enumerate(shapes):
                colour = shape.rgba if isinstance(shape, Visual) else COLLISION_COLOUR
                try:
                    handle, corners = add_shape(
                        self.server.scene, f"{name}/{index}", shape.geometry, shape.pose, colour
                    )
                except MeshError as problem:
                    problems.append(f"link '{link.name}': {problem}")
                    continue
                self.labels.offer(handle, name, link=owner)
                self.pushes.offer(handle, link.name)
                self._extent.add(link.name, shape.pose, corners, link.name in moving)
                if link.visuals and link.collisions:
                    (self._visuals if isinstance(shape, Visual) else self._collisions).append(handle)
        scale = pressure_scale(machine)
        self._cylinders = [
            CylinderView(self.server.scene, self.nodes[cylinder.barrel.link], cylinder, scale)
            for cylinder in machine.cylinders
        ]
        for cylinder in self._cylinders:
            for handle in cylinder.handles:
                self.labels.offer(handle, cylinder.node, cylinder=cylinder.cylinder.name)
        for shoes in (BeltShoes(machine, track) for track in machine.tracks):
            self._tracks[shoes.track.sprocket] = TrackView(self.server.scene, self.nodes[shoes.carrier], shoes)
        if self._soil is not None:
            slope, brown = math.tan(self._soil.soils[0].repose_angle), dug_colour(self._soil)
            self._buckets = [
                BucketView(self.server.scene, self.nodes[shovel.link], shovel, slope, brown)
                for shovel in machine.shovels
                if shovel.profile
            ]
        self._machine_text.value = machine.name
        self._collisions_shown = None
        self.refresh_visibility()
        return problems

    def _remove_machine(self) -> None:
        if self._links is not None:
            self._links.remove()
        self._cylinders.clear()
        self._tracks.clear()
        self._buckets.clear()
        self._extent = Extent()
        self._visuals.clear()
        self._collisions.clear()

    def move(self, frames: ReceivedFrames) -> None:
        """Moves links and cylinders to these poses, which the cameras follow, too, until the next call."""
        self._frames = frames
        if self._links is not None:
            self._links.move(frames)
        for cylinder in self._cylinders:
            cylinder.stretch(frames)

    def move_belts(self, positions: Mapping[str, float]) -> None:
        """Moves the shoes of every track, after its links have moved.

        Args:
            positions: of joints [rad]; a sprocket that is not among them has not turned.
        """
        for sprocket, track in self._tracks.items():
            track.move(positions.get(sprocket, 0.0), self._frames)

    @property
    def has_buckets(self) -> bool:
        """Whether the machine has buckets, and its world soil."""
        return bool(self._buckets)

    def fill_buckets(self, loads: Values) -> None:
        """Fills the buckets with what `bucket/load` says, after their links have moved."""
        for bucket in self._buckets:
            volume = loads.get(bucket.name, {}).get("volume", 0.0)
            bucket.show(volume if math.isfinite(volume) else 0.0, self._frames.world(bucket.link))

    def colour_cylinders(self, hydraulics: Values) -> None:
        """Colours the chambers of the cylinders by what `hydraulics/state` says."""
        for cylinder in self._cylinders:
            values = hydraulics.get(cylinder.cylinder.name, {}) if self.pressures_box.value else {}
            named = {side: f"pressure_{side}" for side in CHAMBERS}
            cylinder.colour({side: values[name] for side, name in named.items() if name in values})

    def refresh_visibility(self) -> None:
        """Shows and hides nodes by the panel's boxes, if those have changed."""
        shown = self.collision_box.value
        if shown == self._collisions_shown:
            return
        self._collisions_shown = shown
        for shape in self._visuals:
            shape.visible = not shown
        for shape in self._collisions:
            shape.visible = shown

    def show_state(self, text: str) -> None:
        """Shows what the simulator does, in words."""
        self._state_text.value = text

    def show_time(self, time: float, speed: float) -> None:
        """Shows the simulation time [s] and how fast it runs, as a factor of real time."""
        self._time_text.value = f"{time:.1f} s"
        self._speed_text.value = f"{speed:.2f} x"

    def aim(self) -> None:
        """Points the cameras at the machine, whose size also gives the lengths of the arrows of its forces."""
        self.cameras.aim()
        self.forces.resize(self.cameras.size)
        self._legends = []
        if self._machine and any(link.collisions for link in self._machine.links):
            self._legends.append(self.forces.legend())
        if self._machine and self._cylinders:
            self._legends.append(pressure_scale(self._machine).legend())
        self._explain()

    def colour_ground(self) -> None:
        """Colours soft ground by what the panel says."""
        if self.terrain is not None and self.terrain.shown_as != self._ground_choice.value:
            self.terrain.colour_by(self._ground_choice.value)
            self._explain()

    def colour_grains(self) -> None:
        """Colours grains by what the panel says."""
        if self.grains is None:
            return
        if self.grains.shown_as != self._grain_choice.value:
            self.grains.colour_by(self._grain_choice.value)
        if self.grains.legend != self._grain_legend:
            self._explain()

    def _explain(self) -> None:
        """Shows the legends of what is drawn."""
        choice = self._ground_choice.value
        ground = [SCALES[choice].legend()] if self.terrain is not None and choice in SCALES else []
        self._grain_legend = "" if self.grains is None else self.grains.legend
        self._legend.content = "".join([*self._legends, *ground, self._grain_legend])

    def _root_pose(self) -> Pose:
        """Pose of the machine's root in the world."""
        return self._frames.world(self._machine.root) if self._machine else Pose()

    def _leader_pose(self) -> Pose:
        """Pose of the link that cameras follow: of the first that can move, of a floating base its root."""
        return self._frames.world(self._leader) if self._leader else Pose()

    def stop(self) -> None:
        """Closes the page."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()


def dug_colour(ground: SoilGround) -> Colour:
    """Colour of the first soil of a ground, dug."""
    red, green, blue = dug(np.array(soil_colour(ground.soils[0].name))).tolist()
    return red, green, blue


def _falling_soil(scene: viser.SceneApi, ground: SoilGround) -> FallingSoil:
    soil = ground.soils[0]
    return FallingSoil(scene, soil.density / soil.swell, dug_colour(ground))


def moving_links(machine: Machine) -> set[str]:
    """Names of the links that can move in the world; of a machine without such links all."""
    names = {link.name for link in machine.links}
    if machine.floating_base:
        return names
    held, found = {machine.root}, {machine.root}
    while found:
        found = {joint.child for joint in machine.joints if joint.type == "fixed" and joint.parent in held} - held
        held |= found
    return names - held or names
