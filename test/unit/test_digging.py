"""Tools led through soft ground: what they cut, carry, push ahead and dump, and the balance of mass."""

import math

import numpy as np
import pytest

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground
from grouser.physics.digging.dug_ground import CARRIED, CUT_MASS, FALLING, DiggingTool, DugGround, upright_pose
from grouser.physics.digging.holding import Holding, make_holding
from grouser.physics.soil.bed import SoilBed

CELL, WIDTH, OPENING, DENSITY, SWELL = 0.05, 0.45, 0.4, 1600.0, 1.25
# Cohesion under which all cuts here stand.
SOIL = Soil("soil", "test", 1.5e6, 1.1, 2e4, math.radians(30.0), 0.02, DENSITY, math.radians(32.0), swell=SWELL)
BLADE = DiggingTool(WIDTH, OPENING)
# Holds everything while its plate faces up, nothing upside down.
BUCKET = DiggingTool(WIDTH, OPENING, Holding(np.where(np.arange(-16, 16) < -8, 0.0, 1.0), np.zeros((32, 2, 2))))


def ground(tool, cell=CELL, **fields):
    return DugGround(SoilBed(Ground(soil=SoilGround((SOIL,), cell=cell, **fields))), tool)


def straight(begin, end, z, steps, rake=1.0):
    return np.array([upright_pose(x, z, rake) for x in np.linspace(begin, end, steps + 1)])


def turned(path, angle):
    """The path turned about the vertical axis."""
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return (path.reshape(-1, 3, 3) @ turn.T).reshape(path.shape)


@pytest.mark.parametrize("steps", [22, 500])
@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 2.0])
def test_straight_cut_takes_its_cross_section(steps, angle):
    """However many steps a cell takes; along the cells exactly, across them as the cells resolve the edge."""
    dug = ground(BUCKET)
    record = dug.follow(turned(straight(-0.525, 0.525, -0.1, steps), angle))
    bank = record[-1, CUT_MASS] / DENSITY
    assert bank == pytest.approx(WIDTH * 0.1 * 1.05, rel=1e-9 if angle != 0.4 else 0.05)
    assert dug.carried_volume == pytest.approx(SWELL * bank, rel=1e-12)
    assert abs(dug.mass) < 1e-12 * record[-1, CUT_MASS]


def arc(depth, radius=1.2, speed=0.5, step=1e-3):
    """The edge on an arc through level ground, the plate at 45 degrees to it; and the area of the segment [m2]."""
    half = math.acos(1.0 - depth / radius)
    angles = np.linspace(-1.02 * half, 1.02 * half, round(2.04 * half * radius / (speed * step)) + 1)
    poses = [
        upright_pose(radius * math.sin(a), radius - depth - radius * math.cos(a), math.pi / 4.0 - a) for a in angles
    ]
    return np.array(poses), 0.5 * radius**2 * (2.0 * half - math.sin(2.0 * half))


@pytest.mark.parametrize("depth", [0.05, 0.2])
def test_arc_takes_the_segment(depth):
    dug, (path, area) = ground(BUCKET, 0.025), arc(depth)
    record = dug.follow(path)
    assert record[-1, CUT_MASS] / DENSITY == pytest.approx(WIDTH * area, rel=0.02)
    assert record[-1, CARRIED] == pytest.approx(record[-1, CUT_MASS], rel=1e-12)
    assert dug.bed.heights((0.0, 0.0), (0.0, 0.0)).item() == pytest.approx(-depth, abs=1e-3)


def test_nothing_is_cut_backwards_upside_down_or_above_the_ground():
    for path in (
        straight(0.5, -0.5, -0.1, 100),
        straight(-0.5, 0.5, -0.1, 100, rake=-1.0),
        straight(-0.5, 0.5, 0.01, 100),
    ):
        dug = ground(BUCKET)
        assert not dug.follow(path).any()
        assert dug.bed.state.tile_count[0] == 0 or dug.bed.mass == 0.0


def test_cut_and_dumped_soil_is_one_balance():
    """A cycle of cutting, lifting, turning over and falling, with all states of the soil in between."""
    dug = ground(BUCKET)
    cut = dug.follow(straight(-0.5, 0.5, -0.1, 500))
    mass = cut[-1, CUT_MASS]
    lifted = np.array([upright_pose(0.5, z, 1.0) for z in np.linspace(-0.1, 1.5, 400)])
    over = np.array([upright_pose(0.5, 1.5, rake) for rake in np.linspace(1.0, -2.5, 500)])
    raised = dug.follow(lifted)
    assert raised[-1, CARRIED] == mass
    dumped = dug.follow(over)
    assert dumped[:, FALLING].max() > 0.1 * mass
    assert abs(dug.mass) < 1e-12 * mass
    dug.rest(over[-1])
    assert dug.carried_mass == dug.falling_mass == 0.0
    assert dug.bed.at_rest
    assert abs(dug.mass) < 1e-12 * mass
    volume = CELL**2 * np.maximum(dug.bed.heights((-2.0, 3.0), (-2.0, 2.0)), 0.0).sum()
    assert volume > 0.5 * SWELL * mass / DENSITY


