"""Mechanisms of the multibody benchmarks: their parts, their motion, and what a verdict is made of."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.spatial.transform import Rotation

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.turning import thinning
from grouser.physics.description.data.compliance import CompliantJoint, JointFrame, LoopJoint
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, InitialPosition, Joint, Link
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation

GROUND = "world"
STANDARD_GRAVITY = 9.81  # of all benchmarks [m/s2]
NO_TURN: Vector3 = (0.0, 0.0, 0.0)
# The verdict: greatest share of the kinetic energy that may be lost or gained, and of the mechanism's size by which a
# loop may open.
_ENERGY_KEPT, _LOOPS_CLOSED = 1e-4, 1e-5
_RIGID = (0.0, 0.0, 0.0)
# Points of a curve, at most, beside its start.
_POINTS = 20_000

UNITS = {
    "time": "s",
    "coordinates": "rad or m",
    "energy": "J",
    "energy_error": "J",
    "loop_error": "m or rad",
    "compute_time": "s",
    "sweep_at_end": "rad or m",
}

# What a mechanism reports of itself at one instant.
Reading = Callable[[Simulation], Sequence[float]]


class Mechanism(NamedTuple):
    """A mechanism at its start.

    Attributes:
        machine: with its initial positions.
        gravity: in the world's axes [m/s2].
        velocities: initial rates of joints [rad/s or m/s]; joints that are not named are at rest.
        efforts: constant commands of its drives [N m or N].
        names: of the coordinates that it reports.
        read: these coordinates.
        size: a length by which gaps of the loops are judged [m].
        work: work of its drives since the start [J]; None: it has none.
        loss: power of its dampers [W]; None: it has none.
    """

    machine: Machine
    gravity: Vector3
    velocities: Mapping[str, float]
    efforts: Mapping[str, float]
    names: Sequence[str]
    read: Reading
    size: float
    work: Callable[[Simulation], float] | None = None
    loss: Callable[[Simulation], float] | None = None


def motion_parameters(integrator: str, step: float, duration: float, *more: str) -> dict[str, Parameter]:
    """Parameters of every benchmark.

    Args:
        integrator: its default.
        step, duration: their defaults [s].
        more: integrators that it allows beside "semi_implicit" and "implicit_midpoint".
    """
    return {
        "integrator": Parameter(
            integrator, "-", "of the motion", choices=("semi_implicit", "implicit_midpoint", *more)
        ),
        "step": Parameter(step, "s", "length of a step", minimum=1e-7, maximum=0.1),
        "duration": positive(duration, "s", "time simulated"),
    }


def body(name: str, mass: float, inertia: Vector3, center: Vector3 = (0.0, 0.0, 0.0)) -> Link:
    """A rigid body.

    Args:
        name: of its link.
        mass: [kg].
        inertia: moments about the centre of mass, along the link's axes, which are principal [kg m2].
        center: centre of mass in the link's frame [m].
    """
    xx, yy, zz = inertia
    return Link(name, Inertial(Pose(center), mass, (xx, 0.0, 0.0, yy, 0.0, zz)))


def hinge(name: str, parent: str, child: str, place: Vector3, axis: Vector3) -> Joint:
    """A revolute joint without limits, whose frames are parallel at angle zero; `place` in the parent's frame [m]."""
    return Joint(name, "continuous", parent, child, Pose(place), axis)


def slide(name: str, parent: str, child: str, axis: Vector3) -> Joint:
    """A prismatic joint without limits between the origins of two links."""
    return Joint(name, "prismatic", parent, child, Pose(), axis)


def spring(joint: str, stiffness: float, length: float, damping: float = 0.0) -> CompliantJoint:
    """A spring along a slide [N/m], relaxed at a length [m], with a damper [N s/m]."""
    return CompliantJoint(
        *(joint, _RIGID, _RIGID, _RIGID, _RIGID),
        axial_stiffness=stiffness,
        axial_damping=damping,
        rest_position=length,
    )


def closure(
    name: str, type_: str, axis: str, parent: tuple[str, Vector3], child: tuple[str, Vector3], turn: Vector3 = NO_TURN
) -> LoopJoint:
    """A rigid loop joint.

    Args:
        name: of the joint.
        type_, axis: as in `LoopJoint`.
        parent, child: link and place of the joint in its frame [m].
        turn: orientation of the joint's frame in both links: roll, pitch, yaw [rad].
    """
    frames = (JointFrame(*parent, turn), JointFrame(*child, turn))
    return LoopJoint(name, type_, axis, None, (0.0, 0.0, 0.0), None, (0.0, 0.0, 0.0), *frames)


def machine(
    name: str, links: Sequence[Link], joints: Sequence[Joint], start: Mapping[str, float], **elements: Any
) -> Machine:
    """A machine on the ground.

    Args:
        name: of the machine.
        links, joints: of its tree, without the ground.
        start: initial positions of all joints [rad or m].
        elements: other fields of `Machine`.
    """
    positions = tuple(InitialPosition(joint.name, start.get(joint.name, 0.0)) for joint in joints)
    ground = Link(GROUND)
    return Machine(name, (ground, *links), tuple(joints), GROUND, False, initial_positions=positions, **elements)


