"""What most processes of the tests load, loaded: imported by the process that is forked."""

from pathlib import Path

import grouser
import grouser.cli
import grouser.nodes.bridges.plc_bridge
import grouser.nodes.composed
import grouser.nodes.navigation.goal_follower
import grouser.nodes.navigation.world_map
import grouser.nodes.operator.node
import grouser.nodes.simulator.node
import grouser.nodes.viewer.node
from grouser.runtime.streams import STREAMS, take_sample

OWN = Path(__file__).parent / "ros" / "data"
for name in (OWN / "loader.urdf", OWN / "linkage.urdf", "rover", "demolition_robot", "four_bar"):
    machine = grouser.load_machine(name)
    simulation = grouser.Simulation(machine, grouser.World())
    simulation.step(1)
    take_sample(simulation, 0, STREAMS)
    simulation.energy_balance()
