"""The tips of tools follow commanded velocities: kinematics beside the simulation, and straight lines under way."""

import math
from dataclasses import replace

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import MachineError, Simulation
from grouser.catalogue import pattern_file
from grouser.physics.description.data import rotation
from grouser.runtime.control_mapping_reader import load_control_mapping
from grouser.runtime.tip_driving import ArmReading, TipDriver, read_arm
from grouser.runtime.tip_kinematics import TipKinematics

PERIOD = 20  # steps between two commands
CONTROL, ROBOT, CRANE = (
    load_control_mapping(pattern_file(f"{name}_tip")).tip for name in ("excavator", "demolition_robot", "loader_crane")
)


class Arm:
    """A machine moved by its tip."""

    def __init__(self, control, unfolding):
        self.control = control
        self.simulation = Simulation(shipped_machine(control.machine))
        self.driver = TipDriver(control, self.simulation.machine)
        self.hold(2.6, unfolding)
        self.hold(0.5, dict.fromkeys(self.driver.valves, 0.0))

    def hold(self, seconds, commands):
        self.simulation.command.update(commands)
        self.simulation.step(round(seconds / self.simulation.step_size))

    def move(self, wanted, seconds, ramp=0.4):
        """Moves the tip; returns what it passed: reach, height [m], attitude [rad], shape (samples, 3)."""
        interval = PERIOD * self.simulation.step_size
        passed = []
        for number in range(round(seconds / interval)):
            share = min(1.0, number * interval / ramp)
            commands = self.driver.commands(tuple(share * one for one in wanted), self.reading(), interval)
            self.hold(interval, commands)
            passed.append(self.tip())
        self.hold(0.4, self.driver.neutral())
        return np.array(passed)

    def reading(self):
        position, velocity = self.simulation.joint_position, self.simulation.joint_velocity
        joints = self.driver.joints
        return ArmReading({one: position[one] for one in joints}, {one: velocity[one] for one in joints}, 0.0)

    def tip(self):
        """Reach, height [m] and attitude [rad] of the teeth, by the poses of the links."""
        (house, turn), (at, turned) = (
            self.simulation.link_pose(name) for name in (self.control.frame, self.control.link)
        )
        frame, link = rotation.matrix(tuple(turn)), rotation.matrix(tuple(turned))
        place = frame.T @ (at + link @ np.array(self.control.point) - house)
        ahead = frame.T @ link[:, 0]
        return np.array([place[0], place[2], math.atan2(ahead[2], ahead[0])])

    def straight(self, wanted, seconds):
        """Moves the tip along a line; returns its way along it, its distance from it [m], and its turn [rad]."""
        start = self.tip()
        passed = self.move(wanted, seconds) - start
        direction = np.array(wanted[:2]) / math.hypot(*wanted[:2])
        across = passed[:, 0] * direction[1] - passed[:, 1] * direction[0]
        return passed[-1, :2] @ direction, np.max(np.abs(across)), np.max(np.abs(passed[:, 2]))


def excavator_arm():
    return Arm(CONTROL, {"stick_valve": -0.8, "bucket_valve": -0.5, "boom_valve": -0.35})


def robot_arm(**changes):
    return Arm(replace(ROBOT, **changes), {"stick_valve": -0.8, "boom_valve": -0.35, "tool_valve": 0.3})


