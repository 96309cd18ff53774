"""Clumps: mass properties, free flight, conservation, impacts, rolling and sliding, piles."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from grouser import ParameterError
from grouser.physics.description.data.clump import ClumpShape
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.arrays import capacity_of, with_capacity
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Cylinder, Plane
from grouser.physics.granular.grain_rows import Grains

GLASS = GrainMaterial("glass", 1e7, 0.25, 2500.0)
ROD = ClumpShape("rod", (((0, 0, 0), 1.0), ((1.5, 0, 0), 1.0)))
ODD = ClumpShape("odd", (((0, 0, 0), 1.0), ((1.2, 0.3, 0), 0.8), ((-0.4, 1.0, 0.2), 0.7)))
TETRAPOD = ClumpShape("tetrapod", tuple((c, 1.7) for c in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))))
SIZE, GRAVITY = 0.005, 9.81
ROUGH = Surface(0.7, 0.5, rolling_friction=0.1, twisting_friction=0.05)
# The rod lies along its first principal axis.
ALONG_X = np.array([[0.0, 0.0, 0.0, 1.0]])
ALONG_Y = np.array([[0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)]])
ALONG_Z = np.array([[0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)]])


def rod(
    place, orientation, velocity=(0.0, 0.0, 0.0), *, gravity=(0, 0, 0), surface=ROUGH, shapes=None, kind=ROD, **options
):
    """A rod on a level floor."""
    floor = Boundary("floor", shapes or [Plane((0, 0, 0), (0, 0, 1), "glass")])
    motion = np.array([velocity], float)
    grains = Grains(np.array([place], float), SIZE, "glass", motion, shape=kind, orientation=orientation)
    return GranularBed(grains, [GLASS], boundaries=[floor], gravity=gravity, default_surface=surface, **options)


def cloud(step=2e-5, **options):
    """Clumps of two kinds and spheres that fall together and rub."""
    rng = np.random.default_rng(3)
    place = 0.018 * np.stack(np.meshgrid(*[np.arange(3)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    motion = -20.0 * (place - place.mean(axis=0)) + rng.uniform(-0.2, 0.2, (27, 3))
    spin = rng.uniform(-50.0, 50.0, (27, 3))
    kinds = [
        Grains(place[part], SIZE, "glass", motion[part], spin[part], shape=shape, seed=5)
        for part, shape in ((slice(0, 10), ODD), (slice(10, 20), ROD), (slice(20, 27), None))
    ]
    return GranularBed(kinds, [GLASS], default_surface=ROUGH, step=step, **{"gravity": (0, 0, 0), **options})


def test_two_spheres_have_the_mass_properties_of_their_union():
    """Two spheres less the lens between them; scaled to the volume of the unit sphere."""
    apart, volume = 1.5, 4.0 / 3.0 * math.pi
    cap = 1.0 - 0.5 * apart
    union = 2.0 * (volume - math.pi * cap**2 * (3.0 - cap) / 3.0)
    scale = (volume / union) ** (1.0 / 3.0)
    assert ROD.body.radius == pytest.approx([scale] * 2, rel=1e-14)
    # half of the union is the sphere at 0.75 from -1 to 0.75 of its axis
    node, weight = np.polynomial.legendre.leggauss(5)
    x = 0.875 * node - 0.125
    section = 0.875 * weight * math.pi * (1.0 - x**2)
    axial = 2.0 * (section * (1.0 - x**2)).sum() / 2.0 / union
    across = 0.5 * axial + 2.0 * (section * (x - 0.75) ** 2).sum() / union
    assert ROD.body.inertia == pytest.approx(scale**2 * np.array([axial, across, across]), rel=1e-13)
    assert np.abs(ROD.body.centre).max() == pytest.approx(0.75 * scale, rel=1e-13)


def test_quadrature_of_other_unions():
    """Spheres that only touch have the sums of their properties; 400 columns give them within 2e-5."""
    centre = np.array([(0, 0, 0), (1.8, 0, 0), (0, 1.5, 0), (0, 0, -1.3)])
    radius = np.array([1.0, 0.8, 0.5, 0.3])
    body = ClumpShape("jack", tuple((tuple(c), r) for c, r in zip(centre.tolist(), radius.tolist(), strict=True))).body
    mass = radius**3 / np.sum(radius**3)
    place = centre - mass @ centre
    about = sum(m * (np.outer(c, c) + 0.2 * r * r * np.eye(3)) for m, c, r in zip(mass, place, radius, strict=True))
    inertia = np.linalg.eigvalsh(np.trace(about) * np.eye(3) - about)
    scale = np.sum(radius**3) ** (-1.0 / 3.0)
    assert body.radius == pytest.approx(scale * radius, rel=2e-5)
    assert body.inertia == pytest.approx(scale**2 * inertia, rel=4e-5)


def test_free_flight_is_eulers_equations():
    """Momentum to round-off; orientation and energy of second order in the step."""
    length, motion, spin = 0.1, np.array([[0.5, 0.0, 1.0]]), np.array([[30.0, -40.0, 20.0]])
    turned, lost = [], []
    for count in (2000, 4000):
        grains = Grains(np.array([[0.1, 0.2, 0.3]]), SIZE, "glass", motion, spin, shape=ODD, seed=4)
        bed = GranularBed(
            grains, [GLASS], gravity=(0, 0, 0), default_surface=ROUGH, step=length / count, accounted=True
        )
        start, momentum, energy = bed.clumps, bed.momentum(), bed.energy()["kinetic"]
        bed.step(count)
        assert np.abs(bed.momentum() - momentum).max() < 1e-12 * np.abs(momentum).max()
        assert bed.clumps.angular_momentum == pytest.approx(start.angular_momentum, rel=1e-15)
        turned.append(_angle(_flown(start, length), bed.clumps.orientation[0]))
        lost.append(abs(bed.energy()["kinetic"] - energy) / energy)
        apart = np.linalg.norm(bed.position[0] - bed.position[2])
        assert apart == pytest.approx(np.linalg.norm(np.subtract(*ODD.body.centre[[0, 2]])) * SIZE, rel=1e-12)
    # it turns by 5.4 radians
    assert turned[0] < 1e-5 and turned[1] == pytest.approx(0.25 * turned[0], rel=0.05)
    assert lost[0] < 1e-6 and lost[1] < 0.3 * lost[0]


def _flown(start, length):
    """Orientation after a free flight, by Euler's equations."""

    def rate(_, turn):
        rotation = Rotation.from_quat(turn / np.linalg.norm(turn))
        spin = rotation.inv().apply(start.angular_momentum[0]) / start.inertia[0]
        return 0.5 * np.append(turn[3] * spin + np.cross(turn[:3], spin), -turn[:3] @ spin)

    path = solve_ivp(rate, (0.0, length), start.orientation[0], method="DOP853", rtol=1e-12, atol=1e-13)
    return path.y[:, -1]


