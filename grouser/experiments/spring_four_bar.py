"""A spatial four-bar linkage whose loop is closed by springs instead of a rigid joint.

After Augustynek, "Modelling of joints in mechanisms by means of spring elements" (2011). The machine is
urdf/four_bar.urdf.xacro; a torque on its crank rises in a ramp and drops to zero, then the linkage coasts.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.compliance import JointFrame
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.world import World
from grouser.physics.flexible_links.division import split_flexible_links
from grouser.physics.simulation.simulation import Simulation
from grouser.resources import share_path

DESCRIPTION = "a four-bar linkage closed by a spring joint (Augustynek, 2011)"


def _read_stiffnesses(value: list) -> list[float]:
    if not all(type(item) in (int, float) and 0.0 < item < math.inf for item in value):
        raise ValueError("a list of stiffnesses above 0 [N/m]")
    return [float(item) for item in value]


# Parameters of the machine have the names of its xacro arguments.
_MACHINE = {
    "variant": Parameter("rigid", "-", "coupler and rocker", choices=("rigid", "flexible")),
    "joint": Parameter("constraint", "-", "what closes the loop", choices=("constraint", "spring")),
    "cut_joint": Parameter("spherical", "-", "type of that joint", choices=("spherical", "revolute")),
    "stiffness": positive(1e8, "N/m", "of the spring joint"),
    "rotational_stiffness": positive(1e5, "N m/rad", "of the revolute spring joint"),
    "joint_damping": Parameter(0.0, "N s/m", "of the spring joint", minimum=0.0),
    "elements": Parameter(5, "-", "of each flexible rod", minimum=2, maximum=100),
}
PARAMETERS = {
    **_MACHINE,
    "torque": Parameter(1.5, "N m", "on the crank at the end of its ramp", minimum=-100.0, maximum=100.0),
    "torque_time": positive(0.1, "s", "when the ramp ends and the torque drops to zero"),
    "duration": positive(1.0, "s", "time simulated"),
    "step": Parameter(1e-4, "s", "length of a step", minimum=1e-6, maximum=0.1),
    "integrator": Parameter("implicit_midpoint", "-", "of the motion", choices=("implicit_midpoint", "semi_implicit")),
    "sweep": Parameter(
        *([], "N/m", "stiffnesses of spring joints to compare with the constraint; joint_damping goes with their root"),
        convert=_read_stiffnesses,
    ),
}

# Lower frequencies belong to the linkage's rigid motion, in which the rods hardly bend (0.02 Hz at the start) [Hz].
_SLOWEST_VIBRATION = 1.0

_UNITS = {
    "time": "s",
    "crank_angle": "rad",
    "crank_speed": "rad/s",
    "point_c": "m",
    "reaction": "N",
    "reaction_moment": "N m",
    "max_reaction": "N",
    "max_gap": "m",
    "natural_frequencies": "Hz",
    "sweep_stiffness": "N/m",
    "sweep_max_point_error": "m",
    "sweep_max_gap": "m",
    "sweep_max_reaction": "N",
    "sweep_reaction_error": "N",
}
REFERENCE = {
    "t": "time",
    **{f"C{axis}": f"point_c[{k}]" for k, axis in enumerate("xyz")},
    **{f"F{axis}_on_rocker": f"reaction[{k}]" for k, axis in enumerate("xyz")},
}


def run(**parameters: Any) -> Result:
    """Drives the linkage.

    Returns:
        Curves over time, one point a step: angle of the crank from its start, its speed, place of the rocker's end C
        (N, 3), force and moment of the coupler on the rocker there, world axes, (N, 3); their largest values;
        `max_gap`, the largest distance between the two ends that the joint holds together; and the natural frequencies
        at the start, of the flexible variant. A reaction at an instant is the mean of the two steps that meet there;
        where the torque drops it is the value just before, from the two steps that end there.
        With `sweep`, for each stiffness: largest distance of C from where the constraint has it, largest gap, largest
        reaction, and the root mean square of the reaction's difference after the drop.

    Raises:
        ParameterError: a duration shorter than two steps.
        DivergenceError: the step is too long for the parameters.
    """
    step = parameters["step"]
    if parameters["duration"] < 2.0 * step:
        raise ParameterError("duration", parameters["duration"], f"at least two steps, {2.0 * step:g} s")
    results = _drive(parameters)
    if parameters["sweep"]:
        rigid = results if parameters["joint"] == "constraint" else _drive({**parameters, "joint": "constraint"})
        results.update(_compare(rigid, parameters))
    return Result(results, {name: _UNITS[name] for name in results})


def _drive(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Results of one linkage."""
    arguments = {name: str(parameters[name]) for name in _MACHINE}
    machine = split_flexible_links(load_machine(share_path("urdf", "four_bar.urdf.xacro"), arguments))
    step, end = parameters["step"], parameters["torque_time"]
    world = World(gravity=(0.0, 0.0, 0.0), ground=None)
    simulation = Simulation(machine, world, step, integrator=parameters["integrator"])
    frequencies = None
    if parameters["variant"] == "flexible":
        frequencies = simulation.vibration.natural_frequencies()
        frequencies = frequencies[frequencies > _SLOWEST_VIBRATION]
    (joint,) = machine.loop_joints
    crank, poses, wrenches = _record(simulation, (joint.parent.link, joint.child.link), parameters)
    coupler_end, rotation = _in_world(poses[:, 0], joint.parent)
    rocker_end, _ = _in_world(poses[:, 1], joint.child)
    last_driven = round(end / step)
    drop = last_driven if abs(last_driven * step - end) < 1e-6 * step else None
    force, moment = np.split(_at_instants(wrenches, drop), 2, axis=1)
    reaction = np.einsum("kij,kj->ki", rotation, force)
    return {
        "time": step * np.arange(len(crank)),
        "crank_angle": crank[:, 0] - crank[0, 0],
        "crank_speed": crank[:, 1],
        "point_c": rocker_end,
        "reaction": reaction,
        "reaction_moment": np.einsum("kij,kj->ki", rotation, moment),
        "max_reaction": float(np.linalg.norm(reaction, axis=1).max()),
        "max_gap": float(np.linalg.norm(rocker_end - coupler_end, axis=1).max()),
        "natural_frequencies": frequencies,
    }