def test_jacobians_are_those_of_the_simulation():
    excavator = excavator_arm()
    simulation = excavator.simulation
    arm = TipKinematics(simulation.machine, CONTROL.frame, CONTROL.link, CONTROL.point, ["boom", "stick", "bucket"])
    excavator.hold(0.5, {"boom_valve": 0.3, "stick_valve": 0.4, "bucket_valve": 0.5})
    before = excavator.tip()
    simulation.step(1)
    middle = excavator.reading()
    motion = arm.motion(middle.positions)
    simulation.step(1)
    step = simulation.step_size
    rates = np.array([middle.velocities[joint] for joint in arm.joints])
    assert np.max(np.abs(rates)) > 0.1
    assert motion.tip @ rates == pytest.approx((excavator.tip() - before) / (2.0 * step), abs=2e-3)
    # the speeds after a step close the loop at the positions before it
    assert motion.closure @ rates == pytest.approx(np.zeros(len(motion.closure)), abs=1e-4)
    cylinders = [simulation.cylinder[name] for name in ("boom", "stick", "bucket")]
    assert motion.cylinders @ rates == pytest.approx([one.velocity for one in cylinders], abs=2e-3)
    wanted = np.array([0.3, -0.2, 0.1])
    free = motion.rates(range(3), wanted, np.zeros(3, dtype=bool), np.ones(3))
    assert motion.tip @ free == pytest.approx(wanted, abs=1e-9)
    assert motion.closure @ free == pytest.approx(np.zeros(len(motion.closure)), abs=1e-9)


def test_teeth_follow_straight_lines():
    excavator = excavator_arm()
    for wanted, seconds in (((0.0, 0.3, 0.0), 1.5), ((-0.3, 0.0, 0.0), 3.0), ((0.2, -0.2, 0.0), 1.5)):
        along, across, turn = excavator.straight(wanted, seconds)
        assert along > 0.6 * seconds * math.hypot(*wanted[:2])
        assert across < 0.06
        assert turn < math.radians(6.0)


LINES = (((0.0, 0.25, 0.0), 1.5), ((-0.3, 0.0, 0.0), 2.5), ((0.2, -0.2, 0.0), 1.5))


def test_chisel_of_the_demolition_robot_follows_straight_lines():
    robot = robot_arm()
    for number, (wanted, seconds) in enumerate(LINES):
        along, across, turn = robot.straight(wanted, seconds)
        assert along > 0.6 * seconds * math.hypot(*wanted[:2])
        assert across < 0.06
        # the tool begins at the end of its stroke: it cannot keep its attitude on the way up
        assert turn < math.radians(8.0 if number == 0 else 3.0)


def test_arm_without_a_lever_of_attitude_is_redundant_and_takes_the_cylinders_that_move_least():
    robot = robot_arm(directions=("reach", "height"))
    for wanted, seconds in LINES:
        along, across, _ = robot.straight(wanted, seconds)
        assert along > 0.6 * seconds * math.hypot(*wanted[:2])
        assert across < 0.06
    arm = TipKinematics(robot.simulation.machine, ROBOT.frame, ROBOT.link, ROBOT.point, ["boom", "stick", "tool"])
    motion = arm.motion(robot.reading().positions)
    wanted, fastest = np.array([0.2, -0.1]), np.array([0.1, 0.12, 0.2])
    rates = motion.rates((0, 1), wanted, np.zeros(3, dtype=bool), fastest)
    assert motion.tip[:2] @ rates == pytest.approx(wanted, abs=1e-12)
    least = np.linalg.norm(motion.cylinders @ rates / fastest)
    for turn in (-0.2, -0.02, 0.02, 0.2):  # other attitudes' rates: the same velocity by more of the cylinders' speeds
        others = motion.rates(range(3), np.array([*wanted, motion.tip[2] @ rates + turn]), np.zeros(3, bool), fastest)
        assert motion.tip[:2] @ others == pytest.approx(wanted, abs=1e-12)
        assert np.linalg.norm(motion.cylinders @ others / fastest) > least


def test_crane_is_led_by_the_height_of_its_tip_and_stops_before_the_dead_point_of_its_cylinder():
    crane = Arm(CRANE, {})
    start = crane.tip()[1]
    height = crane.move((0.0, 0.1, 0.0), 3.0)[:, 1]
    assert height[-1] - start == pytest.approx(0.1 * (3.0 - 0.2), abs=0.02)  # less half of the ramp
    crane.move((0.0, -0.3, 0.0), 5.0)  # horizontal, the boom and its cylinder are in one line
    low = crane.tip()
    assert 0.05 < low[2] < 0.15
    crane.move((0.0, -0.3, 0.0), 1.0)
    assert crane.tip() == pytest.approx(low, abs=0.01)
    crane.move((0.0, 0.2, 0.0), 2.0)
    assert crane.tip()[1] > low[1] + 0.2


