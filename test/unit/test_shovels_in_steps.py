"""Shovels on machines: what soil does to them, the balances of mass, momentum and energy, restarts and copies."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

import grouser
from grouser.physics.base.trees import leaves
from grouser.physics.description import parse_machine
from grouser.physics.description.data.mechanism import Collision
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.world.reader import parse_world
from grouser.physics.digging.resistance import CUT, SIDE
from grouser.physics.digging.tools import check_tools
from grouser.physics.digging.wedge import wedge_factors
from grouser.physics.simulation.pushes import Push
from grouser.physics.simulation.transfer import simulate, transfer_state
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.strata import field_mass

MASSES = {"carriage": 100.0, "mast": 50.0, "tool": 30.0}
# A carriage along x carries a mast along z with a tool that turns about y.
INERTIAL = '<inertial><mass value="{mass}"/><inertia ixx="5" iyy="5" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>
  <limit lower="-20" upper="20" effort="1e6" velocity="50"/></joint>"""
SHOVEL = """<shovel name="tool" link="tool" cutting_edge="0 -{half} 0  0 {half} 0" top_edge="{top}"
  cutting_direction="{out}" edge_thickness="0.01" {more}/>"""
SENSOR = '<force_torque_sensor name="cell" joint="z"/>'
BUCKET = 'profile="0 0 0  -0.3 0 -0.05  -0.4 0 0.15  -0.3 0 0.3" side_plates="true"'
BED = 'profile="0 0 0  0 0 -0.5  -3 0 -0.5  -3 0 0"'
SOIL = """
ground:
  soil:
    cell: 0.05
    type: {{preset: sandy_loam, cohesion: {cohesion}, friction_angle_deg: 30, density: 1600, swell: 1.25,
      repose_angle_deg: 32}}
"""


def rig(
    more: str = BUCKET,
    driven: str = "x z pitch",
    axis: str = "1 0 0",
    name: str = "rig",
    bed: bool = False,
    lightness: float = 1.0,
) -> grouser.Machine:
    """A bucket on a gantry, or a blade, or a bed that is open at its top; joints that are driven keep a speed."""
    half, top, out = (1.0, "-3 -1 0  -3 1 0", "0 0 1") if bed else (0.25, "-0.3 -0.25 0.3  -0.3 0.25 0.3", "1 0 0")
    parts = [f'<link name="{link}">{INERTIAL.format(mass=mass / lightness)}</link>' for link, mass in MASSES.items()]
    kinds = {"x": ("prismatic", axis), "z": ("prismatic", "0 0 1"), "pitch": ("revolute", "0 1 0")}
    chain = ["rail", *MASSES]
    for (joint, (kind, along)), parent, child in zip(kinds.items(), chain, chain[1:], strict=False):
        parts.append(JOINT.format(name=joint, kind=kind, parent=parent, child=child, axis=along))
    drives = "".join(f'<servo_drive joint="{joint}" mode="velocity" damping="1e9"/>' for joint in driven.split())
    shovel = SHOVEL.format(half=half, top=top, out=out, more=more)
    text = (
        f'<robot name="{name}"><link name="rail"/>{"".join(parts)}<grouser>{drives}{shovel}{SENSOR}</grouser></robot>'
    )
    return parse_machine(text, f"{name}.urdf", base="fixed")


@functools.cache
def loam(cohesion: float = 2000.0) -> grouser.World:
    return parse_world(SOIL.format(cohesion=cohesion), "loam.yaml")


def start(machine: grouser.Machine, world: grouser.World, step: float = 0.001, **positions) -> grouser.Simulation:
    simulation = grouser.Simulation(machine, world, step=step)
    simulation.reset(positions)
    return simulation


def masses(simulation: grouser.Simulation) -> tuple[float, float, float]:
    """Solid mass of the field above natural ground, in shovels, and in the air [kg]."""
    system, state = simulation.arrays.system, simulation.state
    ground = SoftGround(system.soil.soils, system.contact.terrain, float(system.soil.cell[0]), 9.81)
    air = sum(state.digging.air[t, :count, 0].sum() for t, count in enumerate(state.digging.air_count))
    return float(field_mass(ground, state.soil)), float(state.digging.bulk[:, 0].sum()), float(air)


