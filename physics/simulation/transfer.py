"""Transfer of state when machines come and go: the remaining machines continue in a new simulation.

Each row of `State` belongs to a named element. A row is copied bit for bit to the row of the new simulation with the
same label, whatever their order.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from grouser.physics.base.checks import require_type
from grouser.physics.base.errors import OverlapError, ParameterError
from grouser.physics.base.labels import (
    ACTUATOR,
    ANEW,
    DRIVE,
    LAW,
    LINE,
    PAD,
    POSITION,
    PUMP,
    RATE,
    ROW,
    SHAPE,
    SHOVEL,
    SPRING,
    TRACK,
    VALVE,
    WHEEL,
    WHOLE,
)
from grouser.physics.base.packed import Packed
from grouser.physics.base.trees import copied, leaves
from grouser.physics.blocks.system import BLOCK_ROWS
from grouser.physics.contact.collide import find_overlaps, owned_slots, slot_owners
from grouser.physics.contact.resting import take_up
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.world import World
from grouser.physics.description.machine_file.fleet import combine
from grouser.physics.digging.resistance import WAYS
from grouser.physics.digging.room import mass_by_shovel
from grouser.physics.granular.arrays import BODY_ARRAYS
from grouser.physics.hydraulics.faults import OIL
from grouser.physics.integrators.context import LABELS, State
from grouser.physics.simulation.capacity import common_capacity, with_capacity
from grouser.physics.simulation.lifting import LIFTED
from grouser.physics.simulation.simulation import Simulation

# In place of the index of a shape that is no longer there.
_GONE = -2
# Rows of obstacles and of the ground.
_WORLD = "world"


class _Label(NamedTuple):
    """Label of rows: what they are, and the name of their owner."""

    what: str
    name: str


def transfer_state(source: Simulation, target: Simulation) -> None:
    """Moves state, commands and faults of all machines that are in both simulations into the new one.

    A machine is in both if a member of the same name has the same `Machine`; one by itself is the member "". The
    others begin in their initial state. The count of steps goes on, and soft ground keeps its ruts; the accounts of
    energy are opened anew, and measurements of the last step are empty until the next. Soil in the shovels of a machine
    that is not in the new simulation, or falling from them, is gone, and counted as departed.

    Args:
        source: no longer used afterwards.
        target: a new simulation.

    Raises:
        ParameterError: step or ground differ.
        OverlapError: a machine that was not there before overlaps another one or an obstacle; `target` must be
            discarded.
    """
    for name, simulation in (("source", source), ("target", target)):
        require_type(name, simulation, Simulation, "a Simulation")
    if source.step_size != target.step_size:
        raise ParameterError("step", target.step_size, f"that of the present simulation, {source.step_size:g} s")
    if source.world.ground != target.world.ground:
        raise ParameterError("ground", target.world.name, f"that of the world '{source.world.name}'")
    before = _machines(source)
    kept = {name for name, machine in _machines(target).items() if before.get(name) is machine}
    _carry_command(source, target, kept)
    target.resume(_carried_state(source, target, kept))
    _refuse_overlaps(target, kept)


# The public name.
carry_over = transfer_state


def simulate(
    members: Mapping[str, Member],
    world: World,
    step: float,
    scheme: str = "implicit",
    integrator: str | None = None,
    spawn: str = LIFTED,
    sleeping: bool = False,
) -> Simulation:
    """A simulation of machines at their start; arguments as of `combine` and `Simulation`.

    A single machine, "", in the pose that the world gives needs no additional root.

    Raises:
        ParameterError, MachineError: as of these.
    """
    lone = members[""] if members.keys() == {""} and members[""].pose is None else None
    machine = lone.machine if lone is not None else combine(members, world.spawn)
    return Simulation(
        *(machine, world), step=step, scheme=scheme, integrator=integrator, spawn=spawn, sleeping=sleeping
    )


def _machines(simulation):
    """The machines in a simulation by their members' names."""
    members = simulation.machine.members
    return {member.name: member.machine for member in members} if members else {"": simulation.machine}


def _numbers(simulation):
    """Number of each member by its name."""
    return {name: number for number, name in enumerate(_machines(simulation))}


def _obeying(simulation):
    """Names of the members that have commands or faults."""
    members = simulation.arrays.membership
    numbers = {int(number) for of in (members.valve, members.drive, members.fault) for number in of}
    return {name for name, number in _numbers(simulation).items() if number in numbers}


def _member(simulation, name):
    """Name of the member that a name belongs to; None without one."""
    members, number = simulation.machine.members, simulation.machine.member_of(name)
    if number < 0:
        return None
    return members[number].name if members else ""


def _carry_command(source, target, kept):
    there, here = _numbers(source), _numbers(target)
    stopped, stop = (simulation.arrays.context.command.emergency_stop for simulation in (source, target))
    for name in kept:
        stop[here[name]] |= stopped[there[name]]
    for name in sorted(kept & _obeying(target)):  # the view of a member takes time
        before, after = source.part(name), target.part(name)
        after.command.update(dict(before.command))
        _carry_faults(before.faults, after.faults, own=True)
    _carry_pushes(source, target, kept)
    # Entrained air belongs to no member.
    _carry_faults(source.faults, target.faults, own=False)


