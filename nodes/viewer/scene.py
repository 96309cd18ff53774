"""The machine, the ground and the contact forces as a viser scene in the browser."""

import contextlib
import io
import logging
import socket
import warnings
from collections.abc import Mapping
from typing import Any

import viser

from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.viewer.blocks import BlocksView
from grouser.nodes.viewer.camera import Cameras
from grouser.nodes.viewer.cylinders import pressure_scale
from grouser.nodes.viewer.drawn_machine import DrawnMachine, moving_links
from grouser.nodes.viewer.extent import Extent
from grouser.nodes.viewer.falling import FallingSoil
from grouser.nodes.viewer.forces import ForceArrows
from grouser.nodes.viewer.grains import CHOICES, STONE, GrainsView
from grouser.nodes.viewer.labels import Labels
from grouser.nodes.viewer.objects import ObjectsView
from grouser.nodes.viewer.plots import Plots
from grouser.nodes.viewer.pushing import PushTool
from grouser.nodes.viewer.soils import dug_colour
from grouser.nodes.viewer.terrain import PLAIN, SCALES, TerrainView
from grouser.nodes.viewer.values import Values
from grouser.nodes.viewer.world import draw_world, has_ruts, terrain_view
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import World


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
        drawn: the machine; None before the first one.
        beside: other machines in it, by name.
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
        self._machine: Machine | None = None
        self.drawn: DrawnMachine | None = None
        self.beside: dict[str, DrawnMachine] = {}
        self._frames = ReceivedFrames()
        self._collisions_shown: bool | None = None
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
    def nodes(self) -> Mapping[str, str]:
        """Name of the node of each link of the machine."""
        return self.drawn.nodes if self.drawn is not None else {}

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links in the scene."""
        return tuple(self.nodes)

    @property
    def _extent(self) -> Extent:
        """Of the machine."""
        return self.drawn.extent if self.drawn is not None else Extent()

    def show(self, machine: Machine) -> list[str]:
        """Replaces the machine; its links are at the origin until `move`.

        Returns:
            Descriptions of shapes that cannot be drawn: files without a mesh.
        """
        self.labels.describe(machine)
        if self.drawn is not None:
            self.drawn.remove()
        self._machine, moving = machine, moving_links(machine)
        self.forces.describe(machine, moving)
        self.pushes.clear()
        first = [joint.child for joint in machine.joints if joint.parent not in moving and joint.child in moving]
        self._leader = first[0] if first else machine.root
        drawn = self.drawn = DrawnMachine(self.server.scene, machine, "/machine", self._soil)
        for shape in drawn.shapes:
            self.labels.offer(shape.handle, drawn.nodes[shape.link], link=shape.owner)
            self.pushes.offer(shape.handle, shape.link)
        for cylinder in drawn.cylinders:
            for handle in cylinder.handles:
                self.labels.offer(handle, cylinder.node, cylinder=cylinder.cylinder.name)
        self._machine_text.value = machine.name
        self._collisions_shown = None
        self.refresh_visibility()
        return drawn.problems

    def show_beside(self, name: str, machine: Machine) -> list[str]:
        """Draws another machine, or another one of that name; it is at the origin until `move_beside`.

        Args:
            name: of the machine in the simulator.
            machine: its links named as their frames.

        Returns:
            Descriptions of shapes that cannot be drawn.
        """
        self.remove_beside(name)
        drawn = self.beside[name] = DrawnMachine(self.server.scene, machine, f"/machines/{name}", self._soil)
        self._collisions_shown = None
        self.refresh_visibility()
        return drawn.problems

    def remove_beside(self, name: str) -> None:
        """Removes another machine, if it is drawn."""
        if name in self.beside:
            self.beside.pop(name).remove()

    def move(self, frames: ReceivedFrames) -> None:
        """Moves links and cylinders to these poses, which the cameras follow, too, until the next call."""
        self._frames = frames
        if self.drawn is not None:
            self.drawn.move(frames)

    def colour_cylinders(self, hydraulics: Values) -> None:
        """Colours the chambers of the cylinders by what `hydraulics/state` says, if the panel shows pressures."""
        if self.drawn is not None:
            self.drawn.colour_cylinders(hydraulics if self.pressures_box.value else {})

    def refresh_visibility(self) -> None:
        """Shows and hides nodes by the panel's boxes, if those have changed."""
        shown = self.collision_box.value
        if shown == self._collisions_shown:
            return
        self._collisions_shown = shown
        for drawn in (*([self.drawn] if self.drawn else []), *self.beside.values()):
            drawn.show_collisions(shown)

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
        if self._machine and self.drawn and self.drawn.cylinders:
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


def _falling_soil(scene: viser.SceneApi, ground: SoilGround) -> FallingSoil:
    soil = ground.soils[0]
    return FallingSoil(scene, soil.density / soil.swell, dug_colour(ground))
