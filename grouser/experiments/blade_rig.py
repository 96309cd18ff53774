"""A blade on a carriage that drives through soil: the machine, its world, and what is measured at its drives."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.experiments.soil_bins import bed_of, make_world
from grouser.physics.base.trees import copied
from grouser.physics.description import parse_machine
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.soil.bed import SoilBed

_MASS = 100.0  # of carriage and blade, each [kg]
# The footing of a thick edge would add to the force of the wedge [m].
_EDGE = 1e-4
_DAMPING = 1e9  # of the drives [N s/m]
_URDF = """<robot name="blade_rig">
  <link name="rail"/>
  <link name="carriage">{inertial}</link>
  <link name="blade">{inertial}</link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="carriage"/><axis xyz="1 0 0"/>
    <limit lower="-1000" upper="1000" effort="1e9" velocity="100"/></joint>
  <joint name="lift" type="prismatic"><parent link="carriage"/><child link="blade"/><axis xyz="0 0 1"/>
    <limit lower="-100" upper="100" effort="1e9" velocity="100"/></joint>
  <grouser>
    <servo_drive joint="slide" mode="velocity" damping="{damping}"/>
    <servo_drive joint="lift" mode="velocity" damping="{damping}"/>
    <shovel name="blade" link="blade" cutting_edge="0 {half} 0  0 -{half} 0"
            top_edge="{back} {half} {up}  {back} -{half} {up}" cutting_direction="1 0 0" edge_thickness="{edge}"
            soil_friction="{friction}" adhesion="{adhesion}" {profile}/>
  </grouser>
</robot>"""
_INERTIAL = '<inertial><mass value="{}"/><inertia ixx="10" iyy="10" izz="10" ixy="0" ixz="0" iyz="0"/></inertial>'


@dataclass(frozen=True)
class Blade:
    """A blade, or a bucket.

    Attributes:
        width: of its edge [m].
        length: of its plate [m].
        rake: from the ground behind it [rad].
        friction: angle of friction between it and soil [rad].
        adhesion: [Pa].
        depth: of a bucket whose section below the plate is a rectangle [m]; 0 for a blade.
    """

    width: float
    length: float
    rake: float
    friction: float
    adhesion: float
    depth: float = 0.0

    def profile(self) -> str:
        """Attributes of `<shovel>` for the bucket; nothing of a blade."""
        if self.depth == 0.0:
            return ""
        up, back = (-math.cos(self.rake), math.sin(self.rake)), (-math.sin(self.rake), -math.cos(self.rake))
        corners = (0.0, 0.0), (0.0, self.depth), (self.length, self.depth), (self.length, 0.0)
        points = (f"{along * up[0] + below * back[0]} 0 {along * up[1] + below * back[1]}" for along, below in corners)
        return f'profile="{"  ".join(points)}" side_plates="true"'


class BladeRig:
    """A blade in soil.

    In level soil its edge begins at the border of two cells near x = 0: a cell in which it began would be cut whole.

    Args:
        parameters: `soil_bins.SOIL`, and `step`.
        blade: its form.
        depth: of its edge [m].
        bed: the soil as it lies; None: level.

    Attributes:
        simulation: machine and soil.
        seconds: processor time of the steps [s].
    """

    def __init__(self, parameters: Mapping[str, Any], blade: Blade, depth: float, bed: SoilBed | None = None):
        self.seconds = 0.0
        self._blade = blade
        text = _URDF.format(
            inertial=_INERTIAL.format(_MASS), damping=_DAMPING, edge=_EDGE, half=0.5 * blade.width,
            back=-blade.length * math.cos(blade.rake), up=blade.length * math.sin(blade.rake),
            friction=math.tan(blade.friction), adhesion=blade.adhesion, profile=blade.profile(),
        )  # fmt: skip
        machine = parse_machine(text, "blade_rig.urdf", base="fixed")
        self.simulation = Simulation(machine, make_world(parameters), parameters["step"])
        self._weight = _MASS * parameters["gravity"]
        self.simulation.reset({"lift": -depth, "slide": 0.5 * self.cell if bed is None else 0.0})
        if bed is not None:
            self.simulation.resume(self.simulation.state._replace(soil=copied(bed.state)))

    @property
    def position(self) -> float:
        """Of the edge along x [m]."""
        return self.simulation.joint_position["slide"]

    @property
    def cell(self) -> float:
        """Spacing of the cells [m]."""
        return float(self.simulation.arrays.system.soil.cell[0])

    @property
    def bed(self) -> SoilBed:
        """A copy of the soil now."""
        return bed_of(self.simulation)

    @property
    def mass(self) -> float:
        """Solid mass above level ground, with that in the blade and in the air [kg]."""
        balance = self.simulation.soil_balance()
        assert balance is not None
        return balance.residual

    def drive(self, travel: float, speed: float, samples: int) -> dict[str, np.ndarray]:
        """Drives on at a speed, from the first moment on.

        Args:
            travel: [m].
            speed: [m/s].
            samples: number of measurements, evenly spaced.

        Returns:
            Of each: travel [m]; draught, the force of the carriage's drive, and vertical, the soil's downward force on
            the blade [N].
        """
        simulation = self.simulation
        start, rate = self.position, simulation.arrays.names.joints["slide"].v
        simulation.state.v[rate] = speed
        simulation.resume(simulation.state)
        simulation.command["slide"] = speed
        ends = np.unique(np.round(np.linspace(0.0, travel / (speed * simulation.step_size), samples + 1)))
        rows = []
        for count in np.diff(ends).astype(int).tolist():
            begun = time.process_time()
            simulation.step(count)
            self.seconds += time.process_time() - begun
            effort = simulation.joint_effort
            rows.append((self.position - start, effort["slide"], effort["lift"] - self._weight))
        return dict(zip(("travel", "draught", "vertical"), np.array(rows).T, strict=True))

    def pile(self) -> float:
        """Loose volume ahead of the edge, within the width of the blade [m3]."""
        half, ahead = 0.5 * self._blade.width, 10.0 * self._blade.length
        bed = self.bed
        return float(bed.loose((self.position, self.position + ahead), (-half, half)).sum()) * bed.spacing**2