def simulate(mechanism: Mechanism, parameters: Mapping[str, Any]) -> Result:
    """Simulates a mechanism.

    Args:
        mechanism: at its start.
        parameters: integrator, step and duration.

    Returns:
        `time`, `coordinates` (N, K) and `energy` (N,), a point for each step or, of long runs, every second, fifth,
        tenth ..., and the end. Of these points, `energy_error`, the largest difference of the energy from that at the
        start, less the work of drives, plus the losses of dampers (by the trapezoidal rule), and `loop_error`, the
        largest distance or angle by which a loop opens, zero for a tree. `compute_time` of all steps, without making,
        compiling and reading; the names and last values of the coordinates; and the verdict of the errors.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        DivergenceError: the step is too long.
    """
    steps = count_steps(parameters)
    simulation = Simulation(
        *(mechanism.machine, World(gravity=mechanism.gravity, ground=None), parameters["step"]),
        integrator=parameters["integrator"],
    )
    # the first step compiles
    simulation.step()
    simulation.reset()
    for joint, rate in mechanism.velocities.items():
        simulation.state.v[simulation.arrays.names.joints[joint].v] = rate
    for joint, effort in mechanism.efforts.items():
        simulation.command[joint] = effort
    gaps, every, spent = _Gaps(simulation), thinning(steps, _POINTS), 0.0
    coordinates, numbers = [], []
    for done in (*range(0, steps, every), steps):
        if done:
            start = time.perf_counter()
            simulation.step(done - simulation.step_count)
            spent += time.perf_counter() - start
        energy = simulation.energy()
        work = 0.0 if mechanism.work is None else mechanism.work(simulation)
        loss = 0.0 if mechanism.loss is None else mechanism.loss(simulation)
        coordinates.append(tuple(mechanism.read(simulation)))
        total = energy.kinetic + energy.potential + energy.elastic
        numbers.append((simulation.time, total, energy.kinetic, work, loss, gaps.largest()))
    moments, energies, kinetic, worked, power, opened = np.array(numbers).T
    rows, lost = np.array(coordinates), cumulative_trapezoid(power, moments, initial=0.0)
    error, gap = float(np.abs(energies - energies[0] - worked + lost).max()), float(opened.max())
    results = {
        "time": moments,
        "coordinates": rows,
        "energy": energies,
        "energy_error": error,
        "loop_error": gap,
        "compute_time": spent,
        "verdict": verdict(error, float(kinetic.max()), gap, mechanism.size),
        "sweep_coordinate": list(mechanism.names),
        "sweep_at_end": rows[-1],
    }
    return Result(results, UNITS)


def verdict(energy_error: float, kinetic: float, loop_error: float, size: float) -> str:
    """What a run kept.

    Args:
        energy_error: largest error of the energy [J].
        kinetic: largest kinetic energy [J].
        loop_error: largest opening of a loop [m or rad].
        size: of the mechanism [m].

    Returns:
        "energy and loops kept", or what was not kept, with its share of the kinetic energy or of the size.
    """
    lost = []
    for what, error, whole, limit in (
        ("energy", energy_error, kinetic, _ENERGY_KEPT),
        ("loops", loop_error, size, _LOOPS_CLOSED),
    ):
        if not error <= limit * whole:
            lost.append(f"{what} not kept: {error / whole:.1e} is above {limit:.0e}")
    return "; ".join(lost) or "energy and loops kept"


class _Gaps:
    """Openings of the loop joints of a simulation."""

    def __init__(self, simulation: Simulation):
        joints = simulation.machine.loop_joints
        self._simulation = simulation
        self._links = [[simulation.arrays.names.link_index(frame.link) for frame in pair] for pair in _frames(joints)]
        self._places = np.array([[frame.xyz for frame in pair] for pair in _frames(joints)]).reshape(-1, 2, 3)
        self._hinged = np.array([joint.type == "revolute" for joint in joints], dtype=bool)
        self._axes = np.array([_axis(joint) for joint in joints]).reshape(-1, 3)

    def largest(self) -> float:
        """The largest distance between the two places of a joint [m], or angle between its two axes [rad]."""
        if not self._links:
            return 0.0
        poses = self._simulation.link_poses()[self._links]
        turns = Rotation.from_quat(poses[..., 3:].reshape(-1, 4)).as_matrix().reshape(-1, 2, 3, 3)
        places = poses[..., :3] + np.einsum("pkij,pkj->pki", turns, self._places)
        axes = np.einsum("pkij,pj->pki", turns, self._axes)
        sines = np.linalg.norm(np.cross(axes[:, 0], axes[:, 1]), axis=1)[self._hinged]
        distances = np.linalg.norm(places[:, 0] - places[:, 1], axis=1)
        return float(max(distances.max(), sines.max(initial=0.0)))


def _frames(joints: Sequence[LoopJoint]) -> list[tuple[JointFrame, JointFrame]]:
    return [(joint.parent, joint.child) for joint in joints]


def _axis(joint: LoopJoint) -> list[float]:
    return [float(joint.axis == name) for name in "xyz"]


def draw(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference, title: str) -> None:
    """Draws the coordinates and the energy's change over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t and the names of coordinates, where present.
        title: name of the mechanism.
    """
    names, rows = result["sweep_coordinate"], np.asarray(result["coordinates"])
    *panels, last = figure.subplots(len(names) + 1, 1, sharex=True)
    for panel, name, values in zip(panels, names, rows.T, strict=True):
        panel.plot(result["time"], values, label="simulation", linewidth=0.9)
        if draw_reference(panel, reference, "t", name) and not figure.legends:
            figure.legend(*panel.get_legend_handles_labels(), fontsize="small", loc="outside lower right", ncols=2)
        panel.set_ylabel(name.replace("_", " "), rotation=0.0, horizontalalignment="right")
    last.plot(result["time"], np.asarray(result["energy"]) - result["energy"][0], linewidth=0.9)
    last.set_ylabel("change of\nenergy [J]")
    last.set_xlabel("time [s]")
    for panel in (*panels, last):
        panel.grid(alpha=0.3)
    figure.supylabel(f"coordinates [{UNITS['coordinates']}]", fontsize="medium")
    figure.suptitle(f"{title}, step {parameters['step']:g} s, {parameters['integrator']}")
