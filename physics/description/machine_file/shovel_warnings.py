"""Warnings of implausible shovels."""

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shovel import Shovel

# Cosine of the angle between the cutting direction and the plate from its top to its cutting edge below which the edge
# points back at the plate: blades and buckets have 0 to 0.5.
_BACKWARD = -0.3


def shovel_warnings(machine: Machine) -> list[str]:
    """Returns warnings of shovels whose edge points back, over their own plate."""
    return [
        f"shovel '{shovel.name}': cutting_direction points from the cutting edge back towards the top edge; "
        "reverse it, unless the tool cuts with its back"
        for shovel in machine.shovels
        if _cosine(shovel) < _BACKWARD
    ]


def _cosine(shovel: Shovel) -> float:
    plate = np.mean(shovel.cutting_edge, axis=0) - np.mean(shovel.top_edge, axis=0)
    return float(plate @ np.array(shovel.cutting_direction) / np.linalg.norm(plate))
