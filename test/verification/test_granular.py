"""Grains: conservation, restarts, lists, boundaries and their reactions."""

import contextlib
import math

import numpy as np
import pytest

from grouser import DivergenceError, ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.clump import ClumpShape
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Cylinder, Mesh, Plane, Vibration
from grouser.physics.granular.filling import open_box
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.rays import make_grain_grid, ray_to_grains, sort_into_cells

RADIUS, GRAVITY = 0.005, 9.81
GLASS = GrainMaterial("glass", 1e7, 0.25, 2500.0)
ROUGH = Surface(0.7, 0.5, rolling_friction=0.1, twisting_friction=0.05)
WEIGHT = 4.0 / 3.0 * math.pi * RADIUS**3 * 2500.0 * GRAVITY


def cloud(skin=0.15, accounted=False, surface=ROUGH, threads=1):
    """Sixty spheres of three sizes that fall together and rub."""
    rng = np.random.default_rng(3)
    place = 0.0105 * np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:60]
    motion = -20.0 * (place - place.mean(axis=0)) + rng.uniform(-0.2, 0.2, (60, 3))
    grains = Grains(place, rng.choice([0.004, 0.0045, 0.005], 60), "glass", motion, rng.uniform(-50.0, 50.0, (60, 3)))
    return GranularBed(
        grains, [GLASS], gravity=(0, 0, 0), default_surface=surface, skin=skin, step=2e-5, accounted=accounted,
        threads=threads,
    )  # fmt: skip


def mixture(ratio, count=400, skin=0.15):
    """Spheres whose radii span a range, as many in each octave of it, each beside a larger one."""
    rng = np.random.default_rng(7)
    radius = RADIUS * ratio ** -rng.uniform(0.0, 1.0, count)
    radius[::-1].sort()
    place = np.zeros((1, 3))
    for n, one in enumerate(radius[1:], 1):
        beside, way = rng.integers(0, n, 100), rng.normal(size=(100, 3))
        gap = one * rng.uniform(-0.05, 0.1, 100)
        way *= ((radius[beside] + one + gap) / np.linalg.norm(way, axis=1))[:, None]
        trial = place[beside] + way
        free = (np.linalg.norm(trial[:, None] - place, axis=2) > radius[:n] + 0.94 * one).all(axis=1)
        place = np.vstack([place, trial[free.argmax()]])
    grains = Grains(place, radius, "glass", rng.normal(0.0, 0.5, (count, 3)), rng.uniform(-50.0, 50.0, (count, 3)))
    return GranularBed(grains, [GLASS], gravity=(0, 0, 0), default_surface=ROUGH, skin=skin)


def listed(bed):
    """Numbers of the grains of all listed pairs, each with the lower one first."""
    state, n = bed.state, bed.count
    first = np.repeat(np.arange(n), np.diff(state.pair_start[: n + 1]))
    pairs = state.ident[np.stack([first, state.pair_other[: state.listed[0]]])]
    return sorted(zip(*np.sort(pairs, axis=0).tolist(), strict=True))


def box(place, *, surface=ROUGH, accounted=True, gravity=(0.0, 0.0, -GRAVITY), shapes=None, **options):
    """Spheres on a floor with sides."""
    if shapes is None:
        shapes = [Plane((0, 0, 0), (0, 0, 1), "glass")]
    boundaries = [Boundary("floor", shapes, **options)]
    grains = place if isinstance(place, Grains) else Grains(np.array(place, dtype=float), RADIUS, "glass")
    return GranularBed(grains, [GLASS], boundaries=boundaries, gravity=gravity, default_surface=surface,
                       accounted=accounted)  # fmt: skip


def floor_triangles(count=5, side=0.04, seed=1):
    """A level floor in irregular triangles, from -side/2 to side/2."""
    edge = np.linspace(-0.5 * side, 0.5 * side, count + 1)
    x, y = np.meshgrid(edge, edge, indexing="ij")
    inside = (slice(1, -1), slice(1, -1))
    rng = np.random.default_rng(seed)
    x[inside] += rng.uniform(-0.3, 0.3, x[inside].shape) * side / count
    y[inside] += rng.uniform(-0.3, 0.3, y[inside].shape) * side / count
    corner = np.stack([x, y, np.zeros_like(x)], axis=-1)
    first = np.stack([corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:]], axis=2)
    second = np.stack([corner[:-1, :-1], corner[1:, 1:], corner[:-1, 1:]], axis=2)
    return np.concatenate([first.reshape(-1, 3, 3), second.reshape(-1, 3, 3)])


