"""Soft ground under wheels and plates: loading and unloading, volume, borders, storage in tiles."""

import math
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from soil_rig import GRAVITY, LEVELS, RADIUS, SAND, WIDTH, bed, cart, drive, loose_wheel, plate, soft

from grouser.physics.base.trees import leaves
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Validity, Wheel
from grouser.physics.description.data.world import Heightfield
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.strata import field_mass
from grouser.physics.soil.tiles import PRESSED, TILE

CYLINDER = f'<origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="{RADIUS}" length="{WIDTH}"/></geometry>'


# --- pressing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unloading, slope", [(4e7, 0.0), (4e6, 2e8)])
def test_plate_follows_loading_and_unloading_ten_times(unloading, slope):
    """Bekker's curve on fresh soil, Wong's line down and up again, and on along the curve."""
    radius, cell = 0.15, 0.01
    area = math.pi * radius**2
    # 2 area / perimeter of the rectangle with the moments of a disc, whose sides are sqrt(3) radius
    width = area / (2.0 * math.sqrt(3.0) * radius)
    stiffness = SAND.cohesive_modulus / width + SAND.frictional_modulus
    soil = replace(SAND, unloading_stiffness=unloading, unloading_slope=slope)
    simulation = plate(soft("deformable", cell, soil, bulldozing=False), radius)

    def press(speed, steps):
        simulation.command["press"] = -speed
        simulation.step(steps)
        return -simulation.joint_position["press"], simulation.wheel["plate"].normal_force

    # Border cells count by their share, with an error of second order, (cell / 2 radius)^2.
    close = 2.0 * (cell / (2.0 * radius)) ** 2
    for _ in range(10):
        deepest, force = press(0.01, 200)
        assert force == pytest.approx(stiffness * deepest * area, rel=close)
        # up by less than the elastic rebound
        step = 0.1 * force / (unloading + slope * deepest) / area
        up, less = press(-step / 0.004, 4)
        assert (force - less) / (deepest - up) == pytest.approx((unloading + slope * deepest) * area, rel=close)
        down, back = press(0.5 * step / 0.004, 4)
        line = less + (force - less) / (deepest - up) * (down - up)
        assert back == pytest.approx(line, rel=1e-9)
        # clear of the soil, and back to the same depth
        _, clear = press(-0.01, 400)
        assert clear == 0.0
        again, same = press(0.01, 400)
        assert same == pytest.approx(back + (force - less) / (deepest - up) * (again - down), rel=1e-9)


def test_turning_plate_shears_the_soil_under_it():
    """Janosi and Hanamoto's shear at each radius, summed over the disc."""
    radius, cell, mass = 0.15, 0.01, 60.0
    world = replace(soft("deformable", cell, bulldozing=False), spawn=Pose((0.0, 0.0, 0.05)))
    simulation = loose_wheel(world, mass, wheel=Wheel("wheel", radius, 0.1, axis=(0.0, 0.0, 1.0)))
    simulation.step(1500)
    simulation.state.v[5] = 20.0
    angle = 0.0
    for _ in range(60):
        simulation.step(1)
        angle += simulation.step_size * simulation.state.v[5]
    out = (np.arange(1000) + 0.5) / 1000 * radius
    strength = SAND.cohesion + mass * GRAVITY / (math.pi * radius**2) * math.tan(SAND.friction_angle)
    sheared = 1.0 - np.exp(-angle * out / SAND.shear_displacement_modulus)
    torque = (strength * sheared * 2.0 * math.pi * out**2).sum() * radius / 1000
    # Implicit steps shear by 1 - (1 + x)^-n, and the shear leads by 5 ms: a few percent of the remaining shear.
    assert simulation.wheel["wheel"].torque == pytest.approx(torque, rel=0.03)
    assert simulation.wheel["wheel"].normal_force == pytest.approx(mass * GRAVITY, rel=1e-3)