def test_more_directions_than_cylinders_are_refused():
    with pytest.raises(MachineError, match=r"1 cylinders cannot move the tip in 2 directions \(reach, height\)"):
        TipDriver(replace(CRANE, directions=("reach", "height")), shipped_machine("loader_crane"))


def test_attitude_turns_about_the_teeth():
    excavator = excavator_arm()
    excavator.move((-0.3, 0.0, 0.0), 2.0)
    start = excavator.tip()
    passed = excavator.move((0.0, 0.0, -0.4), 1.5) - start
    assert passed[-1, 2] < -0.3
    assert np.max(np.abs(passed[:, :2])) < 0.06


def test_ends_of_strokes_are_respected_and_left_again():
    excavator = excavator_arm()
    excavator.move((0.5, 0.0, 0.0), 6.0)  # farther than the arm is long
    end = excavator.tip()
    excavator.move((0.5, 0.0, 0.0), 1.0)
    assert excavator.tip() == pytest.approx(end, abs=0.02)
    for name in ("boom", "stick", "bucket"):
        cylinder = excavator.simulation.cylinder[name]
        stroke = next(one.stroke for one in excavator.simulation.machine.cylinders if one.name == name)
        assert 0.0 < cylinder.position < stroke
    excavator.move((-0.3, 0.0, 0.0), 3.0)
    assert excavator.tip()[0] < end[0] - 0.4


def test_all_cylinders_at_their_ends_stand():
    """Whatever is asked for in a corner of all strokes, the commands are finite and something leads out of it."""
    driver = TipDriver(CONTROL, shipped_machine("excavator"))
    corner = {"boom": 1.2305, "stick": -0.7418, "tipping_lever": 0.3316, "bucket": -2.8551, "bucket_link": -1.9312}
    reading = ArmReading(corner, dict.fromkeys(corner, 0.0), 0.0)
    moved = set()
    for angle in np.linspace(0.0, 2.0 * math.pi, 60):
        for turn in (-0.4, 0.0, 0.4):
            wanted = (0.3 * math.cos(angle), 0.3 * math.sin(angle), turn)
            commands = driver.commands(wanted, reading, 0.02)
            assert all(math.isfinite(value) for value in commands.values())
            moved.add(any(commands.values()))
    assert moved == {True, False}


def test_readings_that_are_not_finite_or_lack_a_joint_are_none():
    joints = ("boom", "stick")
    names, zeros = ["swing", "stick", "boom"], [0.0, 0.1, 0.2]
    assert read_arm(joints, names, zeros, zeros, 1.0) == ArmReading(
        {"boom": 0.2, "stick": 0.1}, {"boom": 0.2, "stick": 0.1}, 1.0
    )
    assert read_arm(joints, names, zeros, [0.0, math.nan, 0.0], 1.0) is None
    assert read_arm(joints, names, [0.0, 0.0, math.inf], zeros, 1.0) is None
    assert read_arm(joints, names, [math.nan, 0.1, 0.2], zeros, 1.0) is not None
    assert read_arm(joints, names[:2], zeros[:2], zeros[:2], 1.0) is None
    assert read_arm(joints, names, zeros, [], 1.0) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"link": "buckett"}, "no link 'buckett' below link 'house'"),
        ({"frame": "home"}, "no link 'home'"),
        ({"cylinders": ["boom", "blade"]}, "no cylinder 'blade' below link 'house'"),
        ({"frame": "track_left"}, "no link 'bucket_body' below link 'track_left'"),
    ],
)
def test_tips_that_do_not_suit_the_machine_are_refused(change, words):
    values = {"frame": "house", "link": "bucket_body", "point": (0.5, 0.0, 0.0), "cylinders": ["boom"], **change}
    with pytest.raises(MachineError, match=words):
        TipKinematics(shipped_machine("excavator"), **values)
