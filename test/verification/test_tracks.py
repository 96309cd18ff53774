"""Tracks on rigid ground and on soil against closed forms: Wong, Theory of Ground Vehicles, chapters 2 and 6."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from shipped import shipped_machine
from tracked_vehicle import RADIUS, tracked_vehicle

from grouser import Simulation, World, load_machine
from grouser.catalogue import machine_file
from grouser.physics.base import spatial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground, Obstacle

GRAVITY = 9.81


def soil(**values):
    """Dry sand of Wong's table, as in the closed forms, or with other numbers."""
    given = {
        "cohesive_modulus": 990.0,
        "frictional_modulus": 1528430.0,
        "exponent": 1.1,
        "cohesion": 1040.0,
        "friction_angle": math.radians(28.0),
        "shear_displacement_modulus": 0.01,
    }
    return Soil("bin", "", density=1600.0, repose_angle=math.radians(32.0), **(given | values))


def on_soil(ground, cell=0.02):
    return World(ground=Ground(soil=SoilGround((ground,), cell=cell)))


def rig(world, load=1e4, length=1.5, width=0.25, **arguments):
    """The test rig with a stiff belt, set down without a jolt; its track is pressed evenly."""
    given = {"load": load, "length": length, "width": width, "pretension": 1e9, "shoes": 48, "thickness": 1e-3}
    texts = {name: repr(value) for name, value in (given | {"rail_length": 100.0} | arguments).items()}
    simulation = Simulation(load_machine(machine_file("tracked_testbed"), texts), world)
    for share in np.linspace(1.0, 0.0, 200):
        simulation.command["slide"] = load * share
        simulation.step(10)
    return simulation