# --- volume -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heave", [1.0, 0.6])
@pytest.mark.parametrize("heading, slip", [(0.0, 0.5), (0.5, -0.5)])
def test_soil_volume_is_conserved(heave, heading, slip):
    """Soil that does not heave up is compacted; the rest of the volume is conserved."""
    simulation = bed(soft("deformable", 0.02, replace(SAND, heave=heave)), 200.0, heading=heading, steer=0.2)
    simulation.step(1)
    drive(simulation, slip, 0.1)
    simulation.step(5000)
    patch, moved = simulation.terrain_patch(), simulation.state.soil.moved_soil[0]
    assert moved > 5e-4
    missing = patch.rut.sum() * patch.cell**2
    assert missing == pytest.approx((1.0 - heave) / heave * moved, abs=1e-9 * moved)
    assert patch.rut.max() > 0.01
    assert patch.rut.min() < -0.005


def test_without_bulldozing_no_soil_is_moved():
    simulation = bed(soft("deformable", bulldozing=False), 200.0)
    simulation.step(1)
    drive(simulation, 0.5, 0.1)
    simulation.step(3000)
    patch = simulation.terrain_patch()
    assert simulation.state.soil.moved_soil[0] == 0.0
    assert patch.rut.min() == 0.0
    assert (patch.rut == patch.sinkage).all()


def test_ruts_remain():
    """A second pass sinks deeper, and meets less resistance."""
    simulation = bed(soft("deformable", 0.02, bulldozing=False), 100.0)
    found = []
    for direction in (1.0, -1.0):
        drive(simulation, 0.1, 0.1, direction=direction)
        simulation.step(3000)
        rows = []
        for _ in range(3000):
            simulation.step(1)
            rows.append((simulation.wheel["wheel"].sinkage, abs(simulation.wheel["wheel"].resistance)))
        found.append(np.mean(rows, axis=0))
        drive(simulation, 0.1, 0.1, direction=direction)
        simulation.step(2500)
    assert found[1][0] > found[0][0]
    assert found[1][1] < found[0][1]


# --- borders ------------------------------------------------------------------------------------------------------


def roller(world, mass=2.0):
    """A bed whose wheel has a collision shape, too."""
    return bed(world, mass * GRAVITY, collision=CYLINDER)


@pytest.mark.parametrize("level", LEVELS)
def test_soil_and_rigid_ground_in_one_world(level):
    """Contacts where the ground is rigid, soil where it is soft, never both; the wheel state has the forces of both."""
    types = np.array([[-1], [0], [-1]])
    simulation = roller(soft(level, types=types, types_cell=1.0, types_origin=(0.0, 0.0)))
    drive(simulation, 0.1, 0.25)
    loads = []
    for _ in range(9200):
        simulation.step(1)
        contact = sum(one.force_world[2] for one in simulation.contacts())
        loads.append((simulation.joint_position["rail"], contact, simulation.wheel["wheel"].normal_force))
    x, rigid, carried = np.array(loads).T
    soil = carried - rigid
    assert x[-1] > 1.9
    weight = 2.0 * GRAVITY
    away = RADIUS + 0.02
    for where in ((x > 0.1) & (x < 0.5 - away), (x > 1.5 + away)):
        # rounding of forces of some ten newtons
        assert np.abs(soil[where]).max() < 1e-12
        assert rigid[where].mean() == pytest.approx(weight, rel=0.01)
    inner = (x > 0.5 + away) & (x < 1.5 - away)
    assert rigid[inner].max() == 0.0
    # the time mean, as the grid ripples
    assert soil[inner].mean() == pytest.approx(weight, rel=0.01)


