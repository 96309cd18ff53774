"""State and command: exactly what a bit-exact restart needs, nothing derived."""

from typing import NamedTuple

import numpy as np

from grouser.physics.model.multibody import Model

# Steps around a wheel at which the shear that its rim carries is kept.
RIM_STEPS = 360


class State(NamedTuple):
    """Everything that a step reads and leaves changed.

    Attributes:
        step_count: steps since the start, (1,).
        q: positions, in the order of `Model` [m, rad, unit quaternion].
        v: coordinate rates [m/s, rad/s].
        row_impulse: impulse of every possible row in the last step, by slot: joint laws, without their drives' and
            bristles', then cylinders [N s or N m s].
        contact_count: number of contacts in the last step, (1,).
        contact_slot: their slots; the first `contact_count[0]` hold.
        contact_impulse: impulse that each slot's contact gave in the last step, world axes [N s], (slots, 3).
        contact_moment: impulse of its moment against turning, world axes [N m s], (slots, 3).
        contact_anchor: where it was, in the frame of its first body [m], (slots, 3).
        bristle: deflection of the bristles of each joint law [m or rad].
        hysteresis: effort of each axial law's hysteresis [N m or N].
        drive_memory: what each servo drive remembers between steps (`drives.servo`, `drives.electric`), (drives, KEPT).
        pressure: of each line of the hydraulic circuit [Pa, absolute], (lines,).
        piston: position of each cylinder's piston from its retracted end [m]; of motors not used.
        spool: position [-] and velocity [1/s] of each valve's spool, and its command behind the hysteresis [-],
            (valves, 3).
        swash: of each displacement pump [-].
        account: energy account of each cylinder and motor since the start [J], (actuators, accounts).
        passage_loss: throttled by each passage of the circuit [J], (passages,).
        pump_work: of each displacement pump on the oil [J], (pumps,).
        line_gain: taken up by the oil of each line, its walls and its accumulator [J], (lines,).
        line_supply: given by each line of constant pressure [J], (lines,).
        tile_count: number of tiles of soft ground that have been opened, (1,); `soil.tiles` says what they are.
        tile_place: which tile of the plane each is, (tiles, 2).
        tile_table: hash table of them, index + 1, 0 for none.
        soil_cell: their layers.
        wheel_motion: of each wheel, as the soil under it has come to know it: speed of the rim, of the wheel ahead and
            to the left, over the fastest of them, and how far it has rolled on, -1 (back) to 1, (wheels, 4) [-].
        rim_shear: shear of the soil at equal steps around each wheel, along the rim and across, (wheels, steps, 2) [-].
        wheel_sinkage: deepest sinkage of the patch on which each wheel of the level `stress` stands [m], (wheels,).
        soil_work: on the machine by the soil under each wheel [J], (wheels,).
        moved_soil: volume that each wheel has moved aside [m3], (wheels,).
        energy_start: kinetic, potential and elastic energy when the accounts of work were opened [J], (3,).
        law_work: on the machine by each joint law's drive, dry friction and limits [J], (laws, 3).
        rate_work: by each coordinate's damper and spring [J], (coordinates, 2).
        axial_work, pair_work, cylinder_work: by each axial law, loop joint, and cylinder or motor [J].
        contact_work: by the contacts of each shape [J].
        contact_energy: in the springs of these contacts at the end of the last step [J].
    """

    step_count: np.ndarray
    q: np.ndarray
    v: np.ndarray
    row_impulse: np.ndarray
    contact_count: np.ndarray
    contact_slot: np.ndarray
    contact_impulse: np.ndarray
    contact_moment: np.ndarray
    contact_anchor: np.ndarray
    bristle: np.ndarray
    hysteresis: np.ndarray
    drive_memory: np.ndarray
    pressure: np.ndarray
    piston: np.ndarray
    spool: np.ndarray
    swash: np.ndarray
    account: np.ndarray
    passage_loss: np.ndarray
    pump_work: np.ndarray
    line_gain: np.ndarray
    line_supply: np.ndarray
    tile_count: np.ndarray
    tile_place: np.ndarray
    tile_table: np.ndarray
    soil_cell: np.ndarray
    wheel_motion: np.ndarray
    rim_shear: np.ndarray
    wheel_sinkage: np.ndarray
    soil_work: np.ndarray
    moved_soil: np.ndarray
    energy_start: np.ndarray
    law_work: np.ndarray
    rate_work: np.ndarray
    axial_work: np.ndarray
    pair_work: np.ndarray
    cylinder_work: np.ndarray
    contact_work: np.ndarray
    contact_energy: np.ndarray