def driven(simulation, speed, slip, way):
    """Means over the last half metre of thrust, resistance, sinkage and normal force at a belt speed and slip."""
    simulation.command["drive"], simulation.command["rail"] = speed / 0.2, speed * (1.0 - slip)
    forward = speed * (1.0 - slip) * simulation.step_size
    simulation.step(int(way / forward))
    seen = []
    for _ in range(int(0.5 / forward) // 5):
        simulation.step(5)
        state = simulation.track["track"]
        seen.append((state.thrust, state.resistance, state.sinkage, state.normal_force))
    return np.mean(seen, axis=0)


@pytest.mark.parametrize(
    ("load", "width", "numbers"),
    [(1e4, 0.25, {}), (4e3, 0.4, {"exponent": 0.7, "frictional_modulus": 8e4, "cohesive_modulus": 2e3})],
)
def test_sinkage_and_compaction_resistance_of_a_level_track_are_bekkers(load, width, numbers):
    ground = soil(**numbers)
    stiffness = ground.cohesive_modulus / width + ground.frictional_modulus
    # slowly: what a jolt presses down too far, a level track gives back over hundreds of metres only
    found = driven(rig(on_soil(ground), load, width=width, shoes=96), 0.05, 0.05, way=1.7)
    # the arcs at both ends carry a share: of the pressure over the depth of the belt's end, by quadrature
    length, n = 1.5, ground.exponent

    def carried(sinkage):
        front = (
            width
            * quad(
                lambda turn: (
                    stiffness * max(sinkage - RADIUS * (1.0 - math.cos(turn)), 0.0) ** n * RADIUS * math.cos(turn)
                ),
                *(0.0, math.acos(1.0 - sinkage / RADIUS)),
            )[0]
        )
        return width * length * stiffness * sinkage**n + front - load

    sinkage = brentq(carried, 1e-4, 0.1)
    resistance = width * stiffness * sinkage ** (n + 1.0) / (n + 1.0)
    assert found[2] == pytest.approx(sinkage, rel=0.03)
    assert found[1] == pytest.approx(resistance, rel=0.06)
    assert found[3] == pytest.approx(load, rel=0.01)


def test_thrust_grows_along_the_track_as_janosi_and_hanamoto_from_where_the_shoes_enter():
    ground = soil()
    simulation = rig(on_soil(ground))
    thrust, _, sinkage, _ = driven(simulation, 0.5, 0.03, way=2.0)
    length, width, slip, modulus = 1.5, 0.25, 0.03, 0.01
    # a shoe on the arc slides back at V (1 - (1 - i) cos a) (Wong's displacement of an entering shoe)
    enters = math.acos(1.0 - sinkage / RADIUS)
    before = RADIUS * quad(lambda turn: 1.0 - (1.0 - slip) * math.cos(turn), 0.0, enters)[0]
    strength = length * width * 1040.0 + 1e4 * math.tan(math.radians(28.0))
    share = quad(lambda x: 1.0 - math.exp(-(before + slip * x) / modulus), 0.0, length)[0] / length
    assert thrust == pytest.approx(strength * share, rel=0.05)


def test_second_pass_in_the_same_rut_meets_less_resistance():
    world, ways = on_soil(soil()), []
    simulation = rig(world)
    ways.append(driven(simulation, 0.5, 0.1, way=2.0)[1])
    simulation.command["drive"], simulation.command["rail"] = -0.5 / 0.2, -0.45
    simulation.step(int(2.2 / 0.45 / 1e-3))
    ways.append(driven(simulation, 0.5, 0.1, way=0.5)[1])
    assert 0.0 <= ways[1] < 0.5 * ways[0]


def test_locked_track_is_dragged_by_friction_times_weight():
    simulation = rig(World(ground=Ground(friction=0.4)), load=5e3)
    simulation.command["drive"], simulation.command["rail"] = 0.0, 0.2
    simulation.step(1500)
    state = simulation.track["track"]
    assert state.thrust == pytest.approx(-0.4 * 5e3, rel=0.02)
    assert state.slip_ratio == pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize("values", [{}, {"length": 1.1, "tread": 1.6, "friction": 0.4, "weight": 8e3}])
def test_pivot_turn_on_rigid_ground_balances_as_coulombs_law_says(values):
    """Belt forces and speeds of a quasi-static pivot turn by quadrature over both contact rectangles."""
    given = {"weight": 20e3, "length": 1.5, "width": 0.25, "tread": 1.4, "friction": 0.7} | values
    machine = tracked_vehicle(**given, shear=1e-4)
    simulation = Simulation(machine, World())
    simulation.step(300)
    belt = 0.1
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = -belt / RADIUS, belt / RADIUS
    simulation.step(1500)
    seen = []
    for _ in range(400):
        simulation.step(5)
        left, right = simulation.track["left"], simulation.track["right"]
        seen.append((right.thrust - left.thrust, left.yaw_rate, right.belt_speed - left.belt_speed))
    pull, yaw, speed = np.mean(seen, axis=0)
    length, half, width = given["length"], 0.5 * given["tread"], given["width"]
    along = length * (np.arange(400) + 0.5) / 400 - 0.5 * length
    aside = width * (np.arange(40) + 0.5) / 40 - 0.5 * width
    x, y = np.meshgrid(along, half + aside)

    def moment(place):
        slide = np.hypot(x, place - y)
        return float(np.mean((x * x - y * (place - y)) / slide))

    place = brentq(moment, half, half + 3.0 * length)
    forward = given["friction"] * 0.5 * given["weight"] * float(np.mean((place - y) / np.hypot(x, place - y)))
    assert 0.5 * speed / yaw == pytest.approx(place, rel=0.05)
    assert 0.5 * pull == pytest.approx(forward, rel=0.05)


@pytest.mark.parametrize("degrees", [10.0, 25.0])
def test_vehicle_with_locked_tracks_rests_on_a_slope_below_its_friction(degrees):
    slope = math.radians(degrees)
    normal = (-math.sin(slope), 0.0, math.cos(slope))
    world = World(
        ground=Ground(point=(0.0, 0.0, 0.0), normal=normal, friction=0.7),
        spawn=Pose((0.0, 0.0, 0.0), (0.0, -math.sin(0.5 * slope), 0.0, math.cos(0.5 * slope))),
    )
    simulation = Simulation(tracked_vehicle(shear=5e-3, pretension=2e4, damping=1e9), world)
    simulation.step(3000)
    before = simulation.link_pose("base")[0]
    simulation.step(2000)
    assert np.linalg.norm(simulation.link_pose("base")[0] - before) / 2.0 < 1e-5


def test_vehicle_slides_down_a_slope_steeper_than_its_friction():
    slope = math.radians(40.0)
    world = World(
        ground=Ground(normal=(-math.sin(slope), 0.0, math.cos(slope)), friction=0.5),
        spawn=Pose((0.0, 0.0, 0.0), (0.0, -math.sin(0.5 * slope), 0.0, math.cos(0.5 * slope))),
    )
    simulation = Simulation(tracked_vehicle(shear=1e-3, pretension=2e4), world)
    simulation.step(1000)
    before = simulation.link_pose("base")[0]
    simulation.step(500)
    moved = np.linalg.norm(simulation.link_pose("base")[0] - before)
    acceleration = GRAVITY * (math.sin(slope) - 0.5 * math.cos(slope))
    assert moved == pytest.approx(0.5 * acceleration * (1.5**2 - 1.0), rel=0.05)


@pytest.mark.parametrize("ground", [Ground(), Ground(soil=SoilGround((soil(),)))])
def test_straight_commands_drive_straight_and_small_turns_turn(ground):
    machine = tracked_vehicle(pretension=2e4, shear=5e-3)
    for turn in (0.0, 0.02):
        simulation = Simulation(machine, World(ground=ground))
        simulation.step(500)
        for side, sign in (("left", -1.0), ("right", 1.0)):
            simulation.command[f"{side}_sprocket"] = 0.5 * (1.0 + sign * turn) / RADIUS
        simulation.step(6000)
        position, quaternion = simulation.link_pose("base")
        yaw = 2.0 * math.atan2(quaternion[2], quaternion[3])
        if turn == 0.0:
            assert abs(position[1]) < 0.005 * position[0]
            assert position[0] == pytest.approx(3.0, rel=0.15)
        else:
            assert yaw > 0.01


def test_energy_of_a_driven_vehicle_is_accounted_for():
    simulation = Simulation(tracked_vehicle(pretension=2e4, shear=5e-3), on_soil(soil()))
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = 1.0, 3.0
    simulation.step(3000)
    balance = simulation.energy_balance()
    spent = sum(abs(work) for work in balance.actuator_work.values())
    losses = balance.dissipation
    assert losses["shear under track left"] > 0.0 < losses["shear under track right"]
    assert abs(balance.residual) < 0.02 * spent


@pytest.mark.parametrize("height", [0.1, 0.2])
def test_vehicle_climbs_a_kerb(height):
    step = Obstacle("kerb", Box((3.0, 4.0, height)), Pose((3.0, 0.0, 0.5 * height)), friction=0.8)
    simulation = Simulation(
        tracked_vehicle(pretension=2e4, shear=5e-3, friction=0.8, height=0.2), World(obstacles=(step,))
    )
    simulation.command["left_sprocket"] = simulation.command["right_sprocket"] = 0.5 / RADIUS
    simulation.step(7000)
    position, _ = simulation.link_pose("base")
    assert position[0] > 2.5
    assert position[2] == pytest.approx(height, abs=0.02)


def test_belt_against_a_wall_pushes_with_the_friction_of_its_face():
    """A wall stops the vehicle: the belts slip, and pull upwards on the wall."""
    wall = Obstacle("wall", Box((0.5, 4.0, 2.0)), Pose((2.0, 0.0, 1.0)), friction=0.1)
    simulation = Simulation(tracked_vehicle(pretension=2e4, shear=5e-3, friction=0.3), World(obstacles=(wall,)))
    simulation.command["left_sprocket"] = simulation.command["right_sprocket"] = 0.5 / RADIUS
    simulation.step(4000)
    assert simulation.track["left"].slip_ratio == pytest.approx(1.0, abs=0.02)
    pushed = [contact.force_world for contact in simulation.contacts() if contact.other == "wall"]
    assert pushed
    along = sum(force[0] for force in pushed)
    # the belts run down the wall in front: it pushes them up, as much as its friction allows
    assert sum(force[2] for force in pushed) == pytest.approx(-0.1 * along, rel=0.02)
    thrust = simulation.track["left"].drawbar_pull + simulation.track["right"].drawbar_pull
    assert abs(along) == pytest.approx(thrust, rel=0.05)


@pytest.mark.parametrize(
    "pose",
    [
        Pose((0.0, 0.0, 3.0)),
        Pose((0.0, 0.0, 0.8), (1.0, 0.0, 0.0, 0.0)),
        Pose((0.0, 0.0, 1.0), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))),
    ],
)
@pytest.mark.parametrize("world", [Ground(), Ground(soil=SoilGround((soil(),)))])
def test_tracks_that_fall_or_lie_on_any_side_stay_finite(pose, world):
    simulation = Simulation(tracked_vehicle(pretension=2e4, shear=5e-3), World(ground=world, spawn=pose))
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = 20.0, -20.0
    simulation.step(3000)
    position, quaternion = simulation.link_pose("base")
    assert np.all(np.isfinite(position))
    assert abs(position[2]) < 2.0
    assert simulation.diagnostics.unsettled_steps == 0
    assert np.all(np.isfinite(spatial.matrix(tuple(quaternion))))


