"""Broad phase: near pairs against a test of every pair, for random shapes, places and speeds."""

import numpy as np
import pytest
from contact_scene import FREE_SPACE, STEP, Scene, free_bodies, hull_mesh, random_quaternion

from grouser.physics.base.packed import Packed
from grouser.physics.contact.broad_phase import find_near_pairs, make_broad_phase
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.pairs import CONVEX
from grouser.physics.contact.rows import make_contact_rows, widest_row
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, PointSet, Sphere
from grouser.physics.description.data.world import Ground, Obstacle, World

SLABS = World(
    ground=None,
    obstacles=(
        Obstacle("floor", Box((40.0, 30.0, 1.0)), Pose((3.0, -2.0, -0.5))),
        Obstacle("wall", Box((60.0, 0.2, 4.0)), Pose((0.0, 9.0, 2.0))),
        Obstacle("post", Cylinder(0.05, 2.0), Pose((-4.0, 1.0, 1.0))),
    ),
)


def random_shapes(random, count):
    """Shapes of all kinds with sizes over two orders."""
    makers = (
        lambda size: Box(tuple(size * random.uniform(0.2, 2.0, 3))),
        lambda size: Sphere(size),
        lambda size: Capsule(size, 3.0 * size),
        lambda size: Cylinder(size, 2.0 * size),
        lambda size: hull_mesh(size * random.normal(size=(8, 3))),
        lambda size: PointSet(size * random.normal(size=(5, 3)), 0.1 * size),
    )
    return [makers[random.integers(len(makers))](10.0 ** random.uniform(-2.0, 0.0)) for _ in range(count)]


def near_pairs(scene, step):
    """Every pair whose bounding spheres may meet within two steps, by the definition."""
    pairs, bound = scene.collision.pairs, scene.collision.shapes.bound
    place, speed = scene.workspace.position, scene.workspace.speed
    one, other = pairs.first, pairs.second
    ahead = np.maximum(CONTACT_MARGIN, 2.0 * step * (speed[one] + speed[other]))
    distance = np.sqrt(((place[one] - place[other]) ** 2).sum(axis=1))
    return np.flatnonzero(distance < bound[one] + bound[other] + ahead)


def found_pairs(scene):
    """The pairs that the broad phase has listed."""
    broad = scene.workspace.broad
    assert broad.count[1] == scene.collision.pairs.slots[broad.pair[: broad.count[0]]].sum()
    return broad.pair[: broad.count[0]]


def scatter(scene, random, bodies, spread, speed):
    """Places all bodies at random, some of them in clusters, and a few much faster than the others."""
    centre = spread * random.normal(size=(3, 3))
    for body in range(bodies):
        place = centre[body % 3] + random.normal(size=3) if body % 2 else spread * random.normal(size=3)
        fast = 100.0 if random.random() < 0.05 else 1.0
        linear, angular = speed * fast * random.normal(size=(2, 3))
        scene.place(body, place, random_quaternion(random), linear, angular)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("world", [FREE_SPACE, SLABS], ids=["free", "slabs"])
def test_near_pairs_are_those_of_a_test_of_every_pair(seed, world):
    random = np.random.default_rng(seed)
    bodies = int(random.integers(12, 50))
    scene = Scene(free_bodies(*random_shapes(random, bodies)), world)
    assert len(scene.collision.pairs.first) > 4 * len(scene.collision.shapes.kind)
    sizes = set()
    # scattered in space, along each axis and in one place, one after the other in the same buffers
    spreads = [np.ones(3), *(np.eye(3) + 0.01), np.zeros(3), 10.0 * np.ones(3)]
    for spread in spreads:
        for speed in (0.0, 1.0, 300.0):
            scatter(scene, random, bodies, 3.0 * spread, speed)
            scene.find_near()
            expected = near_pairs(scene, STEP)
            assert found_pairs(scene).tolist() == expected.tolist()
            sizes.add(len(expected))
    assert min(sizes) < 0.5 * max(sizes)


@pytest.mark.parametrize("bodies", [2, 5, 8])
def test_few_pairs_are_tested_one_by_one(bodies):
    random = np.random.default_rng(bodies)
    scene = Scene(free_bodies(*[Sphere(0.6)] * bodies))
    counts = set()
    for _ in range(50):
        scatter(scene, random, bodies, 0.5, 1.0)
        scene.find_near()
        assert found_pairs(scene).tolist() == near_pairs(scene, STEP).tolist()
        counts.add(len(found_pairs(scene)))
    assert len(counts) > 1


