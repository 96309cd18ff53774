"""Memory for contacts that grows by need: it changes no result."""

import numpy as np
import pytest
from loose_bodies import LYING, UPRIGHT, loose, place, solid

from grouser import Simulation, carry_over
from grouser.physics.base.trees import leaves
from grouser.physics.contact import collide
from grouser.physics.contact.room import make_workspace
from grouser.physics.description.data.shapes import Box, Cylinder, Sphere
from grouser.physics.simulation.capacity import capacity_of


@pytest.fixture
def small_rooms(monkeypatch):
    """Room for hardly any pair or contact at the start."""
    monkeypatch.setattr(collide, "_FIRST_PAIRS", 1)
    monkeypatch.setattr(collide, "_PAIRS_OF_SHAPE", 0)


def pile(lift=0.0, bodies=14):
    """Solids that fall on each other; they are far apart at first, then near."""
    random = np.random.default_rng(21)
    shapes = (Box((0.2, 0.16, 0.12)), Sphere(0.08), Cylinder(0.07, 0.2))
    simulation = Simulation(loose(*[solid(f"b{k}", shapes[k % 3], 1.0 + k % 4) for k in range(bodies)]))
    scatter(simulation, random, bodies, lift)
    return simulation


def scatter(simulation, random, bodies, lift):
    for k in range(bodies):
        at = (*random.uniform(-0.08, 0.08, 2), 0.1 + 0.24 * k + lift)
        linear = (0.0, 0.0, -0.3 * k)
        place(simulation, k, at, LYING if k % 2 else UPRIGHT, linear)


def contents(state):
    """The bits of a state, whatever its capacity."""
    memory = state.contact.memory
    count = int(memory.count[0])
    stored = [array[:count].tobytes() for array in memory[1:]]
    assert all((array[count:] == 0).all() for array in memory[1:])
    rest = state._replace(contact=state.contact._replace(memory=()))
    return b"".join([array.tobytes() for array in leaves(rest)] + stored)


def test_capacity_grows_and_changes_no_bit(small_rooms, monkeypatch):
    small = pile()
    first = capacity_of(small.state).contacts
    monkeypatch.undo()
    large = pile()
    assert capacity_of(large.state).contacts > first
    most = 0
    for _ in range(12):
        small.step(50)
        large.step(50)
        assert contents(small.state) == contents(large.state)
        most = max(most, small.diagnostics.contact_count)
    assert capacity_of(small.state).contacts > first and most > 10


def test_snapshots_of_any_capacity_continue_with_the_same_bits(small_rooms):
    simulation = pile()
    first = capacity_of(simulation.state)
    simulation.step(300)
    saved = simulation.snapshot()
    assert capacity_of(saved.state) != first
    simulation.step(300)
    after = contents(simulation.state)
    other = pile()
    assert capacity_of(other.state) == first
    other.restore(saved)
    other.step(300)
    assert contents(other.state) == after
    # back to the start, with the capacity that it has now
    other.reset()
    assert capacity_of(other.state).contacts >= capacity_of(saved.state).contacts
    again = pile()
    other.restore(again.snapshot())
    other.step(600)
    assert contents(other.state) == after


def test_copies_of_a_batch_grow_together(small_rooms):
    simulation = pile()
    batch = simulation.batch(3)
    # the second copy's bodies fall from higher, and the third's stay apart
    scatter(batch[1], np.random.default_rng(21), 14, 0.5)
    for k in range(14):
        place(batch[2], k, (3.0 * k, 0.0, 2.0))
    expected = []
    for copy in batch.simulations:
        alone = pile()
        alone.restore(copy.snapshot())
        alone.step(400)
        expected.append(contents(alone.state))
    first = capacity_of(batch[0].state)
    positions = batch.state.q
    batch.step(400, threads=2)
    assert [contents(copy.state) for copy in batch.simulations] == expected
    assert len({capacity_of(copy.state) for copy in batch.simulations}) == 1
    assert capacity_of(batch[2].state).contacts > first.contacts
    # the stacked state is that of the copies
    assert batch.state.q is positions
    assert np.array_equal(batch.state.contact.memory.impulse[0], batch[0].state.contact.memory.impulse)
    batch.state.contact.memory.impulse[1, 0, 0] = 17.0
    assert batch[1].state.contact.memory.impulse[0, 0] == 17.0


def test_crowd_needs_more_room_than_a_start_gives():
    """Two layers of balls, each within reach of most others: more near pairs than the first arrays hold."""
    balls = 24
    simulation = Simulation(loose(*[solid(f"b{k}", Sphere(0.1)) for k in range(balls)]))
    for k in range(balls):
        place(simulation, k, (0.201 * (k % 4), 0.201 * (k // 4 % 3), 0.1 + 0.201 * (k // 12)), linear=(0, 0, -40.0))
    before = len(simulation.arrays.context.workspace.contact.detection.broad.pair)
    simulation.step(1)
    near = simulation.arrays.context.workspace.contact.detection.broad
    assert near.count[0] > before and len(near.pair) == 2 * before
    simulation.step(200)
    assert np.isfinite(simulation.state.q).all()


def test_memory_of_many_boxes_is_linear():
    """All but the indices of the pairs, and the distance and pose with which each was solved last: 104 bytes a pair."""
    sizes = []
    for boxes in (20, 40, 80):
        simulation = Simulation(loose(*[solid(f"b{k}", Box((0.1, 0.1, 0.1))) for k in range(boxes)]))
        system, convex = simulation.arrays.system, boxes * (boxes - 1) // 2
        buffers = make_workspace(system.contact, system.multibody, collide.first_capacity(system.contact))
        total = sum(array.nbytes for array in leaves((buffers, simulation.state.contact)))
        sizes.append(total - 104 * convex)
        pairs = sum(array.nbytes for array in system.contact.pairs)
        assert pairs == 72 * convex + 4 * boxes**2
    assert sizes[2] - sizes[1] < 2.2 * (sizes[1] - sizes[0])


def test_transfer_takes_a_memory_that_has_grown(small_rooms):
    source = pile()
    first = capacity_of(source.state)
    source.step(400)
    assert source.diagnostics.contact_count > 5 and capacity_of(source.state) != first
    target = Simulation(source.machine, source.world)
    carry_over(source, target)
    assert capacity_of(target.state) == capacity_of(source.state)
    for array, other in zip(source.state.contact.memory, target.state.contact.memory, strict=True):
        assert array.tobytes() == other.tobytes()
    source.step(200)
    target.step(200)
    assert source.state.q.tobytes() == target.state.q.tobytes()
