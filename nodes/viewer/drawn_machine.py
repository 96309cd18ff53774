"""A machine in the browser: its links, cylinders, belts and what lies in its buckets."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import viser

from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.viewer.buckets import BucketView
from grouser.nodes.viewer.cylinders import CHAMBERS, CylinderView, pressure_scale
from grouser.nodes.viewer.extent import Extent
from grouser.nodes.viewer.links import LinkTree
from grouser.nodes.viewer.shapes import add_shape
from grouser.nodes.viewer.soils import dug_colour
from grouser.nodes.viewer.tracks import TrackView
from grouser.nodes.viewer.values import Values
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Visual
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.urdf.meshes import MeshError
from grouser.runtime.belt_shoes import BeltShoes
from grouser.runtime.drawn_links import drawn_links

COLLISION_COLOUR = (0.27, 0.51, 0.71, 1.0)


class DrawnShape(NamedTuple):
    """A shape in the scene.

    Attributes:
        handle: what is clicked and dragged.
        link: that it is drawn with: a link, or a piece of one.
        owner: link of the machine.
    """

    handle: Any
    link: str
    owner: str


class DrawnMachine:
    """Draws a machine, its links at the origin until `move`.

    Args:
        scene: where it is drawn.
        machine: it.
        node: name of the node above its links.
        soil: of the ground, which its buckets carry; None for rigid ground.

    Attributes:
        nodes: name of the node of each link.
        shapes: of its links.
        cylinders: of its hydraulics.
        extent: of its shapes, for cameras.
        problems: descriptions of shapes that cannot be drawn: files without a mesh.
    """

    def __init__(self, scene: viser.SceneApi, machine: Machine, node: str, soil: SoilGround | None) -> None:
        self._frames = ReceivedFrames()
        self.extent = Extent()
        self.problems: list[str] = []
        self.shapes: list[DrawnShape] = []
        # Of the links that have both.
        self._visuals: list[viser.SceneNodeHandle] = []
        self._collisions: list[viser.SceneNodeHandle] = []
        self._links = LinkTree(scene, machine, {link.name: owner for link, owner in drawn_links(machine)}, node)
        self.nodes = self._links.nodes
        self._add_shapes(scene, machine)
        scale = pressure_scale(machine)
        self.cylinders = [
            CylinderView(scene, self.nodes[cylinder.barrel.link], cylinder, scale) for cylinder in machine.cylinders
        ]
        belts = [BeltShoes(machine, track) for track in machine.tracks]
        self._belts = {shoes.track.sprocket: TrackView(scene, self.nodes[shoes.carrier], shoes) for shoes in belts}
        self._buckets: list[BucketView] = []
        if soil is not None:
            slope, brown = math.tan(soil.soils[0].repose_angle), dug_colour(soil)
            self._buckets = [
                BucketView(scene, self.nodes[shovel.link], shovel, slope, brown)
                for shovel in machine.shovels
                if shovel.profile
            ]

    def _add_shapes(self, scene: viser.SceneApi, machine: Machine) -> None:
        moving = moving_links(machine)
        for link, owner in drawn_links(machine):
            shapes: tuple[Visual | Collision, ...] = (*link.visuals, *link.collisions)
            for index, shape in enumerate(shapes):
                name = f"{self.nodes[link.name]}/{index}"
                colour = shape.rgba if isinstance(shape, Visual) else COLLISION_COLOUR
                try:
                    handle, corners = add_shape(scene, name, shape.geometry, shape.pose, colour)
                except MeshError as problem:
                    self.problems.append(f"link '{link.name}': {problem}")
                    continue
                self.shapes.append(DrawnShape(handle, link.name, owner))
                self.extent.add(link.name, shape.pose, corners, link.name in moving)
                if link.visuals and link.collisions:
                    (self._visuals if isinstance(shape, Visual) else self._collisions).append(handle)

    @property
    def has_belts(self) -> bool:
        """Whether it has tracks."""
        return bool(self._belts)

    @property
    def has_buckets(self) -> bool:
        """Whether it has buckets, and its world soil."""
        return bool(self._buckets)

    def move(self, frames: ReceivedFrames) -> None:
        """Moves links and cylinders to these poses."""
        self._frames = frames
        self._links.move(frames)
        for cylinder in self.cylinders:
            cylinder.stretch(frames)

    def move_belts(self, positions: Mapping[str, float]) -> None:
        """Moves the shoes of every track, after its links have moved.

        Args:
            positions: of joints [rad]; a sprocket that is not among them has not turned.
        """
        for sprocket, belt in self._belts.items():
            belt.move(positions.get(sprocket, 0.0), self._frames)

    def fill_buckets(self, loads: Values) -> None:
        """Fills the buckets with what `bucket/load` says, after their links have moved."""
        for bucket in self._buckets:
            volume = loads.get(bucket.name, {}).get("volume", 0.0)
            bucket.show(volume if math.isfinite(volume) else 0.0, self._frames.world(bucket.link))

    def colour_cylinders(self, hydraulics: Values) -> None:
        """Colours the chambers of the cylinders by what `hydraulics/state` says; without a pressure: none."""
        for cylinder in self.cylinders:
            values = hydraulics.get(cylinder.cylinder.name, {})
            named = {side: f"pressure_{side}" for side in CHAMBERS}
            cylinder.colour({side: values[name] for side, name in named.items() if name in values})

    def show_collisions(self, shown: bool) -> None:
        """Shows the collision shapes of links, or the visuals, where a link has both."""
        for shape in self._visuals:
            shape.visible = not shown
        for shape in self._collisions:
            shape.visible = shown

    def remove(self) -> None:
        """Removes it from the scene."""
        self._links.remove()


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