def _angle(one, other):
    return (Rotation.from_quat(one).inv() * Rotation.from_quat(other)).magnitude()


def test_contacts_of_clumps_keep_momentum_and_balance_energy():
    """As for spheres: momentum to round-off, energy to the second order of the step."""
    errors = []
    for step in (2e-5, 1e-5):
        bed = cloud(step, accounted=True)
        before, moving = bed.momentum(), float((bed.mass * np.linalg.norm(bed.velocity, axis=1)).sum())
        bed.step(round(0.02 / step))
        change = np.abs(bed.momentum() - before)
        assert change[:3].max() < 1e-12 * moving and change[3:].max() < 1e-12 * moving * 0.05
        energy = bed.energy()
        lost = energy["normal_loss"] + energy["friction_loss"] + energy["rolling_loss"]
        assert energy["friction_loss"] > 0.0 and energy["rolling_loss"] > 0.0 and energy["normal_loss"] > 0.0
        errors.append(abs(bed.energy_error()) / lost)
    assert errors[0] < 1e-3 and errors[1] < 0.5 * errors[0]


def test_restart_has_the_same_bits_and_spheres_stay_in_place():
    bed = cloud(gravity=(0, 0, -GRAVITY), boundaries=[Boundary("floor", [Plane((0, 0, -0.01), (0, 0, 1), "glass")])])
    bed.step(150)
    kept = bed.snapshot()
    bed.step(250)
    end = bed.snapshot()
    bed.restore(kept)
    bed.step(100)
    bed.step(150)
    for one, other in zip(bed.state, end, strict=True):
        assert np.array_equal(one, other)
    clumps, member = bed.clumps, bed.clump
    offset = bed.state.offset[np.argsort(bed.state.ident[: bed.count])]
    for row in np.flatnonzero(member >= 0):
        number = member[row]
        place = clumps.position[number] + Rotation.from_quat(clumps.orientation[number]).apply(offset[row])
        assert bed.position[row] == pytest.approx(place, abs=1e-15)


