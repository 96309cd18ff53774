"""Lidar ranges: in known rooms, for random shapes against dense sampling, and over ruts."""

import math

import numpy as np
import pytest

from grouser import Simulation, load_machine, load_soil, load_world
from grouser.catalogue import machine_file, world_file
from grouser.physics.base.errors import MachineError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Sphere
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle, World
from grouser.physics.soil.tiles import SIDE, SURFACE, TILE, open_cell, with_capacity

TREE = """<robot name="r"><link name="world"/><link name="mast"/>
<joint name="foot" type="fixed"><parent link="world"/><child link="mast"/><origin xyz="{xyz}" rpy="{rpy}"/></joint>
<link name="arm"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>{arm}</link>
<joint name="hinge" type="continuous"><parent link="mast"/><child link="arm"/><axis xyz="0 0 1"/></joint>
<grouser><sensor name="eye" type="lidar" link="{link}" {more}/></grouser></robot>"""
EMPTY = World(ground=None)


def mounted_lidar(world, xyz="0 0 0", rpy="0 0 0", link="mast", arm="", more=""):
    """A simulation of a lidar on a mast, with an arm that turns beside it."""
    text = TREE.format(xyz=xyz, rpy=rpy, link=link, arm=arm, more=more)
    return Simulation(parse_machine(text, "r.urdf"), world)


def ranges_of(*arguments, **attributes):
    return mounted_lidar(*arguments, **attributes).sensors.lidar["eye"].ranges


def obstacles(*shapes):
    """A world in free space; each shape is a geometry and its pose."""
    return World(ground=None, obstacles=tuple(Obstacle(str(n), *shape) for n, shape in enumerate(shapes)))


def directions(scan, rotation):
    """Directions of the beams in the world, (beams, 3)."""
    return np.column_stack([np.cos(scan.angles), np.sin(scan.angles), np.zeros(len(scan.angles))]) @ rotation.T


def test_lidar_beams_run_counter_clockwise_between_their_angles():
    scan = mounted_lidar(EMPTY, more='beams="5" angle_min="-1" angle_max="1"').sensors.lidar["eye"]
    np.testing.assert_allclose(scan.angles, [-1.0, -0.5, 0.0, 0.5, 1.0])
    assert np.all(scan.ranges == np.inf)


def test_full_turn_of_a_lidar_has_no_duplicate_beam():
    scan = mounted_lidar(EMPTY, more='beams="4"').sensors.lidar["eye"]
    np.testing.assert_allclose(scan.angles, math.pi * np.array([-1.0, -0.5, 0.0, 0.5]))


def test_lidar_ranges_of_a_box():
    """Its face at x = 2.5 m, 1 m wide, is hit at 2.5 m / cos a, and by no beam beyond atan(0.5 / 2.5)."""
    scan = mounted_lidar(obstacles((Box((1.0, 1.0, 1.0)), Pose((3.0, 0.0, 0.0)))), more='beams="721"').sensors.lidar[
        "eye"
    ]
    meets = np.abs(np.tan(scan.angles)) < 0.2
    meets &= np.cos(scan.angles) > 0.0
    expected = np.where(meets, 2.5 / np.cos(scan.angles), np.inf)
    np.testing.assert_allclose(scan.ranges, expected, rtol=1e-14)
    assert meets.sum() > 20


@pytest.mark.parametrize("span", [(-1.5, 4.7), (0.1, 6.2), (-6.2, 0.0)])
def test_lidar_ranges_of_spheres_cylinders_and_capsules(span):
    """A sphere, an upright cylinder and capsule of 0.4 m, at 2 m: d cos a - sqrt(r2 - d2 sin2 a)."""
    places = {0.0: Sphere(0.4), 0.5 * math.pi: Cylinder(0.4, 1.0), math.pi: Capsule(0.4, 1.0)}
    world = obstacles(*((shape, Pose((2.0 * math.cos(at), 2.0 * math.sin(at), 0.0))) for at, shape in places.items()))
    scan = mounted_lidar(world, more=f'beams="1440" angle_min="{span[0]}" angle_max="{span[1]}"').sensors.lidar["eye"]
    expected = np.full(1440, np.inf)
    for at in places:
        off = scan.angles - at
        square = 0.16 - 4.0 * np.sin(off) ** 2
        met = (square >= 0.0) & (np.cos(off) > 0.0)
        expected[met] = 2.0 * np.cos(off[met]) - np.sqrt(square[met])
    np.testing.assert_allclose(scan.ranges, expected, rtol=1e-12)
    assert np.isfinite(expected).sum() > 200


