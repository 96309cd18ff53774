"""Offers the standard services where `simulation_interfaces` is installed."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from rclpy.node import Node

from grouser.nodes.services.host import Host

if TYPE_CHECKING:
    from grouser.nodes.services.services import SimulationServices


def offer_standard_services(node: Node, host: Host) -> "SimulationServices | None":
    """Creates the services of a node; returns None if `simulation_interfaces` is not installed."""
    if find_spec("simulation_interfaces") is None:
        return None
    from grouser.nodes.services.services import SimulationServices

    return SimulationServices(node, host)