def test_contacts_keep_linear_and_angular_momentum():
    """To round-off: both arms of a contact reach to one point."""
    bed = cloud()
    before = bed.momentum()
    moving = float((bed.mass * np.linalg.norm(bed.velocity, axis=1)).sum())
    bed.step(2000)
    change = bed.momentum() - before
    assert np.abs(change[:3]).max() < 1e-12 * moving
    assert np.abs(change[3:]).max() < 1e-12 * moving * 0.03


def test_accounts_balance_to_the_second_order_of_the_step():
    """What is left is the error of the normal springs."""
    errors = []
    for step in (2e-5, 1e-5):
        bed = cloud(accounted=True)
        bed.step_size = step
        bed.step(round(0.02 / step))
        energy = bed.energy()
        lost = energy["normal_loss"] + energy["friction_loss"] + energy["rolling_loss"]
        errors.append(abs(bed.energy_error()) / lost)
        assert energy["friction_loss"] > 0.0 and energy["rolling_loss"] > 0.0 and energy["normal_loss"] > 0.0
    assert errors[0] < 1e-3 and errors[1] < 0.5 * errors[0]


def test_motion_does_not_depend_on_when_the_lists_are_built():
    """Memory goes with its pair when rows change their order: displacements and forces, with their signs."""
    often, seldom = cloud(skin=0.004), cloud(skin=0.6)
    for bed in (often, seldom):
        bed.step(300)
    assert np.abs(often.position - seldom.position).max() < 1e-9 * RADIUS
    assert np.abs(often.spin - seldom.spin).max() < 1e-7 * np.abs(often.spin).max()


def test_restart_and_accounts_change_no_bit():
    bed = cloud()
    bed.step(150)
    kept = bed.snapshot()
    bed.step(250)
    end = bed.snapshot()
    bed.restore(kept)
    bed.accounted = True
    bed.step(100)
    bed.step(150)
    for name in ("position", "velocity", "spin", "pair_history", "ident", "time"):
        assert (getattr(bed.state, name) == getattr(end, name)).all(), name


@pytest.mark.parametrize("ratio", [1.0, 6.0, 20.0, 100.0])
def test_lists_hold_all_near_pairs_once(ratio):
    bed = mixture(ratio)
    distance = np.linalg.norm(bed.position[:, None] - bed.position, axis=2)
    near = np.triu(distance < bed.radius[:, None] + bed.radius + bed.system.skin, 1)
    assert listed(bed) == list(zip(*(one.tolist() for one in np.nonzero(near)), strict=True))
    assert (bed.state.pair_other[: bed.state.listed[0]] < bed.count).all()


def test_range_of_radii_does_not_make_lists_dearer():
    """Distances taken for a grain, by counts: beside spheres of one size, and beside one grid for all."""
    equal, wide = (bed.granular.work.compared[0] for bed in (mixture(1.0), mixture(20.0)))
    assert wide < 1.5 * equal


def test_rays_meet_grains_of_all_sizes():
    """Through cells that are no wider than the small ones need: no cell has more than a share of all grains."""
    bed = mixture(20.0)
    grid = make_grain_grid(bed.count)
    state, cells = bed._packed.state, Packed(grid)
    sort_into_cells(state, cells)
    assert np.diff(grid.start).max() < 0.1 * bed.count
    rng = np.random.default_rng(4)
    met = 0
    for target in rng.permutation(bed.position)[:50]:
        eye = bed.position.mean(axis=0) + 0.2 * rng.normal(size=3)
        way = (target - eye) / np.linalg.norm(target - eye)
        along = (bed.position - eye) @ way
        square = bed.radius**2 - ((bed.position - eye) ** 2).sum(axis=1) + along**2
        hit = (square > 0.0) & (along > 0.0)
        expected = np.min(along[hit] - np.sqrt(square[hit]), initial=np.inf)
        assert ray_to_grains(state, cells, *eye, *way, 10.0) == pytest.approx(expected, abs=1e-12)
        met += expected < 10.0
    assert met == 50