def test_room_for_more_changes_no_bit():
    """Grains so far apart that there are fewer cells than they span."""
    far = Grains(np.array([[0.15, 0.15, 0.15]]), SIZE, "glass")
    beds = [cloud(), cloud()]
    for bed, room in zip(beds, (1, 3), strict=True):
        bed.add(far)
        bed._hold(with_capacity(bed.snapshot(), *(room * np.array(capacity_of(bed.state))).tolist()))
        bed.state.stale[0] = 1
        bed.step(400)
    assert np.array_equal(beds[0].position, beds[1].position)
    assert np.array_equal(beds[0].state.ident[: beds[0].count], beds[1].state.ident[: beds[1].count])


@pytest.mark.parametrize("restitution", [0.8, 0.4])
def test_restitution_is_as_asked_for_one_contact_at_any_orientation(restitution):
    """Frictionless, at a thousand steps in a contact, in which it turns by a thousandth: end-on, and with a lever."""
    surface, speed = Surface(restitution, 0.0), 0.005
    for tilt in (0.0, 0.4, 0.9):
        turn = Rotation.from_rotvec([0.0, tilt, 0.0]) * Rotation.from_quat(ALONG_Z[0])
        radius = SIZE * ROD.body.radius[0]
        bed = rod((0, 0, radius * (0.75 * math.cos(tilt) + 1.0) + 1e-8), turn.as_quat()[np.newaxis], (0, 0, -speed),
                  surface=surface, step=3e-6)  # fmt: skip
        bed.step(2000)
        lever = 0.75 * radius * math.sin(tilt)
        inertia = bed.clumps.inertia[0, 1] / bed.clumps.mass[0]
        # rigid bodies: the impulse by the mass is (1 + e) v/(1 + lever^2 m/I)
        impulse = (1.0 + restitution) * speed / (1.0 + lever**2 / inertia)
        spin = abs(bed.clumps.angular_momentum[0, 1] / bed.clumps.inertia[0, 1])
        assert bed.clumps.velocity[0, 2] + speed == pytest.approx(impulse, rel=1e-3)
        assert spin == pytest.approx(impulse * lever / inertia, rel=1e-3, abs=1e-9)


