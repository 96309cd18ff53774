"""Arrays of granular media: read-only system, state, and buffers of a step."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.trees import leaves
from grouser.physics.granular.pairs import PairTable

# Columns of `State.account`: energy dissipated by the dampers of the normal forces, work that tangential forces and
# moments of rolling and twisting take (with what their springs hold), work of the boundaries on the grains [J].
NORMAL_LOSS, FRICTION_LOSS, ROLLING_LOSS, BOUNDARY_WORK = range(4)
# Pairs and boundary contacts listed per grain, for which the lists have room at first.
_PAIRS, _BOUNDARY_CONTACTS = 8, 2
# Cells of the grid by grains.
_CELLS = 4


class Boundaries(NamedTuple):
    """Boundaries: shapes on bodies, in the axes of their body.

    Attributes:
        kind: of each shape (`shapes`), (shapes,).
        body: that it belongs to, (shapes,).
        material: its number, (shapes,).
        slots: contacts that a grain may have with it, (shapes,).
        value: numbers of each shape, (shapes, 12).
        mesh: number of the mesh of each shape, or -1, (shapes,).
        triangle: corners of the triangles of all meshes [m], (triangles, 9).
        grid: of each mesh: origin of its cells [m] (3), their side [m]; (meshes, 4).
        grid_size: of each mesh: cells along each axis (3), and its first cell, (meshes, 4).
        cell_start: first item in `cell_triangle` of each cell, (cells + 1,).
        cell_triangle: triangles near each cell.
        solid_start: first solid of each shape, (shapes + 1,).
        solid_kind: of each solid (`solids`), (solids,).
        solid: its numbers, (solids, 16).
        hull_triangle: corners of the faces of all polyhedra [m], (faces, 9).
        hull_plane: outward unit normal (3) of each face, and its distance from the body's origin [m], (faces, 4).
        extent: distance of the farthest point of each body from its origin, infinite for planes [m], (bodies,).
        start: position of each body's origin at the start [m], (bodies, 3).
        amplitude, angular_frequency, phase: of each body's prescribed vibration start + amplitude sin(omega t + phase)
            [m, rad/s, rad], (bodies, 3), (bodies,), (bodies,). A body without it moves on with its velocity.
    """

    kind: np.ndarray
    body: np.ndarray
    material: np.ndarray
    slots: np.ndarray
    value: np.ndarray
    mesh: np.ndarray
    triangle: np.ndarray
    grid: np.ndarray
    grid_size: np.ndarray
    cell_start: np.ndarray
    cell_triangle: np.ndarray
    solid_start: np.ndarray
    solid_kind: np.ndarray
    solid: np.ndarray
    hull_triangle: np.ndarray
    hull_plane: np.ndarray
    extent: np.ndarray
    start: np.ndarray
    amplitude: np.ndarray
    angular_frequency: np.ndarray
    phase: np.ndarray


class System(NamedTuple):
    """What does not change.

    Attributes:
        pairs: laws of the pairs of materials.
        boundaries: shapes and bodies.
        gravity: [m/s2], (3,).
        skin: distance beyond touch up to which pairs are listed [m].
        class_radius: largest radius of each size class (`size_classes`), ascending [m], (classes,).
        rest_steps: steps after which a grain at rest falls asleep; 0: never.
        soil_cell: spacing of the cells of soft ground [m]; 0 for none.
    """

    pairs: PairTable
    boundaries: Boundaries
    gravity: np.ndarray
    skin: float
    class_radius: np.ndarray
    rest_steps: int = 0
    soil_cell: float = 0.0


class State(NamedTuple):
    """All that a restart needs. Grains are rows, sorted by their cells; `ident` says which grain each row is.

    Attributes:
        number: of grains, (1,).
        born: number of the next grain, (1,).
        position: of the centres, and radius [m], (rows, 4).
        velocity: [m/s], half a step before the positions, and 1/mass [1/kg], (rows, 4).
        spin: angular velocity [rad/s], and 1/inertia [1/(kg m2)], (rows, 4).
        material: its number, (rows,).
        ident: number of the grain, -1 for one that the next rebuild removes, (rows,).
        still: steps for which each grain has been at rest (`sleeping`), (rows,).
        asleep: whether it sleeps, (rows,).
        rest: where it was last at rest, infinite before [m], (rows, 3).
        clump: number of the clump that each grain is a sphere of, or -1, (rows,).
        offset: of its centre from the clump's centre of mass, in the clump's principal axes [m], (rows, 3).
        clumps: number of clumps, (1,).
        clump_position: their centres of mass [m], (clumps, 3).
        clump_turn: unit quaternions of their principal axes (x, y, z, w), (clumps, 4).
        clump_velocity: of their centres [m/s], half a step before the positions, and 1/mass [1/kg], (clumps, 4).
        clump_momentum: angular momenta about their centres, world axes, as the velocities [N m s], (clumps, 3).
        clump_inertia: principal moments [kg m2], (clumps, 3).
        listed: number of listed pairs, and of listed boundary contacts, (2,).
        pair_start: first pair of each row, (rows + 1,).
        pair_other: row of the second grain of each pair, above that of the first, (pairs,).
        pair_history: memory of each pair (`pairs`), the forces on the first, (pairs, width).
        boundary_start: first boundary contact of each row, (rows + 1,).
        boundary_shape: shape of each boundary contact, (contacts,); meshes and solids have several in succession.
        boundary_history: memory of each, (contacts, width).
        boundary_contact: unit normal towards the grain, world axes (3), and overlap [m], when it last touched; on soft
            ground the force of its cells [N] (3), and the height of the ground around, in the last step in which the
            grain was awake [m], (contacts, 4).
        built: positions when the lists were built [m], (rows, 3).
        travel: way that points of each body near grains have gone since then, at most [m], (bodies,).
        reach: distance of these points from the body's origin, at most [m], (bodies,).
        gap: way that the points of each body may go before they are near a grain that is not listed [m], (bodies,).
        stale: whether the lists must be built before the next step, (1,).
        body_position, body_rotation: pose of each body [m], (bodies, 3), (bodies, 3, 3).
        body_velocity: linear, of its origin, and angular [m/s, rad/s], world axes, (bodies, 6).
        account: energies since the start [J], (4,).
        time: [s], (1,).
    """

    number: np.ndarray
    born: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    material: np.ndarray
    ident: np.ndarray
    still: np.ndarray
    asleep: np.ndarray
    rest: np.ndarray
    clump: np.ndarray
    offset: np.ndarray
    clumps: np.ndarray
    clump_position: np.ndarray
    clump_turn: np.ndarray
    clump_velocity: np.ndarray
    clump_momentum: np.ndarray
    clump_inertia: np.ndarray
    listed: np.ndarray
    pair_start: np.ndarray
    pair_other: np.ndarray
    pair_history: np.ndarray
    boundary_start: np.ndarray
    boundary_shape: np.ndarray
    boundary_history: np.ndarray
    boundary_contact: np.ndarray
    built: np.ndarray
    travel: np.ndarray
    reach: np.ndarray
    gap: np.ndarray
    stale: np.ndarray
    body_position: np.ndarray
    body_rotation: np.ndarray
    body_velocity: np.ndarray
    account: np.ndarray
    time: np.ndarray


class Workspace(NamedTuple):
    """Buffers, and outputs of steps.

    Attributes:
        force, torque: on each grain [N, N m], (rows, 4).
        woken: whether each grain wakes after the step, (rows,).
        quiet: whether each grain sleeps, with all grains after it in its list, far from bodies, (rows,).
        unquiet: whether that must be found again, (1,).
        pair_force, boundary_force: of each contact, on its first body, where they are recorded: normal force and its
            damping part [N], tangential force (3) [N], moment of rolling and twisting (3) [N m]; zero while apart.
        reaction: force and torque of each pair on its second grain, reversed, where threads share the pairs
            (`threads`) [N, N m], (pairs, 6), else without rows.
        back_start, back_pair: pairs of which each row is the second, there, (rows + 1,), (pairs,).
        impulse: of the grains on each body since `advance.clear_reactions`: linear [N s], and angular about `reference`
            [N m s], (bodies, 6).
        reference: origin of each body then [m], (bodies, 3).
        stiffening: sum over its contacts and integral over the time since then of the slopes of the normal forces on
            each body [N s/m], (bodies,).
        manifold: contacts of a grain with a mesh or solids: point and normal (3 each), depth, slot, (slots, 8).
        cell, order, renamed, cell_start, cell_fill: of sorting, (rows,), (rows,), (rows,), (cells + 1,), (cells + 1,).
        grid: of each size class: cells along the axes (3), first cell, and grains, (classes, 5).
        grid_low, grid_side: lowest corner of the grids [m], (3,); side of the cells of each [m], (classes,).
        compared: pairs of grains whose distance was taken when the lists were built, (1,).
        next: the sorted state, before it replaces the last one.
        clump_load: force and moment on each clump about its centre [N, N m]; while it is moved, its angular velocity
            in place of the force [rad/s]; (clumps, 6).
        clump_mark: of each clump: steps at rest, members that are left, or its new number, (clumps,).
        clump_awake: whether a member of each is awake, (clumps,).
        needed: listed pairs, boundary contacts, grains and clumps that there was no room for, (4,).
    """

    force: np.ndarray
    torque: np.ndarray
    woken: np.ndarray
    quiet: np.ndarray
    unquiet: np.ndarray
    pair_force: np.ndarray
    boundary_force: np.ndarray
    reaction: np.ndarray
    back_start: np.ndarray
    back_pair: np.ndarray
    impulse: np.ndarray
    reference: np.ndarray
    stiffening: np.ndarray
    manifold: np.ndarray
    cell: np.ndarray
    order: np.ndarray
    renamed: np.ndarray
    cell_start: np.ndarray
    cell_fill: np.ndarray
    grid: np.ndarray
    grid_low: np.ndarray
    grid_side: np.ndarray
    compared: np.ndarray
    next: State
    clump_load: np.ndarray
    clump_mark: np.ndarray
    clump_awake: np.ndarray
    needed: np.ndarray


class Granular(NamedTuple):
    """System, state and buffers, as kernels take them: packed (`base.packed.Packed`)."""

    system: System
    state: State
    work: Workspace


def make_state(
    system: System, rows: int, pairs: int | None = None, contacts: int | None = None, clumps: int = 0
) -> State:
    """Returns a state without grains, with room for some.

    Args:
        system: its bodies are where their vibrations begin.
        rows: number of grains that there is room for.
        pairs, contacts: listed pairs and boundary contacts that there is room for.
        clumps: number of clumps that there is room for.
    """
    width, bodies = system.pairs.history_width, len(system.boundaries.start)
    moving = system.boundaries
    pairs = _PAIRS * rows if pairs is None else pairs
    contacts = _BOUNDARY_CONTACTS * rows + int(system.boundaries.slots.sum()) if contacts is None else contacts
    whole = np.int64
    return State(
        number=np.zeros(1, whole), born=np.zeros(1, whole),
        position=np.zeros((rows, 4)), velocity=np.zeros((rows, 4)), spin=np.zeros((rows, 4)),
        material=np.zeros(rows, whole), ident=np.zeros(rows, whole),
        still=np.zeros(rows, whole), asleep=np.zeros(rows, np.bool_), rest=np.full((rows, 3), np.inf),
        clump=np.full(rows, -1), offset=np.zeros((rows, 3)), clumps=np.zeros(1, whole),
        clump_position=np.zeros((clumps, 3)), clump_turn=np.zeros((clumps, 4)), clump_velocity=np.zeros((clumps, 4)),
        clump_momentum=np.zeros((clumps, 3)), clump_inertia=np.zeros((clumps, 3)),
        listed=np.zeros(2, whole),
        pair_start=np.zeros(rows + 1, whole), pair_other=np.zeros(pairs, np.uint32),
        pair_history=np.zeros((pairs, width)),
        boundary_start=np.zeros(rows + 1, whole), boundary_shape=np.zeros(contacts, whole),
        boundary_history=np.zeros((contacts, width)), boundary_contact=np.zeros((contacts, 4)),
        built=np.zeros((rows, 3)), travel=np.zeros(bodies), reach=np.zeros(bodies), gap=np.zeros(bodies),
        stale=np.ones(1, whole),
        body_position=moving.start + np.sin(moving.phase)[:, None] * moving.amplitude,
        body_rotation=np.tile(np.eye(3), (bodies, 1, 1)),
        body_velocity=_velocities(moving), account=np.zeros(4), time=np.zeros(1),
    )  # fmt: skip


def _velocities(boundaries: Boundaries) -> np.ndarray:
    """Velocities of vibrating bodies at the start, zero for the others, (bodies, 6)."""
    rate = boundaries.angular_frequency * np.cos(boundaries.phase)
    return np.concatenate([rate[:, None] * boundaries.amplitude, np.zeros_like(boundaries.amplitude)], axis=1)


@kernel
def cells_of(grains):
    """Number of cells in all grids of some grains."""
    return _CELLS * grains + 64


def make_workspace(system: System, state: State, threaded: bool = False) -> Workspace:
    """Returns the buffers for a state; if threaded, with those that threads need."""
    shared = len(state.pair_other) if threaded else 0
    rows, bodies = len(state.position), len(system.boundaries.start)
    cells = cells_of.py_func(rows)
    slots, classes = int(system.boundaries.slots.max(initial=1)), len(system.class_radius)
    clumps = len(state.clump_position)
    return Workspace(
        force=np.zeros((rows, 4)), torque=np.zeros((rows, 4)), woken=np.zeros(rows, np.bool_),
        quiet=np.zeros(rows, np.bool_), unquiet=np.ones(1, np.bool_),
        pair_force=np.zeros((len(state.pair_other), 8)), boundary_force=np.zeros((len(state.boundary_shape), 8)),
        reaction=np.zeros((shared, 6)), back_start=np.zeros(rows + 1 if threaded else 0, np.int64),
        back_pair=np.zeros(shared, np.int64),
        impulse=np.zeros((bodies, 6)), reference=state.body_position.copy(), stiffening=np.zeros(bodies),
        manifold=np.zeros((slots, 8)),
        cell=np.zeros(rows, np.int64), order=np.zeros(rows, np.int64), renamed=np.zeros(rows, np.int64),
        cell_start=np.zeros(cells + 1, np.int64), cell_fill=np.zeros(cells + 1, np.int64),
        grid=np.zeros((classes, 5), np.int64), grid_low=np.zeros(3), grid_side=np.zeros(classes),
        compared=np.zeros(1, np.int64),
        next=State(*(np.zeros_like(array) for array in state)),
        clump_load=np.zeros((clumps, 6)), clump_mark=np.zeros(clumps, np.int64), clump_awake=np.zeros(clumps, np.bool_),
        needed=np.zeros(4, np.int64),
    )  # fmt: skip


def memory_of(
    system: System,
    grains: int,
    pairs: int | None = None,
    contacts: int | None = None,
    clumps: int = 0,
    threaded: bool = False,
) -> int:
    """Memory of a state and its buffers [bytes]; arguments as of `make_state` and `make_workspace`."""

    def size(*room: int) -> int:
        state = make_state(system, *room)
        return sum(array.nbytes for array in leaves((state, make_workspace(system, state, threaded))))

    none, shapes = size(0, 0, 0, 0), int(system.boundaries.slots.sum())
    room = (
        grains,
        _PAIRS * grains if pairs is None else pairs,
        _BOUNDARY_CONTACTS * grains + shapes if contacts is None else contacts,
        clumps,
    )
    one = size(1, 0, 0, 0), size(0, 1, 0, 0), size(0, 0, 1, 0), size(0, 0, 0, 1)
    return none + sum(number * (each - none) for number, each in zip(room, one, strict=True))


# Arrays of `State` whose rows are grains, clumps, listed pairs, and listed boundary contacts.
OF_GRAINS = ("position", "velocity", "spin", "material", "ident", "still", "asleep", "rest", "clump", "offset", "built")
OF_CLUMPS = ("clump_position", "clump_turn", "clump_velocity", "clump_momentum", "clump_inertia")
_OF_PAIRS = ("pair_other", "pair_history")
# Arrays of `State` whose rows are bodies.
BODY_ARRAYS = ("travel", "reach", "gap", "body_position", "body_rotation", "body_velocity")
_OF_CONTACTS = ("boundary_shape", "boundary_history", "boundary_contact")


def capacity_of(state: State) -> tuple[int, int, int, int]:
    """Number of grains, listed pairs, boundary contacts and clumps that a state has room for."""
    return len(state.position), len(state.pair_other), len(state.boundary_shape), len(state.clump_position)


def with_capacity(state: State, grains: int, pairs: int, contacts: int, clumps: int) -> State:
    """The same state with arrays of another capacity, at least for what it holds."""
    if (grains, pairs, contacts, clumps) == capacity_of(state):
        return state
    lengths = dict.fromkeys(OF_GRAINS, grains) | dict.fromkeys(OF_CLUMPS, clumps)
    lengths |= dict.fromkeys(_OF_PAIRS, pairs) | dict.fromkeys(_OF_CONTACTS, contacts)
    lengths |= {"pair_start": grains + 1, "boundary_start": grains + 1}
    resized = {}
    for name, length in lengths.items():
        before = getattr(state, name)
        resized[name] = np.zeros((length, *before.shape[1:]), before.dtype)
        count = min(length, len(before))
        resized[name][:count] = before[:count]
    return state._replace(**resized)