def force(simulation: grouser.Simulation, way: int, tool: int = 0) -> float:
    return float(simulation._engine.workspace.digging.force[tool, way])


def dig(simulation: grouser.Simulation) -> None:
    """Cuts 0.1 m deep over 0.8 m while the bucket curls, and lifts."""
    simulation.command.update({"x": 0.8, "pitch": -0.5})
    simulation.step(1000)
    simulation.command.update({"x": 0.0, "z": 0.6})
    simulation.step(1000)


@pytest.fixture(scope="module")
def dug() -> grouser.Simulation:
    """A bucket that has dug and stands in the air with its load."""
    simulation = start(rig(), loam(), z=-0.1)
    dig(simulation)
    simulation.command.update({"z": 0.0, "pitch": 0.0})
    simulation.step(300)
    return simulation


# --- what holds a shovel ---------------------------------------------------------------------------------------------


def test_soil_holds_a_blade_and_never_pushes_it():
    blade = start(rig("", "z pitch"), loam(), z=-0.1, pitch=math.pi / 4.0)  # upright: soil cannot lift it
    blade.step(200)
    assert blade.joint_position["x"] == pytest.approx(0.0, abs=1e-6)  # as its mast creeps
    blade.pushes["carriage"] = Push((100.0, 0.0, 0.0))  # below what the wedge bears
    blade.step(2000)
    crept = blade.joint_position["x"]
    assert 0.0 < crept < 0.02 * 0.1
    blade.step(2000)
    assert blade.joint_position["x"] == pytest.approx(crept, abs=1e-6)
    assert blade.energy_balance().residual == pytest.approx(0.0, abs=1e-6)
    blade.pushes["carriage"] = Push((-200.0, 0.0, 0.0))  # nothing holds the back of the plate
    blade.step(200)
    assert blade.joint_velocity["x"] < -0.1


@pytest.mark.parametrize("more", [BUCKET, ""])
def test_a_tool_sinks_until_soil_bears_its_weight(more):
    lowest = 0.05 if more else 0.0
    tool = start(rig(more, "x pitch"), loam(), z=0.02 + lowest)
    tool.step(3000)
    depth = -tool.joint_position["z"]
    assert 0.0 < depth + lowest < 0.2
    tool.step(1000)
    assert -tool.joint_position["z"] == pytest.approx(depth, abs=1e-4)


def test_side_plates_are_held_both_ways():
    for speed in (0.2, -0.2):
        bucket = start(rig(axis="0 1 0"), loam(), z=-0.1)
        bucket.command["x"] = speed
        bucket.step(50)
        passive = math.tan(math.radians(60.0))
        pressure = 0.5 * 1600.0 * 9.81 * 0.1 * passive**2 + 2.0 * 2000.0 * passive
        assert force(bucket, SIDE) == pytest.approx(
            -math.copysign(pressure * 0.1 * math.hypot(0.3, 0.3), speed), rel=1e-4
        )


@pytest.mark.parametrize("lightness", [1.0, 100.0])
def test_the_wedge_weighs_on_a_blade_that_is_pushed_from_rest(lightness):
    """(M + m) dv/dt = F - P(x) - P_a(v), on ground that is still level, for a blade of 180 and of 1.8 kg."""
    depth, rake, pushed, mass = 0.1, math.radians(45.0), 2000.0, 180.0 / lightness
    friction, tool_friction, width, density = math.radians(30.0), math.radians(20.0), 0.5, 1600.0
    blade = start(rig("", "z pitch", lightness=lightness), loam(), 1e-4, z=-depth, x=0.025)
    blade.pushes["carriage"] = Push((pushed, 0.0, 0.0))
    blade.step(30)
    failure = float(blade.state.digging.failure[0, 0, 0])
    factors = wedge_factors(rake, failure, friction, tool_friction, 0.0)
    level = width * math.sin(rake + tool_friction)
    slow = level * (density * 9.81 * depth**2 * factors.weight + 2000.0 * depth * factors.cohesion)
    area = 0.5 * depth**2 * (1.0 / math.tan(rake) + 1.0 / math.tan(failure))
    wedge = level * density * area * factors.inertia
    x = v = 0.0
    for _ in range(30_000):
        steady = slow + level * density * depth * v * v * factors.inertia
        v += 1e-7 * (pushed - steady * -math.expm1(-x / (0.02 * depth))) / (mass + wedge)
        x += 1e-7 * v
    assert wedge > 6.0  # what it adds is more than 3 % of the mass, or four times the mass
    # of the first order of the step; what has heaved by then
    assert blade.joint_velocity["x"] == pytest.approx(v, rel=5e-3)
    found = blade.digging_force("tool")
    assert found.inertia > 0.0 < found.separation