def test_wide_ranges_keep_momentum_whenever_lists_are_built():
    beds = [mixture(20.0, 200, skin) for skin in (0.02, 0.6)]
    before = beds[0].momentum()
    moving = float((beds[0].mass * np.linalg.norm(beds[0].velocity, axis=1)).sum())
    for bed in beds:
        bed.step(300)
    assert np.abs(beds[0].momentum() - before).max() < 1e-12 * moving
    assert np.abs(beds[0].position - beds[1].position).max() < 1e-9 * beds[0].radius.min()


def test_threads_change_no_bit():
    """Over many lists, with grains that come and go, a clump that meets them, and more threads than there is to do."""
    beds = [cloud(threads=threads) for threads in (1, 2, 5)]
    rod = ClumpShape("rod", (((0, 0, 0), 1.0), ((1.5, 0, 0), 1.0)))
    for bed in beds:
        bed.step(200)
        bed.remove(bed.ident[::7])
        bed.add(Grains(np.array([[0.045, 0.016, 0.016]]), 0.004, "glass", np.array([[-3.0, 0.0, 0.0]]), shape=rod))
        bed.step(200)
        assert bed.clumps.velocity[0, 0] > -2.9
    for name in ("position", "velocity", "spin", "pair_history", "ident", "clump_momentum"):
        assert all((getattr(bed.state, name) == getattr(beds[0].state, name)).all() for bed in beds[1:]), name


def test_removed_grains_leave_the_others_alone():
    place = [[0.0, 0.0, 0.0049], [0.05, 0.0, 0.02], [0.1, 0.0, 0.0049]]
    bed, without = box(place), box([place[0], place[2]])
    assert bed.remove([1]) == pytest.approx(without.mass[0])
    for one in (bed, without):
        one.step(200)
    assert bed.ident.tolist() == [0, 2]
    assert (bed.position == without.position).all()


def test_added_grains_leave_the_others_alone():
    place = [[0.0, 0.0, 0.0049], [0.1, 0.0, 0.0049], [0.1, 0.0, 0.0148]]
    bed, alone = box(place), box(place)
    for one in (bed, alone):
        one.step(100)
    added = bed.add(Grains(np.array([[0.05, 0.0, 0.0049], [-0.05, 0.0, 0.0049]]), RADIUS, "glass"))
    for one in (bed, alone):
        one.step(200)
    assert added.tolist() == [3, 4] and bed.count == 5
    assert (bed.position[:3] == alone.position).all()
    assert bed.position[3, 2] != 0.0049
    with pytest.raises(ParameterError, match="at most 0.005 m"):
        bed.add(Grains(np.array([[0.0, 0.1, 0.1]]), 0.006, "glass"))


def test_added_grains_must_suit_the_step():
    bed = box([[0.0, 0.0, 0.0051]])
    before = bed.snapshot()
    with pytest.raises(ParameterError, match="step.*a contact lasts"):
        bed.add(Grains(np.array([[0.1, 0.0, 0.1]]), 0.0005, "glass"))
    with pytest.raises(ParameterError, match="number of a grain.*7"):
        bed.remove([0, 7])
    assert all((one == other).all() for one, other in zip(bed.state, before, strict=True))


@pytest.mark.parametrize(("share", "comes_back"), [(0.98, True), (1.02, False)])
def test_grains_pass_through_thin_boundaries_when_the_overlap_is_a_radius(share, comes_back):
    """An elastic impact of Hertz: v^2 = 16 E* R^3/(15 m); told before anything runs."""
    sheet = np.array([[[-1, -1, 0], [1, -1, 0], [1, 1, 0]], [[-1, -1, 0], [1, 1, 0], [-1, 1, 0]]], float)
    soft = GrainMaterial("soft", 1e6, 0.25, 2500.0)
    modulus, mass = 0.5e6 / (1.0 - 0.25**2), 2500.0 * 4.0 / 3.0 * math.pi * RADIUS**3
    speed = share * math.sqrt(16.0 * modulus * RADIUS**3 / (15.0 * mass))
    grains = Grains(np.array([[0.1, 0.2, 1.01 * RADIUS]]), RADIUS, "soft", np.array([[0.0, 0.0, -speed]]))
    boundary = Boundary("sheet", [Mesh(sheet, "soft")])
    told = contextlib.nullcontext() if comes_back else pytest.warns(RuntimeWarning, match="thin boundary 'sheet'")
    with told:
        bed = GranularBed(
            grains, [soft], boundaries=[boundary], gravity=(0, 0, 0), default_surface=Surface(1.0, 0.0), speed=speed
        )
    bed.step(200)
    assert (bed.position[0, 2] > RADIUS) == comes_back