def test_given_mass_properties_decide_an_impact():
    """A tilted rod meets the floor slowly, without friction, by a sphere: impulse (1 + e) v/(1/m + (r x n)^2/I)."""
    share, across, ahead, tilt, speed, restitution = 0.5, 0.9, 0.3, math.radians(30.0), 0.005, 0.7
    shape = ClumpShape("loaded", ROD.spheres, share, (ahead, 0, 0), (0.4, across, across, 0, 0, 0))
    unit = ROD.body.radius[0] * SIZE
    mass = share * 2500.0 * 4.0 / 3.0 * math.pi * SIZE**3
    inertia, arm = mass * across * unit**2, -ahead * unit * math.cos(tilt)
    place = np.array([[0.0, 0.0, unit + ahead * unit * math.sin(tilt) + 1e-8]])
    turn = Rotation.from_euler("y", -tilt).as_quat()[np.newaxis]
    fall = np.array([[0.0, 0.0, -speed]])
    grains = Grains(place, SIZE, "glass", fall, shape=shape, orientation=turn)
    floor, smooth = Boundary("floor", [Plane((0, 0, 0), (0, 0, 1), "glass")]), Surface(restitution, 0.0)
    bed = GranularBed(grains, [GLASS], boundaries=[floor], gravity=(0, 0, 0), default_surface=smooth, step=3e-6)
    assert bed.clumps.mass == pytest.approx(mass) and bed.position[0, 2] == pytest.approx(unit + 1e-8)
    bed.step(2000)
    impulse = (1.0 + restitution) * speed / (1.0 / mass + arm**2 / inertia)
    assert bed.clumps.velocity[0, 2] == pytest.approx(impulse / mass - speed, abs=1e-3 * speed)
    assert bed.clumps.angular_momentum[0] == pytest.approx([0, -arm * impulse, 0], abs=1e-3 * abs(arm * impulse))


def test_light_clumps_shorten_the_step():
    """A tenth of the mass: contacts last 0.1^(2/5) as long at the same speed."""
    steps = []
    for share in (1.0, 0.1):
        shape = ClumpShape("rod", ROD.spheres, share * ROD.body.radius[0] ** 3, inertia=(1.0, 1.0, 1.0, 0, 0, 0))
        steps.append(rod((0, 0, 1), ALONG_X, kind=shape).step_size)
    assert steps[1] == pytest.approx(0.1**0.4 * steps[0], rel=1e-12)


@pytest.mark.parametrize("orientation", [ALONG_X, ALONG_Y])
def test_rod_on_a_slope(orientation):
    """Across the slope it rolls as a roller, along it it slides, both in closed form; x is downhill."""
    angle, friction, lasts = 0.45, 0.3, 0.1
    down, press = GRAVITY * math.sin(angle), GRAVITY * math.cos(angle)
    radius = SIZE * ROD.body.radius[0]
    bed = rod((0, 0, radius * 0.9999), orientation, gravity=(down, 0, -press), surface=Surface(0.3, friction))
    bed.step(round(0.05 / bed.step_size))
    before = bed.clumps.velocity[0, 0]
    bed.step(round(lasts / bed.step_size))
    gained = (bed.clumps.velocity[0, 0] - before) / (round(lasts / bed.step_size) * bed.step_size)
    if orientation is ALONG_X:
        expected = down - friction * press
    else:
        expected = down / (1.0 + bed.clumps.inertia[0, 0] / (bed.clumps.mass[0] * radius**2))
        # rolling needs less than the limit of friction
        assert down - expected < friction * press
    assert gained == pytest.approx(expected, rel=2e-3)


def test_rod_stands_on_a_slope_up_to_the_angle_of_friction():
    """Without rolling friction, where a sphere runs down: the rod points downhill and cannot roll."""
    for angle, holds in ((26.0, True), (27.2, False)):
        down, press = GRAVITY * math.sin(math.radians(angle)), GRAVITY * math.cos(math.radians(angle))
        bed = rod((0, 0, SIZE * ROD.body.radius[0]), ALONG_X, gravity=(down, 0, -press), surface=Surface(0.3, 0.5))
        bed.step(round(0.3 / bed.step_size))
        speed = np.abs(bed.clumps.velocity).max()
        assert speed < 1e-7 if holds else speed > 0.5 * 0.3 * (down - 0.5 * press)