def test_state_of_tracks_continues_bit_for_bit():
    machine, world = tracked_vehicle(pretension=2e4, shear=5e-3), on_soil(soil())
    simulation = Simulation(machine, world)
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = 1.0, 2.0
    simulation.step(400)
    saved = simulation.snapshot()
    simulation.step(300)
    first = np.concatenate([simulation.state.q, simulation.state.v, simulation.state.tracks.shear.ravel()])
    simulation.restore(saved)
    simulation.step(300)
    again = np.concatenate([simulation.state.q, simulation.state.v, simulation.state.tracks.shear.ravel()])
    assert first.tobytes() == again.tobytes()


def test_excavator_drives_straight_on_its_tracks_and_turns_on_the_spot():
    simulation = Simulation(shipped_machine("excavator"), World())
    assert not any("alternate" in warning for warning in simulation.warnings)
    simulation.step(300)
    simulation.command["track_left_valve"] = simulation.command["track_right_valve"] = 0.6
    simulation.step(4000)
    position, _ = simulation.link_pose("base_link")
    assert position[0] > 1.0
    assert abs(position[1]) < 0.005 * position[0]
    simulation.command["track_left_valve"] = -0.6
    simulation.step(2000)
    moved, quaternion = simulation.link_pose("base_link")
    assert 2.0 * math.atan2(quaternion[2], quaternion[3]) > 0.3
    assert np.linalg.norm(moved[:2] - position[:2]) < 0.6
    assert simulation.diagnostics.unsettled_steps == 0