@pytest.mark.parametrize("bodies", [6, 30])
def test_pairs_beyond_the_capacity_are_counted_only(bodies):
    random = np.random.default_rng(5)
    scene = Scene(free_bodies(*random_shapes(random, bodies)))
    scatter(scene, random, bodies, 0.1, 1.0)
    scene.find_near()
    shapes, pairs, found = scene.collision.shapes, scene.collision.pairs, found_pairs(scene)
    assert len(found) > 4
    small = make_broad_phase(len(shapes.kind), len(found) - 1)
    guard = small._replace(pair=np.append(small.pair, -7), found=np.append(small.found, -7))
    small = small._replace(pair=guard.pair[:-1], found=guard.found[:-1])
    arguments = scene.workspace.position, scene.workspace.speed, STEP, Packed(small)
    find_near_pairs(Packed(shapes), Packed(pairs), *arguments)
    assert small.count.tolist() == [len(found), pairs.slots[found].sum()]
    assert guard.pair[-1] == guard.found[-1] == -7


def test_shapes_that_are_not_anywhere_are_near_nothing():
    """A diverged body must not keep the search from ending."""
    scene = Scene(free_bodies(*[Sphere(0.1)] * 20))
    for body in range(20):
        scene.place(body, (0.05 * body, 0.0, 0.0))
    scene.q[scene.model.body_q[7]] = np.nan
    scene.find_near()
    pairs = scene.collision.pairs
    near = found_pairs(scene)
    assert not (pairs.first[near] == 7).any() and not (pairs.second[near] == 7).any()


@pytest.mark.parametrize("seed", range(4))
def test_shapes_above_the_plane_touch_it_as_each_of_them_alone(seed):
    """Several shapes have bounding spheres, by which those far above are left out; a single one is always tested."""
    random = np.random.default_rng(seed)
    shapes = random_shapes(random, 3)
    slope = World(ground=Ground(normal=(0.0, 0.6, 0.8)))
    together, alone = Scene(free_bodies(*shapes), slope), [Scene(free_bodies(shape), slope) for shape in shapes]
    touching = missing = 0
    for _ in range(200):
        expected = []
        for body, scene in enumerate(alone):
            bound = scene.collision.shapes.bound[0]
            place = 10.0 * body, 0.0, bound * random.uniform(-0.5, 3.0)
            motion = random.normal(scale=random.choice([0.1, 50.0]), size=(2, 3))
            turn = random_quaternion(random)
            together.place(body, place, turn, *motion)
            found = scene.place(0, place, turn, *motion).touch()
            expected += [(body, *contact.anchor, contact.gap) for contact in found]
            touching, missing = touching + bool(found), missing + (not found)
        # meshes come last
        ground = sorted((found for found in together.touch() if found.other < 0), key=lambda contact: contact.body)
        actual = [(contact.body, *contact.anchor, contact.gap) for contact in ground]
        # other origins of the equations: distances of up to 20 m are rounded
        assert np.array(actual).reshape(-1, 5) == pytest.approx(np.array(expected).reshape(-1, 5), abs=1e-13)
    assert min(touching, missing) > 50


def test_pairs_of_many_boxes():
    """The table of pairs, their order, slots and convex numbers."""
    scene = Scene(free_bodies(*[Box((0.1, 0.1, 0.1))] * 150), World(ground=Ground()))
    pairs, count = scene.collision.pairs, 150 * 149 // 2
    one, other = np.triu_indices(150, 1)
    assert pairs.first.tolist() == one.tolist() and pairs.second.tolist() == other.tolist()
    assert (pairs.kind == CONVEX).all() and pairs.convex.tolist() == list(range(count))
    assert pairs.slot.tolist() == list(range(8 * 150, 8 * 150 + 4 * count, 4))
    assert pairs.number[one, other].tolist() == pairs.number[other, one].tolist() == list(range(count))
    assert (np.diag(pairs.number) == -1).all()


def test_rows_are_as_wide_as_two_bodies():
    """The memory of rows grows with the number of contacts alone."""
    few, many = (Scene(free_bodies(*[Sphere(0.1)] * bodies)).model for bodies in (3, 60))
    assert widest_row(few) == widest_row(many) == 12
    sizes = [
        sum(array.nbytes for array in make_contact_rows(40, len(model.rate_damping), widest_row(model)))
        for model in (few, many)
    ]
    dense = 6 * 8 * (len(many.rate_damping) - len(few.rate_damping))
    assert sizes[1] - sizes[0] == dense