def test_a_blade_that_brakes_is_not_pulled_by_its_wedge():
    blade = start(rig(""), loam(), z=-0.1)
    blade.command["x"] = 1.0
    blade.step(100)
    steady = blade.digging_force("tool")
    assert 0.0 < steady.inertia < steady.separation
    found = []
    for speed in (0.9, 0.1, 0.0):
        blade.command["x"] = speed
        blade.step(1)
        found.append(blade.digging_force("tool"))
    assert [one.inertia + one.separation for one in found] == pytest.approx([0.0] * 3, abs=1e-6)
    assert found[0].inertia < 0.0
    blade.step(10)
    assert blade.digging_force("tool").inertia == 0.0
    balance = blade.energy_balance()
    assert balance.residual == pytest.approx(0.0, abs=1e-3 * balance.dissipation["soil cut by tool"])


# --- what a bucket carries -------------------------------------------------------------------------------------------


def test_a_load_weighs_on_its_body_and_moves_with_it(dug):
    mass = masses(dug)[1]
    assert mass > 10.0
    z = dug.arrays.names.joints["z"].v
    for lift in (0.0, 0.5):
        dug.command["z"] = lift
        dug.step(400)
        assert dug.joint_effort["z"] == pytest.approx((80.0 + mass) * 9.81, rel=1e-4), z
    dug.command["z"] = 0.0
    dug.step(400)


def test_a_sensor_in_the_mast_feels_load_and_soil(dug):
    load = masses(dug)[1]
    dug.step(10)
    assert dug.sensors.force_torque_sensor["cell"][2] == pytest.approx((80.0 + load) * 9.81, rel=1e-5)
    blade = start(rig(""), loam(), z=-0.1)
    blade.command["x"] = 0.1
    blade.step(200)
    soil = blade.digging_force("tool").force_world
    assert soil[0] < -100.0
    # the mast moves evenly: what is not its weight is the soil's
    assert blade.sensors.force_torque_sensor["cell"][:3] == pytest.approx(
        [-soil[0], 0.0, 80.0 * 9.81 - soil[2]], abs=0.5
    )


def glide_and_spill(step: float) -> float:
    """Momentum that a gliding bucket, which turns and spills, and the cart below that catches its load have lost."""
    machines = {
        "bucket": grouser.Member(rig(driven="z pitch")),
        "cart": grouser.Member(rig(BED, "z pitch", name="cart", bed=True)),
    }
    both = simulate(machines, loam(), step)
    both.reset({"bucket/z": 3.0, "cart/x": 1.5, "cart/z": 1.0, "bucket/pitch": -1.0})
    joints = both.arrays.names.joints
    both.state.digging.bulk[0] = 20.0, 20.0 * 1.25 / 1600.0
    both.resume(both.state)
    both.step(1)
    both.state.v[joints["bucket/x"].v] = both.state.v[joints["cart/x"].v] = 0.3
    both.resume(both.state)
    both.command["bucket/pitch"] = 2.0
    both.step(round(1.5 / step))
    both.command["bucket/pitch"] = 0.0
    both.step(round(1.0 / step))
    assert both.state.digging.bulk[:, 0] == pytest.approx((0.0, 20.0), abs=1e-9)
    assert abs(both.joint_velocity["cart/x"] - 0.3) > 5e-4
    return 380.0 * 0.3 - 180.0 * both.joint_velocity["bucket/x"] - 200.0 * both.joint_velocity["cart/x"]


