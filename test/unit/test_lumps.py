"""Soil that becomes lumps where it is cut, and soil again where they rest: balances, restarts, machines that go."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import grouser
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.base.trees import copied, leaves
from grouser.physics.description import parse_machine
from grouser.physics.description.data.lumps import LUMPS, SOLID_SHARE, lump_mass
from grouser.physics.description.data.machine import Member
from grouser.physics.description.world.reader import parse_world
from grouser.physics.granular.soil_surface import surface_below_grain
from grouser.physics.simulation.transfer import simulate, transfer_state
from grouser.physics.soil.tiles import SURFACE, cell_of

SOIL = """
ground:
  soil:
    cell: {cell}
    type: {{preset: sandy_loam, cohesion: 1000, friction_angle_deg: 34, density: 1600, swell: 1.25,
      repose_angle_deg: 32, lumps: {lumps}}}
"""
INERTIAL = '<inertial><mass value="50"/><inertia ixx="5" iyy="5" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>
  <limit lower="-20" upper="20" effort="1e6" velocity="50"/></joint>"""
PLATE = '<collision><origin xyz="{at}"/><geometry><box size="{size}"/></geometry></collision>'
# Floor, back and sides of a bucket whose plate is upright at x = 0, 0.3 m high.
PLATES = (
    PLATE.format(at="-0.2 0 -0.01", size="0.4 0.5 0.02"),
    PLATE.format(at="-0.41 0 0.15", size="0.02 0.5 0.34"),
    PLATE.format(at="-0.2 0.26 0.14", size="0.44 0.02 0.34"),
    PLATE.format(at="-0.2 -0.26 0.14", size="0.44 0.02 0.34"),
)
SHOVEL = """<shovel name="tool" link="tool" cutting_edge="0 -0.25 0  0 0.25 0" top_edge="0 -0.25 0.3  0 0.25 0.3"
  cutting_direction="1 0 0" edge_thickness="0.01" {profile}/>"""
BUCKET = 'profile="0 0 0  -0.4 0 0  -0.4 0 0.3  0 0 0.3"'


def rig(profile: str = BUCKET) -> grouser.Machine:
    """A bucket, or a blade of the same height, on a gantry that is driven along x and z and turns about y."""
    plates = "".join(PLATES) if profile else PLATE.format(at="-0.01 0 0.15", size="0.02 0.5 0.3")
    links = [("carriage", ""), ("mast", ""), ("tool", plates)]
    joints = [("x", "prismatic", "1 0 0"), ("z", "prismatic", "0 0 1"), ("pitch", "revolute", "0 1 0")]
    parts = ['<link name="rail"/>'] + [f'<link name="{name}">{INERTIAL}{more}</link>' for name, more in links]
    chain = ["rail", "carriage", "mast", "tool"]
    for (name, kind, axis), parent, child in zip(joints, chain, chain[1:], strict=False):
        parts.append(JOINT.format(name=name, kind=kind, parent=parent, child=child, axis=axis))
    drives = "".join(f'<servo_drive joint="{name}" mode="velocity" damping="1e9"/>' for name, _, _ in joints)
    shovel = SHOVEL.format(profile=profile)
    text = f'<robot name="rig">{"".join(parts)}<grouser>{drives}{shovel}</grouser></robot>'
    return parse_machine(text, "rig.urdf", base="fixed")


def world(cell: float = 0.05, lumps: str = "true") -> grouser.World:
    return parse_world(SOIL.format(cell=cell, lumps=lumps), "lumps.yaml")


def above_ground(crumbs: float) -> grouser.Simulation:
    """A blade in the air that has cut some soil, which is no lumps yet; the ground has as much less [kg]."""
    simulation = grouser.Simulation(rig(""), world())
    simulation.reset({"z": 0.3})
    simulation.state.digging.crumbs[0] = crumbs
    simulation.state.digging.departed[0] = -crumbs
    simulation.resume(simulation.state)
    return simulation