def test_lidar_ranges_of_level_ground():
    """Pitched down by 0.3 rad, 1 m above the plane: 1 m / (sin 0.3 cos a), and nothing on the other side."""
    scan = mounted_lidar(World(), xyz="0 0 1", rpy="0 0.3 0", more='range_max="50"').sensors.lidar["eye"]
    down = math.sin(0.3) * np.cos(scan.angles)
    expected = np.where(down > 1.0 / 50.0, 1.0 / np.where(down > 0.0, down, 1.0), np.inf)
    np.testing.assert_allclose(scan.ranges, expected, rtol=1e-13)


def test_lidar_ranges_beyond_the_limits_are_infinite():
    """REP-117. Inside a shape and under the ground every range is too short."""
    wall = (Box((1.0, 1.0, 1.0)), Pose((3.0, 0.0, 0.0)))
    for more, expected in (
        ('range_min="2.49"', 2.5),
        ('range_min="2.51"', -np.inf),
        ('range_max="2.51"', 2.5),
        ('range_max="2.49"', np.inf),
    ):
        assert ranges_of(obstacles(wall), more=f'beams="3" angle_min="-1" angle_max="1" {more}')[1] == expected
    assert np.all(ranges_of(obstacles(wall), xyz="3.2 0.1 0.3") == -np.inf)
    assert np.all(ranges_of(World(), xyz="0 0 -0.1") == -np.inf)
    assert np.all(ranges_of(World(), xyz="0 0 -0.1", more='range_min="0"') == 0.0)


ARM = '<collision><origin xyz="1 0 0"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'


def test_lidar_measures_other_links_but_not_its_own():
    ahead = 'beams="5" angle_min="-1.5" angle_max="1.5"'
    turned = mounted_lidar(EMPTY, arm=ARM, more=ahead)
    assert turned.sensors.lidar["eye"].ranges[2] == pytest.approx(0.9, rel=1e-14)
    turned.state.q[:] = 0.75  # one coordinate; the box is then in the next beam
    assert list(np.isfinite(turned.sensors.lidar["eye"].ranges)) == [False, False, False, True, False]
    assert turned.sensors.lidar["eye"].ranges[3] == pytest.approx(0.9, rel=1e-14)
    assert np.all(ranges_of(EMPTY, arm=ARM, link="arm") == np.inf)


