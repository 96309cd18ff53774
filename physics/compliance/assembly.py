"""Assembly of closed loops: initial positions at which every loop joint fits."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.base.packed import Packed
from grouser.physics.compliance.loops import LoopConstraints, LoopMotion, with_rows
from grouser.physics.compliance.redundancy import MISFIT, misaligned_redundant_rows
from grouser.physics.compliance.search import LoopSearch
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import AXES
from grouser.physics.description.urdf.placement import initial_poses
from grouser.physics.model.multibody import ELASTIC, TWIST, MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.multibody.integration import integrate_positions

# Number of further starts beside the initial positions, which may be a dead point, and their distance [m, rad].
_STARTS = 4
_ASIDE = 0.1
# Tolerance of joint limits, for rounding [m, rad].
_BEYOND = 1e-9
# A loop that stays open by more than this is reported [m, rad].
_NOTABLE = 1e-9


class Assembly(NamedTuple):
    """Result of the assembly of a machine.

    Attributes:
        q: positions.
        loops: with the rows that act.
        warnings: messages about loop joints that do not fit.
    """

    q: np.ndarray
    loops: LoopConstraints
    warnings: tuple[str, ...]


def assemble(machine: Machine, model: MultibodyModel, names: Names, loops: LoopConstraints) -> Assembly:
    """Positions near the initial ones at which all loops close; springs are relaxed in the directions they block.

    Joints with an ``<initial_position>`` or an ``rpy``, a floating base and elastic coordinates stay where they are.
    Over-constrained loops that do not fit exactly are closed in the least-squares sense, rigid rows before springs.
    Redundant rigid rows that are not aligned with the others are removed.

    Raises:
        MachineError: the loops cannot be closed, or only beyond a joint's limits; the message has the remaining gap.
    """
    if not machine.loop_joints:
        return Assembly(np.array(model.q_initial), loops, ())
    free = _free_rates(machine, model, names)
    search = LoopSearch(model, loops, free)
    best = search.close(np.array(model.q_initial), loops.row_blocked)
    for start in range(_STARTS):
        if search.apart(best, loops.row_blocked) <= MISFIT:
            break
        aside = np.zeros(len(model.rate_damping))
        aside[free] = _ASIDE * np.sin(np.arange(1, len(free) + 1) * (start + 1.0))
        q = np.array(model.q_initial)
        integrate_positions(Packed(model), q, aside, 1.0)
        best = min(best, search.close(q, loops.row_blocked), key=lambda q: search.apart(q, loops.row_blocked))
    if search.apart(best, loops.row_blocked) > MISFIT:
        raise _open_loop(machine, loops, search.place(best))
    acting = np.ones(len(loops.row_loop), dtype=bool)
    acting[misaligned_redundant_rows(model, loops, best)] = False
    best = search.close(best, loops.row_rigid & acting)
    _check_limits(machine, names, best)
    return Assembly(best, with_rows(loops, acting), _misfits(machine, loops, acting, search.place(best)))


def _free_rates(machine: Machine, model: MultibodyModel, names: Names) -> np.ndarray:
    """Coordinate rates that assembly may move."""
    given = {start.joint for start in machine.initial_positions} | set(initial_poses(machine))
    base = 0 if machine.floating_base else -1
    rates = set()
    for body, joint in enumerate(names.body_joint):
        stays = model.body_kind[body] in (TWIST, ELASTIC) or model.body_mimics[body]
        if not stays and joint not in given and body != base:
            rates.update(model.column_rate[model.column_start[body] : model.column_start[body + 1]].tolist())
    return np.array(sorted(rates), dtype=np.int64)


def _open_loop(machine: Machine, loops: LoopConstraints, motion: LoopMotion) -> MachineError:
    """Error with the loop joint of the greatest gap."""
    gaps = np.zeros(motion.deflection.shape)
    rows = loops.row_loop[loops.row_blocked], loops.row_direction[loops.row_blocked]
    gaps[rows] = motion.deflection[rows]
    worst = int(np.argmax(np.max(np.abs(gaps), axis=1)))
    distance, angle = np.linalg.norm(gaps[worst, :3]), math.degrees(np.linalg.norm(gaps[worst, 3:]))
    return MachineError(
        f"cannot be closed: its frames stay {distance:.6g} m and {angle:.6g} degrees apart in the directions it blocks",
        file=machine.file,
        element=f'<loop_joint name="{machine.loop_joints[worst].name}">',
        remedy="change its frames or an <initial_position>: joints that have one are not moved",
    )


def _misfits(machine: Machine, loops: LoopConstraints, acting: np.ndarray, motion: LoopMotion) -> tuple[str, ...]:
    """Messages about loop joints that do not fit, with their gaps and the consequence."""
    found = []
    for p, joint in enumerate(machine.loop_joints):
        own = np.flatnonzero((loops.row_loop == p) & loops.row_blocked)
        direction = loops.row_direction[own]
        apart = np.abs(motion.deflection[p, direction])
        apart[apart <= _NOTABLE] = 0.0
        distance, angle = apart[direction < 3].max(initial=0.0), apart[direction >= 3].max(initial=0.0)
        gap = f"its frames are {distance:.3g} m and {angle:.3g} rad apart in directions that it blocks"
        left = ", ".join(f"{'along' if d < 3 else 'about'} {AXES[d % 3]}" for d in direction[~acting[own]])
        if left:
            found.append(
                f'loop joint "{joint.name}" is over-constrained: {gap}; the other joints hold it {left}, and it does '
                "not take part"
            )
        elif apart.any():
            becomes = "is forced against the others" if loops.row_rigid[own].all() else "starts with its springs bent"
            found.append(f'loop joint "{joint.name}" {becomes}: {gap}')
    return tuple(found)


def _check_limits(machine: Machine, names: Names, q: np.ndarray) -> None:
    for joint in machine.joints:
        place = names.joints.get(joint.name)
        if place is None:
            continue
        position = place.multiplier * q[place.q] + place.offset
        lower, upper = joint.limit.lower, joint.limit.upper
        if (lower is not None and position < lower - _BEYOND) or (upper is not None and position > upper + _BEYOND):
            raise MachineError(
                f"stands at {position:.6g} when the loops are closed, outside its limits",
                file=machine.file,
                element=f'<joint name="{joint.name}">',
                remedy="give an <initial_position> from which the loops close within the limits",
            )
