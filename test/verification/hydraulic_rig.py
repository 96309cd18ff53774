"""A hydraulic circuit without a mechanism: its actuators move constant loads."""

import dataclasses
from typing import get_args, get_type_hints

import numpy as np

from grouser import World
from grouser.physics.base.packed import Packed
from grouser.physics.description import parse_machine
from grouser.physics.description.data.hydraulics import Attachment, Fluid, HydraulicCylinder, Tank
from grouser.physics.description.data.machine import Machine
from grouser.physics.hydraulics.actuator_geometry import make_actuator_geometry
from grouser.physics.hydraulics.advance import advance_other_parts
from grouser.physics.hydraulics.elements import make_network
from grouser.physics.hydraulics.implicit import advance_part
from grouser.physics.hydraulics.oil import compression_energy
from grouser.physics.hydraulics.plain_parts import advance_plain_parts
from grouser.physics.hydraulics.prediction import make_prediction
from grouser.physics.hydraulics.trials import make_network_workspace, set_contents
from grouser.physics.model.build import build_model

ATMOSPHERE = 1e5
# Field of `Machine` that holds the elements of a kind.
_FIELDS = {get_args(kind)[0]: field for field, kind in get_type_hints(Machine).items() if get_args(kind)}
_OIL = Fluid()
_PLAIN = parse_machine(
    """<robot name="plain">
      <link name="world"/>
      <link name="load"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="lift" type="prismatic"><parent link="world"/><child link="load"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" effort="1e9" velocity="1e9"/></joint>
    </robot>""",
    "plain.urdf",
)


def cylinder(name="cylinder", **numbers):
    """A cylinder of 40 mm bore with a 25 mm rod on the lines `a` and `b`, without friction."""
    plain = HydraulicCylinder(
        name=name,
        valve=None,
        bore=0.04,
        rod_diameter=0.025,
        stroke=0.5,
        retracted_length=1.0,
        piston_mass=5.0,
        viscous_friction=0.0,
        dry_friction=0.0,
        dead_volume_piston_side=1e-4,
        dead_volume_rod_side=1e-4,
        holding_brake=False,
        holding_force=0.0,
        barrel=Attachment("world", (0.0, 0.0, 0.0)),
        rod=Attachment("load", (0.0, 0.0, 1.0)),
        piston_side="a",
        rod_side="b",
    )
    return dataclasses.replace(plain, **numbers)


class Rig:
    """A circuit of elements of a description, at rest.

    Args:
        elements: of the circuit; a tank of 1e5 Pa is added.
        fluid: the oil.
        pressures: of lines at the start [Pa]; the others are at the tank's.
        mass, force: load of each cylinder, beside its piston [kg, N].
    """

    def __init__(self, *elements, fluid=_OIL, pressures=None, mass=100.0, force=0.0):
        machine = dataclasses.replace(_PLAIN, fluid=fluid, tanks=(Tank(pressure=ATMOSPHERE),))
        for element in elements:
            field = _FIELDS[type(element)]
            machine = dataclasses.replace(machine, **{field: (*getattr(machine, field), element)})
        self.network, self.lines, _ = make_network(machine)
        model, names = build_model(machine, World().spawn, (0.0, 0.0, 0.0))
        geometry = make_actuator_geometry(machine, names, model)
        self.workspace = make_network_workspace(self.network, len(machine.valves))
        self._packed = [Packed(each) for each in (self.network, geometry, self.workspace)]
        self.prediction = Packed(make_prediction(geometry, 0.1))
        self._oil = self.network.oil
        self.now, self.accounts, self.substeps = self.workspace.now, self.workspace.step_accounts, 0
        self.workspace.loads.mobility[:] = np.eye(len(self.network.line_a)) / mass
        self._mass = mass
        self.push(force)
        self.command = np.zeros(len(machine.valves))
        self.now.direction[:] = 1.0
        self.totals = {name: np.zeros_like(array) for name, array in self.accounts._asdict().items()}
        self.set_pressures(dict.fromkeys(self.lines, ATMOSPHERE) | self._constant() | (pressures or {}))

    def set_pressures(self, pressures):
        """Sets the pressures of lines by name [Pa]."""
        for line, pressure in pressures.items():
            for state in (self.now, self.workspace.whole, self.workspace.halves):
                state.pressure[self.lines.index(line)] = pressure
        set_contents(self._packed[0].oil, self._packed[2].now)
        for state in (self.workspace.whole, self.workspace.halves):
            state.content[:] = self.now.content

    def pressure(self, line):
        """Pressure of a line [Pa]."""
        return float(self.now.pressure[self.lines.index(line)])

    def push(self, force):
        """Sets the force on the load of each cylinder [N]."""
        self.workspace.loads.acceleration[:] = force / self._mass

    def flow(self, element=0):
        """Mean flow of a flow element over the last step [m3/s]."""
        return float(self.accounts.passed[element] / self._step)

    def advance_together(self, step):
        """Advances all parts by one step [s] like a simulation: plain parts in lockstep."""
        network, geometry, workspace = self._packed
        self.prediction.trace_length[:] = self.workspace.substeps[:] = 0
        advance_plain_parts(network, geometry, self.command, step, workspace, self.prediction)
        advance_other_parts(network, geometry, self.command, step, workspace, self.prediction)

    def advance(self, step, count=1):
        """Advances by a number of steps [s], each part by itself."""
        network, geometry, workspace = self._packed
        self._step = step
        for _ in range(count):
            for part in range(len(self.network.part_line_start) - 1):
                self.prediction.trace_length[:] = 0
                advance_part(network, geometry, part, self.command, step, workspace, self.prediction)
                self.substeps += int(self.workspace.substeps[part])
            for name, total in self.totals.items():
                total += getattr(self.accounts, name)

    def run(self, duration, step=1e-3):
        """Advances by a time [s]."""
        self.advance(step, round(duration / step))

    def volumes(self):
        """Volume of each line with its chambers [m3]."""
        network, volumes = self.network, np.array(self.network.volume)
        for a, position in enumerate(self.now.position):
            if np.isfinite(network.stroke[a]):
                volumes[network.line_a[a]] += network.area_a[a] * position
                volumes[network.line_b[a]] += network.area_b[a] * (network.stroke[a] - position)
        return volumes

    def energy_densities(self):
        """Energy of compression of each line's oil, per volume [J/m3]."""
        return np.array([compression_energy(self._oil, pressure) for pressure in self.now.pressure])

    def _constant(self):
        pressures = zip(self.lines, self.network.pressure, self.network.constant, strict=True)
        return {line: pressure for line, pressure, constant in pressures if constant}
