"""Other positions of joints at the start."""

import math
from collections.abc import Mapping

import numpy as np

from grouser.physics.base.checks import require_mapping, require_range
from grouser.physics.base.errors import ParameterError
from grouser.physics.compliance.redundancy import MISFIT
from grouser.physics.compliance.search import LoopSearch
from grouser.physics.simulation.building import place_pistons
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.named_view import require_name

# Longest move of a joint after which loops are closed again, so that they stay on their branch [rad or m].
_PIECE = 0.1


def start_from(engine: Engine, positions: Mapping[str, float]) -> None:
    """Moves joints in the initial state, which the engine has; their cylinders and closed loops follow.

    Pressures, and the pose of the base, are those of the start: a machine settles on its oil and on the ground.

    Args:
        engine: of the simulation.
        positions: of joints with one coordinate, by name [rad or m]; those that are in no loop with them stay.

    Raises:
        ParameterError: an unknown joint, a position beyond its limits, or one at which a loop does not close within
            the limits of its joints.
        MachineError: a cylinder would be outside its stroke.
    """
    setup, q = engine.setup, engine.state.q
    coordinates, loops = setup.names.joints, setup.system.loops
    given = require_mapping("joint_position", positions, "positions of joints, by name")
    for name in given:
        require_name("joint", name, coordinates)
    chosen = [coordinates[name] for name in given]
    values = [_within_limits(engine, name, position) for name, position in given.items()]
    index = np.array([joint.q for joint in chosen], dtype=np.int64)
    target = np.array([(value - joint.offset) / joint.multiplier for joint, value in zip(chosen, values, strict=True)])
    start, own = q[index], {joint.v for joint in chosen}
    following = np.array(sorted({*loops.rate.tolist()} - own), dtype=np.int64)
    in_loops = not own.isdisjoint(loops.rate.tolist())
    search = LoopSearch(setup.system.multibody, loops, following)
    pieces = max(math.ceil(np.abs(target - start).max(initial=0.0) / _PIECE), 1) if in_loops else 1
    for piece in range(1, pieces + 1):
        q[index] = target if piece == pieces else start + piece / pieces * (target - start)
        if in_loops:
            q[:] = search.close(q, loops.row_rigid)
    if in_loops and search.apart(q, loops.row_rigid) > MISFIT:
        raise ParameterError("joint_position", dict(given), "positions at which the loops close")
    for name, joint in coordinates.items():
        if joint.v in following:
            _within_limits(engine, name, joint.multiplier * q[joint.q] + joint.offset)
    place_pistons(setup, engine.packed, engine.update_kinematics(), engine.workspace, engine.state)


def _within_limits(engine: Engine, name: str, position: object) -> float:
    """The position of a joint, which is refused beyond its limits."""
    limit = next(joint.limit for joint in engine.setup.divided.joints if joint.name == name)
    lower, upper = -math.inf if limit.lower is None else limit.lower, math.inf if limit.upper is None else limit.upper
    return require_range(f"position of {name}", position, lower, upper, "rad or m")
