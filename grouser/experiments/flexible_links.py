"""Flexible links of the experiments: their element, and the machines that they are in."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from grouser.experiments.protocol import Parameter, count_steps
from grouser.experiments.turning import thinning
from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation

MODAL = ("assumed_modes", "finite_elements", "bezier", "b_spline")
# Points of the curves, at most, beside the start.
POINTS = 20_000
# Of a free fall.
FALL_PARAMETERS = {
    "step": Parameter(1e-3, "s", "length of a step", minimum=1e-6, maximum=0.1),
    "integrator": Parameter(
        "implicit_midpoint", "-", "of the motion", choices=("implicit_midpoint", "variational", "semi_implicit")
    ),
}


def discretisation_parameters(methods: tuple[str, ...], size: int, method: str = MODAL[0]) -> dict[str, Parameter]:
    """Parameters `method` and `size` of a discretisation."""
    return {
        "method": Parameter(method, "-", "discretisation of a link", choices=methods),
        "size": Parameter(size, "-", "modes, elements, segments, or degree of the curve", minimum=1, maximum=40),
    }


def flexible_element(
    link: str, length: float, modulus: float | None, parameters: Mapping[str, Any], **more: Any
) -> str:
    """Text of a `<flexible_link>`.

    Args:
        link: the link.
        length: of its elastic axis, along x from the link's origin [m].
        modulus: [Pa]; None: stiffnesses are given.
        parameters: those of the discretisation.
        more: further attributes; those that are for modes only are left out for rigid elements.
    """
    modal = ("axial", "torsion", "bending", "coupling", "rotary_inertia")
    rigid = parameters["method"] == "rigid_elements"
    given = {name: value for name, value in more.items() if not (rigid and name in modal)}
    attributes = {
        "link": link,
        "discretisation": parameters["method"],
        "size": parameters["size"],
        "length": length,
        "modulus": modulus,
        **given,
    }
    return f"<flexible_link {_text(attributes)}/>"


def link_text(name: str, inertial: str = "") -> str:
    """Text of a link."""
    return f'<link name="{name}">{inertial}</link>'


def inertial_text(mass: float, moments: tuple[float, float, float], x: float = 0.0) -> str:
    """Text of an `<inertial>`: mass [kg], moments about the centre of mass [kg m2], its place along x [m]."""
    xx, yy, zz = moments
    return (
        f'<inertial><origin xyz="{x!r} 0 0"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{xx!r}" iyy="{yy!r}" izz="{zz!r}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def joint_text(name: str, kind: str, parent: str, child: str, xyz=(0.0, 0.0, 0.0), axis: str = "0 0 1") -> str:
    """Text of a joint at a place of its parent, with parallel frames."""
    place = " ".join(map(repr, xyz))
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{place}"/><axis xyz="{axis}"/></joint>'
    )


def parsed(name: str, *parts: str, extension: str = "") -> Machine:
    """The machine of these links and joints."""
    return parse_machine(f'<robot name="{name}">{"".join(parts)}<grouser>{extension}</grouser></robot>', f"{name}.urdf")


def _text(attributes: Mapping[str, Any]) -> str:
    written = {name: str(value).lower() if isinstance(value, bool) else value for name, value in attributes.items()}
    return " ".join(f'{name}="{value}"' for name, value in written.items() if value is not None)


class Record(NamedTuple):
    """What a simulation did.

    Attributes:
        time: [s], (N,).
        poses: of the links that were asked for, (N, links, 7).
        positions: of the joints that were asked for [rad or m], (N, joints).
        energy: kinetic, potential and elastic [J], (N, 3).
        compute_time: of the steps, without reading [s].
    """

    time: np.ndarray
    poses: np.ndarray
    positions: np.ndarray
    energy: np.ndarray
    compute_time: float

    @property
    def total_energy(self) -> np.ndarray:
        """Sum of the energies [J], (N,)."""
        return self.energy.sum(axis=1)

    @property
    def max_energy_error(self) -> float:
        """Largest change of the sum of the energies since the start [J]."""
        total = self.total_energy
        return float(np.abs(total - total[0]).max())


def record_fall(
    machine: Machine, parameters: Mapping[str, Any], gravity: float, links: Sequence[str], joints: Sequence[str] = ()
) -> Record:
    """Lets a machine fall along -y in free space, as of `FALL_PARAMETERS`; errors as of `record`.

    Args:
        machine: the machine.
        parameters: of the experiment.
        gravity: [m/s2].
        links, joints: whose poses and positions are recorded.
    """
    world = World(gravity=(0.0, -gravity, 0.0), ground=None)
    simulation = Simulation(*(machine, world, parameters["step"]), integrator=parameters["integrator"], tolerance=1e-12)
    return record(simulation, parameters, links, joints)


def record(
    simulation: Simulation, parameters: Mapping[str, Any], links: Sequence[str], joints: Sequence[str] = ()
) -> Record:
    """Steps a simulation without commands from its start, a point for each step or, of long runs, fewer.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        DivergenceError: the step is too long.
    """
    steps = count_steps(parameters)
    # the first step compiles
    simulation.step()
    simulation.reset()
    index = [simulation.arrays.names.link_index(link) for link in links]
    every, spent, rows = thinning(steps, POINTS), 0.0, []
    for done in (*range(0, steps, every), steps):
        if done:
            start = time.perf_counter()
            simulation.step(done - simulation.step_count)
            spent += time.perf_counter() - start
        energy = simulation.energy()
        positions = [simulation.joint_position[joint] for joint in joints]
        parts = (energy.kinetic, energy.potential, energy.elastic)
        rows.append((simulation.time, simulation.link_poses()[index], positions, parts))
    moments, poses, turned, energies = (np.array(column) for column in zip(*rows, strict=True))
    return Record(moments, poses, turned, energies, spent)


def in_link_axes(link: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Places in the frame of a link [m], (N, 3), from poses of both (N, 7)."""
    return Rotation.from_quat(link[:, 3:]).inv().apply(place[:, :3] - link[:, :3])