def test_rod_rocks_in_a_tube_as_a_compound_pendulum():
    """Frictionless, across the tube: it swings about the tube's axis."""
    tube, radius = 0.04, SIZE * ROD.body.radius[0]
    half = 0.75 * radius
    length = math.sqrt((tube - radius) ** 2 - half**2)
    tilt = 0.02
    turn = Rotation.from_rotvec([0.0, -tilt, 0.0])
    place = length * np.array([math.sin(tilt), 0.0, -math.cos(tilt)])
    bed = rod(place, turn.as_quat()[np.newaxis], gravity=(0, 0, -GRAVITY), surface=Surface(0.1, 0.0),
              shapes=[Cylinder((0, 0, 0), (0, 1, 0), tube, "glass")])  # fmt: skip
    inertia = bed.clumps.inertia[0, 1] / bed.clumps.mass[0]
    period = 2.0 * math.pi * math.sqrt((length**2 + inertia) / (GRAVITY * length))
    chunk, crossings, before = round(0.002 / bed.step_size), [], math.inf
    while len(crossings) < 5 and bed.time < 4.0 * period:
        bed.step(chunk)
        x = bed.clumps.position[0, 0]
        if before * x < 0.0:
            crossings.append(bed.time - chunk * bed.step_size * x / (x - before))
        before = x
    assert len(crossings) == 5
    # the amplitude lengthens the period by 1 + tilt^2/16, a part in 40 000
    assert 0.5 * (crossings[4] - crossings[0]) == pytest.approx(period, rel=2e-3)


def test_clumps_heap_up_where_spheres_run_off():
    """Columns of 200 collapse on a smooth floor, without rolling friction: spheres end in one layer, clumps in a heap.

    Mean heights of three seeds, by the radius: the scatter of either is 0.04, the least difference found 0.33.
    """
    soft = GrainMaterial("soft", 2e5, 0.25, 2500.0)
    floor = [Boundary("floor", [Plane((0, 0, 0), (0, 0, 1), "soft")])]
    place = 0.0195 * np.stack(np.meshgrid(np.arange(5), np.arange(5), np.arange(8), indexing="ij"), -1).reshape(-1, 3)
    height = {}
    for name, shape in (("clumps", TETRAPOD), ("spheres", None)):
        for seed in (1, 2, 3):
            shift = np.random.default_rng(seed).uniform(-5e-4, 5e-4, place.shape)
            grains = Grains(place + shift + [0, 0, 0.009], SIZE, "soft", shape=shape, seed=seed)
            bed = GranularBed(grains, [soft], boundaries=floor, default_surface=Surface(0.3, 0.6))
            bed.step(round(1.0 / bed.step_size))
            height.setdefault(name, []).append(float(bed.mass @ bed.position[:, 2] / bed.mass.sum()))
    clumps, spheres = (np.array(height[name]) / SIZE for name in ("clumps", "spheres"))
    assert spheres.max() < 1.1
    assert clumps.min() > spheres.max() + 0.2


def test_sleep_and_waking_of_whole_clumps():
    bed = cloud(gravity=(0, 0, -GRAVITY), boundaries=[Boundary("floor", [Plane((0, 0, -0.01), (0, 0, 1), "glass")])])
    bed.system = bed.system._replace(rest_steps=200)
    bed._hold(bed.snapshot())
    for _ in range(200):
        bed.step(500)
        if bed.state.asleep[: bed.count].all():
            break
    assert bed.state.asleep[: bed.count].all()
    assert not bed.clumps.velocity.any() and not bed.clumps.angular_momentum.any()
    row = int(np.flatnonzero(bed.state.clump[: bed.count] >= 0)[0])
    of = bed.state.clump == bed.state.clump[row]
    bed.state.asleep[row], bed.state.still[row] = False, 0
    bed.step(1)
    assert not bed.state.asleep[: bed.count][of[: bed.count]].any()