@pytest.mark.parametrize("radius", [1e-5, 1.0])
@pytest.mark.parametrize("density", [10.0, 2e4])
def test_restitution_does_not_depend_on_size_or_density(radius, density):
    """A head-on impact at the default step, a 20th of the contact: within the 5.3e-3 of the table of steps."""
    material = GrainMaterial("any", 1e7, 0.25, density)
    place, motion = np.array([[0, 0, 0], [2.0 * radius, 0, 0]]), np.array([[0.5, 0, 0], [-0.5, 0, 0]])
    grains = Grains(place, radius, "any", motion)
    bed = GranularBed(grains, [material], gravity=(0, 0, 0), default_surface=Surface(0.7, 0.3))
    bed.step(60)
    assert bed.velocity[1, 0] - bed.velocity[0, 0] == pytest.approx(0.7, abs=5.3e-3)


def test_adhesion_holds_spheres_together_at_rest():
    """Where Hertz's force is that of Derjaguin, Muller and Toporov: 4/3 E* sqrt(R*) d^(3/2) = 2 pi w R*."""
    work, reduced, modulus = 0.5, 0.5 * RADIUS, 0.5e7 / (1.0 - 0.25**2)
    grains = Grains(np.array([[0, 0, 0], [2.0 * RADIUS - 1e-7, 0, 0]]), RADIUS, "glass")
    surface = Surface(0.3, 0.3, adhesion=work)
    bed = GranularBed(grains, [GLASS], gravity=(0, 0, 0), default_surface=surface, speed=0.1)
    bed.step(20_000)
    overlap = (2.0 * math.pi * work * math.sqrt(reduced) / (4.0 / 3.0 * modulus)) ** (2.0 / 3.0)
    assert 2.0 * RADIUS - np.linalg.norm(bed.position[1] - bed.position[0]) == pytest.approx(overlap, rel=1e-9)


def depths(bed):
    """Overlaps of all pairs and with the floor, by the smaller radius."""
    place, radius = bed.position, bed.radius
    overlap = radius[:, None] + radius - np.linalg.norm(place[:, None] - place, axis=2)
    np.fill_diagonal(overlap, 0.0)
    return np.append(overlap / np.minimum(radius[:, None], radius), 1.0 - place[:, 2] / radius)


def test_overlaps_at_the_start_are_relaxed_with_a_word():
    place = [[0.0, 0.0, 0.005], [0.1, 0.0, 0.005], [0.008, 0.0, 0.005], [0.2, 0.0, 0.003]]
    told = "grains start inside each other, 1 pairs, or in boundaries, 1 grains; grain 0 and 2 by 0.40 of a radius"
    with pytest.warns(RuntimeWarning, match=told):
        bed = box(place)
    assert depths(bed).max() < 0.01
    # of two alike each moves as far; the others stay
    assert bed.position[:3] == pytest.approx(np.array(place[:3]) + np.outer([-1, 0, 1], [0.001, 0.0, 0.0]), abs=1e-9)
    with pytest.warns(RuntimeWarning, match="1 pairs"):
        bed.add(Grains(np.array([[0.1, 0.001, 0.012]]), RADIUS, "glass"))
    assert depths(bed).max() < 0.01


def test_many_overlaps_are_relaxed_up_to_the_room_there_is():
    """Spheres of three sizes anywhere in a box: an open one, in which they rise, and one whose lid is shut."""
    rng = np.random.default_rng(2)
    radius = rng.choice([0.001, 0.002, 0.005], 300)
    side = (4.0 / 3.0 * math.pi * (radius**3).sum() / 0.8) ** (1.0 / 3.0)
    grains = Grains(rng.uniform(0.0, side, (300, 3)), radius, "glass")
    shapes = open_box(side, side, "glass")
    with pytest.warns(RuntimeWarning, match="they are pushed apart"):
        bed = box(grains, shapes=shapes)
    assert depths(bed).max() < 0.01
    assert (np.abs(bed.position[:, :2] - 0.5 * side).max(axis=1) < 0.5 * side - 0.99 * bed.radius).all()
    with pytest.raises(ParameterError, match="more room"):
        box(grains, shapes=[*shapes, Plane((0.0, 0.0, side), (0.0, 0.0, -1.0), "glass")])


