"""Description -> arrays: the multibody system of a machine."""

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.blocks import blocks, elimination_pattern, long_trees, moving_rates, runs
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.model.tree import Tree

# A tree that costs more to factorise by entries than a chain of so many coordinates is factorised by recursion, unless
# something couples its coordinates. Chains of hinges take the same time both ways at 15 coordinates, and at 50 with a
# contact on each link.
_LONGEST_WITH_ENTRIES = 32


def build_model(
    machine: Machine,
    spawn: Pose = Pose(),
    gravity=(0.0, 0.0, -9.81),
    longest_with_entries: int = _LONGEST_WITH_ENTRIES,
) -> tuple[MultibodyModel, Names]:
    """Arrays and names of a machine.

    Args:
        machine: the validated description.
        spawn: initial pose of the root link in the world; it is permanent when the base is fixed. Members of a fleet
            have their own poses in the description.
        gravity: acceleration in the world frame [m/s2].
        longest_with_entries: coordinates of the longest chain whose mass matrix has entries. So have trees that cost no
            more, and those in which something couples coordinates.

    Raises:
        MachineError: a moving body has no mass beyond it, or its mass matrix is too large.
    """
    tree = Tree(machine, Pose() if machine.members else spawn)
    tree.grow()
    tree.check_masses()
    column_start, column_rate = tree.columns()
    loops = [moving_rates(tree.parent, column_start, column_rate, body, other) for body, other in tree.looped_bodies()]
    loops += tree.running_gears(column_start, column_rate)
    rate_first, rate_last = blocks(tree.parent, column_start, column_rate, tree.rate_count, loops)
    trees = long_trees(
        *(tree.parent, column_start, column_rate, rate_first, rate_last, tree.coupled_bodies(), longest_with_entries)
    )
    rate_run, run_start, run_tree = runs(trees, column_start, column_rate, tree.rate_count)
    with_entries = run_tree[rate_run, 1] == 0 if trees else np.ones(tree.rate_count, dtype=np.bool_)
    rate_entries = np.where(with_entries, np.arange(tree.rate_count) - rate_first, 0)
    tree.check_size(rate_entries)
    pattern_start, pattern = elimination_pattern(tree.parent, column_start, column_rate, with_entries, loops)
    model = MultibodyModel(
        body_parent=np.array(tree.parent, dtype=np.int64),
        body_kind=np.array(tree.kind, dtype=np.int64),
        body_axis=np.array(tree.axis, dtype=float).reshape(-1, 3),
        body_contraction=np.array(tree.contraction, dtype=float),
        body_rotation=np.array(tree.rotation).reshape(-1, 3, 3),
        body_position=np.array(tree.position).reshape(-1, 3),
        body_root=tree.roots(),
        body_q=np.array(tree.q_start, dtype=np.int64),
        body_alone=np.array(tree.alone(), dtype=np.bool_),
        body_mimics=np.array(tree.mimics, dtype=np.bool_),
        body_multiplier=np.array(tree.multiplier, dtype=float),
        body_offset=np.array(tree.offset, dtype=float),
        body_mass=np.array([inertia.mass for inertia in tree.inertia], dtype=float),
        body_com=np.array([inertia.com for inertia in tree.inertia]).reshape(-1, 3),
        body_inertia=np.array([inertia.packed() for inertia in tree.inertia]).reshape(-1, 6),
        column_start=column_start,
        column_rate=column_rate,
        column_shape=np.concatenate([np.zeros((0, 6)), *tree.shape]),
        shortening_start=np.cumsum([0, *map(len, tree.shortening)]),
        shortening=np.concatenate([np.zeros(0), *tree.shortening]),
        elastic=tree.elastic_links(),
        rate_inertia=tree.rotors(),
        rate_damping=np.array(tree.damping, dtype=float),
        spring_position=np.array([spring[0] for spring in tree.springs], dtype=np.int64),
        spring_rate=np.array([spring[1] for spring in tree.springs], dtype=np.int64),
        spring_stiffness=np.array([spring[2] for spring in tree.springs], dtype=float),
        rate_first=rate_first,
        rate_last=rate_last,
        rate_entries=rate_entries,
        rate_run=rate_run,
        run_start=run_start,
        run_tree=run_tree,
        pattern_start=pattern_start,
        pattern=pattern - np.repeat(rate_first, np.diff(pattern_start)),
        q_initial=np.array(tree.q_initial, dtype=float),
        gravity=np.array(gravity, dtype=float),
    )
    for array in (*(one for one in model if isinstance(one, np.ndarray)), *model.elastic):
        array.flags.writeable = False
    return model, tree.names()
