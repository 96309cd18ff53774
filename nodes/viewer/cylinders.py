"""Hydraulic cylinders in the browser: barrel and rod, and the pressures of their chambers as colours."""

import math
from collections.abc import Mapping
from typing import Any

import viser

from grouser.nodes.shared.received_frames import ReceivedFrames, ValidPose
from grouser.nodes.viewer.colours import ColourScale
from grouser.nodes.viewer.links import SEEN
from grouser.nodes.viewer.shapes import wxyz
from grouser.physics.description.data.hydraulics import HydraulicCylinder
from grouser.physics.description.data.machine import Machine
from grouser.runtime.joint_frames import turn_from_z

BARREL_COLOUR = (60, 64, 70)
ROD_COLOUR = (200, 204, 210)
TUBE_COLOUR = (150, 154, 160)
WALL = 0.12  # thickness of the barrel's wall, as a share of the bore
EYE = 0.5  # share of the length beyond the stroke that the barrel leaves free for the rod's eye
# Radius of the colour of each chamber over that of the barrel: that of the rod side covers the whole barrel.
_SHELLS = {"piston_side": 1.07, "rod_side": 1.04}
_DEFAULT_PRESSURE = 25e6  # [Pa], end of the scale where nothing limits the pressure
CHAMBERS = ("piston_side", "rod_side")


def pressure_scale(machine: Machine) -> ColourScale:
    """A scale up to the highest pressure that a machine's pumps and relief valves allow."""
    limits = [pressure for pump in machine.pumps for pressure in (pump.supply_pressure, pump.setting) if pressure]
    limits += [valve.pressure for valve in machine.relief_valves]
    return ColourScale("pressure in cylinders", "bar", 1e5, max(limits, default=_DEFAULT_PRESSURE))


class CylinderView:
    """Draws a cylinder between two moving points.

    All parts have constant lengths: the rod is as long as the retracted cylinder, so that its end stays in the barrel.
    A cylinder with more stroke than fits into its barrel is drawn as a telescope, with tubes between barrel and rod.

    Args:
        scene: where it is drawn.
        above: name of the node of the link that its barrel is attached to.
        cylinder: its size and where it is attached.
        scale: of its pressures.

    Attributes:
        node: name of a node at the start of its barrel.
        parts: barrel, tubes and rod.
        chambers: the colours of the pressures on the barrel.
    """

    def __init__(self, scene: viser.SceneApi, above: str, cylinder: HydraulicCylinder, scale: ColourScale) -> None:
        self.cylinder, self._scale = cylinder, scale
        spare = max(0.0, cylinder.retracted_length - cylinder.stroke)
        self._barrel_length = cylinder.retracted_length - EYE * spare
        self._rod_length = cylinder.retracted_length
        self._end = cylinder.barrel.xyz  # of the rod as it is drawn, in the frame of the barrel's link [m]
        name = self.node = f"{above}/cylinder {cylinder.name.replace('/', '|')}"
        self._frame = scene.add_frame(name, position=self._end, show_axes=False, visible=False)
        barrel_radius, rod_radius = (0.5 + WALL) * cylinder.bore, 0.5 * cylinder.rod_diameter
        # Each part comes out of the one before it by an equal share of the stroke, which is shorter than that part.
        self._tube_count = max(0, math.ceil(cylinder.stroke / self._barrel_length - 1e-9) - 1)
        self.parts: dict[str, Any] = {}
        self.parts["barrel"] = scene.add_cylinder(
            f"{name}/barrel",
            radius=barrel_radius,
            height=self._barrel_length,
            color=BARREL_COLOUR,
            position=(0.0, 0.0, 0.5 * self._barrel_length),
        )
        for tube in range(self._tube_count):
            share = (tube + 1) / (self._tube_count + 1)
            self.parts[f"tube_{tube}"] = scene.add_cylinder(
                f"{name}/tube_{tube}",
                radius=(1.0 - share) * barrel_radius + share * rod_radius,
                height=self._barrel_length,
                color=TUBE_COLOUR,
            )
        self.parts["rod"] = scene.add_cylinder(
            f"{name}/rod", radius=rod_radius, height=self._rod_length, color=ROD_COLOUR
        )
        # That of the piston side is stretched; all of the barrel that it leaves free shows the rod side.
        self.chambers: dict[str, Any] = {
            side: scene.add_cylinder(
                f"{name}/{side}",
                radius=_SHELLS[side] * barrel_radius,
                height=self._barrel_length,
                position=(0.0, 0.0, 0.5 * self._barrel_length),
                visible=False,
            )
            for side in CHAMBERS
        }

    @property
    def handles(self) -> tuple[Any, ...]:
        """Of all that is drawn."""
        return (*self.parts.values(), *self.chambers.values())

    def stretch(self, frames: ReceivedFrames) -> None:
        """Moves the rod's end to its attachment, if that has moved on the barrel's link.

        Args:
            frames: poses of the links.
        """
        barrel, rod = self.cylinder.barrel, self.cylinder.rod
        end = frames.point(rod.link, rod.xyz, barrel.link)
        length = math.dist(barrel.xyz, end)
        if math.dist(end, self._end) <= SEEN or length == 0.0:
            return
        self._end = end
        x, y, z = ((b - a) / length for a, b in zip(barrel.xyz, end, strict=True))
        self._frame.wxyz = wxyz(ValidPose(quaternion=turn_from_z((x, y, z))))
        self._extend(length - self.cylinder.retracted_length)
        if not self._frame.visible:
            self._frame.visible = True

    def _extend(self, extension: float) -> None:
        """Moves its parts along the barrel."""
        starts = {"rod": extension}
        for tube in range(self._tube_count):
            starts[f"tube_{tube}"] = extension * (tube + 1) / (self._tube_count + 1)
        for part, start in starts.items():
            handle = self.parts[part]
            handle.position = (0.0, 0.0, start + 0.5 * handle.height)
        piston, chamber = self._piston(extension), self.chambers["piston_side"]
        chamber.position, chamber.scale = (0.0, 0.0, 0.5 * piston), (1.0, 1.0, max(piston / self._barrel_length, 1e-6))

    def colour(self, pressures: Mapping[str, float]) -> None:
        """Colours its chambers.

        Args:
            pressures: of `piston_side` and `rod_side` [Pa]; where one is missing the barrel is drawn plain.
        """
        for side, chamber in self.chambers.items():
            visible = side in pressures
            if chamber.visible != visible:
                chamber.visible = visible
            if visible and (colour := self._scale.colour(pressures[side])) != chamber.color:
                chamber.color = colour

    def _piston(self, extension: float) -> float:
        """Distance of the piston from the end of the barrel [m] at an extension [m]."""
        length, stroke = self._barrel_length, self.cylinder.stroke
        place = extension * length / stroke if stroke > length else 0.5 * (length - stroke) + extension
        return min(max(place, 0.0), length)
