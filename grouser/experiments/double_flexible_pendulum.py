"""Two flexible links, hinged to the ground and to each other, fall from the horizontal.

After Fan and Zhang, "Dynamic modeling and simulation of flexible robots based on different discretization methods"
(2016). The links bend in the plane of the motion and stretch; the inertia of turning sections is left out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.flexible_links import (
    FALL_PARAMETERS,
    MODAL,
    discretisation_parameters,
    flexible_element,
    in_link_axes,
    inertial_text,
    joint_text,
    link_text,
    parsed,
    record_fall,
)
from grouser.experiments.protocol import Result, positive
from grouser.physics.description.data.machine import Machine

DESCRIPTION = "a double pendulum of flexible links falls (Fan and Zhang, 2016)"

PARAMETERS = {
    "length": positive(7.11, "m", "of each link"),
    "mass": positive(314.88, "kg", "of each link"),
    "axial_stiffness": positive(2.84e7, "N", "E A"),
    "bending_stiffness": positive(3.8e6, "N m2", "E I"),
    "gravity": positive(9.81, "m/s2", "along -y"),
    **discretisation_parameters((*MODAL, "rigid_elements"), 4, "finite_elements"),
    "duration": positive(5.0, "s", "time simulated"),
    **FALL_PARAMETERS,
}

_UNITS = {
    "time": "s",
    "tip_1": "m",
    "tip_2": "m",
    "deflection_1": "m",
    "deflection_2": "m",
    "strain_energy": "J",
    "energy": "J",
    "max_energy_error": "J",
    "max_kinetic_energy": "J",
    "compute_time": "s",
}
REFERENCE = {
    "t": "time",
    "x1": "tip_1[0]",
    "y1": "tip_1[1]",
    "x2": "tip_2[0]",
    "y2": "tip_2[1]",
    "defl1": "deflection_1",
    "defl2": "deflection_2",
    "U": "strain_energy",
}


def run(**parameters: Any) -> Result:
    """Lets the links fall, both straight along x and at rest.

    Returns:
        Over time: ends of both links (N, 2); their distance from the tangent at the link's inner end; strain energy and
        the sum of all energies. The largest change of this sum, the largest kinetic energy, and the time of the steps.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        MachineError: a size out of the method's range.
        DivergenceError: the step is too long.
    """
    machine = double_pendulum(parameters)
    recorded = record_fall(machine, parameters, parameters["gravity"], ("link_1", "link_2", "end_1", "end_2"))
    links, ends = recorded.poses[:, :2], recorded.poses[:, 2:]
    across = [in_link_axes(links[:, k], ends[:, k])[:, 1] for k in range(2)]
    return Result(
        {
            "time": recorded.time,
            "tip_1": ends[:, 0, :2],
            "tip_2": ends[:, 1, :2],
            "deflection_1": across[0],
            "deflection_2": across[1],
            "strain_energy": recorded.energy[:, 2],
            "energy": recorded.total_energy,
            "max_energy_error": recorded.max_energy_error,
            "max_kinetic_energy": float(recorded.energy[:, 0].max()),
            "compute_time": recorded.compute_time,
        },
        _UNITS,
    )


def double_pendulum(parameters: Mapping[str, Any]) -> Machine:
    """The links, along x at rest."""
    length, parts, elements = parameters["length"], [link_text("world")], []
    before, at = "world", (0.0, 0.0, 0.0)
    for number in (1, 2):
        name = f"link_{number}"
        inertial, element = _link(name, parameters)
        parts += [link_text(name, inertial), joint_text(f"hinge_{number}", "continuous", before, name, at)]
        before, at = name, (length, 0.0, 0.0)
        elements.append(element)
        parts += [link_text(f"end_{number}"), joint_text(f"end_{number}_fixing", "fixed", name, f"end_{number}", at)]
    return parsed("double_flexible_pendulum", *parts, extension="".join(elements))


def _link(name: str, parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Inertial and element of a link; its section has an area of one square metre, which no result depends on."""
    length, mass, bending = parameters["length"], parameters["mass"], parameters["bending_stiffness"]
    if parameters["method"] == "rigid_elements":
        across = mass * length**2 / 12.0
        stiffness = {f"{one}_stiffness{axis}": bending for one, axis in (("bending", "_y"), ("bending", "_z"))}
        element = flexible_element(name, length, None, parameters, **stiffness, torsional_stiffness=bending)
        # the inertia about the axis is not zero, and the motion does not depend on it
        return inertial_text(mass, (0.01 * across, across, across), 0.5 * length), element
    modulus = parameters["axial_stiffness"]
    section = {"area": 1.0, "second_moment_z": bending / modulus, "density": mass / length}
    choice = {"axial": parameters["size"], "torsion": 0, "bending": "z", "rotary_inertia": False}
    return "", flexible_element(name, length, modulus, parameters, **section, **choice)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws deflections, strain energy and the energy's change over time, and the paths of the ends.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, defl1, defl2 and U of a reference curve, where present.
    """
    panels = figure.subplots(4, 1, sharex=True)
    for panel, name, label, theirs in (
        (panels[0], "deflection_1", "deflection 1 [m]", "defl1"),
        (panels[1], "deflection_2", "deflection 2 [m]", "defl2"),
        (panels[2], "strain_energy", "strain energy [J]", "U"),
    ):
        panel.plot(result["time"], result[name], label="simulation")
        if draw_reference(panel, reference, "t", theirs):
            panel.legend(fontsize="small")
        panel.set_ylabel(label)
    panels[3].plot(result["time"], np.asarray(result["energy"]) - result["energy"][0])
    panels[3].set_ylabel("change of energy [J]")
    panels[3].set_xlabel("time [s]")
    for panel in panels:
        panel.grid(alpha=0.3)
    figure.suptitle(f"double pendulum, {parameters['method']} {parameters['size']}, step {parameters['step']:g} s")