def test_grains_at_one_place_are_relaxed():
    with pytest.warns(RuntimeWarning, match="by 2.00 of a radius"):
        assert depths(box(np.full((20, 3), 0.1))).max() < 0.01


# Steps in an elastic contact: worst error over the phases of the first touch, of e = 1, 0.7 and 0.3.
STEPPED = {20: (4.2e-4, 5.3e-3, 1.5e-2), 40: (7.2e-5, 2.2e-3, 6.9e-3)}


@pytest.mark.parametrize("steps", STEPPED)
def test_restitution_by_the_steps_in_a_contact(steps):
    """As converged elsewhere, to a tenth and for 16 phases."""
    contact, speed, phases = 1.0317996e-3, 1.0, 16
    step = contact / steps
    gap = speed * step * (np.arange(phases) + 0.5) / phases
    lanes = 4.0 * RADIUS * np.arange(phases)
    first = np.stack([-RADIUS - 0.5 * gap, lanes, np.zeros(phases)], axis=1)
    place, motion = np.concatenate([first, first * [-1, 1, 1]]), np.zeros((2 * phases, 3))
    motion[:phases, 0], motion[phases:, 0] = 0.5, -0.5
    for restitution, worst in zip((1.0, 0.7, 0.3), STEPPED[steps], strict=True):
        grains = Grains(place, RADIUS, "glass", motion)
        bed = GranularBed(
            grains, [GLASS], gravity=(0, 0, 0), step=step, default_surface=Surface(restitution), speed=speed
        )
        bed.step(2 * steps)
        error = np.abs(bed.velocity[phases:, 0] - bed.velocity[:phases, 0] - restitution).max()
        assert error == pytest.approx(worst, rel=0.1)


def test_load_of_a_tower_and_of_a_heap():
    """In a tower each sphere bears those above and its own weight; in a heap what its contacts exert."""
    tower = box([(0.0, 0.0, (2 * number + 1) * RADIUS) for number in range(3)])
    tower.step(20_000)
    assert tower.load == pytest.approx([5 * WEIGHT, 3 * WEIGHT, WEIGHT], rel=1e-3)
    heap = box(np.array([(0, 0, 1), (2, 0, 1), (1, 1.8, 1), (1, 0.6, 2.7)]) * RADIUS * 1.001)
    heap.step(20_000)
    contacts, summed = heap.contacts(), np.zeros(4)
    np.add.at(summed, contacts.first, contacts.normal_force)
    between = ~contacts.boundary
    np.add.at(summed, contacts.second[between], contacts.normal_force[between])
    assert between.sum() == 3 and len(between) == 6
    assert heap.load == pytest.approx(summed, rel=1e-3)


def test_reaction_is_the_weight_and_its_moment():
    bed = box([[0.03, 0.0, RADIUS], [0.03, 0.02, RADIUS], [0.03, 0.02, 3.0 * RADIUS]])
    bed.step(round(1.0 / bed.step_size))
    bed.step(round(0.2 / bed.step_size))
    force, moment = bed.reaction("floor")
    assert force == pytest.approx([0.0, 0.0, -3.0 * WEIGHT], rel=1e-4, abs=1e-9)
    assert moment == pytest.approx([-0.04 * WEIGHT, 0.09 * WEIGHT, 0.0], rel=1e-4, abs=1e-9)
    contacts = bed.contacts()
    assert contacts.normal_force[contacts.boundary].sum() == pytest.approx(3.0 * WEIGHT, rel=1e-4)