def test_terrain_patch_around_a_wheel():
    """Ground farther away is not in it, by whole tiles of 32 cells."""
    simulation = bed(soft("deformable", bulldozing=False), 100.0)
    drive(simulation, 0.1, 1.0)
    simulation.step(5000)
    everything, near = simulation.terrain_patch(), simulation.terrain_patch(1.0)
    x, tile = simulation.joint_position["rail"], 0.64
    assert everything.x.min() < 0.0 < x - 1.0 - tile < near.x.min() < x - 1.0 < x < near.x.max()
    place = {(x, y): rut for x, y, rut in zip(everything.x, everything.y, everything.rut, strict=True)}
    assert all(place[x, y] == rut for x, y, rut in zip(near.x, near.y, near.rut, strict=True))


def test_wheel_outside_the_validity_of_a_soil_is_warned_of_at_once():
    narrow = bed(soft("deformable", 0.02, replace(SAND, validity=Validity((0.2, 0.3)))), 100.0)
    assert narrow.warnings == ("the numbers of soil 'sand' hold for widths of 0.2 to 0.3 m, not 0.15 m",)
    known = bed(soft("deformable", 0.02, replace(SAND, validity=Validity((0.1, 0.2), 1e6))), 100.0)
    assert known.warnings == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known.step(300)


def test_cell_sizes_unsuitable_for_a_level_or_wheel_are_warned_of():
    """One warning for all wheels of a level; none for the stress integrals, which have no cells."""
    few, many = (Wheel("wheel", RADIUS, WIDTH, grousers=count, grouser_height=0.01) for count in (23, 24))
    # 24 grousers are 39 mm apart
    for wheel, told in ((few, ()), (many, ("cells of 20 mm do not tell the grousers of wheel apart",))):
        assert tuple(text.partition(":")[0] for text in bed(soft("deformable", 0.02), 100.0, wheel).warnings) == told
    assert bed(soft("deformable", 0.004), 100.0).warnings == (
        "level deformable holds for cells of 5 to 100 mm, not 4 mm",
    )
    assert bed(soft("cells", 0.02), 100.0).warnings == ("level cells holds for cells of 1 to 10 mm, not 20 mm",)
    assert bed(soft("stress", 0.001), 100.0, many).warnings == ()
    assert bed(soft("cells", 0.02), 100.0, replace(few, level="stress")).warnings == ()


def test_wheel_on_two_soils():
    """Each cell has its soil type: a wheel sinks deeper in weaker soil."""
    weak = replace(SAND, name="weak", frictional_modulus=2e5)
    types = np.array([[0], [1]])
    world = soft("deformable", 0.02, SAND, weak, types=types, types_cell=1.0, types_origin=(0.0, 0.0), bulldozing=False)
    simulation = bed(world, 50.0)
    drive(simulation, 0.1, 0.2)
    sunk = {}
    for _ in range(7000):
        simulation.step(1)
        place = round(simulation.joint_position["rail"], 3)
        sunk.setdefault(place, simulation.wheel["wheel"].sinkage)
    there = np.mean([z for x, z in sunk.items() if 0.1 < x < 0.3])
    here = np.mean([z for x, z in sunk.items() if 0.8 < x < 1.0])
    # the load of a shallow contact is proportional to K z^(n + 1/2)
    assert here / there == pytest.approx((SAND.frictional_modulus / 2e5) ** (1.0 / 1.5), rel=0.15)


def hills():
    x = np.linspace(0.0, 4.0, 41)
    return Heightfield(0.05 * np.sin(3.0 * x)[:, None] + 0.05 * np.cos(2.0 * x)[None, :], 0.1, (0.0, 0.0))


