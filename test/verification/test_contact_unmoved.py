"""Contact points that are kept while nothing moves, and rows that many contacts of two bodies share."""

import numpy as np
import pytest
from loose_bodies import loose, place, solid
from shipped import shipped_machine

from grouser import Simulation, World
from grouser.physics.contact.row_entries import open_by_columns, open_columns, open_dense
from grouser.physics.contact.shapes import HULL
from grouser.physics.description.data.shapes import Mesh


def block_of_stone(random):
    """A mesh with a flat bottom and top, and corners between them."""
    corners = np.array([(x, y, z) for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.1, 0.1)])
    inside = random.uniform(-1.0, 1.0, size=(20, 3)) * (0.24, 0.24, 0.08)
    return Mesh("", "", hull=np.concatenate([corners, inside]))


def stones_at_rest():
    random = np.random.default_rng(3)
    machine = loose(*[solid(name, block_of_stone(random)) for name in ("lower", "upper")])
    simulation = Simulation(machine, World())
    assert (simulation.arrays.system.contact.shapes.kind == HULL).all()
    for body, height in enumerate((0.1, 0.3)):
        place(simulation, body, (0.01 * body, 0.0, height))
    simulation.step(2000)
    return simulation


def test_kept_points_are_those_found_anew():
    """A simulation that continues from a snapshot has kept nothing: it has the same bits."""
    simulation = stones_at_rest()
    detection = simulation.arrays.context.workspace.contact.detection
    assert detection.on_ground.number.max() >= 4 and detection.touching.pair.max() >= 0
    other = Simulation(simulation.machine, World())
    other.restore(simulation.snapshot())
    for _ in range(20):
        simulation.step()
        other.step()
        assert np.array_equal(simulation.state.q, other.state.q) and np.array_equal(simulation.state.v, other.state.v)
        memory, expected = simulation.state.contact.memory, other.state.contact.memory
        count = expected.count[0]
        assert memory.count[0] == count >= 8
        assert all(np.array_equal(one[:count], two[:count]) for one, two in zip(memory[1:], expected[1:], strict=True))


def test_points_are_found_anew_after_a_push():
    simulation = stones_at_rest()
    before = simulation.contacts()
    simulation.state.q[0] += 0.05  # the lower stone is pulled aside under the upper one
    simulation.step()
    moved = [contact.point_world[0] for contact in simulation.contacts() if contact.other == "ground"]
    assert np.mean(moved) == pytest.approx(
        np.mean([contact.point_world[0] for contact in before if contact.other == "ground"]) + 0.05, abs=1e-3
    )


def test_rows_by_columns_are_the_dense_rows():
    """Rows of a contact at any point, from the columns of its two bodies, and filled and whitened by themselves."""
    simulation = Simulation(shipped_machine("excavator"), World())
    simulation.step(5)
    context = simulation.arrays.context
    model, shapes, motion = context.system.multibody, context.system.contact.shapes, context.workspace.multibody
    rows, random = context.workspace.contact.rows, np.random.default_rng(1)
    bodies = len(simulation.arrays.model.body_parent)
    for _ in range(30):
        body, other = random.integers(bodies), random.integers(-1, bodies)
        point, frame = random.uniform(-2.0, 2.0, 3), np.linalg.qr(random.normal(size=(3, 3)))[0]
        if body == other:
            continue
        rows.frame[0] = frame
        size = open_dense(
            *(model, shapes, motion.kinematics, motion.factor, -1, -1, body, other, *point, rows.frame[0], 3),
            *(rows.dense, rows.squares, rows.index[0]),
        )
        dense = {d: rows.dense[:3, d].copy() for d in rows.index[0, :size].tolist()}
        squares = rows.squares[:3].copy()
        size = open_columns(model, shapes, motion.kinematics, motion.factor, rows, body, other)
        open_by_columns(rows, 0, size, *point)
        found = dict(zip(rows.index[0, :size].tolist(), rows.whitened_jacobian[0, :size], strict=True))
        assert dense.keys() <= found.keys()
        scale = np.sqrt(squares.max()) + 1e-30
        for d, entries in found.items():
            assert entries == pytest.approx(dense.get(d, np.zeros(3)), abs=1e-12 * scale)
        assert rows.inverse_mass[0] == pytest.approx(squares, rel=1e-10, abs=1e-12 * scale**2)
