"""Blocks among the bodies that grains touch: rigid polyhedra of their undeformed shapes, in their present frames.

The grains move before the blocks do, between blocks that go on with their velocities at the beginning of the step. What
the grains give them acts on the blocks over their own steps, as a force and a moment on the whole block, not on its
modes. The exchange is explicit, as that with links (`multibody.impulse_exchange`).
"""

import numpy as np

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross, rotation_matrix
from grouser.physics.blocks.building import triangles_of
from grouser.physics.blocks.room import System as Blocks
from grouser.physics.granular.bodies import Boundary, Hull, Solids
from grouser.physics.granular.place_body import move_body_to


def block_boundaries(blocks: Blocks, names: tuple[str, ...], material: str) -> list[Boundary]:
    """The blocks where they start, in the order of their numbers.

    Args:
        blocks: of the world.
        names: of the blocks.
        material: of their surfaces.
    """
    place = np.asarray(blocks.blocks.bodies.start)
    return [
        Boundary(name, [Solids([Hull(triangles_of(blocks.blocks.shapes, number))], material)], place[number])
        for number, name in enumerate(names)
    ]


@kernel
def place_blocks(context: Context):
    """Moves the boundaries of the blocks to these, and gives them their velocities."""
    own, state = context.system.granular, context.state.granular.grains
    blocks, start = context.state.blocks.blocks, context.system.blocks.blocks.bodies.start
    for b in range(own.first_block, own.first_link):
        block = b - own.first_block
        moved, turn = blocks.displacement[block], blocks.quaternion[block]
        place = start[block, 0] + moved[0], start[block, 1] + moved[1], start[block, 2] + moved[2]
        velocity, spin = blocks.velocity[block], blocks.angular_velocity[block]
        twist = velocity[0], velocity[1], velocity[2], spin[0], spin[1], spin[2]
        move_body_to(state, b, place, rotation_matrix(turn[0], turn[1], turn[2], turn[3]), twist)


@kernel
def push_blocks(context: Context):
    """Gives the blocks the mean force of the grains over the step, and its moment about where their centres started."""
    own, work, step = context.system.granular, context.workspace.granular, context.system.settings.step
    bodies, load = context.system.blocks.blocks.bodies, context.workspace.blocks.blocks.load
    for b in range(own.first_block, own.first_link):
        block = b - own.first_block
        impulse, at, start = work.grains.impulse[b], work.grains.reference[b], bodies.start[block]
        moment = cross(at[0] - start[0], at[1] - start[1], at[2] - start[2], impulse[0], impulse[1], impulse[2])
        for axis in range(3):
            load[block, axis] = impulse[axis] / step
            load[block, 3 + axis] = (impulse[3 + axis] + moment[axis]) / step
        stiffness = work.grains.stiffening[b] * step / bodies.mass[block]
        if stiffness > work.stiffest[0]:
            work.stiffest[0], work.stiffest[1] = stiffness, b
