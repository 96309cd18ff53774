"""Spring laws along the coordinate of a joint: series elasticity with backlash, harmonic drives with hysteresis.

A law is implicit, linearised at the joint's present position: force F(x + h v', v') with v' the rate at the end of the
step. The result is the spring of a row (see `constraints.rows`), impulse g (b - v').

The backlash is a dead zone; the predicted position at the present rate decides whether it is left. The stiffening of a
harmonic drive is cubic (Tuttle and Seering, 1996), its hysteresis Dahl's (1968): dz/dx = sigma (1 - sgn(x') z / z_max).
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.description.data.machine import Machine
from grouser.physics.model.names import Names


class JointSprings(NamedTuple):
    """Spring laws of joints, shape (laws,) each.

    Attributes:
        position_index, rate_index: of the coordinate in q and v.
        stiffness, damping: k, d [N m/rad or N/m, N m s/rad or N s/m].
        cubic_stiffness: k_3 [N m/rad3 or N/m3].
        rest_position: [rad or m].
        half_gap: half of the backlash [rad or m].
        hysteresis: z_max [N m or N]; 0 for none.
        hysteresis_stiffness: sigma [N m/rad or N/m].
    """

    position_index: np.ndarray
    rate_index: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    cubic_stiffness: np.ndarray
    rest_position: np.ndarray
    half_gap: np.ndarray
    hysteresis: np.ndarray
    hysteresis_stiffness: np.ndarray


def make_joint_springs(machine: Machine, names: Names) -> JointSprings:
    """Laws of the compliant joints with a spring along their coordinate."""
    joints = [joint for joint in machine.compliant_joints if _has_law(joint)]
    places = [names.joints[joint.joint] for joint in joints]
    laws = JointSprings(
        np.array([place.q for place in places], dtype=np.int64),
        np.array([place.v for place in places], dtype=np.int64),
        np.array([joint.axial_stiffness for joint in joints], dtype=float),
        np.array([joint.axial_damping for joint in joints], dtype=float),
        np.array([joint.cubic_stiffness for joint in joints], dtype=float),
        np.array([joint.rest_position for joint in joints], dtype=float),
        np.array([0.5 * joint.backlash for joint in joints], dtype=float),
        np.array([joint.hysteresis for joint in joints], dtype=float),
        np.array([joint.hysteresis_stiffness for joint in joints], dtype=float),
    )
    for array in laws:
        array.flags.writeable = False
    return laws


def _has_law(joint) -> bool:
    return joint.axial_stiffness > 0.0 or joint.cubic_stiffness > 0.0 or joint.hysteresis > 0.0


@inlined
def linearised_spring(laws: JointSprings, law, position, speed, hysteretic, step: float):
    """Spring of a row for a law: conductance g and target speed b.

    Args:
        laws: all laws.
        law: number of the law.
        position, speed: of the joint [rad or m, per second].
        hysteretic: effort z of the hysteresis [N m or N].
        step: h [s].
    """
    deflection = _beyond_gap(position - laws.rest_position[law], speed, laws.half_gap[law], step)
    square = laws.cubic_stiffness[law] * deflection * deflection
    force = -(laws.stiffness[law] + square) * deflection
    resistance = step * (laws.stiffness[law] + 3.0 * square)
    if deflection != 0.0 or laws.half_gap[law] == 0.0:
        resistance += laws.damping[law]
    else:
        resistance = 0.0
    if laws.hysteresis[law] > 0.0:
        relaxed = 1.0 + step * laws.hysteresis_stiffness[law] * abs(speed) / laws.hysteresis[law]
        force -= hysteretic / relaxed
        resistance += step * laws.hysteresis_stiffness[law] / relaxed
    if resistance == 0.0:
        return 0.0, 0.0
    return step * resistance, force / resistance


@inlined
def hysteresis_after(laws: JointSprings, law, hysteretic, speed, new_speed, step: float):
    """Effort z of the hysteresis at the end of a step from `speed` to `new_speed`."""
    most = laws.hysteresis[law]
    if most == 0.0:
        return 0.0
    rise = step * laws.hysteresis_stiffness[law]
    return min(max((hysteretic + rise * new_speed) / (1.0 + rise * abs(speed) / most), -most), most)


@kernel
def _beyond_gap(position, speed, half_gap, step: float):
    """Deflection beyond the gap; zero if the predicted position is within it."""
    predicted = position + step * speed
    if predicted > half_gap:
        return position - half_gap
    if predicted < -half_gap:
        return position + half_gap
    return 0.0


@kernel
def joint_spring_energy(laws: JointSprings, q):
    """Energy in the springs without that of the hysteresis [J]."""
    total = 0.0
    for law in range(laws.stiffness.shape[0]):
        deflection = abs(q[laws.position_index[law]] - laws.rest_position[law]) - laws.half_gap[law]
        if deflection > 0.0:
            square = deflection * deflection
            total += 0.5 * laws.stiffness[law] * square + 0.25 * laws.cubic_stiffness[law] * square * square
    return total
