"""IFToMM's library of computational benchmark problems, A03: Andrews' squeezing mechanism, seven bodies in a plane.

A constant moment drives a crank of 7 mm; a spring holds one of the three chains that meet at the coupler's end.
Schiehlen (ed.), "Multibody Systems Handbook" (1990). Data and signs of the angles are those of the Test Set for Initial
Value Problem Solvers (Mazzia and Magherini, 2008), which has them from Hairer and Wanner, "Solving Ordinary
Differential Equations II" (1996), section VII.7.
"""

import math
from collections.abc import Mapping
from typing import Any

from grouser.experiments.drawing import Reference
from grouser.experiments.mechanism import (
    GROUND,
    Mechanism,
    body,
    closure,
    draw,
    hinge,
    machine,
    motion_parameters,
    simulate,
    slide,
    spring,
)
from grouser.experiments.protocol import Result
from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.pose import Vector3

DESCRIPTION = "Andrews' squeezing mechanism (IFToMM benchmark A03)"

PARAMETERS = motion_parameters("implicit_midpoint", 1e-5, 0.03)

# Masses [kg] and moments of inertia about the centres of mass [kg m2] of the bodies 1 to 7.
_MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
_INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
# Points of the ground: three chains of bodies hinge at O, B and A, the spring at C [m].
_A, _B, _C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
# Lengths [m], by the symbols of the test set.
_D, _DA, _E, _EA, _RR, _RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
_SS, _SA, _SB, _SC, _SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
_TA, _TB, _U, _UA, _UB, _ZF, _ZT, _FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
_STIFFNESS, _FREE_LENGTH = 4530.0, 0.07785  # of the spring [N/m, m]
_MOMENT = 0.033  # on the crank [N m]
NAMES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
START = {
    "beta": -0.0617138900142764496,
    "theta": 0.0,
    "gamma": 0.455279819163070380,
    "phi": 0.222668390165885885,
    "delta": 0.487364979543842550,
    "omega": -0.222668390165885885,
    "epsilon": 1.23054744454982120,
}
_AXIS = (0.0, 0.0, 1.0)
# Moments of inertia across the plane do not act; these make bodies that could exist.
_FLAT = 0.5
REFERENCE = {"t": "time", **{name: f"coordinates[{k}]" for k, name in enumerate(NAMES)}}


def run(**parameters: Any) -> Result:
    """Drives the mechanism from rest.

    Returns:
        The results of `mechanism.simulate`; coordinates are the angles of the test set, of its signs and order.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        DivergenceError: the step is too long.
    """
    return simulate(make_andrews(), parameters)


def make_andrews() -> Mechanism:
    """The mechanism at its start, in the plane of x and y.

    The tree: crank (1) and coupler (2) from O; bodies 5 and 4, and 7 and 6, from A; the spring from C, which carries
    body 3. Loop joints close at the coupler's end and at B.
    """
    gamma = START["gamma"]
    cosine, sine = math.cos(gamma), math.sin(gamma)
    spring_x = _B[0] + _SC * sine + _SD * cosine - _C[0]
    spring_y = _B[1] - _SC * cosine + _SD * sine - _C[1]
    slope, length = math.atan2(spring_y, spring_x), math.hypot(spring_x, spring_y)
    centers = ((_RA, 0.0), (-_DA, 0.0), (_SB - _SD, _SC - _SA), (0.0, _EA - _E), (_TA, _TB), (_ZF - _FA, 0.0))
    links = [_flat_body(k, center) for k, center in enumerate((*centers, (-_UB, -_UA)))]
    links += [Link("spring_foot"), Link("spring_head")]
    joints = [
        hinge("beta", GROUND, "body_1", (0.0, 0.0, 0.0), _AXIS),
        hinge("theta", "body_1", "body_2", (_RR, 0.0, 0.0), _AXIS),
        hinge("delta", GROUND, "body_5", (*_A, 0.0), _AXIS),
        hinge("phi", "body_5", "body_4", (_ZT, 0.0, 0.0), _AXIS),
        hinge("epsilon", GROUND, "body_7", (*_A, 0.0), _AXIS),
        hinge("omega", "body_7", "body_6", (0.0, -_U, 0.0), _AXIS),
        hinge("spring_slope", GROUND, "spring_foot", (*_C, 0.0), _AXIS),
        slide("spring_length", "spring_foot", "spring_head", (1.0, 0.0, 0.0)),
        hinge("spring_end", "spring_head", "body_3", (0.0, 0.0, 0.0), _AXIS),
    ]
    coupler_end: tuple[str, Vector3] = ("body_2", (-_D, 0.0, 0.0))
    loops = (
        closure("body_3_end", "spherical", "z", coupler_end, ("body_3", (-_SD, _SC - _SS, 0.0))),
        closure("body_4_end", "spherical", "z", coupler_end, ("body_4", (0.0, -_E, 0.0))),
        closure("body_6_end", "spherical", "z", coupler_end, ("body_6", (_ZF, 0.0, 0.0))),
        closure("body_3_foot", "spherical", "z", (GROUND, (*_B, 0.0)), ("body_3", (-_SD, _SC, 0.0))),
    )
    start = {**START, "spring_slope": slope, "spring_length": length, "spring_end": gamma - slope}
    mechanism = machine(
        *("andrews", links, joints, start),
        loop_joints=loops,
        compliant_joints=(spring("spring_length", _STIFFNESS, _FREE_LENGTH),),
        drives=(ServoDrive("beta", "effort", 0.0, 0.0, 1.0),),
    )
    efforts = {"beta": _MOMENT}
    return Mechanism(
        *(mechanism, (0.0, 0.0, 0.0), {}, efforts, NAMES, _read, _RR),
        work=lambda simulation: _MOMENT * (simulation.joint_position["beta"] - START["beta"]),
    )


def _flat_body(k: int, center: tuple[float, float]) -> Link:
    inertia = _INERTIAS[k]
    return body(f"body_{k + 1}", _MASSES[k], (_FLAT * inertia, _FLAT * inertia, inertia), (*center, 0.0))


def _read(simulation) -> tuple[float, ...]:
    angle = simulation.joint_position
    gamma = angle["spring_slope"] + angle["spring_end"]
    return tuple(gamma if name == "gamma" else angle[name] for name in NAMES)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the angles and the energy over time; the reference's columns are t and the names of angles."""
    draw(parameters, result, figure, reference, "Andrews' squeezing mechanism")