def test_soil_that_leaves_takes_its_momentum_along_and_gives_it_where_it_is_caught():
    """What is lost is of the integrator's order, by the turn of the load about the joint; nothing by the exchange."""
    coarse, fine = glide_and_spill(0.001), glide_and_spill(0.0005)
    assert coarse - 2.0 * fine == pytest.approx(0.0, abs=1e-6 * 114.0)


def test_mass_is_one_balance_over_cut_load_and_dump(dug):
    copy = dug.batch(1)[0]
    for pitch in (0.0, 2.0, 2.0, 2.0, 0.0):
        copy.command["pitch"] = pitch
        copy.step(400)
        field, carried, air = masses(copy)
        assert field + carried + air == pytest.approx(0.0, abs=1e-9 * copy.state.digging.taken[0, 0])
    assert carried < 0.1 * copy.state.digging.taken[0, 0]


def test_the_load_is_where_it_weighs(dug):
    """The joint about the cutting edge holds the load's weight at its centre; corners of the profile as in BUCKET."""
    load, pitch = dug.bucket_load("tool"), dug.joint_position["pitch"]
    assert load.mass == masses(dug)[1] > 10.0
    lever = math.cos(pitch) * load.centre[0] + math.sin(pitch) * load.centre[2]
    assert dug.joint_effort["pitch"] == pytest.approx(-load.mass * 9.81 * lever, rel=1e-4)
    assert load.centre[1] == pytest.approx(0.0, abs=1e-12)
    x, z = np.array([(0.0, 0.0), (-0.3, -0.05), (-0.4, 0.15), (-0.3, 0.3)]).T
    struck = 0.5 * 0.5 * abs(x @ np.roll(z, -1) - z @ np.roll(x, -1))
    opening = math.hypot(0.3, 0.3)
    heap = 0.5 * opening**2 / 4.0 - opening**3 / 12.0
    assert load.volume == pytest.approx(1.25 * load.mass / 1600.0)
    assert load.fill_factor == pytest.approx(load.volume / (struck + heap))


def test_the_force_on_a_tool_is_what_its_joints_hold():
    """An inclined bucket without a back in the soil, at a steady speed: its load is all that changes its momentum."""
    tool = start(rig('profile="0 0 0  -0.3 0 0.05  -0.3 0 0.3"'), loam(), z=-0.1)
    tool.command["x"] = 0.5
    record = tool.record(["digging_force.tool.*", "bucket_load.tool.mass", "joint_effort.x", "joint_velocity.x"])
    tool.step(600)
    found, load = tool.digging_force("tool"), tool.bucket_load("tool")
    assert (found.bearing, found.side) == pytest.approx((0.0, 0.0), abs=0.1)
    assert found.separation > 100.0 and found.penetration > 100.0  # the edge points the way it moves
    assert 0.1 < found.depth < 0.2  # below what lies ahead of it
    loading = 0.5 * np.diff(record["bucket_load.tool.mass"]) / 0.001
    pull = record["joint_effort.x"][1:] + record["digging_force.tool.force_world_x"][1:]
    assert pull[5:] == pytest.approx(loading[5:], abs=1e-3 * found.separation)  # at rest it began
    weight = -load.mass * 9.81 * load.centre[0]
    assert tool.joint_effort["pitch"] == pytest.approx(weight - found.moment_world[1], rel=1e-2)
    speed = 0.5 * (record["joint_velocity.x"][1:] + record["joint_velocity.x"][:-1])
    work = -0.001 * (record["digging_force.tool.force_world_x"][1:] * speed).sum()
    assert found.specific_energy == pytest.approx(work / (load.mass / 1600.0), rel=1e-5)


def test_readings_of_mass_and_of_rigid_ground(dug):
    balance = dug.soil_balance()
    assert (balance.field, balance.carried, balance.falling) == masses(dug)
    assert balance.carried < balance.displaced < 2.0 * balance.carried  # some lies beside the cut
    assert abs(balance.relative_residual) < 1e-9
    before = dug.snapshot()
    dug.reset()
    found, load = dug.digging_force("tool"), dug.bucket_load("tool")
    assert load.mass == found.separation == found.depth == 0.0
    assert math.isnan(found.specific_energy)
    dug.restore(before)
    rigid = grouser.Simulation(rig(), grouser.World())
    assert rigid.soil_balance() is None
    assert (rigid.bucket_load("tool").mass, rigid.digging_force("tool").separation) == (0.0, 0.0)
    with pytest.raises(grouser.ParameterError, match="'tool'"):
        rigid.digging_force("tol")