@pytest.fixture(scope="module")
def dug() -> grouser.Simulation:
    """A bucket that has cut 0.1 m deep over 0.5 m."""
    simulation = grouser.Simulation(rig(), world())
    simulation.reset({"z": -0.1})
    simulation.command["x"] = 0.5
    simulation.step(1000)
    return simulation


def test_what_a_bucket_cuts_is_lumps_in_it(dug):
    balance, load = dug.soil_balance(), dug.bucket_load("tool")
    cut = 1600.0 * 0.5 * 0.1 * 0.5  # density, width, depth, length
    assert -balance.field == pytest.approx(cut, rel=0.12)  # the edge is within a cell
    assert balance.carried == 0.0 and not dug.state.digging.bulk.any()
    assert balance.lumps == pytest.approx(-balance.field - balance.falling, rel=1e-9)
    assert 0.0 <= balance.falling < 5.0 * lump_mass(dug.world.soil)
    assert abs(balance.relative_residual) < 1e-12
    assert load.count > 0 and load.mass == pytest.approx(load.count * lump_mass(dug.world.soil), rel=1e-9)
    assert set(dug.grains.material) == {LUMPS}


def test_a_loose_bed_of_lumps_is_as_dense_as_loose_soil():
    soil, ground = world().soil.soils[0], world().soil
    of_sphere = lump_mass(ground) / (math.pi / 6.0 * ground.cell**3)
    assert of_sphere * SOLID_SHARE == pytest.approx(soil.density / soil.swell, rel=1e-12)


def test_two_diggers_that_do_not_meet_dig_as_each_alone():
    """One begins later, so that their lumps are made in turn."""
    members = {"one": Member(rig()), "two": Member(rig(), grouser.Pose((0.0, 6.0, 0.0)))}

    def digging(*names: str) -> grouser.Simulation:
        simulation = simulate({name: members[name] for name in names}, world(), 0.001)
        simulation.reset({f"{name}/z": -0.1 for name in names})
        for name, steps in (("one", 30), ("two", 370)):
            if name in names:
                simulation.command[f"{name}/x"] = 0.5
            simulation.step(steps)
        return simulation

    both = digging("one", "two")
    assert abs(both.soil_balance().relative_residual) < 1e-12
    for tool, name in enumerate(members):
        alone = digging(name)
        assert both.state.digging.crumbs[tool] == alone.state.digging.crumbs[0]
        side = (both.grains.position[:, 1] > 3.0) == (name == "two")
        # forces of the contacts of a lump are added in another order
        assert both.grains.position[side] == pytest.approx(alone.grains.position, abs=1e-9)
        assert len(alone.grains.position) > 20