@pytest.mark.parametrize("depth", [0.05, 0.3])
def test_machine_on_tracks_that_starts_in_the_ground_is_lifted(depth):
    machine = tracked_vehicle(pretension=2e4, shear=5e-3)
    simulation = Simulation(machine, World(spawn=Pose((0.0, 0.0, -depth))))
    assert any("lifted by" in warning for warning in simulation.warnings)
    simulation.step(1000)
    assert abs(simulation.link_pose("base")[0][2]) < 5e-3


def test_pads_beside_a_sloping_plane_touch_where_they_are():
    """Over a plane that falls to the side the pads on one edge touch first."""
    slope, width = math.radians(30.0), 0.5
    texts = {"width": repr(width), "thickness": "0.001", "pretension": "1e9", "rail_length": "100.0"}
    ground = Ground(normal=(0.0, -math.sin(slope), math.cos(slope)))
    simulation = Simulation(
        load_machine(machine_file("tracked_testbed"), texts), World(ground=ground), spawn="as_given"
    )
    simulation.command["slide"] = 3e4
    simulation.step(400)
    simulation.command["slide"] = 0.0
    while simulation.track["track"].normal_force == 0.0 and simulation.time < 5.0:
        simulation.step(1)
    assert simulation.joint_position["slide"] == pytest.approx(0.5 * width * math.tan(slope), abs=5e-3)
    simulation.step(2000)
    assert simulation.joint_position["slide"] < 0.5 * width * math.tan(slope)


@pytest.mark.parametrize("axis", ["0 1 0", "0 -1 0"])
def test_readings_do_not_depend_on_the_direction_of_the_sprockets_axis(axis):
    way = 1.0 if axis == "0 1 0" else -1.0
    simulation = Simulation(tracked_vehicle(pretension=2e4, shear=5e-3, axis=axis), World())
    simulation.step(300)
    for side, speed in (("left", 0.3), ("right", 0.5)):
        simulation.command[f"{side}_sprocket"] = way * speed / RADIUS
    simulation.step(2000)
    left, right = simulation.track["left"], simulation.track["right"]
    assert left.belt_speed == pytest.approx(0.3, rel=1e-2)
    assert right.belt_speed == pytest.approx(0.5, rel=1e-2)
    assert left.speed > 0.2
    assert left.yaw_rate > 0.02
    assert abs(right.slip_ratio) < 0.3


def test_forces_that_are_shown_are_those_that_acted():
    """Impulse of the normal forces over a fast drive, and of a light machine on stiff pads."""
    for weight, speed in ((20e3, 5.0), (200.0, 0.2)):
        simulation = Simulation(tracked_vehicle(weight=weight, pretension=2e4, shear=5e-3), World())
        simulation.step(500)
        for side in ("left", "right"):
            simulation.command[f"{side}_sprocket"] = speed / RADIUS
        pressed = 0.0
        for _ in range(1500):
            simulation.step(1)
            pressed += sum(track.normal_force for track in simulation.track.values()) / 1500
        assert pressed == pytest.approx(weight, rel=0.05)


def test_force_torque_sensor_above_tracks_feels_what_it_carries():
    load = (
        '<link name="load"><inertial><mass value="300"/><inertia ixx="9" iyy="9" izz="9" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="post" type="fixed"><parent link="load"/><child link="base"/></joint>'
    )
    machine = tracked_vehicle(
        pretension=2e4, shear=5e-3, links=load, extra='<force_torque_sensor name="felt" joint="post"/>'
    )
    simulation = Simulation(machine, World())
    simulation.step(1500)
    assert abs(simulation.sensors.force_torque_sensor["felt"][2]) == pytest.approx(300.0 * GRAVITY, rel=1e-3)


def test_belt_on_a_link_that_is_fixed_to_the_world_is_told():
    welded = tracked_vehicle(
        pretension=2e4,
        links='<link name="world"/><joint name="weld" type="fixed"><parent link="world"/><child link="base"/></joint>',
    )
    warnings = Simulation(welded, World()).warnings
    assert any('surface of link "base" moves nothing that lies on it' in warning for warning in warnings)