def surface_distance(shape, p):
    """Signed distance from points (n, 3) in the shape's frame, exact outside."""
    if isinstance(shape, Sphere):
        return np.linalg.norm(p, axis=1) - shape.radius
    if isinstance(shape, Box):
        q = np.abs(p) - 0.5 * np.array(shape.size)
        return np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)
    round_part = np.hypot(p[:, 0], p[:, 1])
    if isinstance(shape, Capsule):
        beyond = np.maximum(np.abs(p[:, 2]) - 0.5 * shape.length, 0.0)
        return np.hypot(round_part, beyond) - shape.radius
    q = np.column_stack([round_part - shape.radius, np.abs(p[:, 2]) - 0.5 * shape.length])
    return np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_lidar_ranges_of_random_shapes(seed):
    """Beams end on a surface, and are outside all shapes before that."""
    random = np.random.default_rng(seed)
    kinds = (
        lambda: Box(tuple(random.uniform(0.2, 1.5, 3))),
        lambda: Sphere(random.uniform(0.1, 0.8)),
        lambda: Cylinder(random.uniform(0.1, 0.6), random.uniform(0.1, 2.0)),
        lambda: Capsule(random.uniform(0.1, 0.5), random.uniform(0.1, 2.0)),
    )
    shapes = []
    for number in range(24):
        angle, away = random.uniform(-np.pi, np.pi), random.uniform(3.0, 12.0)
        place = (away * math.cos(angle), away * math.sin(angle), random.uniform(-0.6, 0.6))
        shapes.append((kinds[number % 4](), Pose(place, quaternion_from_rpy(*random.uniform(-3.0, 3.0, 3)))))
    scan = mounted_lidar(obstacles(*shapes), more='beams="360" range_max="20"').sensors.lidar["eye"]
    way = directions(scan, np.eye(3))
    met = np.isfinite(scan.ranges)
    assert 90 < met.sum() < 360

    def clearance(points):
        return np.min(
            [surface_distance(shape, (points - pose.position) @ matrix(pose.quaternion)) for shape, pose in shapes],
            axis=0,
        )

    # coordinates of up to 15 m are rounded to 2e-15 m; grazing beams turn that into its root times 1 m
    np.testing.assert_allclose(clearance(way[met] * scan.ranges[met, np.newaxis]), 0.0, atol=1e-13)
    for share in np.linspace(0.0, 1.0, 400, endpoint=False):
        ends = np.where(met, scan.ranges, 20.0)
        assert clearance(way * (share * ends)[:, np.newaxis]).min() > 0.0


def field_height(field, points):
    """Height of the surface at points (n, 2): of the triangles of each cell; the border continues outward."""
    u = (points - np.array(field.origin)) / field.cell
    i = np.floor(u).astype(int)
    u = u - i

    def at(di, dj):
        return field.heights[
            np.clip(i[:, 0] + di, 0, field.heights.shape[0] - 1), np.clip(i[:, 1] + dj, 0, field.heights.shape[1] - 1)
        ]

    low, high = np.minimum(*u.T), np.maximum(*u.T)
    side = np.where(u[:, 1] <= u[:, 0], at(1, 0), at(0, 1))
    return at(0, 0) * (1.0 - high) + side * (high - low) + at(1, 1) * low


def check_against_samples(scan, rotation, eye, reach, height_of, samples=3000, rounding=1e-12):
    """Beams end on the ground and are above it before; beams without a hit are above it all along."""
    way, met = directions(scan, rotation), np.isfinite(scan.ranges)
    ends = eye + way[met] * scan.ranges[met, np.newaxis]
    np.testing.assert_allclose(ends[:, 2] - height_of(ends[:, :2]), 0.0, atol=rounding)
    lengths = np.where(met, scan.ranges, reach)
    for share in (np.arange(samples) + 0.5) / samples:
        points = eye + way * (share * lengths)[:, np.newaxis]
        assert (points[:, 2] - height_of(points[:, :2])).min() > -rounding
    return met


@pytest.mark.parametrize("seed", range(4))
def test_lidar_ranges_of_a_height_field(seed):
    """Rough ground within a patch that continues at its border; the lidar is tilted, once by a right angle."""
    random = np.random.default_rng(seed)
    heights = random.uniform(-0.3, 0.3, (23, 31)) + 0.3 * np.sin(np.arange(23) / 3.0)[:, np.newaxis]
    field = Heightfield(heights, 0.25, (-2.0, -3.0))
    rpy = (0.5 * math.pi, 0.1, 0.3) if seed == 3 else tuple(random.uniform(-0.2, 0.2, 3).tolist())
    eye = np.array([0.2, -0.1, 1.0])
    place = {"xyz": "0.2 -0.1 1.0", "rpy": " ".join(map(repr, rpy))}
    world = World(ground=Ground(heightfield=field))
    scan = mounted_lidar(world, **place, more='beams="360" range_max="12"').sensors.lidar["eye"]
    rotation = matrix(quaternion_from_rpy(*rpy))
    met = check_against_samples(scan, rotation, eye, 12.0, lambda points: field_height(field, points))
    assert 50 < met.sum() < 360