def test_added_and_removed_clumps_are_whole():
    bed = cloud()
    bed.step(50)
    count, speed = bed.count, bed.clumps.velocity
    mass = bed.clumps.mass[[0, 12]].sum()
    assert bed.remove([0, 35]) == pytest.approx(mass)  # a sphere of the first odd clump, and one of the third rod
    assert bed.count == count - 5 and len(bed.clumps.mass) == 18
    assert np.array_equal(bed.clumps.velocity, np.delete(speed, [0, 12], axis=0))
    assert sorted(set(bed.clump.tolist())) == list(range(-1, 18))
    added = bed.add(Grains(np.array([[0.2, 0.0, 0.0]]), SIZE, "glass", shape=ROD))
    assert len(added) == 2 and (bed.clump[-2:] == 18).all()
    bed.step(50)
    assert np.isfinite(bed.position).all()


def test_clumps_that_start_inside_each_other_are_pushed_apart():
    """As they are, without a turn: two crossed rods and one that begins in the floor."""
    place = np.array([[0.0, 0.0, 0.02], [0.002, 0.001, 0.021], [0.1, 0.0, 0.003]])
    turn = np.concatenate([ALONG_X, ALONG_Y, ALONG_Y])
    grains = Grains(place, SIZE, "glass", shape=ROD, orientation=turn)
    floor = [Boundary("floor", [Plane((0, 0, 0), (0, 0, 1), "glass")])]
    with pytest.warns(RuntimeWarning, match="start inside each other, 4 pairs, or in boundaries, 2 grains"):
        bed = GranularBed(grains, [GLASS], boundaries=floor, default_surface=ROUGH)
    assert np.array_equal(bed.clumps.orientation, turn)
    assert bed.clumps.position[2] == pytest.approx([0.1, 0.0, bed.radius[0]], abs=0.011 * bed.radius[0])
    apart = np.linalg.norm(bed.position[:2, np.newaxis] - bed.position[2:4], axis=2)
    assert apart.min() > 1.98 * bed.radius[0]
    within = np.linalg.norm(bed.position[0::2] - bed.position[1::2], axis=1)
    assert within == pytest.approx(1.5 * bed.radius[0], rel=1e-12)


def test_bad_clumps_are_refused():
    wrong = {
        "2 to 200; a grain without a clump is one sphere": (((0, 0, 0), 1.0),),
        "sphere 3 of clump 'wrong'.*hang together": (((0, 0, 0), 1.0), ((1, 0, 0), 1.0), ((5, 0, 0), 1.0)),
        "sphere 2 of clump 'wrong'.*not inside of another": (((0, 0, 0), 1.0), ((0.1, 0, 0), 0.5)),
        "radius of a sphere": (((0, 0, 0), 1.0), ((1, 0, 0), 0.0)),
        "centre of a sphere": (((0, 0, 0), 1.0), ((1, 0), 1.0)),
    }
    for message, spheres in wrong.items():
        with pytest.raises(ParameterError, match=message):
            ClumpShape("wrong", spheres)
    properties = {
        "relative_mass of clump 'wrong'": {"relative_mass": 0.0},
        "centre_of_mass.*within the box around its spheres, -1, -1, -1 to 2.5, 1, 1": {"centre_of_mass": (0, 1.1, 0)},
        "principal moments -1, 1, 1.*above 0": {"inertia": (1, -1, 1, 0, 0, 0)},
        "0.2, 0.3, 0.9.*triangle inequality": {"inertia": (0.2, 0.3, 0.9, 0, 0, 0)},
        "a sum of at most 6.125: no mass is farther than 1.75": {"inertia": (3, 3, 3, 0, 0, 0)},
    }
    for message, given in properties.items():
        with pytest.raises(ParameterError, match=message):
            ClumpShape("wrong", ROD.spheres, **given)
    for options, message in (({"turns": False}, "true for clumps"), ({"orientation": np.zeros((2, 4))}, "orientation")):
        with pytest.raises(ParameterError, match=message):
            GranularBed(Grains(np.zeros((1, 3)), SIZE, "glass", shape=ROD, **options), [GLASS], default_surface=ROUGH)
