"""What an assembly of blocks is, as arrays: what never changes, the state, and buffers of a step.

Blocks are numbered; all have room for the same number of modes. A driven block has none, and moves as it is told.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.contact.terrain import Terrain


class Bodies(NamedTuple):
    """Inertia and modes of the blocks.

    Attributes:
        driven: whether a block moves as it is told, (b,).
        start: where the centres start, (b, 3) [m].
        mass: [kg], (b,); 0 of driven ones, as all that follows.
        inertia, inverse_inertia: about the centre in the block's axes, (b, 3, 3) [kg m2].
        coefficients: of the modes, (b, modes, 3, 10); see `modes`.
        stiffness: of each mode [N/m], (b, modes).
    """

    driven: np.ndarray
    start: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray
    inverse_inertia: np.ndarray
    coefficients: np.ndarray
    stiffness: np.ndarray


class Joints(NamedTuple):
    """Pairs of faces that are bonded at first.

    Attributes:
        blocks: first and second block, (j, 2).
        start: first point of each joint, and the end, (j + 1,).
        frame: normal out of the first block and two tangents, in its axes, as rows, (j, 3, 3).
        point: material points in both blocks, from their centres, (p, 2, 3) [m].
        phi: their mode shapes, (p, 2, 3, modes).
        area: (p,) [m2].
        cell_ends: see `faces.cell_ends`, (g, g); the points come in groups of g.
        between: joint of two blocks, or -1, (b, b).
    """

    blocks: np.ndarray
    start: np.ndarray
    frame: np.ndarray
    point: np.ndarray
    phi: np.ndarray
    area: np.ndarray
    cell_ends: np.ndarray
    between: np.ndarray


class Shapes(NamedTuple):
    """Surfaces of the blocks.

    Attributes:
        vertex_start, face_start, edge_start: first one of each block, and the end, (b + 1,).
        vertex: material points from the centre, (v, 3) [m].
        phi: their mode shapes, (v, 3, modes).
        loop_start: first vertex of each face in `loop`, and the end, (f + 1,).
        loop: vertices of the faces.
        edge: first and last vertex, left and right face, (e, 4).
        area: of the faces, (f,) [m2].
    """

    vertex_start: np.ndarray
    face_start: np.ndarray
    edge_start: np.ndarray
    vertex: np.ndarray
    phi: np.ndarray
    loop_start: np.ndarray
    loop: np.ndarray
    edge: np.ndarray
    area: np.ndarray


class Loads(NamedTuple):
    """Forces that keep their direction.

    Attributes:
        block: that each acts on, (n,).
        point: material point from the centre, (n, 3) [m].
        phi: its mode shapes, (n, 3, modes).
        force: in the world, (n, 3) [N].
        factor: of all forces, (1,); may change between steps.
    """

    block: np.ndarray
    point: np.ndarray
    phi: np.ndarray
    force: np.ndarray
    factor: np.ndarray


class Laws(NamedTuple):
    """Constants of all joints and contacts, and of the motion.

    Attributes:
        normal_stiffness, shear_stiffness: k_n, k_s [Pa/m].
        friction: mu [-].
        cohesion, tensile_strength: of bonded faces [Pa].
        mass_damping, stiffness_damping: a [1/s] and b [s] of a M + b K.
        collide: whether blocks that are not bonded to each other touch.
        rigid_rubble: whether blocks without a joint have no modes.
        gravity: [m/s2], (3,); may change between steps.
    """

    normal_stiffness: float
    shear_stiffness: float
    friction: float
    cohesion: float
    tensile_strength: float
    mass_damping: float
    stiffness_damping: float
    collide: bool
    rigid_rubble: bool
    gravity: np.ndarray


class System(NamedTuple):
    """All that never changes in a step.

    Attributes:
        bodies, joints, shapes, loads, laws: of the blocks.
        field: a height field, or nothing.
        field_block: the driven block whose surface the field is; its own shape bounds the field. -1 without a field.
    """

    bodies: Bodies
    joints: Joints
    shapes: Shapes
    loads: Loads
    laws: Laws
    field: Terrain
    field_block: int


class State(NamedTuple):
    """All that a restart needs. Speeds are those half a step before the positions.

    Attributes:
        time: of the positions since the start, (1,) [s].
        displacement: of the centres from their start, (b, 3) [m]: springs would feel the rounding of their places.
        quaternion: of the blocks' axes, (b, 4).
        velocity: (b, 3) [m/s].
        angular_velocity: in the world, (b, 3) [rad/s].
        angular_momentum: about the centres in the world, (b, 3) [kg m2/s]; zero of driven blocks.
        q: modal coordinates, (b, modes) [m].
        rate: of these [m/s].
        bonded: whether a point of a joint is unbroken, (p,).
        slip: of a broken point along both tangents, (p, 2) [m].
        live: whether a joint has a bond, (j,).
        contact_count: of the contacts of the last step, (1,).
        contact_pair: first block times their number plus second one, ascending, (c,).
        contact_point: in the first block's axes, (c, 3) [m].
        contact_shear: elastic shear of each in the first block's axes, (c, 3) [m].
        impulse: of forces on driven blocks since it was cleared, and its moment about where their centres started,
            (b, 6) [N s, N m s].
        lost: energy lost in damping, friction and breaking, (3,) [J].
    """

    time: np.ndarray
    displacement: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    angular_momentum: np.ndarray
    q: np.ndarray
    rate: np.ndarray
    bonded: np.ndarray
    slip: np.ndarray
    live: np.ndarray
    contact_count: np.ndarray
    contact_pair: np.ndarray
    contact_point: np.ndarray
    contact_shear: np.ndarray
    impulse: np.ndarray
    lost: np.ndarray


# Fields of the state with a row for each block.
BLOCK_ROWS = (
    *("displacement", "quaternion", "velocity", "angular_velocity", "angular_momentum", "q", "rate", "impulse"),
)
DAMPING, FRICTION, BREAKING = 0, 1, 2


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        position: of the centres, (b, 3) [m].
        rotation: matrices of the quaternions, (b, 3, 3).
        force, torque: on the blocks, about their centres, in the world, (b, 3).
        modal: forces on the modal coordinates, (b, modes) [N].
        jump: opening and shear of the points of joints in their frames, and their rates, (p, 6).
        point_force: forces on the second block at the points of joints in their frames, (p, 3) [N].
        active: whether a block takes part in the steps to come, (b,): others sleep, or are driven and far away.
        joint_count: joints of each block that have a bond, (b,).
        vertex: of the deformed blocks in the world, (v, 3).
        box: lower and upper corner of each block in the world, (b, 6).
        normal: of the faces in the world, (f, 3).
        clipped: two polygons that are clipped, (2, corners, 3).
        tributary: areas of the corners of a polygon, (corners,).
        shape: mode shapes of two points that touch, (2, 3, modes).
        found_pair, found_point, found_shear: contacts of this step, as in the state.
        used: whether a contact of the last step has been found again, (c,).
        spring_energy: in joints and contacts, (1,) [J].
        contact_force: sum of their absolute forces, and their number, (2,).
        stiffening: sum over time of the stiffnesses of the contacts of each driven block since it was cleared, (b,)
            [N s/m].
        load: force on each block from outside of the assembly, and its moment about where its centre started, world
            axes; it does not act on modes (b, 6) [N, N m].
    """

    position: np.ndarray
    rotation: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    modal: np.ndarray
    jump: np.ndarray
    point_force: np.ndarray
    active: np.ndarray
    joint_count: np.ndarray
    vertex: np.ndarray
    box: np.ndarray
    normal: np.ndarray
    clipped: np.ndarray
    tributary: np.ndarray
    shape: np.ndarray
    found_pair: np.ndarray
    found_point: np.ndarray
    found_shear: np.ndarray
    used: np.ndarray
    spring_energy: np.ndarray
    contact_force: np.ndarray
    stiffening: np.ndarray
    load: np.ndarray