def test_heaps_at_the_start_count_in_the_balance():
    text = SOIL.format(cohesion=2000) + "    heaps: [{xy: [1, 0], height: 0.2}]\n"
    simulation = grouser.Simulation(rig(), parse_world(text, "heaps.yaml"))
    simulation.step(2)
    balance = simulation.soil_balance()
    cone = math.pi * 0.2**3 / 3.0 / math.tan(math.radians(32.0)) ** 2
    assert balance.heaps == pytest.approx(cone * 1600.0 / 1.25, rel=0.05)  # its radius is six cells
    assert balance.displaced == pytest.approx(balance.heaps, rel=1e-9)
    assert abs(balance.relative_residual) < 1e-9


def test_work_of_soil_is_accounted():
    simulation = start(rig(), loam(), z=-0.1)
    dig(simulation)
    balance = simulation.energy_balance()
    assert balance.dissipation["soil cut by tool"] > 100.0
    assert balance.actuator_work["soil in tool"] < -50.0
    assert balance.residual == pytest.approx(0.0, abs=2e-3 * balance.dissipation["soil cut by tool"])


# --- restarts, copies, and machines that come and go -----------------------------------------------------------------


def bits(simulation: grouser.Simulation) -> list[bytes]:
    state = simulation.state
    return [array.tobytes() for array in (*leaves(state.digging), state.q, state.v, state.soil.soil_cell)]


def test_restart_and_copies_have_the_same_bits():
    simulation = start(rig(), loam(), z=-0.1)
    simulation.command.update({"x": 0.8, "pitch": -0.5})
    simulation.step(400)
    saved, copies = simulation.snapshot(), simulation.batch(2)
    simulation.step(700)
    copies.step(700)
    after = bits(simulation)
    assert [bits(copy) for copy in copies] == [after, after]
    simulation.restore(saved)
    simulation.step(123)
    simulation.step(577)
    assert bits(simulation) == after


def test_a_machine_that_joins_or_goes_changes_no_bit_of_a_dig():
    one = grouser.Member(rig())
    two = grouser.Member(rig(name="other"), grouser.Pose((0.0, 10.0, 0.0)))
    alone = simulate({"one": one}, loam(), 0.001)
    alone.reset({"one/z": -0.1})
    alone.command.update({"one/x": 0.8, "one/pitch": -0.5})
    alone.step(400)
    both = simulate({"one": one, "two": two}, loam(), 0.001)
    transfer_state(alone.batch(1)[0], both)
    both.command["two/x"] = 0.5
    alone.step(300)
    both.step(300)
    assert both.part("one").bucket_load("tool") == both.bucket_load("one/tool") == alone.bucket_load("one/tool")
    found = both.part("one").digging_force("tool")
    assert found.separation + found.inertia == pytest.approx(force(both, CUT), rel=1e-12)
    assert found.separation > 0.0
    assert both.part("two").digging_force("tool").separation == 0.0
    assert both.state.digging.bulk[0].tobytes() == alone.state.digging.bulk[0].tobytes()
    again = simulate({"one": one}, loam(), 0.001)
    transfer_state(both, again)
    alone.step(300)
    again.step(300)
    assert bits(again)[:7] == bits(alone)[:7]  # accounts are opened anew


def test_soil_that_goes_with_a_machine_stays_in_the_balance():
    one, two = grouser.Member(rig()), grouser.Member(rig(name="other"), grouser.Pose((0.0, 10.0, 0.0)))
    both = simulate({"one": one, "two": two}, loam(), 0.001)
    both.reset({"one/z": -0.1, "two/z": -0.1})
    both.command.update({"one/x": 0.8, "one/pitch": -0.5, "two/x": 0.8})
    both.step(700)
    load = both.bucket_load("one/tool").mass
    assert load > 5.0
    left = simulate({"two": two}, loam(), 0.001)
    transfer_state(both, left)
    left.step(100)
    again = simulate({"two": two, "one": one}, loam(), 0.001)
    transfer_state(left, again)
    balance = again.soil_balance()
    assert balance.departed == pytest.approx(load, rel=1e-12)
    assert abs(balance.relative_residual) < 1e-9