class Command(NamedTuple):
    """What the machine is told, and which of its components fail; held until told otherwise.

    Attributes:
        valve: spool command of each valve [-], -1 to 1.
        drive: position, speed or effort wanted of each drive [rad, m, rad/s, m/s, N m or N].
        emergency_stop: of each machine: valves to neutral, holding brakes on, drives braked, (machines,).
        stuck_spool: whether the spool of each valve stays where it is.
        slow_spool: share of its speed that each spool has lost [-].
        stopped_pump: whether each pump stands still; displacement pumps before supplies of constant pressure.
        relief_drop: how much too low each relief valve, then each counterbalance valve is set [Pa].
        leak: by `hydraulics.faults.leaks`, area of a tear [m2], or leakage past a piston or rotor [m3/(s Pa)].
        entrained_air: in addition to what the oil has, at 1e5 Pa as a share of its volume [-], (1,).
        sensor_offset: what the sensors on the piston and rod side of each cylinder show too much [Pa], (cylinders, 2).
    """

    valve: np.ndarray
    drive: np.ndarray
    emergency_stop: np.ndarray
    stuck_spool: np.ndarray
    slow_spool: np.ndarray
    stopped_pump: np.ndarray
    relief_drop: np.ndarray
    leak: np.ndarray
    entrained_air: np.ndarray
    sensor_offset: np.ndarray


def make_state(
    model: Model,
    *,
    laws: int,
    slots: int,
    shapes: int,
    axial_laws: int,
    drives: int,
    drive_memory: int,
    pairs: int,
    actuators: int,
    lines: int,
    valves: int,
    pumps: int,
    passages: int,
    accounts: int,
    wheels: int,
    tiles: dict[str, np.ndarray],
) -> State:
    """A state at rest in the initial positions, with no pressure in the cylinders."""
    return State(
        step_count=np.zeros(1, dtype=np.int64),
        q=np.array(model.q_initial),
        v=np.zeros(len(model.rate_damping)),
        row_impulse=np.zeros(laws + actuators),
        contact_count=np.zeros(1, dtype=np.int64),
        contact_slot=np.zeros(slots, dtype=np.int64),
        contact_impulse=np.zeros((slots, 3)),
        contact_moment=np.zeros((slots, 3)),
        contact_anchor=np.zeros((slots, 3)),
        bristle=np.zeros(laws),
        hysteresis=np.zeros(axial_laws),
        drive_memory=np.zeros((drives, drive_memory)),
        pressure=np.zeros(lines),
        piston=np.zeros(actuators),
        spool=np.zeros((valves, 3)),
        swash=np.zeros(pumps),
        account=np.zeros((actuators, accounts)),
        passage_loss=np.zeros(passages),
        pump_work=np.zeros(pumps),
        line_gain=np.zeros(lines),
        line_supply=np.zeros(lines),
        **tiles,
        wheel_motion=np.zeros((wheels, 4)),
        rim_shear=np.zeros((wheels, RIM_STEPS, 2)),
        wheel_sinkage=np.zeros(wheels),
        soil_work=np.zeros(wheels),
        moved_soil=np.zeros(wheels),
        energy_start=np.zeros(3),
        law_work=np.zeros((laws, 3)),
        rate_work=np.zeros((len(model.rate_damping), 2)),
        axial_work=np.zeros(axial_laws),
        pair_work=np.zeros(pairs),
        cylinder_work=np.zeros(actuators),
        contact_work=np.zeros(shapes),
        contact_energy=np.zeros(shapes),
    )


def make_command(
    *, valves: int, drives: int, machines: int, pumps: int, reliefs: int, leaks: int, cylinders: int
) -> Command:
    """Everything in neutral and healthy."""
    return Command(
        valve=np.zeros(valves),
        drive=np.zeros(drives),
        emergency_stop=np.zeros(machines, dtype=np.bool_),
        stuck_spool=np.zeros(valves, dtype=np.bool_),
        slow_spool=np.zeros(valves),
        stopped_pump=np.zeros(pumps, dtype=np.bool_),
        relief_drop=np.zeros(reliefs),
        leak=np.zeros(leaks),
        entrained_air=np.zeros(1),
        sensor_offset=np.zeros((cylinders, 2)),
    )


def copy_into(source: tuple[np.ndarray, ...], target: tuple[np.ndarray, ...]) -> None:
    """Copies every array of a State or Command into its counterpart."""
    for from_array, to_array in zip(source, target, strict=True):
        to_array[...] = from_array
