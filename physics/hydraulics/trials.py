"""Trial states of the circuits within a step, their accounts, and the buffers for both."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import embedded, kernel
from grouser.physics.hydraulics.faults import Faults, make_faults
from grouser.physics.hydraulics.network import LANES, PLAIN_NUMBERS, HydraulicNetwork
from grouser.physics.hydraulics.oil import Oil, content
from grouser.physics.hydraulics.open_elements import OpenElements, make_open_elements

# Regimes of an actuator at the end of a sub-step.
SLIDING, STUCK, AT_START, AT_END = range(4)
# Tolerances of a sub-step: of pressures [Pa] and speeds [m/s or rad/s], and relative [-].
PRESSURE_ERROR, SPEED_ERROR, _RELATIVE_ERROR = 1e4, 1e-4, 2e-3


class Loads(NamedTuple):
    """External loads of the actuators, constant over the step, (actuators,) unless stated otherwise.

    Attributes:
        mobility: speed of each actuator per impulse of each other one in its part, (actuators, actuators) [1/kg or
            1/(kg m2)].
        acceleration: of the mechanism along the actuator, without the part's actuators [m/s2 or rad/s2].
        brake: greatest force of its holding brake, 0 when released [N or N m].
    """

    mobility: np.ndarray
    acceleration: np.ndarray
    brake: np.ndarray


class Trial(NamedTuple):
    """A state of the circuit.

    Attributes:
        content, pressure: normalised fluid mass [-] and pressure [Pa] of the lines, (lines,).
        position, velocity: of the actuators.
        regime, direction: SLIDING, STUCK, AT_START or AT_END; direction of sliding, -1 or 1.
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


class Accounts(NamedTuple):
    """Volumes, impulses and energies since the start of the step.

    Attributes:
        passed, lost: volume [m3] and throttled energy [J] of each flow element.
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
    """Buffers: states before a sub-step, after a whole one and after two halves, their accounts, and those of the step.

    Attributes:
        open: the open flow elements of the part.
        rise: dp/dc of each line [Pa].
        capacity: volume of oil per change of its normalised fluid mass, V + C dp/dc [m3].
        entry, right: linear system of a part (`ordering.MatrixLayout`), of the changes of its lines and the speeds of
            its actuators; the last of `right` is for constant lines.
        explicit_change: changes of a part's fluid masses by the rates at its start [-].
        relaxation: sub-step over the time constant of each line of a part [-].
        impulse: of each actuator on the mechanism by the forces at the start, without dry friction.
        grip: impulse of dry friction and brake on each actuator that slides.
        outcome: of the sub-step: speed of an actuator that slides, holding impulse of one that does not.
        speed: of each actuator at the end of the sub-step.
        matrix, solution: linear system of a part's actuators.
        resistance: impulse that each speed of the sliding actuators takes from each actuator of the part.
        order: actuators of the part, those that slide first.
        free_impulse: of each actuator of the part without sliding speeds and holding impulses.
        room, walls: volume of each line [m3], and compliance of its walls [m3/Pa].
        mean_spool: mean position of each spool over the sub-step [-].
        lanes: plain parts side by side, each number for LANES of them in a row, (blocks, PLAIN_NUMBERS * LANES).
        lanes_step: step for which the constants in the lanes hold [s], (1,).
        substeps: number of each part's sub-steps in the step.
        first_share: first sub-step of the part of each pump, as a share of the step [-].
        start_velocity: of each actuator at the start of the step.
    """

    loads: Loads
    faults: Faults
    now: Trial
    whole: Trial
    halves: Trial
    whole_accounts: Accounts
    halves_accounts: Accounts
    step_accounts: Accounts
    open: OpenElements
    rise: np.ndarray
    capacity: np.ndarray
    entry: np.ndarray
    right: np.ndarray
    explicit_change: np.ndarray
    relaxation: np.ndarray
    impulse: np.ndarray
    grip: np.ndarray
    outcome: np.ndarray
    speed: np.ndarray
    matrix: np.ndarray
    resistance: np.ndarray
    order: np.ndarray
    free_impulse: np.ndarray
    solution: np.ndarray
    mean_spool: np.ndarray
    room: np.ndarray
    walls: np.ndarray
    lanes: np.ndarray
    lanes_step: np.ndarray
    substeps: np.ndarray
    first_share: np.ndarray
    start_velocity: np.ndarray


def make_network_workspace(network: HydraulicNetwork, valves: int) -> NetworkWorkspace:
    """Buffers of the right sizes."""
    lines, actuators, pumps = len(network.volume), len(network.line_a), len(network.outlet)
    flow_elements = len(network.origin)
    lines_of, actuators_of = np.diff(network.part_line_start), np.diff(network.part_actuator_start)
    unknowns, most = int((lines_of + actuators_of).max(initial=0)), int(actuators_of.max(initial=0))

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

    def accounts():
        sizes = (flow_elements, flow_elements, pumps, pumps, *[actuators] * 8)
        return Accounts(*[np.zeros(size) for size in sizes])

    return NetworkWorkspace(
        loads=Loads(np.zeros((actuators, actuators)), np.zeros(actuators), np.zeros(actuators)),
        faults=make_faults(network, valves),
        now=trial(),
        whole=trial(),
        halves=trial(),
        whole_accounts=accounts(),
        halves_accounts=accounts(),
        step_accounts=accounts(),
        open=make_open_elements(flow_elements),
        rise=np.zeros(lines),
        capacity=np.zeros(lines),
        entry=np.zeros(network.matrix_size),
        right=np.zeros(unknowns + 1),
        explicit_change=np.zeros(unknowns + 1),
        relaxation=np.zeros(unknowns),
        impulse=np.zeros(actuators),
        grip=np.zeros(actuators),
        outcome=np.zeros(actuators),
        speed=np.zeros(actuators),
        matrix=np.zeros((most, most)),
        resistance=np.zeros((most, most)),
        order=np.zeros(most, dtype=np.uintp),
        free_impulse=np.zeros(most),
        solution=np.zeros(most),
        mean_spool=np.zeros(valves),
        lanes=np.zeros((-(-len(network.plain_part) // LANES), PLAIN_NUMBERS * LANES)),
        lanes_step=np.full(1, math.nan),
        room=np.zeros(lines),
        walls=np.zeros(lines),
        substeps=np.zeros(max(len(network.part_line_start) - 1, 1), dtype=np.int64),
        first_share=np.ones(pumps),
        start_velocity=np.zeros(actuators),
    )


@kernel
def flow_elements_end(network: HydraulicNetwork, part, faults: Faults):
    """End of a part's flow elements in `part_flow_element`; leaks count only if there is any."""
    return network.part_flow_element_start[part + 1] if faults.leaking[0] else network.part_leak_start[part]


