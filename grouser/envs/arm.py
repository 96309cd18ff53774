"""What tasks of arms have in common: points of links, and random positions of joints."""

from collections.abc import Mapping, Sequence

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.simulation.simulation import Simulation


def point_of_link(simulation: Simulation, link: str, point: tuple[float, float, float]) -> np.ndarray:
    """Position of a point of a link in the world [m], (3,).

    Args:
        simulation: of the machine.
        link: its name.
        point: in the link's frame [m].
    """
    position, quaternion = simulation.link_pose(link)
    return position + spatial.matrix(tuple(quaternion)) @ np.array(point)


def command_valves(simulation: Simulation, joints: Sequence[str], action: np.ndarray) -> None:
    """Commands the valve of each joint, `<joint>_valve`, by the action in its place."""
    simulation.command.update({f"{joint}_valve": value for joint, value in zip(joints, action, strict=True)})


def random_positions(ranges: Mapping[str, tuple[float, float]], random: np.random.Generator) -> dict[str, float]:
    """Positions of joints, each even in its range [rad or m]."""
    return {joint: float(random.uniform(lower, upper)) for joint, (lower, upper) in ranges.items()}


def inclination(simulation: Simulation) -> float:
    """Angle of the base from the vertical [rad]."""
    x, y = simulation.base_pose()[1][:2]
    return float(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))
