#!/usr/bin/env python3
"""Compile the kernels that most tests need, before several processes need them."""

import grouser
from grouser import catalogue
from grouser.progress import showing_compilation
from grouser.runtime.streams import rehearse

MACHINES = {
    "demolition_robot": "flat",
    "rover": "sand",
    "four_bar": "weightless",
    "rigid_pendulum": "weightless",
    "hydraulic_lift": "flat",
}


def main() -> None:
    """Make a step with each machine, and read all measurements."""
    with showing_compilation():
        for name, world in MACHINES.items():
            machine = grouser.load_machine(catalogue.machine_file(name))
            rehearse(grouser.Simulation(machine, grouser.load_world(catalogue.world_file(world))))


if __name__ == "__main__":
    main()