def test_moving_bodies_get_what_the_grains_lose():
    """Linear and angular momentum, to round-off: a tube and a mesh that move and turn through the cloud."""
    free = cloud()
    triangles = 0.02 * np.array([[(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 0, 0), (0, 1, 0), (0, 0, 1)]], dtype=float)
    bed = GranularBed(
        Grains(free.position, free.radius, "glass", free.velocity, free.spin), [GLASS], gravity=(0, 0, 0), step=2e-5,
        default_surface=ROUGH,
        boundaries=[
            Boundary("tube", [Cylinder((0, 0, 0), (0, 0, 1), 0.025, "glass")], (0.016, 0.016, 0.0),
                     velocity=(0.3, 0.0, 0.1), angular_velocity=(5.0, 0.0, 20.0)),
            Boundary("blade", [Mesh(triangles, "glass")], (-0.03, 0.0, 0.01), velocity=(1.0, 0.2, 0.0),
                     angular_velocity=(0.0, 0.0, -10.0)),
        ],
    )  # fmt: skip
    moving = float((bed.mass * np.linalg.norm(bed.velocity, axis=1)).sum())
    for steps in (1, 700, 1300):
        # with their first positions: those half a step back, which velocities belong to, do not change the sum
        before, origins = bed.momentum(), bed.state.body_position.copy()
        bed.step(steps)
        lasted = steps * bed.step_size
        for b, name in enumerate(("tube", "blade")):
            force, moment = bed.reaction(name)
            assert steps == 1 or (np.abs(force).max() > 0.0 and bed.contact_stiffness(name) > 0.0)
            before[:3] -= lasted * force
            before[3:] -= lasted * (moment + np.cross(origins[b], force))
        assert np.abs(bed.momentum() - before)[:3].max() < 1e-12 * moving
        assert np.abs(bed.momentum() - before)[3:].max() < 1e-12 * moving * 0.03


@pytest.mark.parametrize("turning", [0.0, 0.7])
def test_flat_mesh_has_no_seams(turning):
    """A sphere rolls over edges and corners as over a plane, on a floor that is turned about the vertical too."""
    triangles = floor_triangles() @ np.array(
        [[math.cos(turning), math.sin(turning), 0.0], [-math.sin(turning), math.cos(turning), 0.0], [0.0, 0.0, 1.0]]
    )
    grains = Grains(
        np.array([[-0.012, 0.001, RADIUS], [-0.012, -0.011, RADIUS]]), RADIUS, "glass", np.array([[0.3, 0.02, 0.0]] * 2)
    )
    surface = Surface(0.7, 0.5)
    meshed, plane = box(grains, shapes=[Mesh(triangles, "glass")], surface=surface), box(grains, surface=surface)
    for bed in (meshed, plane):
        bed.step(round(0.08 / bed.step_size))
    assert plane.position[0, 0] > 0.005
    assert np.abs(meshed.position - plane.position).max() < 1e-9 * RADIUS
    assert np.abs(meshed.spin - plane.spin).max() < 1e-6


def test_corner_of_a_mesh_holds_with_all_its_faces():
    """Two walls and a floor of one mesh are three contacts, as those of three planes."""
    a = 0.03
    quads = [
        [(0, 0, 0), (a, 0, 0), (a, a, 0), (0, a, 0)],
        [(0, 0, 0), (0, a, 0), (0, a, a), (0, 0, a)],
        [(0, 0, 0), (0, 0, a), (a, 0, a), (a, 0, 0)],
    ]
    triangles = np.array([half for q in quads for half in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))], dtype=float)
    planes = [Plane((0, 0, 0), axis, "glass") for axis in np.eye(3)]
    beds = [
        box([[1.1 * RADIUS] * 3], shapes=shapes, gravity=(-3.0, -4.0, -GRAVITY))
        for shapes in ([Mesh(triangles, "glass")], planes)
    ]
    for bed in beds:
        bed.step(round(0.2 / bed.step_size))
    assert len(beds[0].contacts().first) == 3
    assert np.abs(beds[0].position - beds[1].position).max() < 1e-9 * RADIUS


def test_sphere_rolls_off_the_edge_of_a_mesh():
    """The contact goes from the face to its edge; energy is kept without friction."""
    quad = np.array(
        [[(-0.05, -0.05, 0), (0, -0.05, 0), (0, 0.05, 0)], [(-0.05, -0.05, 0), (0, 0.05, 0), (-0.05, 0.05, 0)]]
    )
    grains = Grains(np.array([[-0.004, 0.0, RADIUS]]), RADIUS, "glass", np.array([[0.1, 0.0, 0.0]]))
    bed = box(grains, shapes=[Mesh(quad.astype(float), "glass")], surface=Surface(1.0, 0.0))
    bed.step(round(0.15 / bed.step_size))
    assert bed.position[0, 2] < -RADIUS
    assert bed.energy_error() == pytest.approx(0.0, abs=2e-4 * WEIGHT * RADIUS)


