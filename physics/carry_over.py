"""Machines that come and go: what stays goes on in a new simulation as if nothing had happened.

Each row of `State` belongs to something that has a name. A row goes over to the one of the new simulation that bears
the same label, whatever their order.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import OverlapError, ParameterError
from grouser.physics.contact.collide import slot_shapes
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.world import World
from grouser.physics.description.machine_file.fleet import combine
from grouser.physics.hydraulics.faults import OIL
from grouser.physics.integrators.context import State
from grouser.physics.model.multibody import POSITIONS
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.soil.tiles import with_capacity


class _Label(NamedTuple):
    """Whose a row is: names of what it belongs to, and what tells it from their other rows."""

    names: tuple[str, ...]
    rest: Hashable = None


def carry_over(source: Simulation, target: Simulation) -> None:
    """Moves state, commands and faults of all machines that are in both simulations into the new one.

    A machine is in both if a member of the same name has the same `Machine`; one by itself is the member "". The others
    begin where they start. The count of steps goes on, and soft ground keeps its ruts; the accounts of energy are
    opened anew, and measurements of the last step are empty until the next.

    Args:
        source: goes on no more.
        target: just made.

    Raises:
        ParameterError: step or ground differ.
        OverlapError: a machine that was not there before overlaps another one or an obstacle; `target` is of no use.
    """
    if source.step_size != target.step_size:
        raise ParameterError("step", target.step_size, f"that of the simulation that goes on, {source.step_size:g} s")
    if source.world.ground != target.world.ground:
        raise ParameterError("ground", target.world.name, f"that of the world '{source.world.name}'")
    before = _machines(source)
    kept = {name for name, machine in _machines(target).items() if before.get(name) is machine}
    _carry_command(source, target, kept)
    target.resume(_carried_state(source, target, kept))
    _refuse_overlaps(target, kept)


def simulate(
    members: Mapping[str, Member], world: World, step: float, scheme: str = "implicit", integrator: str | None = None
) -> Simulation:
    """A simulation of machines at their start; arguments as of `combine` and `Simulation`.

    A machine by itself, "", that stands where the world puts it, needs no root that carries it.

    Raises:
        ParameterError, MachineError: as of these.
    """
    lone = members[""] if members.keys() == {""} and members[""].pose is None else None
    machine = lone.machine if lone is not None else combine(members, world.spawn)
    return Simulation(machine, world, step=step, scheme=scheme, integrator=integrator)


def _machines(simulation):
    """The machines in a simulation by their members' names."""
    members = simulation.machine.members
    return {member.name: member.machine for member in members} if members else {"": simulation.machine}


def _member(simulation, name):
    """Name of the member that a name belongs to; None for what belongs to none."""
    members, number = simulation.machine.members, simulation.machine.member_of(name)
    if number < 0:
        return None
    return members[number].name if members else ""


def _carry_command(source, target, kept):
    for name in target.command.names:
        if name in source.command and _member(target, name) in kept:
            target.command[name] = source.command[name]
    for name in kept:
        target.part(name).emergency_stop = source.part(name).emergency_stop
    for (component, name), value in source.faults.active.items():
        stays = component == OIL or _member(target, component) in kept
        if stays and component in target.faults and name in target.faults[component]:
            target.faults[component][name] = value


def _carried_state(source, target, kept):
    """The target's state with the rows of the machines that are kept."""
    old, new = _labels(source), _labels(target)
    state = State(*map(np.array, target.state))
    room = max(len(source.state.tile_place), len(state.tile_place))
    soil = with_capacity(source.state, room)
    for field in State._fields:
        labels = new[field]
        if labels is _WHOLE:
            state = state._replace(**{field: np.array(getattr(soil, field))})
        elif labels is not _ANEW:
            there, here = _common(old[field], labels, target, kept)
            getattr(state, field)[here] = getattr(source.state, field)[there]
    _carry_contacts(source, target, kept, state)
    return state


def _carry_contacts(source, target, kept, state):
    """Takes over what slots remember: each belongs to a pair of shapes, in the same order."""
    there, here = _common(_shape_labels(source), _shape_labels(target), target, kept)
    moved = np.full(len(source.shape_names), -1)
    moved[there] = here
    pairs, others = slot_shapes(source.system.collision), slot_shapes(target.system.collision)
    ground = len(target.shape_names) - 1
    pair, other = moved[pairs], np.where(others < 0, ground, others)
    remembered = source.state.contact_slot[: source.state.contact_count[0]]
    remembered = remembered[(pair[remembered] >= 0).all(axis=1)]
    turn, other_turn = _turns(pairs), _turns(others)
    wanted = {(*pair[slot].tolist(), int(turn[slot])): slot for slot in remembered.tolist()}
    near = np.flatnonzero(np.isin(other[:, 0], pair[remembered, 0]))
    found = {(*other[slot].tolist(), int(other_turn[slot])): slot for slot in near.tolist()}
    slots = [(slot, found[key]) for key, slot in wanted.items() if key in found]
    there, here = [one for one, _ in slots], [slot for _, slot in slots]
    for field in ("contact_impulse", "contact_moment", "contact_anchor"):
        getattr(state, field)[here] = getattr(source.state, field)[there]
    state.contact_count[0] = len(here)
    state.contact_slot[: len(here)] = here