def test_lidar_ranges_of_ruts():
    """A fan of beams across the ruts of the rover on sand: between the centres of the published cells."""
    rover = load_machine(machine_file("rover"), {"lidar": "false"})
    mounted = (0.1, 0.5 * math.pi - 0.2, 0.3)
    place = f'xyz="-0.4 0 -1" rpy="{" ".join(map(repr, mounted))}" angle_min="-1.4" angle_max="1.4"'
    sensor = f'<sensor name="eye" type="lidar" link="base_link" {place}/>'
    end = rover.urdf.rindex("</grouser>")
    machine = parse_machine(rover.urdf[:end] + sensor + rover.urdf[end:], rover.file)
    simulation = Simulation(machine, load_world(world_file("sand")))
    turning = {joint.child: joint.name for joint in machine.joints}
    for wheel in machine.wheels:
        simulation.command[turning[wheel.link]] = 3.0
    simulation.step(1500)
    # the rover is lifted off its ruts, which remain, to measure them
    simulation.state.q[2] += 2.5
    scan = simulation.sensors.lidar["eye"]
    position, quaternion = simulation.link_pose("base_link")
    base = matrix(tuple(quaternion))
    rotation, eye = base @ matrix(quaternion_from_rpy(*mounted)), position + base @ [-0.4, 0.0, -1.0]
    patch = simulation.terrain_patch()
    index = np.rint(np.array([patch.x, patch.y]) / patch.cell).astype(int)
    low = index.min(axis=1) - 1
    heights = np.zeros(np.ptp(index, axis=1) + 3)  # level ground between and around the tiles
    heights[tuple(index - low[:, np.newaxis])] = patch.z
    field = Heightfield(heights, patch.cell, tuple(low * patch.cell))
    met = check_against_samples(scan, rotation, eye, 30.0, lambda points: field_height(field, points), samples=300)
    ends = eye + directions(scan, rotation)[met] * scan.ranges[met, np.newaxis]
    heights = field_height(field, ends[:, :2])
    # ruts, heaps beside them, and undisturbed ground
    assert (heights < -0.01).sum() > 10 and (heights > 0.001).sum() > 5 and (heights == 0.0).sum() > 100


def test_lidar_ranges_of_soft_ground_across_tiles():
    """Six tiles around the world's origin with random cells except at the border; level ground elsewhere.

    A lidar with a quarter of the beams, too few to copy all tiles first, measures the same.
    """
    span = 'range_max="6" angle_min="-3" angle_max="3"'
    few = f'{span} beams="181"/><sensor name="eye" type="lidar" link="mast" {span} beams="721"'
    tree = TREE.format(xyz="-1.1 -0.2 0.2", rpy="0.08 0.05 0.4", link="mast", arm="", more=few)
    tree = tree.replace('name="eye"', 'name="few"', 1)
    world = World(ground=Ground(soil=SoilGround((load_soil("dry_sand"),), "deformable", 0.05)))
    simulation = Simulation(parse_machine(tree, "r.urdf"), world)
    simulation.use_state(simulation.state._replace(soil=with_capacity(simulation.state.soil, 8)))
    soil, terrain = simulation.arrays.context.state.soil, simulation.arrays.context.system.contact.terrain
    for a in (-2, -1, 0):
        for b in (-1, 0):
            open_cell(terrain, 0.05, soil, (a + 0.5) * SIDE * 0.05, (b + 0.5) * SIDE * 0.05)
    low, size = np.array([-2, -1]) * SIDE, np.array([3, 2]) * SIDE
    heights = np.zeros(size + 1)
    heights[1:-2, 1:-2] = np.random.default_rng(3).uniform(-0.15, 0.15, size - 2)
    heights[SIDE : 2 * SIDE] *= 0.1  # next to higher tiles: the ground rises in its last cells
    for tile, (a, b) in enumerate(simulation.state.soil.tile_place[:6]):
        i, j = np.array([a, b]) * SIDE - low
        start = tile * TILE + SURFACE
        simulation.state.soil.soil_cell[start : start + SIDE * SIDE] = heights[i : i + SIDE, j : j + SIDE].ravel()
    field = Heightfield(heights, 0.05, tuple(0.05 * low))
    scan, rotation = simulation.sensors.lidar["eye"], matrix(quaternion_from_rpy(0.08, 0.05, 0.4))
    met = check_against_samples(
        scan, rotation, np.array([-1.1, -0.2, 0.2]), 6.0, lambda points: field_height(field, points)
    )
    assert 200 < met.sum() < 721
    np.testing.assert_allclose(simulation.sensors.lidar["few"].ranges, scan.ranges[::4], rtol=1e-13)


