#!/usr/bin/env python3
"""Compile the kernels that most tests need, before several processes need them."""

import grouser
from grouser import catalogue
from grouser.physics.description import parse_machine
from grouser.progress import showing_compilation
from grouser.runtime.streams import rehearse

MACHINES = {
    "demolition_robot": "flat",
    "rover": "sand",
    "four_bar": "weightless",
    "rigid_pendulum": "weightless",
    "hydraulic_lift": "flat",
}
# An object, which may sleep as no machine does.
BOX = """<robot name="box"><link name="box">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="1 1 1"/></geometry></collision>
</link></robot>"""


def main() -> None:
    """Make a step with each machine and an object, and read all measurements."""
    with showing_compilation():
        for name, world in MACHINES.items():
            machine = grouser.load_machine(catalogue.machine_file(name))
            rehearse(grouser.Simulation(machine, grouser.load_world(catalogue.world_file(world))))
        rehearse(grouser.Simulation(parse_machine(BOX, "box.urdf"), grouser.World(), sleeping=True))


if __name__ == "__main__":
    main()
