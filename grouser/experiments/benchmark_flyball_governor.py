"""IFToMM's library of computational benchmark problems, A05: a stiff flyball governor.

Two rods with balls hang from the top of a shaft that turns freely. Spring and damper between the middle of each rod and
a slider on the shaft take the place of coupling rods: stiff, with a relaxation time of 50 ms, and of some tens of
microseconds by the masses. González, Dopico, Lugrís and Cuadrado, "A benchmarking system for MBS simulation software"
(2006); figures as Tagliapietra, Vivian and Reggiani's models of the library for OpenSim (2014) have them.
"""

import math
from collections.abc import Mapping
from typing import Any

from grouser.experiments.drawing import Reference
from grouser.experiments.mechanism import (
    GROUND,
    STANDARD_GRAVITY,
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
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.pose import Vector3

DESCRIPTION = "a stiff flyball governor (IFToMM benchmark A05)"

PARAMETERS = {
    "stiffness": positive(8e5, "N/m", "of each spring"),
    "damping": Parameter(4e4, "N s/m", "of each damper", minimum=0.0),
    "speed": Parameter(2.0 * math.pi, "rad/s", "of the shaft at the start"),
    **motion_parameters("implicit_midpoint", 1e-3, 10.0),
}

_DENSITY, _BALL = 3000.0, 5.0  # [kg/m3, kg]
_LENGTH, _THICKNESS, _SLIDER = 1.0, 0.01, 0.1  # of shaft and rods; edge of the slider [m]
_REST = 0.5  # length of a relaxed spring [m]
_REACH = 0.05  # of the hinges at the top, and of the springs' ends on the slider, from the axis [m]
_HEIGHT, _ANGLE = 0.5, math.radians(30.0)  # of the slider; of the rods below the horizontal, at the start
_UP, _HINGE = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
REFERENCE = {
    "t": "time",
    "shaft": "coordinates[0]",
    "slider": "coordinates[1]",
    "right rod": "coordinates[2]",
    "left rod": "coordinates[3]",
}


def run(**parameters: Any) -> Result:
    """Releases the governor; its shaft turns, slider and rods are at rest on it.

    Returns:
        The results of `mechanism.simulate`; coordinates are the turn of the shaft [rad], the height of the slider [m]
        and the angles of the two rods below the horizontal [rad]. The energy's error counts what the dampers take.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        DivergenceError: the step is too long.
    """
    return simulate(make_governor(parameters["stiffness"], parameters["damping"], parameters["speed"]), parameters)


def make_governor(stiffness: float, damping: float, speed: float) -> Mechanism:
    """The governor at its start, z up, its rods in the plane of x and z.

    The tree: the shaft, the slider on it, and on each side a spring and the rod that it holds. Loop joints hinge the
    rods to the shaft, so that the springs need no mass of their own.
    """
    mass = _DENSITY * _LENGTH * _THICKNESS**2
    along, across = mass * _THICKNESS**2 / 6.0, mass * (_LENGTH**2 + _THICKNESS**2) / 12.0
    block = _DENSITY * _SLIDER**3
    cube = block * _SLIDER**2 / 6.0
    links = [
        body("shaft", mass, (across, across, along), (0.0, 0.0, 0.5 * _LENGTH)),
        body("slider", block, (cube, cube, cube)),
    ]
    joints = [hinge("shaft", GROUND, "shaft", (0.0, 0.0, 0.0), _UP), slide("height", "shaft", "slider", _UP)]
    # middle of the right rod from the spring's end on the slider
    x, z = 0.5 * _LENGTH * math.cos(_ANGLE), _LENGTH - 0.5 * _LENGTH * math.sin(_ANGLE) - _HEIGHT
    length, rise = math.hypot(x, z), math.atan2(z, x)
    start, loops, springs = {"height": _HEIGHT}, [], []
    for side, name in ((1.0, "right"), (-1.0, "left")):
        place: Vector3 = (side * _REACH, 0.0, 0.0)
        links += [Link(f"{name}_foot"), Link(f"{name}_head"), *_rod(name, mass, along, across)]
        joints += [
            hinge(f"{name}_slope", "slider", f"{name}_foot", place, _HINGE),
            slide(f"{name}_spring", f"{name}_foot", f"{name}_head", (1.0, 0.0, 0.0)),
            hinge(f"{name}_middle", f"{name}_head", f"{name}_rod", (0.0, 0.0, 0.0), _HINGE),
        ]
        if side > 0.0:
            start |= {f"{name}_slope": -rise, f"{name}_middle": rise + _ANGLE}
        else:
            start |= {f"{name}_slope": math.pi + rise, f"{name}_middle": -rise - _ANGLE}
        start[f"{name}_spring"] = length
        ends = ("shaft", (side * _REACH, 0.0, _LENGTH)), (f"{name}_rod", (-0.5 * _LENGTH, 0.0, 0.0))
        loops.append(closure(f"{name}_top", "revolute", "y", *ends))
        springs.append(spring(f"{name}_spring", stiffness, _REST, damping))
    governor = machine(
        "flyball_governor", links, joints, start, loop_joints=tuple(loops), compliant_joints=tuple(springs)
    )

    def loss(simulation) -> float:
        rate = simulation.joint_velocity
        return damping * (rate["right_spring"] ** 2 + rate["left_spring"] ** 2)

    names = ("shaft", "slider", "right rod", "left rod")
    return Mechanism(*(governor, (0.0, 0.0, -STANDARD_GRAVITY), {"shaft": speed}, {}, names, _read, _LENGTH), loss=loss)


def _rod(name: str, mass: float, along: float, across: float) -> list[Link]:
    """A rod with its ball at its end, the origin in its middle, x towards the ball."""
    total = mass + _BALL
    center = 0.5 * _LENGTH * _BALL / total
    turned = across + mass * center**2 + _BALL * (0.5 * _LENGTH - center) ** 2
    return [body(f"{name}_rod", total, (along, turned, turned), (center, 0.0, 0.0))]


def _read(simulation) -> tuple[float, ...]:
    place = simulation.joint_position
    right = place["right_slope"] + place["right_middle"]
    left = math.pi - place["left_slope"] - place["left_middle"]
    return place["shaft"], place["height"], right, left


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the coordinates and the energy over time; the reference's columns are t and the names of coordinates."""
    draw(parameters, result, figure, reference, "flyball governor")
