"""Cost of hydraulics in a step: a crane with a published motion, and many independent cylinders."""

import math
import statistics

import numpy as np

from grouser.benchmarks.figure import Figure, cpu_time
from grouser.experiments import hydraulic_crane
from grouser.physics.base.kernel import kernel
from grouser.physics.base.packed import Packed
from grouser.physics.description import parse_machine
from grouser.physics.hydraulics.actuator_geometry import make_actuator_geometry
from grouser.physics.hydraulics.advance import advance_other_parts
from grouser.physics.hydraulics.elements import make_network
from grouser.physics.hydraulics.plain_parts import advance_plain_parts
from grouser.physics.hydraulics.prediction import make_prediction
from grouser.physics.hydraulics.trials import SLIDING, make_network_workspace, set_contents
from grouser.physics.model.build import build_model

DESCRIPTION = "a step of 1 ms of a hydraulic crane, and of the hydraulics of 100 independent cylinders"

_STEP = 0.001
_COMMAND_STEPS = 10
_REPEATS = 5
_CYLINDERS = 100
_STEPS = 5000
# Each cylinder moves a mass under its weight [kg, m/s2], and each valve follows a sine of its own [-, Hz].
_MASS, _GRAVITY, _AMPLITUDE, _SLOWEST, _FASTEST = 100.0, 9.81, 0.8, 0.2, 1.0
# Where they begin, in the middle of their stroke [m, Pa].
_STROKE, _PRESSURE = 1.0, 3e6


def run() -> list[Figure]:
    """Runs the crane through its published motion, and the cylinders along their sines."""
    return [_crane(), _cylinders()]


def _crane() -> Figure:
    parameters = {name: one.check(name, one.default) for name, one in hydraulic_crane.PARAMETERS.items()}
    results = [hydraulic_crane.run(**parameters) for _ in range(_REPEATS)]
    taken = statistics.median(result["microseconds_per_step"] for result in results)
    details: dict[str, float] = {
        "simulated [s]": parameters["duration"],
        "energy not explained [-]": results[0]["energy_error"],
        "steps a call": _COMMAND_STEPS,
    }
    return Figure("whole step of a hydraulic crane", taken, "µs", details=details)


@kernel
def follow_commands(network, geometry, commands, repeats, step, workspace, prediction):
    """Takes all parts of a circuit through so many steps for each row of commands; returns their sub-steps."""
    count = 0
    for row in range(commands.shape[0]):
        for _ in range(repeats):
            workspace.substeps[:] = 0
            prediction.trace_length[:] = 0
            advance_plain_parts(network, geometry, commands[row], step, workspace, prediction)
            advance_other_parts(network, geometry, commands[row], step, workspace, prediction)
            for part in range(workspace.substeps.shape[0]):
                count += workspace.substeps[part]
    return count


def _cylinders() -> Figure:
    machine = parse_machine(_description(), "cylinders.urdf")
    network, _, _ = make_network(machine)
    model, names = build_model(machine)
    geometry = make_actuator_geometry(machine, names, model)
    random = np.random.default_rng(1)
    frequency = random.uniform(_SLOWEST, _FASTEST, _CYLINDERS)
    phase = random.uniform(0.0, 2.0 * math.pi, _CYLINDERS)
    time = _STEP * np.arange(0, _STEPS, _COMMAND_STEPS)[:, None]
    commands = _AMPLITUDE * np.sin(2.0 * math.pi * frequency * time + phase)
    workspace = make_network_workspace(network, _CYLINDERS)
    workspace.loads.mobility[:] = np.eye(_CYLINDERS) / _MASS
    workspace.loads.acceleration[:] = -_GRAVITY
    trees = [Packed(tree) for tree in (network, geometry, workspace, make_prediction(geometry, _STEP))]

    def play() -> int:
        now = workspace.now
        now.pressure[~network.constant] = _PRESSURE
        set_contents(network.oil, now)
        now.position[:], now.velocity[:], now.spool[:] = 0.5 * _STROKE, 0.0, 0.0
        now.regime[:], now.direction[:] = SLIDING, 1.0
        return follow_commands(*trees[:2], commands, _COMMAND_STEPS, _STEP, *trees[2:])

    substeps = play()
    taken = statistics.median(cpu_time(play) for _ in range(_REPEATS))
    end = workspace.now.position
    details: dict[str, float] = {
        "simulated [s]": _STEP * _STEPS,
        "sub-steps of a cylinder a step, mean": substeps / (_STEPS * _CYLINDERS),
        "least position at the end [m]": end.min(),
        "greatest position at the end [m]": end.max(),
        "steps a command": _COMMAND_STEPS,
    }
    return Figure(f"hydraulics of {_CYLINDERS} cylinders", 1e6 * taken / _STEPS, "µs", details=details)


def _description() -> str:
    """Cylinders between a supply and a tank, each on its own valve; what they move is a number of `_cylinders`."""
    pairs = "".join(
        f"""<directional_valve name="v{n}" supply_overlap="0.05" tank_underlap="0.05" discharge_coefficient="0.62"
            spool_diameter="6e-3" spool_travel="2e-4" natural_frequency="120" damping_ratio="1"/>
        <cylinder name="c{n}" valve="v{n}" bore="0.04" rod_diameter="0.025" stroke="{_STROKE}" retracted_length="1.2"
            piston_mass="5" viscous_friction="2000" dry_friction="200" dead_volume_piston_side="1e-4"
            dead_volume_rod_side="1e-4"><barrel link="base" xyz="0 0 -1.5"/><rod link="load"/></cylinder>"""
        for n in range(_CYLINDERS)
    )
    return f"""<robot name="cylinders"><link name="base"/>
    <link name="load"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="lift" type="prismatic"><parent link="base"/><child link="load"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1e9" velocity="9"/></joint>
    <grouser><fluid/><pump supply_pressure="10e6"/>{pairs}</grouser></robot>"""
