"""Room for soft ground and contacts in state and workspace, which grows by need."""

from typing import NamedTuple

from grouser.physics.constraints import room as constraints
from grouser.physics.contact import resting, slots
from grouser.physics.contact import room as contact
from grouser.physics.contact import sleeping_room as sleeping
from grouser.physics.contact.collide import Capacity
from grouser.physics.granular import arrays as granular
from grouser.physics.integrators.context import State, System, Workspace
from grouser.physics.soil import tiles


class StateCapacity(NamedTuple):
    """How much a state can hold.

    Attributes:
        tiles: of soft ground.
        contacts: of the last step, and those of sleeping bodies.
        grains, grain_pairs, grain_contacts: grains, listed pairs of them, and listed contacts with boundaries.
        clumps: of grains.
    """

    tiles: int
    contacts: int
    grains: int
    grain_pairs: int
    grain_contacts: int
    clumps: int = 0


def capacity_of(state: State) -> StateCapacity:
    """Capacity of a state's arrays."""
    tiles, contacts = len(state.soil.tile_place), len(state.contact.memory.slot)
    return StateCapacity(tiles, contacts, *granular.capacity_of(state.granular.grains))


def common_capacity(one: State, other: State) -> StateCapacity:
    """The smallest capacity for what either state can hold."""
    return StateCapacity(*map(max, capacity_of(one), capacity_of(other)))


def with_capacity(state: State, capacity: StateCapacity) -> State:
    """The same state with arrays of another capacity, at least for what it holds."""
    present = capacity_of(state)
    if present.tiles != capacity.tiles:
        state = state._replace(soil=tiles.with_capacity(state.soil, capacity.tiles))
    if present.contacts != capacity.contacts:
        memory = slots.with_capacity(state.contact.memory, capacity.contacts)
        state = state._replace(contact=state.contact._replace(memory=memory))
        if len(state.sleeping.still):
            laid = resting.with_capacity(state.sleeping.contacts, capacity.contacts)
            state = state._replace(sleeping=state.sleeping._replace(contacts=laid))
    grains = granular.with_capacity(state.granular.grains, *capacity[2:])
    return state._replace(granular=state.granular._replace(grains=grains))


def with_contact_room(workspace: Workspace, system: System, capacity: Capacity) -> Workspace:
    """The same buffers, but empty ones for the contacts, of another capacity, and for the islands of the solver."""
    solver, coordinates = workspace.constraints, len(system.multibody.rate_damping)
    larger = constraints.make_workspace(len(solver.row_shift), capacity.contacts, coordinates)
    made = contact.make_workspace(system.contact, system.multibody, capacity)
    before, broad = workspace.contact.detection.broad, made.detection.broad
    broad.idle[:], broad.active[:] = before.idle, before.active
    more = sleeping.make_workspace(system.sleeping, system.multibody, capacity.contacts)
    return workspace._replace(
        contact=made,
        sleeping=workspace.sleeping._replace(contact_of=more.contact_of),
        constraints=larger._replace(
            rows=solver.rows,
            sweeps=solver.sweeps,
            residual=solver.residual,
            unsettled=solver.unsettled,
        ),
    )


def grown(capacity: int, needed: int) -> int:
    """A capacity doubled until it is not below what is needed."""
    while capacity < needed:
        capacity = max(2 * capacity, 1)
    return capacity