def test_drum_turns_a_sphere_with_it():
    """A turning tube takes a sphere with it until both are as fast where they touch."""
    tube = [Cylinder((0, 0, 0), (0, 1, 0), 0.03, "glass")]
    bed = box([[0.0, 0.0, -0.025]], shapes=tube, angular_velocity=(0.0, 2.0, 0.0), surface=Surface(0.5, 0.5))
    bed.step(round(3.0 / bed.step_size))
    outward = bed.position[0] / np.linalg.norm(bed.position[0])
    rim = bed.velocity[0] + np.cross(bed.spin[0], RADIUS * outward)
    assert rim == pytest.approx(np.cross([0.0, 2.0, 0.0], 0.03 * outward), abs=2e-4)
    work = bed.energy()["boundary_work"]
    assert work > 0.0 and abs(bed.energy_error()) < 0.01 * work


def test_constant_velocity_and_an_observer_that_moves_with_it():
    """A sphere that lands on a rising, sliding floor as on one at rest, seen from the floor."""
    velocity = np.array([0.2, 0.0, 0.1])
    still = box(Grains(np.array([[0, 0, 0.0055]]), RADIUS, "glass", np.array([[0.1, 0.0, -0.3]])))
    moving = box(Grains(np.array([[0, 0, 0.0055]]), RADIUS, "glass", np.array([[0.1, 0.0, -0.3]]) + velocity),
                 velocity=velocity)  # fmt: skip
    for bed in (still, moving):
        bed.step(2000)
    assert moving.position - velocity * moving.time == pytest.approx(still.position, abs=1e-9)
    assert moving.spin == pytest.approx(still.spin, abs=1e-6)


def test_vibrating_floor_does_its_work():
    """Accounts of a bouncing sphere close within the error of the springs; the floor is where its motion says."""
    shake = Vibration((0.0, 0.0, 5e-4), 2.0 * math.pi * 25.0)
    bed = box([[0.0, 0.0, 1.5 * RADIUS]], vibration=shake, surface=Surface(0.5))
    bed.step(round(1.013 / bed.step_size))
    assert bed.body_position("floor")[2] == pytest.approx(5e-4 * math.sin(50.0 * math.pi * bed.time), abs=1e-12)
    energy = bed.energy()
    assert energy["boundary_work"] > 0.5 * WEIGHT * RADIUS
    assert abs(bed.energy_error()) < 2e-3 * energy["boundary_work"]


@pytest.mark.parametrize(("slope", "holds"), [(26.0, True), (27.2, False)])
def test_body_that_cannot_roll_stands_up_to_the_angle_of_friction(slope, holds):
    """atan(0.5) is 26.57 degrees."""
    down, across = GRAVITY * math.sin(math.radians(slope)), GRAVITY * math.cos(math.radians(slope))
    grains = Grains(np.array([[0.0, 0.0, 0.99999 * RADIUS]]), RADIUS, "glass", turns=False)
    bed = box(grains, gravity=(down, 0.0, -across), surface=Surface(0.3, 0.5))
    bed.step(round(1.0 / bed.step_size))
    before = bed.position[0, 0]
    bed.step(round(0.5 / bed.step_size))
    moved = bed.position[0, 0] - before
    expected = down - 0.5 * across
    assert abs(moved) < 1e-9 if holds else moved == pytest.approx(expected * (0.5 + 0.125), rel=0.02)


def test_adhesion_holds_up_to_its_pull_off_force():
    """2 pi w R* (Derjaguin, Muller and Toporov): a sphere hangs from a ceiling by 1.1 of its weight, not by 0.9."""
    for share, hangs in ((1.1, True), (0.9, False)):
        surface = Surface(0.1, adhesion=share * WEIGHT / (2.0 * math.pi * RADIUS))
        ceiling = [Plane((0, 0, 0), (0, 0, -1), "glass")]
        bed = box([[0.0, 0.0, -0.9998 * RADIUS]], surface=surface, shapes=ceiling)
        bed.step(round(0.3 / bed.step_size))
        assert (bed.position[0, 2] > -1.001 * RADIUS) == hangs


def test_grain_that_is_not_finite_ends_the_run():
    bed = box([[0.0, 0.0, 0.01]])
    bed.state.velocity[0, 0] = math.nan
    with pytest.raises(DivergenceError, match="grain 0"):
        bed.step(10)


def test_unknown_boundary_is_refused():
    with pytest.raises(ParameterError, match="one of floor"):
        box([[0.0, 0.0, 0.01]]).reaction("wall")
