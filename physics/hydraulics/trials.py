"""States of a circuit that a step tries, books of what has passed meanwhile, and the room for both."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import embedded, kernel
from grouser.physics.hydraulics.faults import Faults, make_faults
from grouser.physics.hydraulics.network import LANES, PLAIN_NUMBERS, HydraulicNetwork
from grouser.physics.hydraulics.oil import content

# What an actuator does at the end of a sub-step.
SLIDING, STUCK, AT_START, AT_END = range(4)
# Errors of a sub-step that pass: of pressures [Pa] and speeds [m/s or rad/s], and as a share of them [-].
PRESSURE_ERROR, SPEED_ERROR, _RELATIVE_ERROR = 1e4, 1e-4, 2e-3


class Loads(NamedTuple):
    """What acts on each actuator from outside, constant over the step, (actuators,) unless said otherwise.

    Attributes:
        mobility: speed of each actuator by an impulse of another on its part of the circuit, (actuators, actuators)
            [1/kg or 1/(kg m2)].
        acceleration: of the mechanism along it without the part's actuators [m/s2 or rad/s2].
        brake: largest force of its holding brake, 0 when released [N or N m].
    """

    mobility: np.ndarray
    acceleration: np.ndarray
    brake: np.ndarray


class Trial(NamedTuple):
    """A state of the circuit.

    Attributes:
        content, pressure: of the lines, (lines,) [-, Pa].
        position, velocity: of the actuators.
        regime, direction: SLIDING, STUCK, AT_START or AT_END; where it slides to, -1 or 1.
        spool: positions, speeds and commands behind the hysteresis [-, 1/s, -], (valves, 3).
        swash: of the pumps [-].
    """

    content: np.ndarray
    pressure: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    regime: np.ndarray
    direction: np.ndarray
    spool: np.ndarray
    swash: np.ndarray


class Books(NamedTuple):
    """What has passed since the start of the step.

    Attributes:
        passed, lost: volume [m3] and throttled energy [J] of each passage.
        delivered, pump_work: volume [m3] and work on the oil [J] of each pump.
        push: impulse of the pressures less viscous friction on each actuator [N s or N m s].
        grip, stop: impulses of dry friction with brake, and of the stroke's ends.
        work, oil_work: of the pressures on each actuator, by its mean speed and over the volume that it displaces [J].
        viscous_loss, friction_loss, stop_loss: of each actuator [J].
    """

    passed: np.ndarray
    lost: np.ndarray
    delivered: np.ndarray
    pump_work: np.ndarray
    push: np.ndarray
    grip: np.ndarray
    stop: np.ndarray
    work: np.ndarray
    oil_work: np.ndarray
    viscous_loss: np.ndarray
    friction_loss: np.ndarray
    stop_loss: np.ndarray


class NetworkWorkspace(NamedTuple):
    """Buffers: states before a sub-step, after a whole one and after two halves, books of these and of the step.

    Attributes:
        flow, slope, pilot_slope: of each passage, with its change with the drop and with its pilots.
        rise: dp/dc of each line [Pa].
        capacity: oil that it takes in for a change of its content, V + C dp/dc [m3].
        matrix, right: linear system of a part: its lines, its actuators' impulses, their outcomes.
        straight: changes of a part's contents by the rates of its start [-].
        relaxation: sub-step by the time constant of each of a part's lines [-].
        impulse: of each actuator on the mechanism by the forces of the start.
        outcome: of the sub-step: speed of an actuator that slides, impulse of what holds another.
        room, walls: oil in each line [m3], and the compliance of what holds it [m3/Pa].
        mean_spool: position of each spool, mean over the sub-step [-].
        lanes: plain parts side by side, LANES of them a block and a number of each after another,
            (blocks, PLAIN_NUMBERS * LANES).
        lanes_step: length of the steps for which the lanes are described [s], (1,); a memory of what follows from the
            circuit alone.
        substeps: of each part in the step.
        start_velocity: of each actuator at the start of the step.
    """

    loads: Loads
    faults: Faults
    now: Trial
    whole: Trial
    halves: Trial
    whole_books: Books
    halves_books: Books
    step_books: Books
    flow: np.ndarray
    slope: np.ndarray
    pilot_slope: np.ndarray
    rise: np.ndarray
    capacity: np.ndarray
    matrix: np.ndarray
    right: np.ndarray
    straight: np.ndarray
    relaxation: np.ndarray
    impulse: np.ndarray
    outcome: np.ndarray
    mean_spool: np.ndarray
    room: np.ndarray
    walls: np.ndarray
    lanes: np.ndarray
    lanes_step: np.ndarray
    substeps: np.ndarray
    start_velocity: np.ndarray


def make_network_workspace(network: HydraulicNetwork, valves: int) -> NetworkWorkspace:
    """Buffers of the right sizes."""
    lines, actuators, pumps = len(network.volume), len(network.line_a), len(network.outlet)
    passages = len(network.origin)
    largest = int(np.diff(network.part_unknown_start).max(initial=0))

    def trial():
        return Trial(
            content=np.zeros(lines),
            pressure=np.array(network.pressure),
            position=np.zeros(actuators),
            velocity=np.zeros(actuators),
            regime=np.zeros(actuators, dtype=np.int64),
            direction=np.zeros(actuators),
            spool=np.zeros((valves, 3)),
            swash=np.zeros(pumps),
        )

    def books():
        sizes = (passages, passages, pumps, pumps, *[actuators] * 8)
        return Books(*[np.zeros(size) for size in sizes])

    return NetworkWorkspace(
        loads=Loads(np.zeros((actuators, actuators)), np.zeros(actuators), np.zeros(actuators)),
        faults=make_faults(network, valves),
        now=trial(),
        whole=trial(),
        halves=trial(),
        whole_books=books(),
        halves_books=books(),
        step_books=books(),
        flow=np.zeros(passages),
        slope=np.zeros(passages),
        pilot_slope=np.zeros(passages),
        rise=np.zeros(lines),
        capacity=np.zeros(lines),
        matrix=np.zeros((largest, largest)),
        right=np.zeros(largest),
        straight=np.zeros(largest),
        relaxation=np.zeros(largest),
        impulse=np.zeros(actuators),
        outcome=np.zeros(actuators),
        mean_spool=np.zeros(valves),
        lanes=np.zeros((-(-len(network.plain_part) // LANES), PLAIN_NUMBERS * LANES)),
        lanes_step=np.full(1, math.nan),
        room=np.zeros(lines),
        walls=np.zeros(lines),
        substeps=np.zeros(max(len(network.part_line_start) - 1, 1), dtype=np.int64),
        start_velocity=np.zeros(actuators),
    )


@kernel
def last_passage(network, part, faults):
    """Where the passages of a part end that are not closed for good: leaks count when there is one."""
    return network.part_passage_start[part + 1] if faults.leaking[0] else network.part_leak_start[part]


@kernel
def set_contents(oil, trial):
    """Contents of all lines from their pressures."""
    for line in range(trial.content.shape[0]):
        trial.content[line] = content(oil, trial.pressure[line])


@kernel
def actuator_volumes(network, a, position):
    """Oil that actuator a itself holds on either side, without dead volumes; a motor none [m3]."""
    if network.stroke[a] == math.inf:
        return 0.0, 0.0
    return network.area_a[a] * position, network.area_b[a] * (network.stroke[a] - position)


@kernel
def push_of(network, a, pressure):
    """Force of the pressures in all lines on actuator a, S_A p_A - S_B p_B [N or N m]."""
    return network.area_a[a] * pressure[network.line_a[a]] - network.area_b[a] * pressure[network.line_b[a]]


@embedded
def share_of_error(difference, size, passes):
    """A difference of pressures or speeds of a size, as a multiple of what passes of it: PRESSURE_ERROR or so."""
    return abs(difference) / (passes + _RELATIVE_ERROR * abs(size))


@embedded
def extrapolated(beyond, whole, halves):
    """The halves and `beyond` times their difference from the whole."""
    return halves + beyond * (halves - whole)


@kernel
def copy_part(network, part, source, target):
    """Copies a part of a trial."""
    for k in range(network.part_line_start[part], network.part_line_start[part + 1]):
        line = network.part_line[k]
        target.content[line], target.pressure[line] = source.content[line], source.pressure[line]
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        target.position[a], target.velocity[a] = source.position[a], source.velocity[a]
        target.regime[a], target.direction[a] = source.regime[a], source.direction[a]
    for k in range(network.part_valve_start[part], network.part_valve_start[part + 1]):
        valve = network.part_valve[k]
        for k_spool in range(3):
            target.spool[valve, k_spool] = source.spool[valve, k_spool]
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        target.swash[p] = source.swash[p]


@kernel
def clear_books(network, part, faults, books):
    """Opens the books of a part."""
    for k in range(network.part_passage_start[part], last_passage(network, part, faults)):
        e = network.part_passage[k]
        books.passed[e] = books.lost[e] = 0.0
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        books.delivered[p] = books.pump_work[p] = 0.0
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        books.push[a] = books.grip[a] = books.stop[a] = 0.0
        books.work[a] = books.oil_work[a] = books.viscous_loss[a] = books.friction_loss[a] = books.stop_loss[a] = 0.0


@kernel
def add_books(network, part, faults, beyond, whole, halves, total):
    """Books of the extrapolated result."""
    for k in range(network.part_passage_start[part], last_passage(network, part, faults)):
        e = network.part_passage[k]
        total.passed[e] += extrapolated(beyond, whole.passed[e], halves.passed[e])
        total.lost[e] += extrapolated(beyond, whole.lost[e], halves.lost[e])
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        total.delivered[p] += extrapolated(beyond, whole.delivered[p], halves.delivered[p])
        total.pump_work[p] += extrapolated(beyond, whole.pump_work[p], halves.pump_work[p])
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        total.push[a] += extrapolated(beyond, whole.push[a], halves.push[a])
        total.grip[a] += extrapolated(beyond, whole.grip[a], halves.grip[a])
        total.stop[a] += extrapolated(beyond, whole.stop[a], halves.stop[a])
        total.work[a] += extrapolated(beyond, whole.work[a], halves.work[a])
        total.oil_work[a] += extrapolated(beyond, whole.oil_work[a], halves.oil_work[a])
        total.viscous_loss[a] += extrapolated(beyond, whole.viscous_loss[a], halves.viscous_loss[a])
        total.friction_loss[a] += extrapolated(beyond, whole.friction_loss[a], halves.friction_loss[a])
        total.stop_loss[a] += extrapolated(beyond, whole.stop_loss[a], halves.stop_loss[a])