@pytest.mark.parametrize(
    "level, y", [("cells", 2.0), ("stress", 2.0), ("deformable", 2.0), ("cells", 3.97), ("deformable", 3.97)]
)
def test_wheel_rolls_over_the_edge_of_the_map(level, y):
    """The ground continues flat beyond it."""
    field = hills()
    simulation = loose_wheel(soft(level, heightfield=field, spawn=Pose((3.6, y, 0.35))), 10.0)
    simulation.state.v[0], simulation.state.v[4] = 3.0, 3.0 / RADIUS
    start = simulation.energy()
    simulation.step(2000)
    x, _, z = simulation.state.q[:3]
    assert x > 4.0
    edge = field.heights[-1, min(round(y / 0.1), 40)]
    assert edge - 0.05 < z < edge + RADIUS + 0.05
    taken = start.kinetic + start.potential - simulation.energy().kinetic - simulation.energy().potential
    assert abs(simulation.energy_balance().residual) < 0.01 * taken


@pytest.mark.parametrize("level", ["cells", "deformable"])
def test_wheel_falls_into_a_hole(level):
    heights = np.zeros((41, 41))
    heights[18:23, 18:23] = -0.4
    field = Heightfield(heights, 0.1, (0.0, 0.0))
    simulation = loose_wheel(soft(level, heightfield=field, spawn=Pose((1.5, 2.0, RADIUS + 0.01))), 10.0)
    simulation.state.v[0], simulation.state.v[4] = 1.5, 1.5 / RADIUS
    simulation.step(3000)
    assert 1.7 < simulation.state.q[0] < 2.3
    assert -0.4 < simulation.state.q[2] < -0.4 + 1.5 * RADIUS
    balance = simulation.energy_balance()
    assert abs(balance.residual) < 0.01 * balance.dissipation["soil under wheel"]


@pytest.mark.parametrize("level", LEVELS)
def test_sloping_plane_carries_a_wheel(level):
    """Normal and tangential forces of the soil add up to the load, upward."""
    angle = math.radians(15.0)
    simulation = bed(soft(level, 0.02, normal=(-math.sin(angle), 0.0, math.cos(angle)), bulldozing=False), 100.0)
    simulation.step(6000)
    wheel = simulation.wheel["wheel"]
    assert wheel.normal_force * math.cos(angle) + wheel.drawbar_pull * math.sin(angle) == pytest.approx(100.0, rel=1e-4)
    assert wheel.normal_force > 0.9 * 100.0 * math.cos(angle)


# --- how it is kept -----------------------------------------------------------------------------------------------


def run(simulation, steps, speed=8.0):
    for name in simulation.wheel:
        simulation.command[f"{name}_spin"] = speed
    simulation.command["front_left_spin"] = 0.6 * speed
    simulation.step(steps)


def kept(simulation):
    """The state without the unused capacity for tiles."""
    soil, count = simulation.state.soil, int(simulation.state.soil.tile_count[0])
    tile = len(soil.soil_cell) // len(soil.tile_place)
    taken = soil._replace(
        tile_place=soil.tile_place[:count],
        tile_restless=soil.tile_restless[:count],
        soil_cell=soil.soil_cell[: count * tile],
        tile_table=np.zeros(0),
    )
    arrays = leaves(simulation.state._replace(soil=taken))
    return np.concatenate([array.ravel().astype(float) for array in arrays])


@pytest.fixture(scope="module", params=LEVELS)
def ground(request):
    """A world where a cart is spawned."""
    return soft(request.param, 0.01, spawn=Pose((0.0, 0.0, 0.16)))


def test_wheels_move_soil_and_keep_its_mass(ground):
    simulation = cart(ground, damping=1e3)
    run(simulation, 300)
    system, soil = simulation._engine.setup.system, simulation.state.soil
    pressed = system.soil.cell[0] ** 2 * np.abs(soil.soil_cell.reshape(-1, TILE)[:, PRESSED:]).sum()
    mass = field_mass(SoftGround(system.soil.soils, system.contact.terrain, system.soil.cell[0], GRAVITY), soil)
    assert pressed > 1e-5
    assert abs(mass) < 1e-9 * pressed * system.soil.soils.density[0]