def _carry_pushes(source, target, kept):
    for link, push in source.pushes.items():
        if link in target.arrays.names.links and _member(source, link) in kept:
            target.pushes[link] = push


def _carry_faults(before, after, own):
    """Copies the active faults that the target also has: those of components, or that of the oil."""
    for (component, name), value in before.active.items():
        if (component != OIL) == own and component in after and name in after[component]:
            after[component][name] = value


def _carried_state(source, target, kept):
    """The target's state with the rows of the machines that are kept."""
    there, here = _owners(source), _owners(target)
    present, capacity = _wide_awake(source), common_capacity(source.state, target.state)
    old, new = (with_capacity(state, capacity) for state in (present, copied(target.state)))
    rows = {kind: _common(there[kind], labels, target, kept) for kind, labels in here.items()}
    for kind, before, after in zip(leaves(LABELS), leaves(old), leaves(new), strict=True):
        if kind == WHOLE:
            after[...] = before
        elif kind != ANEW:
            one, other = rows[kind]
            after[other] = before[one]
    _count_departed(old, rows[SHOVEL][0], new)
    _carry_contacts(source, present, target, kept, new)
    new = _carry_grains(source, old, target, kept, new)
    _carry_blocks(source, old, target, kept, new)
    return new


def _wide_awake(source) -> State:
    """A copy of the state in which no body sleeps."""
    state, body = copied(source.state), source.arrays.system.contact.shapes.body
    asleep_with = state.sleeping.asleep_with
    for leader in sorted({*asleep_with.tolist()} - {-1}):
        asleep_with[asleep_with == leader] = -1
        take_up(body, asleep_with, Packed(state.sleeping.contacts), Packed(state.contact.memory))
    return state


def _count_departed(old: State, kept: np.ndarray, state: State) -> None:
    """Counts the soil that goes with the shovels that are not kept."""
    carried, falling = mass_by_shovel(old.digging)
    state.digging.departed[0] += np.delete(carried + falling, kept).sum()


def _carry_contacts(source, present, target, kept, state):
    """Copies the memory of contacts: each belongs to a pair of shapes, and has a number among the slots of these."""
    there, here = _common(_shape_labels(source), _shape_labels(target), target, kept)
    moved = np.full(len(source.arrays.shape_names), -1)
    moved[there] = here
    before, memory = present.contact.memory, state.contact.memory
    owners, numbers = slot_owners(source.arrays.system.contact, before.slot[: before.count[0]])
    ground = len(target.arrays.shape_names) - 1
    owners = np.where(moved[owners] == ground, -1, np.where(moved[owners] < 0, _GONE, moved[owners]))
    slots = owned_slots(target.arrays.system.contact, owners, numbers)
    stays = np.flatnonzero(slots >= 0)
    stays = stays[np.argsort(slots[stays])]
    memory.count[0] = len(stays)
    for old, new in zip(before[2:], memory[2:], strict=True):
        new[: len(stays)] = old[stays]
    memory.slot[: len(stays)] = slots[stays]


def _carry_grains(source, old: State, target, kept, state: State) -> State:
    """The state with all grains; those on the world and on machines that are kept keep the memory of their contacts."""
    grains, own = old.granular.grains, state.granular.grains
    there, here = _common(_boundary_labels(source), _boundary_labels(target), target, kept)
    moved = np.full(len(source.arrays.system.granular.grains.boundaries.kind) + 1, -1)
    moved[there] = here
    carried = grains._replace(
        **{name: getattr(own, name) for name in BODY_ARRAYS},
        boundary_shape=moved[grains.boundary_shape],
        stale=np.ones_like(grains.stale),
        asleep=np.zeros_like(grains.asleep),
    )
    return state._replace(granular=state.granular._replace(grains=carried))


def _carry_blocks(source, old: State, target, kept, state: State) -> None:
    """Copies all blocks; their contacts with the world and with machines that are kept go on."""
    if not source.arrays.system.blocks.free:
        return
    blocks, own = old.blocks.blocks, state.blocks.blocks
    there, here = _common(_block_labels(source), _block_labels(target), target, kept)
    rows = len(blocks.displacement)
    moved = np.full(rows, -1)
    moved[there] = here
    for name in BLOCK_ROWS:
        getattr(own, name)[here] = getattr(blocks, name)[there]
    for name in ("time", "bonded", "slip", "live", "lost"):
        getattr(own, name)[...] = getattr(blocks, name)
    contacts = slice(blocks.contact_count[0])
    first, second = (moved[part] for part in np.divmod(blocks.contact_pair[contacts], max(rows, 1)))
    stays = np.flatnonzero((first >= 0) & (second >= 0))
    pair = first[stays] * len(own.displacement) + second[stays]
    order = np.argsort(pair, kind="stable")
    count = own.contact_count[0] = len(stays)
    own.contact_pair[:count] = pair[order]
    own.contact_point[:count] = blocks.contact_point[contacts][stays][order]
    own.contact_shear[:count] = blocks.contact_shear[contacts][stays][order]