def _record(
    simulation: Simulation, links: tuple[str, str], parameters: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Runs the simulation.

    Returns:
        Angle and speed of the crank (N, 2) and poses of two links (N, 2, 7) at the ends of the steps; mean wrenches of
        the loop joint over the steps (N - 1, 6), in its frame.
    """
    step, count = simulation.step_size, round(parameters["duration"] / simulation.step_size)
    index = [simulation.arrays.names.link_index(link) for link in links]
    crank, poses, wrenches = np.zeros((count + 1, 2)), np.zeros((count + 1, 2, 7)), np.zeros((count, 6))
    for k in range(count + 1):
        crank[k] = simulation.joint_position["crank"], simulation.joint_velocity["crank"]
        poses[k] = simulation.link_poses()[index]
        if k < count:
            torque = _mean_torque(parameters["torque"], parameters["torque_time"], k * step, (k + 1) * step)
            simulation.command["crank"] = torque
            simulation.step()
            wrenches[k] = simulation.joint_reaction["c"]
    return crank, poses, wrenches


def _in_world(poses: np.ndarray, frame: JointFrame) -> tuple[np.ndarray, np.ndarray]:
    """Origins [m] and rotation matrices of a frame that is given on a link, from the link's poses."""
    rotation = Rotation.from_quat(poses[:, 3:]).as_matrix()
    return poses[:, :3] + rotation @ frame.xyz, rotation @ matrix(quaternion_from_rpy(*frame.rpy))


def _mean_torque(torque: float, end: float, start_of_step: float, end_of_step: float) -> float:
    """Mean over a step of the torque that rises evenly until `end`, then is zero."""
    start, stop = min(start_of_step, end), min(end_of_step, end)
    return torque * (stop**2 - start**2) / (2.0 * end * (end_of_step - start_of_step))


def _at_instants(means: np.ndarray, drop: int | None) -> np.ndarray:
    """Values at the instants between steps, from the means over the steps, of second order.

    Args:
        means: one line a step.
        drop: instant at which the values jump, to be given before the jump; None: there is none.
    """
    values = np.empty((len(means) + 1, means.shape[1]))
    values[1:-1] = 0.5 * (means[:-1] + means[1:])
    values[0] = 1.5 * means[0] - 0.5 * means[1]
    for k in (len(means), drop):
        if k is not None and 2 <= k <= len(means):
            values[k] = 1.5 * means[k - 1] - 0.5 * means[k - 2]
    return values


def _compare(rigid: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Spring joints of several stiffnesses beside the constraint."""
    after = rigid["time"] > parameters["torque_time"]
    rows = []
    for stiffness in parameters["sweep"]:
        damping = parameters["joint_damping"] * math.sqrt(stiffness / parameters["stiffness"])
        spring = _drive({**parameters, "joint": "spring", "stiffness": stiffness, "joint_damping": damping})
        distance = np.linalg.norm(spring["point_c"] - rigid["point_c"], axis=1)
        difference = np.linalg.norm(spring["reaction"] - rigid["reaction"], axis=1)[after]
        error = math.sqrt(np.mean(difference**2)) if len(difference) else 0.0
        rows.append((stiffness, float(distance.max()), spring["max_gap"], spring["max_reaction"], error))
    names = [name for name in _UNITS if name.startswith("sweep_")]
    return dict(zip(names, np.array(rows).T, strict=True))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the coordinates of C and the components of the reaction over time, and what a sweep gives over stiffness.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, Cx, Cy, Cz, Fx_on_rocker, Fy_on_rocker, Fz_on_rocker of a reference curve, where present.
    """
    swept = bool(parameters["sweep"])
    axes = figure.subplots(4 if swept else 3, 2)
    for component, letter in enumerate("xyz"):
        for panel, name, label, theirs in (
            (axes[component, 0], "point_c", f"{letter} of C [m]", f"C{letter}"),
            (axes[component, 1], "reaction", f"reaction along {letter} [N]", f"F{letter}_on_rocker"),
        ):
            panel.plot(result["time"], np.asarray(result[name])[:, component], label="simulation")
            if draw_reference(panel, reference, "t", theirs) and component == 0 and name == "point_c":
                panel.legend(fontsize="small")
            panel.set_ylabel(label)
            panel.grid(alpha=0.3)
    for panel in axes[2]:
        panel.set_xlabel("time [s]")
    if swept:
        for panel, curves in (
            (axes[3, 0], (("sweep_max_point_error", "distance of C [m]"), ("sweep_max_gap", "gap [m]"))),
            (
                axes[3, 1],
                (("sweep_reaction_error", "rms of the error [N]"), ("sweep_max_reaction", "largest reaction [N]")),
            ),
        ):
            for name, label in curves:
                panel.loglog(result["sweep_stiffness"], result[name], "o-", label=label)
            panel.set_xlabel("stiffness of the joint [N/m]")
            panel.legend(fontsize="small")
            panel.grid(alpha=0.3, which="both")
    figure.suptitle(
        f"four-bar linkage: {parameters['variant']}, {parameters['cut_joint']} {parameters['joint']}, "
        f"step {1e3 * parameters['step']:g} ms, {parameters['integrator']}"
    )