# --- beyond the model ------------------------------------------------------------------------------------------------


def test_a_shovel_that_is_placed_cuts_nothing_on_its_way():
    simulation = start(rig(), loam(), z=-0.1)
    simulation.step(1)
    simulation.reset({"x": 5.0, "z": -0.1})
    simulation.step(1)
    assert masses(simulation) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


@pytest.mark.filterwarnings("ignore:shovel .* is faster than a cell a step:RuntimeWarning")
@pytest.mark.parametrize("speed", [5.0, 40.0])
@pytest.mark.parametrize("step", [1e-4, 4e-3])
def test_fast_shovels_stay_finite_and_keep_mass(speed, step):
    simulation = start(rig(), loam(), step, z=-0.3, x=-5.0)
    simulation.command["x"] = speed
    simulation.step(round(0.2 / step))
    assert np.isfinite(simulation.state.q).all()
    assert sum(masses(simulation)) == pytest.approx(0.0, abs=1e-9 * 1600.0)


def test_what_is_beyond_the_model_is_told():
    simulation = start(rig(), loam(), 4e-3, z=-0.3)
    simulation.command["x"] = 20.0
    with pytest.warns(RuntimeWarning, match='shovel "tool" is faster than a cell a step, 12.5 m/s'):
        simulation.step(20)


def test_a_bucket_upside_down_is_borne_and_cuts_nothing():
    bucket = start(rig(driven="x pitch"), loam(), z=0.1, pitch=math.pi)
    bucket.step(1500)
    bucket.command["x"] = 0.5
    bucket.step(500)
    found = bucket.digging_force("tool")
    assert found.separation == 0.0 and found.bearing > 0.5 * 80.0 * 9.81
    assert bucket.bucket_load("tool").mass == 0.0
    assert sum(masses(bucket)) == pytest.approx(0.0, abs=1e-9)


def test_a_shovel_is_stopped_by_another_machine():
    """Both have boxes; the other machine glides off with the momentum that the drive gives it."""
    box = (Collision("box", Pose((-0.2, 0.0, 0.3)), Box((0.4, 0.5, 0.6))),)
    machine = rig("", "z pitch")
    solid = replace(
        machine, links=tuple(replace(one, collisions=box if one.name == "tool" else ()) for one in machine.links)
    )
    both = simulate(
        {"digger": grouser.Member(solid), "other": grouser.Member(solid, Pose((0.6, 0.0, 0.0)))}, loam(), 0.001
    )
    both.reset({"digger/z": -0.05, "other/z": 0.2})
    both.pushes["digger/carriage"] = Push((3000.0, 0.0, 0.0))
    both.step(1000)
    assert np.isfinite(both.state.q).all()
    gap = 0.6 + both.joint_position["other/x"] - both.joint_position["digger/x"]
    assert both.joint_position["other/x"] > 0.1 and gap > 0.4 - 1e-3
    field, carried, air = masses(both)
    assert field + carried + air == pytest.approx(0.0, abs=1e-9)


def test_tools_wider_than_the_cells_allow_are_refused_or_told():
    world, blade = loam(), rig("")
    (shovel,) = blade.shovels

    def of(width):
        ends = (0.0, -0.5 * width, 0.0), (0.0, 0.5 * width, 0.0)
        return replace(blade, shovels=(replace(shovel, width=width, cutting_edge=ends),))

    with pytest.raises(grouser.ParameterError, match='cell = 0.05.*0.0508 m for shovel "tool" of 26 m.*512 cells'):
        check_tools(of(26.0), world)
    (told,) = check_tools(of(5.0), world)
    assert told == (
        'shovel "tool" is 100 cells wide: each of its 64 strips sees one row of cells; 0.0781 m is a cell as wide as a '
        "strip"
    )
    assert check_tools(of(3.2), world) == check_tools(of(30.0), grouser.World()) == ()