def test_dumped_soil_leaves_at_its_rate_and_falls_by_the_parabola():
    """Of the excess a share of h / 0.1 s leaves in a step; it flies with the velocity of the lip."""
    height, speed = 2.0, 1.5
    dug = ground(BUCKET)
    dug.follow(straight(-0.5, 0.5, -0.01, 500))
    path = np.array([upright_pose(20.0, height, -2.0)] * 501)
    path[:, 0] += 1e-3 * speed * np.arange(501)
    kept = dug.follow(path)[:, CARRIED]
    assert kept[99] / kept[0] == pytest.approx(math.exp(-0.99), rel=1e-6)
    dug.rest(path[-1], 2000)
    # the top edge is the lower one; soil leaves it after 0.1 s in the mean
    lip, fall = 20.0 + OPENING * path[0, 6], height + OPENING * path[0, 8]
    middle = lip + speed * (0.1 + math.sqrt(2.0 * fall / 9.81))
    x, fallen = np.arange(20.0, 22.001, CELL), dug.bed.heights((20.0, 22.0), (-1.0, 1.0)).sum(axis=1)
    assert (fallen * x).sum() / fallen.sum() == pytest.approx(middle, abs=0.5 * CELL)


def test_blade_carries_a_pile_ahead_and_loses_it_to_the_sides():
    dug = ground(BLADE)
    record = dug.follow(straight(-1.0, 1.0, -0.05, 2000))
    assert not record[:, CARRIED].any()
    heights = dug.bed.heights((-2.0, 2.5), (-1.0, 1.0))
    ahead, beside, behind = heights[61:].max(), heights[20:60, :14].max(), heights[25:58, 19:22].max()
    assert ahead > 0.1 and beside > 0.02
    assert behind < -0.049, "nothing slides through the plate"
    assert abs(dug.mass) < 1e-12 * record[-1, CUT_MASS]


def test_full_bucket_pushes_the_rest_ahead():
    small = DiggingTool(WIDTH, OPENING, Holding(np.array([0.02]), np.zeros((1, 2, 2))))
    dug = ground(small)
    record = dug.follow(straight(-0.5, 0.5, -0.1, 1000))
    assert dug.carried_volume == pytest.approx(0.02, rel=1e-12)
    assert record[-1, CUT_MASS] > DENSITY * WIDTH * 0.1 * 0.9
    assert dug.bed.heights((0.5, 1.5), (0.0, 0.0)).max() > 0.05
    assert abs(dug.mass) < 1e-12 * record[-1, CUT_MASS]


def test_fast_tool_and_rigid_ground_are_finite_and_said():
    rock = {"types": np.array([[0], [-1]]), "types_cell": 2.0}
    dug = ground(BUCKET, **rock)
    with pytest.warns(RuntimeWarning, match="faster than a cell a step"):
        dug.follow(straight(-0.525, 0.525, -0.1, 3))
    assert dug.carried_mass == pytest.approx(DENSITY * WIDTH * 0.1 * 1.05, rel=1e-9)
    with pytest.warns(RuntimeWarning, match="rigid ground"):
        dug.follow(straight(1.2, 2.0, -0.1, 500))
    assert dug.carried_mass == pytest.approx(DENSITY * WIDTH * 0.1 * 1.05, rel=1e-9)
    assert len(dug.warnings) == 2 and abs(dug.mass) < 1e-9


def test_soil_that_falls_on_rigid_ground_lies_there():
    dug = ground(BUCKET, types=np.array([[0], [-1]]), types_cell=2.0)
    dug.follow(straight(-0.5, 0.5, -0.1, 500))
    mass = dug.carried_mass
    dug.rest(upright_pose(3.0, 1.0, -2.0))
    assert dug.carried_mass == 0.0
    heap = dug.bed.heights((2.0, 4.0), (-1.0, 1.0))
    assert CELL**2 * heap.sum() * DENSITY / SWELL == pytest.approx(mass, rel=1e-12)
    assert abs(dug.mass) < 1e-12 * mass


def test_far_motion_opens_tiles_as_it_needs_them():
    dug = ground(BUCKET)
    dug.follow(straight(-20.0, 20.0, -0.02, 4000))
    assert dug.bed.state.tile_count[0] > 40
    assert dug.carried_mass == pytest.approx(DENSITY * WIDTH * 0.02 * 40.0, rel=0.01)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (np.zeros((1, 9)), "at least two rows"),
        (np.zeros((3, 9)), "unit vectors"),
        (np.full((3, 9), math.nan), "finite"),
        (np.array([upright_pose(1e6, 0.0, 1.0)] * 2), "within"),
    ],
)
def test_bad_paths_are_refused(path, message):
    with pytest.raises(ParameterError, match=message):
        ground(BLADE).follow(path)


def test_bad_tools_are_refused():
    for fields in ({"width": 0.0}, {"opening": math.inf}, {"holding": (1.0,)}, {"holding": 1.0}):
        with pytest.raises(ParameterError, match=next(iter(fields))):
            DiggingTool(**{"width": WIDTH, "opening": OPENING, **fields})


def test_carried_soil_has_its_centre_in_the_bucket():
    """A box on its way through the ground, level and full: the centre moves and turns with the plate."""
    box = make_holding(((0.0, 0.0), (0.0, 0.275), (0.4, 0.275), (0.4, 0.0)), WIDTH, math.radians(32.0))
    dug = ground(DiggingTool(WIDTH, OPENING, box))
    dug.follow(straight(-0.5, 0.5, -0.05, 500, rake=0.1))
    fill = dug.carried_volume / (WIDTH * 0.4)
    pose = upright_pose(1.0, 2.0, 0.0)
    level = dug.carried_centre(pose)
    # below the plate, the opening behind the edge: soil stands as high as its volume over the floor
    assert level == pytest.approx([0.8, 0.0, 2.0 - 0.275 + 0.5 * fill], abs=2e-3)
    assert dug.carried_centre(turned(pose[np.newaxis], 0.7)[0]) == pytest.approx(
        [0.8 * math.cos(0.7), 0.8 * math.sin(0.7), level[2]], abs=2e-3
    )
