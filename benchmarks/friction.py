"""Cost of dry friction and servo drives: the general solver beside an adaptive one, and a drive in a machine."""

import statistics
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, alternating_medians, cpu_time
from grouser.studies.friction.system import DryFriction, FrictionRun, FrictionSystem

DESCRIPTION = "a step of systems with dry friction, a million steps of one mass, and a servo drive in a machine"

_REPEATS = 7
_STATES, _STEPS = 10, 100_000
_MILLION = 1_000_000
_MACHINE_STEPS = 20_000
# Of the peer: friction without a jump, tanh of the speed over this one, as a solver of smooth equations has to have it.
_SMOOTH = 1e-3


def run() -> list[Figure]:
    """Pulls masses on springs against friction, and steers the fin."""
    return [_ten_states(), _one_mass(), _drive()]


def _ten_states() -> Figure:
    """Five masses in a row on springs and dampers, two of which rub, pulled back and forth."""
    masses = _STATES // 2
    stiffness = 2.0 * np.eye(masses) - np.eye(masses, k=1) - np.eye(masses, k=-1)
    matrix = np.block([[np.zeros((masses, masses)), np.eye(masses)], [-stiffness, -0.1 * np.eye(masses)]])
    inputs = np.zeros((_STATES, 1))
    inputs[-1] = 1.0
    speeds = np.eye(_STATES)[[masses, masses + 2]]
    system = FrictionSystem(matrix, inputs, frictions=[DryFriction(speed, 0.3, 0.2) for speed in speeds])
    step = 0.005
    load = np.sin(0.5 * step * np.arange(_STEPS + 1))[:, np.newaxis]
    found: list[FrictionRun] = []
    timed = [cpu_time(lambda: found.append(system.run(np.zeros(_STATES), step, _STEPS, load))) for _ in range(_REPEATS)]
    details = {"events": len(found[-1].event_time), "steps made in parts": found[-1].halved}
    return Figure("10 states, 2 frictions", 1e6 * statistics.median(timed) / _STEPS, "µs", details=details)


def _one_mass() -> Figure:
    """One mass on a spring that is pulled, for a million steps; beside Radau's method for a hundredth of the time."""
    step, level, excess = 0.005, 5.0, 0.2
    matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])
    friction = DryFriction([0.0, 1.0], (1.0 + excess) * level, level)
    system = FrictionSystem(matrix, np.array([[0.0], [1.0]]), frictions=[friction])
    load = step * np.arange(_MILLION + 1)[:, np.newaxis]
    taken = statistics.median(cpu_time(lambda: system.run(np.zeros(2), step, _MILLION, load)) for _ in range(3))

    def rates(time: float, state: np.ndarray) -> tuple[float, float]:
        rubbing = level * np.tanh(state[1] / _SMOOTH)
        return state[1], time - state[0] - rubbing

    shorter = 100
    end = step * _MILLION / shorter
    theirs = cpu_time(partial(solve_ivp, rates, (0.0, end), np.zeros(2), "Radau", rtol=1e-3, atol=1e-6))
    details = {"peer": f"Radau, friction smoothed over {_SMOOTH:g}, a {shorter}th of the time, times {shorter}"}
    return Figure("one mass, 1e6 steps", taken, "s", "SciPy Radau", shorter * theirs, details)


def _drive() -> Figure:
    """The fin with its drive, less the fin with a plain spring instead."""
    machine = grouser.load_machine(catalogue.machine_file("servo_fin"), {"kinetic_friction": "0"})
    drive = machine.drives[0]
    spring = replace(drive, dc_motor=None, gear=None, stiffness=1e4, damping=50.0)
    plain = replace(machine, drives=(spring,))
    world = grouser.World(gravity=(0.0, 0.0, 0.0), ground=None)
    simulations = [grouser.Simulation(which, world, step=0.001) for which in (machine, plain)]
    for simulation in simulations:
        simulation.command[drive.joint] = 0.01
        simulation.step(_MACHINE_STEPS)
    taken = alternating_medians(_REPEATS, *(partial(simulation.step, _MACHINE_STEPS) for simulation in simulations))
    with_motor, without = (1e6 * time / _MACHINE_STEPS for time in taken)
    details = {"whole step [µs]": with_motor, "step with a spring [µs]": without, "step [s]": 0.001}
    return Figure("servo drive in a machine", with_motor - without, "µs", details=details)