def test_lidar_noise_is_normal_and_depends_on_the_step():
    """Ten thousand beams at a wall all around: the standard deviation is 1 cm, within 4 / sqrt(2 n) of itself."""
    world = obstacles(*((Box((0.2, 9.0, 1.0)), Pose((x, 0.0, 0.0))) for x in (-2.1, 2.1)))
    more = 'beams="10000" angle_min="-1" angle_max="1" noise="0.01"'
    noisy = mounted_lidar(world, more=more)
    exact = ranges_of(world, more=more.replace("0.01", "0"))
    first = noisy.sensors.lidar["eye"].ranges
    off = first - exact
    assert off.std() == pytest.approx(0.01, rel=4.0 / math.sqrt(2.0 * 10_000))
    assert abs(off.mean()) < 4.0 * 0.01 / math.sqrt(10_000)
    np.testing.assert_array_equal(noisy.sensors.lidar["eye"].ranges, first)
    noisy.step(5)
    saved = noisy.snapshot()
    noisy.step(5)
    later = noisy.sensors.lidar["eye"].ranges
    assert np.all(later != first)
    noisy.restore(saved)
    noisy.step(5)
    np.testing.assert_array_equal(noisy.sensors.lidar["eye"].ranges, later)


def test_lidar_with_the_midpoint_rule():
    text = TREE.format(xyz="0 0 0", rpy="0 0 0", link="mast", arm="", more="")
    text = text.replace("</grouser>", '<integrator method="implicit_midpoint"/></grouser>')
    simulation = Simulation(parse_machine(text, "r.urdf"), EMPTY)
    simulation.step(2)
    assert np.all(simulation.sensors.lidar["eye"].ranges == np.inf)


def test_lidar_in_a_batch_measures_its_own_machine():
    two = mounted_lidar(EMPTY, arm=ARM, more='beams="3" angle_min="-1" angle_max="1"').batch(2)
    two[1].state.q[:] = 1.0
    assert [list(np.isfinite(copy.sensors.lidar["eye"].ranges)) for copy in (two[0], two[1])] == [
        [False, True, False],
        [False, False, True],
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('beams="1"', "beams = 1 is out of range; valid: 2 to 100000"),
        ('beams="2.5"', "beams = 2.5 is not a whole number"),
        ('angle_min="1" angle_max="1"', "from 1 to 1 rad"),
        ('angle_min="-4" angle_max="4"', "from -4 to 4 rad"),
        ('range_min="5" range_max="5"', "range_min = 5 m is not less than range_max = 5 m"),
        ('range_max="0"', "range_max = 0 m is out of range"),
        ('noise="-1"', "noise = -1 m is out of range"),
        ('type="imu" beams="5"', "beams is given, and its type is imu"),
        ('type="radar"', "type = 'radar' is not valid"),
    ],
)
def test_bad_lidar_values_are_rejected(more, message):
    text = TREE.format(xyz="0 0 0", rpy="0 0 0", link="mast", arm="", more=more)
    if "type=" in more:
        text = text.replace(' type="lidar"', "")
    with pytest.raises(MachineError, match=message):
        parse_machine(text, "r.urdf")