def test_a_restart_continues_to_the_last_bit(dug):
    state = copied(dug.state)
    copies = [grouser.Simulation(dug.machine, dug.world) for _ in range(2)]
    for copy in copies:
        copy.resume(copied(state))
        copy.command["x"] = 0.3
        copy.step(200)
    again = copies[1]
    again.resume(copied(state))
    again.command["x"] = 0.3
    for _ in range(20):
        again.step(10)
    count = int(again.state.granular.grains.number[0])
    assert count > 0
    for name in ("position", "velocity", "spin", "ident"):
        one, other = (getattr(copy.state.granular.grains, name)[:count] for copy in copies)
        assert np.array_equal(one, other)
    for one, other in zip(leaves(copies[0].state.soil), leaves(again.state.soil), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(copies[0].state.digging.crumbs, again.state.digging.crumbs)


def test_lumps_that_rest_become_soil():
    simulation = above_ground(10.0)
    simulation.command["z"] = 0.5
    simulation.step(100)
    assert simulation.soil_balance().lumps == pytest.approx(10.0, abs=lump_mass(simulation.world.soil))
    for _ in range(40):
        simulation.step(250)
        if not len(simulation.grains):
            break
    balance = simulation.soil_balance()
    assert len(simulation.grains) == 0 and balance.lumps == 0.0
    assert balance.field == pytest.approx(10.0 - balance.falling, rel=1e-9)
    assert balance.residual == pytest.approx(0.0, abs=1e-9)
    assert 0.0 <= balance.falling < lump_mass(simulation.world.soil)
    patch = simulation.terrain_patch()
    assert patch.loose.sum() * patch.cell**2 == pytest.approx(balance.field * 1.25 / 1600.0, rel=1e-9)


def test_a_machine_that_goes_leaves_its_lumps_and_takes_its_crumbs():
    ground = world()
    source = simulate({"digger": Member(rig(""))}, ground, 0.001)
    source.reset({"digger/z": 0.3})
    source.state.digging.crumbs[0], source.state.digging.departed[0] = 5.0, -5.0
    source.resume(source.state)
    source.step(5)
    before = source.soil_balance()
    assert before.lumps > 4.0 and before.falling > 0.0
    target = simulate({}, ground, 0.001)
    transfer_state(source, target)
    after = target.soil_balance()
    assert after.lumps == pytest.approx(before.lumps, rel=1e-12)
    assert after.departed == pytest.approx(before.falling - 5.0, rel=1e-9)
    target.step(1000)
    assert abs(target.soil_balance().residual) < 1e-9


def test_no_lump_is_between_a_blade_and_the_soil_that_it_cuts():
    blade = grouser.Simulation(rig(""), world())
    blade.reset({"z": -0.1})
    blade.command["x"] = 0.5
    blade.step(600)
    ahead = blade.grains.position - np.array([blade.joint_position["x"], 0.0, 0.0])
    near = (ahead[:, 0] > 0.0) & (ahead[:, 0] < 0.05) & (np.abs(ahead[:, 1]) < 0.25)
    assert near.any()
    # what moves in during a step is taken back in the next one
    assert ahead[near, 2].min() > -0.002
    assert blade.digging_force("tool").separation > 0.0
    assert abs(blade.soil_balance().relative_residual) < 1e-12


def test_the_surface_below_a_small_grain_is_smooth_and_a_plane_on_plane_ground(dug):
    spacing, cells = 0.05, Packed(copied(dug.state).soil)
    slope = np.array([0.3, -0.2])
    for a, b in itertools.product(range(6), range(6)):
        cells.soil_cell[cell_of(cells, a, b) + SURFACE] = 0.1 + spacing * (slope @ (a, b))
    place = np.array([2.3, 1.8])
    *normal, distance = surface_below_grain.py_func(spacing, cells, *(spacing * place), 0.4)
    upright = np.array([*-slope, 1.0]) / math.sqrt(1.0 + slope @ slope)
    assert np.allclose(normal, upright, rtol=1e-12)
    assert distance == pytest.approx((0.3 - spacing * (slope @ place)) * upright[2], rel=1e-12)
    cells.soil_cell[cell_of(cells, 3, 2) + SURFACE] += 0.1  # a step
    for border in (2.5, 3.5):
        sides = [
            surface_below_grain.py_func(spacing, cells, spacing * (border + off), 0.1, 0.4) for off in (-1e-9, 1e-9)
        ]
        assert np.allclose(*sides, atol=1e-7)


def test_cells_whose_lumps_are_too_small_or_too_large_are_refused():
    with pytest.raises(ParameterError, match='at least 0.0151 m for shovel "tool".*lumps: false'):
        grouser.Simulation(rig(), world(cell=0.01))
    with pytest.raises(ParameterError, match='at most 0.1 m for shovel "tool" of 0.3 m'):
        coarse = replace(world().soil, cell=0.12)
        grouser.Simulation(rig(), replace(world(), ground=replace(world().ground, soil=coarse)))


def test_wrong_lumps_are_refused():
    with pytest.raises(MachineError, match="lumps"):
        world(lumps="3")
    with pytest.raises(ParameterError, match="true or false"):
        grouser.load_soil({"preset": "sandy_loam", "lumps": 1})
    mixed = """
ground:
  soil:
    types: {a: {preset: sandy_loam, lumps: true}, b: {preset: dry_sand}}
    map: {file: map.csv, cell: 1.0, types: [a, b]}
"""
    with pytest.raises(MachineError, match="lumps of soil 'b'"):
        parse_world(mixed, "mixed.yaml")