def _block_labels(simulation) -> list[_Label]:
    """Labels of blocks, ground and obstacles, then of the shapes of links."""
    system, names = simulation.arrays.system.blocks, simulation.arrays.names
    links = names.link_body.tolist()
    world = [_Label(_WORLD, "")] * system.first_link
    return [*world, *(_Label("link", names.links[links.index(system.body[row])]) for row in system.row)]


def _boundary_labels(simulation) -> list[_Label]:
    """Labels of the shapes of boundaries of grains: ground and obstacles, then links."""
    system, names = simulation.arrays.system.granular, simulation.arrays.names
    bodies = system.body[system.grains.boundaries.body].tolist()
    links = names.link_body.tolist()
    return [_Label("link", names.links[links.index(body)]) if body >= 0 else _Label(_WORLD, "") for body in bodies]


def _owners(simulation) -> dict[str, list[_Label]]:
    """Labels of all rows of each kind (`base.labels`)."""
    machine, arrays = simulation.machine, simulation.arrays
    system, names = arrays.system, arrays.names
    laws = _labels("joint", (names.rate_joint[rate] for rate in system.joints.laws.rate_index))
    actuators = _labels("actuator", (one.name for one in (*machine.cylinders, *machine.hydraulic_motors)))
    shovels = [shovel.name for shovel in machine.shovels[: len(system.digging.body)]]
    pads = zip(machine.tracks, np.diff(system.tracks.pad_start), strict=False)
    return {
        POSITION: _labels("joint", names.position_joint),
        RATE: _labels("joint", names.rate_joint),
        LAW: laws,
        ROW: [*laws, *actuators, *_labels("shovel", (name for name in shovels for _ in range(WAYS)))],
        SPRING: _labels("joint", (names.rate_joint[rate] for rate in system.springs.rate_index)),
        DRIVE: _labels("drive", (drive.joint for drive in machine.drives)),
        LINE: _labels("line", simulation.arrays.lines),
        ACTUATOR: actuators,
        VALVE: _labels("valve", (valve.name for valve in machine.valves)),
        PUMP: _labels("pump", (pump.name for pump in machine.pumps if pump.displacement is not None)),
        WHEEL: _labels("wheel", (wheel.link for wheel in machine.wheels[: len(system.soil.body)])),
        TRACK: _labels("track", (track.name for track in machine.tracks[: len(system.tracks.body)])),
        PAD: _labels("pad", (track.name for track, count in pads for _ in range(int(count)))),
        SHOVEL: _labels("shovel", shovels),
        SHAPE: _shape_labels(simulation)[:-1],
    }


def _labels(what: str, names: Iterable[str]) -> list[_Label]:
    names = list(names)
    labels = {name: _Label(what, name) for name in names}
    return [labels[name] for name in names]


def _shape_labels(simulation) -> list[_Label]:
    """Labels of the collision shapes, the ground last."""
    links = [*simulation.arrays.system.contact.shapes.link.tolist(), -1]
    named = zip(links, simulation.arrays.shape_names, strict=True)
    return [_Label("link" if link >= 0 else _WORLD, name) for link, name in named]


def _common(old: list[_Label], new: list[_Label], target, kept) -> tuple[np.ndarray, np.ndarray]:
    """Indices in the old and in the new rows of those that belong to machines that are kept, or to the world.

    Rows with the same label correspond in their order.
    """
    number = {label: k for k, label in enumerate(dict.fromkeys([*old, *new]))}
    owners = {*kept, None}
    stays = [label.what == _WORLD or _member(target, label.name) in owners for label in number]
    most = max(len(old), len(new))
    there, here = (_numbered([number[label] for label in labels], stays, most) for labels in (old, new))
    _, one, other = np.intersect1d(there[:, 1], here[:, 1], assume_unique=True, return_indices=True)
    return there[one, 0], here[other, 0]


def _numbered(numbers: list[int], stays: list[bool], most: int) -> np.ndarray:
    """Rows whose label stays, and a number for each by its label and its place among those with it, (rows, 2)."""
    label = np.array(numbers, dtype=np.int64)
    order = np.argsort(label, kind="stable")
    place = np.empty(len(label), dtype=np.int64)
    place[order] = np.arange(len(label)) - np.searchsorted(label[order], label[order])
    return np.column_stack([np.arange(len(label)), label * most + place])[np.array(stays, dtype=bool)[label]]


def _refuse_overlaps(target, kept):
    """Refuses new machines that overlap others or obstacles."""
    stands = np.array([name in kept for name in _machines(target)] + [True])
    pairs, member = target.arrays.system.contact.pairs, target.arrays.membership.shape
    names = target.arrays.shape_names
    one, other = member[pairs.first], member[pairs.second]
    chosen = (one != other) & ~(stands[one] & stands[other])
    for shape, touched, depth in find_overlaps(
        target.arrays.system.contact, target.arrays.model, target.state.q, chosen
    ):
        raise OverlapError(
            f"'{names[shape]}' and '{names[touched]}' overlap by {1000.0 * depth:.1f} mm",
            file=target.machine.file,
            remedy="put the machine somewhere else",
        )