def test_soil_restart_is_exact_to_the_bit(ground):
    simulation = cart(ground, damping=1e3)
    run(simulation, 300)
    early = simulation.snapshot()
    run(simulation, 900)
    there = kept(simulation)
    simulation.restore(early)
    run(simulation, 900)
    assert np.array_equal(kept(simulation), there)
    fresh = cart(ground, damping=1e3)
    fresh.restore(early)
    run(fresh, 900)
    assert np.array_equal(kept(fresh), there)


def test_reset_restores_fresh_ground(ground):
    simulation = cart(ground, damping=1e3)
    run(simulation, 600)
    simulation.reset()
    assert simulation.state.soil.tile_count[0] == 0
    run(simulation, 600)
    fresh = cart(ground, damping=1e3)
    run(fresh, 600)
    assert np.array_equal(kept(simulation), kept(fresh))


def test_batch_on_soil_equals_single_copies(ground):
    simulation = cart(ground, damping=1e3)
    simulation.step(20)
    batch = simulation.batch(2)
    for copy, speed in zip(batch.simulations, (0.0, 8.0), strict=True):
        run(copy, 0, speed)
    batch.step(500)
    for copy, speed in zip(batch.simulations, (0.0, 8.0), strict=True):
        alone = cart(ground, damping=1e3)
        alone.step(20)
        run(alone, 500, speed)
        assert np.array_equal(kept(copy), kept(alone))


def test_tile_arrays_grow():
    """A wheel that drives far at fine cells: alone, from a snapshot that is larger, and in a batch, the same bits."""

    def far(simulation, steps):
        drive(simulation, 0.1, 5.0)
        simulation.step(steps)

    world = soft("deformable", 0.01)
    simulation = bed(world, 100.0)
    room = len(simulation.state.soil.tile_place)
    batch = bed(world, 100.0).batch(2)
    far(simulation, 4000)
    assert len(simulation.state.soil.tile_place) > room
    for copy in batch.simulations:
        drive(copy, 0.1, 5.0)
    batch.step(4000)
    assert batch.state.soil.tile_place.shape[1] == len(simulation.state.soil.tile_place)
    assert all(np.array_equal(kept(copy), kept(simulation)) for copy in batch.simulations)
    grown = simulation.snapshot()
    far(simulation, 200)
    fresh = bed(world, 100.0)
    fresh.restore(grown)
    far(fresh, 200)
    assert np.array_equal(kept(fresh), kept(simulation))
    # restoring a smaller snapshot removes tiles opened since
    fresh.restore(bed(world, 100.0).snapshot())
    assert fresh.state.soil.tile_count[0] == 0
    again = bed(world, 100.0)
    for one in (fresh, again):
        far(one, 500)
    assert np.array_equal(kept(fresh), kept(again))


def test_tiles_do_not_depend_on_the_map():
    counts, states = [], []
    for side in (11, 4001):
        field = Heightfield(np.zeros((side, side)), 0.25, (-0.125 * (side - 1),) * 2)
        simulation = bed(soft("deformable", heightfield=field, bulldozing=False), 100.0)
        drive(simulation, 0.2, 0.5)
        simulation.step(1000)
        counts.append(int(simulation.state.soil.tile_count[0]))
        states.append(np.concatenate([simulation.state.q, simulation.state.v]))
    assert counts[0] == counts[1] < 20
    assert np.array_equal(*states)


def test_steps_do_not_get_slower_with_the_distance():
    """Processor time of the last metres against that of the first, within the scatter of timing."""
    simulation = bed(soft("deformable"), 100.0)
    drive(simulation, 0.2, 2.0)
    simulation.step(500)
    spent = []
    for _ in range(12):
        start = time.process_time()
        simulation.step(1000)
        spent.append(time.process_time() - start)
    # a tile is 0.64 m long, the wheel's window two wide at most
    assert simulation.state.soil.tile_count[0] <= 3 * (simulation.joint_position["rail"] / 0.64 + 3)
    assert min(spent[-4:]) < 1.5 * min(spent[:4])