@kernel
def set_contents(oil: Oil, trial: Trial):
    """Sets the normalised fluid mass of all lines from their pressures."""
    for line in range(trial.content.shape[0]):
        trial.content[line] = content(oil, trial.pressure[line])


@kernel
def actuator_volumes(network: HydraulicNetwork, a, position):
    """Volumes of both chambers of actuator a without dead volumes; 0 for a motor [m3]."""
    if network.stroke[a] == math.inf:
        return 0.0, 0.0
    return network.area_a[a] * position, network.area_b[a] * (network.stroke[a] - position)


@kernel
def push_of(network: HydraulicNetwork, a, pressure):
    """Force of the pressures in all lines on actuator a, S_A p_A - S_B p_B [N or N m]."""
    return network.area_a[a] * pressure[network.line_a[a]] - network.area_b[a] * pressure[network.line_b[a]]


@embedded
def share_of_error(difference, size, tolerance):
    """A difference of pressures or speeds, as a multiple of the tolerance at their size."""
    return abs(difference) / (tolerance + _RELATIVE_ERROR * abs(size))


@embedded
def extrapolated(beyond, whole, halves):
    """Result of the half steps plus `beyond` times its difference from that of the whole step."""
    return halves + beyond * (halves - whole)


@kernel
def copy_part(network: HydraulicNetwork, part, source: Trial, target: Trial):
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
def clear_accounts(network: HydraulicNetwork, part, faults: Faults, accounts: Accounts):
    """Clears the accounts of a part."""
    for k in range(network.part_flow_element_start[part], flow_elements_end(network, part, faults)):
        e = np.uintp(network.part_flow_element[np.uintp(k)])
        accounts.passed[e] = accounts.lost[e] = 0.0
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        accounts.delivered[p] = accounts.pump_work[p] = 0.0
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        accounts.push[a] = accounts.grip[a] = accounts.stop[a] = 0.0
        accounts.work[a] = accounts.oil_work[a] = accounts.viscous_loss[a] = accounts.friction_loss[
            a
        ] = accounts.stop_loss[a] = 0.0


@kernel
def add_accounts(
    network: HydraulicNetwork, part, faults: Faults, beyond, whole: Accounts, halves: Accounts, total: Accounts
):
    """Accounts of the extrapolated result."""
    for k in range(network.part_flow_element_start[part], flow_elements_end(network, part, faults)):
        e = np.uintp(network.part_flow_element[np.uintp(k)])
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
