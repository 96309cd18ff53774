"""Five rods on revolute joints, alternately about z and y, fall freely in space; the rods are rigid or flexible.

After Fan and Zhang, "Dynamic modeling and simulation of flexible robots based on different discretization methods"
(2016).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.flexible_links import (
    FALL_PARAMETERS,
    MODAL,
    discretisation_parameters,
    flexible_element,
    inertial_text,
    joint_text,
    link_text,
    parsed,
    record_fall,
)
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.description.data.machine import Machine

DESCRIPTION = "an arm of five rigid or flexible rods falls (Fan and Zhang, 2016)"

PARAMETERS = {
    "flexible": Parameter(False, "-", "whether the rods bend, stretch and twist"),
    **discretisation_parameters((*MODAL, "rigid_elements"), 2),
    "link_length": positive(1.0, "m", "of each rod"),
    "link_mass": positive(2.0, "kg", "of each rod"),
    "radius": positive(0.02, "m", "of each rod"),
    "bending_stiffness": positive(62.83, "N m2", "E I"),
    "torsion_stiffness": positive(50.27, "N m2", "G J"),
    "duration": positive(2.0, "s", "time simulated"),
    **FALL_PARAMETERS,
}

_AXES = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
_START = (0.0, 0.3, 0.0, -0.4, 0.2)  # angles of the joints [rad]
_OFFSET = 0.2  # of the second rod from the end of the first, along its z [m]
_GRAVITY = 9.81  # along -y [m/s2]

_UNITS = {
    "time": "s",
    "tip": "m",
    "joint_angles": "rad",
    "kinetic_energy": "J",
    "strain_energy": "J",
    "potential_energy": "J",
    "max_energy_error": "J",
    "real_time_factor": "-",
}
REFERENCE = {
    "t": "time",
    **{f"{axis}6": f"tip[{k}]" for k, axis in enumerate("xyz")},
    **{f"q{k + 1}": f"joint_angles[{k}]" for k in range(5)},
}


def run(**parameters: Any) -> Result:
    """Lets the arm fall from rest.

    Returns:
        Over time: end of the last rod (N, 3); angles of the joints (N, 5); the energies, and the largest change of
        their sum; time simulated over the time of the steps.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        MachineError: a size out of the method's range.
        DivergenceError: the step is too long.
    """
    joints = [f"joint_{k}" for k in range(1, 6)]
    recorded = record_fall(five_link_arm(parameters), parameters, _GRAVITY, ("end",), joints)
    kinetic, potential, strain = recorded.energy.T
    return Result(
        {
            "time": recorded.time,
            "tip": recorded.poses[:, 0, :3],
            "joint_angles": recorded.positions,
            "kinetic_energy": kinetic,
            "strain_energy": strain,
            "potential_energy": potential,
            "max_energy_error": recorded.max_energy_error,
            "real_time_factor": float(recorded.time[-1] / recorded.compute_time),
        },
        _UNITS,
    )


def five_link_arm(parameters: Mapping[str, Any]) -> Machine:
    """The arm, with the first joint in the origin."""
    length, parts, extension = parameters["link_length"], [link_text("world")], []
    before, at = "world", (0.0, 0.0, 0.0)
    for number, axis in enumerate(_AXES, start=1):
        name, joint = f"rod_{number}", f"joint_{number}"
        parts += [link_text(name, _inertial(parameters)), joint_text(joint, "continuous", before, name, at, axis)]
        before, at = name, (length, 0.0, _OFFSET if number == 1 else 0.0)
        extension.append(f'<initial_position joint="{joint}" position="{_START[number - 1]!r}"/>')
        if parameters["flexible"]:
            extension.append(_element(name, parameters))
    parts += [link_text("end"), joint_text("end_fixing", "fixed", before, "end", at)]
    return parsed("five_link_arm", *parts, extension="".join(extension))


def _inertial(parameters: Mapping[str, Any]) -> str:
    mass, radius, length = parameters["link_mass"], parameters["radius"], parameters["link_length"]
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return inertial_text(mass, (0.5 * mass * radius**2, across, across), 0.5 * length)


def _element(name: str, parameters: Mapping[str, Any]) -> str:
    """The rod as a flexible link, with the moduli that give its stiffnesses."""
    second_moment = 0.25 * math.pi * parameters["radius"] ** 4
    return flexible_element(
        *(name, parameters["link_length"], parameters["bending_stiffness"] / second_moment, parameters),
        shear_modulus=parameters["torsion_stiffness"] / (2.0 * second_moment),
        diameter=2.0 * parameters["radius"],
        end_loads=False if parameters["method"] == "assumed_modes" else None,  # the paper's modes, no more
    )


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the coordinates of the tip and the energies over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, x6, y6 and z6 of a reference curve, where present.
    """
    panels = figure.subplots(4, 1, sharex=True)
    for k, axis in enumerate("xyz"):
        panels[k].plot(result["time"], np.asarray(result["tip"])[:, k], label="simulation")
        if draw_reference(panels[k], reference, "t", f"{axis}6") and k == 0:
            panels[k].legend(fontsize="small")
        panels[k].set_ylabel(f"{axis} of the tip [m]")
    for name in ("kinetic_energy", "potential_energy", "strain_energy"):
        panels[3].plot(result["time"], result[name], label=name.replace("_", " "))
    panels[3].legend(fontsize="small")
    panels[3].set_ylabel("energy [J]")
    panels[3].set_xlabel("time [s]")
    for panel in panels:
        panel.grid(alpha=0.3)
    rods = f"flexible, {parameters['method']} {parameters['size']}" if parameters["flexible"] else "rigid"
    figure.suptitle(f"five-link arm, {rods}, step {parameters['step']:g} s")