def _turns(pairs):
    """Of each row, how many like it are before it."""
    _, kind = np.unique(pairs, axis=0, return_inverse=True)
    order = np.argsort(kind.ravel(), kind="stable")
    sorted_kind = kind.ravel()[order]
    first = np.searchsorted(sorted_kind, sorted_kind)
    turns = np.empty(len(order), dtype=np.int64)
    turns[order] = np.arange(len(order)) - first
    return turns


# Of fields without rows that belong to something: what is taken over as it is, and what begins anew.
_WHOLE: list[_Label] = [_Label(("whole",))]
_ANEW: list[_Label] = [_Label(("anew",))]


def _labels(simulation) -> dict[str, list[_Label]]:
    """Labels of the rows of each field of a simulation's state, all fields present."""
    system, machine, names, model = simulation.system, simulation.machine, simulation.names, simulation.model
    bodies = [body for body in range(len(names.body_joint)) if not model.body_mimics[body]]
    positions = [names.body_joint[body] for body in bodies for _ in range(POSITIONS[int(model.body_kind[body])])]
    laws = list(_numbered(names.rate_joint[rate] for rate in system.laws.rate_index))
    actuators = [_Label((one.name,), "actuator") for one in (*machine.cylinders, *machine.hydraulic_motors)]
    wheels = [_Label((wheel.link,)) for wheel in machine.wheels[: len(system.wheels.body)]]
    shapes = _shape_labels(simulation)[:-1]
    lines = [_Label((line,)) for line in simulation.lines]
    pumps = [_Label((pump.name,)) for pump in machine.pumps if pump.displacement is not None]
    return {
        "step_count": _WHOLE,
        "q": list(_numbered(positions)),
        "v": list(_numbered(names.rate_joint)),
        "row_impulse": [*laws, *actuators],
        "contact_count": _ANEW,
        "contact_slot": _ANEW,
        "contact_impulse": _ANEW,
        "contact_moment": _ANEW,
        "contact_anchor": _ANEW,
        "bristle": laws,
        "hysteresis": list(_numbered(names.rate_joint[rate] for rate in system.axial.rate_index)),
        "drive_memory": [_Label((drive.joint,)) for drive in machine.drives],
        "pressure": lines,
        "piston": actuators,
        "spool": [_Label((valve.name,)) for valve in machine.valves],
        "swash": pumps,
        "account": _ANEW,
        "passage_loss": _ANEW,
        "pump_work": _ANEW,
        "line_gain": _ANEW,
        "line_supply": _ANEW,
        "tile_count": _WHOLE,
        "tile_place": _WHOLE,
        "tile_table": _WHOLE,
        "soil_cell": _WHOLE,
        "wheel_motion": wheels,
        "rim_shear": wheels,
        "wheel_sinkage": wheels,
        "soil_work": _ANEW,
        "moved_soil": wheels,
        "energy_start": _ANEW,
        "law_work": _ANEW,
        "rate_work": _ANEW,
        "axial_work": _ANEW,
        "pair_work": _ANEW,
        "cylinder_work": _ANEW,
        "contact_work": _ANEW,
        "contact_energy": shapes,
    }


def _numbered(names: Iterable[str]) -> Iterator[_Label]:
    """Labels of rows that have their names in common, in their order."""
    count: Counter[str] = Counter()
    for name in names:
        yield _Label((name,), count[name])
        count[name] += 1


def _shape_labels(simulation) -> list[_Label]:
    """Labels of the collision shapes, the ground last."""
    links = simulation.system.collision.shapes.link.tolist()
    numbers: Counter[str] = Counter()
    labels = []
    for shape, name in enumerate(simulation.shape_names):
        if shape < len(links) and links[shape] >= 0:
            labels.append(_Label((name,), numbers[name]))
            numbers[name] += 1
        else:
            labels.append(_Label((), name))
    return labels


def _common(old: list[_Label], new: list[_Label], target, kept) -> tuple[list[int], list[int]]:
    """Places in the old rows and in the new ones of what is in both and belongs to machines that are kept."""
    place = {label: row for row, label in enumerate(old)}
    stays: dict[str, bool] = {}
    there, here = [], []
    for row, label in enumerate(new):
        for name in label.names:
            if name not in stays:
                stays[name] = _member(target, name) in {*kept, None}
        if label in place and all(stays[name] for name in label.names):
            there.append(place[label])
            here.append(row)
    return there, here


def _refuse_overlaps(target, kept):
    """Refuses machines that came into being within others or obstacles."""
    links = set(target.names.links)
    for one, other, depth in target.overlaps():
        owners = [_member(target, name) if name in links else None for name in (one, other)]
        if owners[0] != owners[1] and not {*owners} <= {*kept, None}:
            raise OverlapError(
                f"'{one}' and '{other}' overlap by {1000.0 * depth:.1f} mm",
                file=target.machine.file,
                remedy="put the machine somewhere else",
            )
