"""The shipped control patterns move the shipped machines as in the tables of docs/operator.md.

Every lever is moved in the simulation, in both directions; the direction is checked on the machine, not on signs in a
file. The tables of the excavator are those of ISO 10968 and SAE J1814.
"""

import math

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Simulation, World, load_machine
from grouser.catalogue import machine_file, pattern_file
from grouser.physics.base import spatial
from grouser.program import TWIST
from grouser.runtime.control_mapping_reader import load_control_mapping
from grouser.runtime.driving import Driver
from grouser.runtime.operating import Operating
from grouser.runtime.vehicle_parts import make_vehicle

PERIOD = 20  # steps between two samples of the joystick
HELD = 50  # samples for which a lever is held, 1 s
# Least displacement by a lever [m or rad]; other functions settle by less.
LEAST = 0.02

# Of ROS's game_controller_node; the cross counts as an axis here.
LEFT_ACROSS, LEFT_ALONG, RIGHT_ACROSS, RIGHT_ALONG, CROSS = range(5)
A, X, Y, BACK, START, DEAD_MAN = 0, 2, 3, 4, 6, 9
LEFT_PRESSED, RIGHT_PRESSED, RIGHT_SHOULDER = 7, 8, 10
CROSS_AHEAD, CROSS_BACK = 11, 12
AHEAD = LEFT = 1.0
BACKWARDS = RIGHT = -1.0

ORIGIN = (0.0, 0.0, 0.0)
TEETH = (0.54, 0.0, 0.0)  # their tips in the bucket's frame [m]
BLADE_EDGE = (0.5, 0.0, -0.26)
TOOL_TIP = (0.5, 0.0, 0.0)


class Operator:
    """An operator at a joystick, with the machine."""

    def __init__(self, simulation, pattern):
        self.simulation = simulation
        simulation.reset()
        self.operating = Operating(load_control_mapping(pattern_file(pattern)), 0.2)
        machine = simulation.machine
        self._driver = Driver(make_vehicle(machine), simulation) if machine.wheels else None
        self.say([0.0] * 4)
        self.say([0.0] * 4, DEAD_MAN)

    def choose(self, button):
        """Presses a mode's button."""
        self.say([0.0] * 4, DEAD_MAN, button)
        self.say([0.0] * 4, DEAD_MAN)

    def hold(self, levers):
        """Holds levers (axis -> deflection), then lets them go; returns what they commanded."""
        axes = [levers.get(axis, 0.0) for axis in range(CROSS)]
        cross = {AHEAD: [CROSS_AHEAD], BACKWARDS: [CROSS_BACK]}.get(levers.get(CROSS), [])
        for _ in range(HELD):
            self.say(axes, DEAD_MAN, *cross)
        commands = self.operating.commands()
        for _ in range(HELD // 2):
            self.say([0.0] * 4, DEAD_MAN)
        return commands

    def say(self, axes, *down):
        """A sample of the joystick, and the time until the next one."""
        simulation = self.simulation
        self.operating.receive(axes, [int(number in down) for number in range(21)], simulation.time)
        commands = self.operating.commands()
        simulation.command.update(commands.valves)
        if commands.twist is not None:
            twist = dict(zip(TWIST, commands.twist, strict=True))
            simulation.command.update(self._driver.commands(twist, PERIOD * simulation.step_size))
        simulation.step(PERIOD)

    def place(self, link, point=ORIGIN):
        """Position of a point of a link in the world [m]."""
        position, quaternion = self.simulation.link_pose(link)
        return position + spatial.matrix(quaternion) @ np.array(point)

    def heading(self, link):
        """Of a link's x axis, from the world's, to the left [rad]."""
        ahead = spatial.matrix(self.simulation.link_pose(link)[1])[:, 0]
        return math.atan2(ahead[1], ahead[0])

    def distance(self, link, point, other):
        """Distance of a point of a link from another link's origin [m]."""
        return float(np.linalg.norm(self.place(link, point) - self.place(other)))


def turned(joint):
    """A joint's position: those of arms, blades and outriggers count upwards, those of sprockets ahead [rad]."""
    return lambda operator: operator.simulation.joint_position[joint]


# Quantities that increase when the levers are moved as below.
SWING = {"excavator": lambda o: o.heading("house"), "demolition_robot": lambda o: o.heading("turret")}
BOOM_DOWN = dict.fromkeys(SWING, lambda o: -o.place("stick_link")[2])
STICK_AWAY = {
    "excavator": lambda o: o.distance("bucket_body", ORIGIN, "house"),
    "demolition_robot": lambda o: o.distance("tool_link", ORIGIN, "turret"),
}
TOOL_OUT = {
    "excavator": lambda o: o.distance("bucket_body", TEETH, "stick_link"),
    "demolition_robot": lambda o: o.distance("tool_link", TOOL_TIP, "stick_link"),
}
BLADE_UP = {"excavator": lambda o: o.place("blade_link", BLADE_EDGE)[2]}
TRACK = {"excavator": "sprocket", "demolition_robot": "sprocket_front"}


def arm_cases(pattern, machine, tool, stick_axis, boom_axis):
    """The arm's levers and the tracks', which both machines have."""
    return [
        (pattern, machine, A, LEFT_ACROSS, LEFT, ["swing_valve"], SWING[machine]),
        (pattern, machine, A, stick_axis, AHEAD, ["stick_valve"], STICK_AWAY[machine]),
        (pattern, machine, A, boom_axis, AHEAD, ["boom_valve"], BOOM_DOWN[machine]),
        (pattern, machine, A, RIGHT_ACROSS, RIGHT, [f"{tool}_valve"], TOOL_OUT[machine]),
        (pattern, machine, X, LEFT_ALONG, AHEAD, ["track_left_valve"], turned(f"{TRACK[machine]}_left")),
        (pattern, machine, X, RIGHT_ALONG, AHEAD, ["track_right_valve"], turned(f"{TRACK[machine]}_right")),
    ]


def foot_case(mode, axis, *feet):
    """Levers of the robot's outriggers; it starts on its feet."""
    valves = [f"outrigger_{foot}_valve" for foot in feet]
    return ("demolition_robot", "demolition_robot", mode, axis, BACKWARDS, valves, turned(f"outrigger_{feet[-1]}"))


# The robot on its tracks, each on an arm; its pattern is the robot's with modes for these.
ON_ARMS = "demolition_robot_track_arms"


def track_arm_case(mode, axis, *arms):
    """Levers of the arms of the robot's tracks; an arm's joint counts upwards ahead of its axis."""
    valves = [f"track_arm_{arm}_valve" for arm in arms]
    down = -1.0 if arms[-1].startswith("front") else 1.0
    joint = f"track_arm_{arms[-1]}"
    return (ON_ARMS, ON_ARMS, mode, axis, AHEAD, valves, lambda operator: down * turned(joint)(operator))


# Pattern, machine, button of the mode, axis, direction tried first, the valves that it commands, and what then
# goes up.
TIPS = {"excavator_tip", "demolition_robot_tip", "loader_crane_tip"}  # test_tip_control.py
CASES = [
    *arm_cases("excavator_iso", "excavator", "bucket", LEFT_ALONG, RIGHT_ALONG),
    *arm_cases("excavator_sae", "excavator", "bucket", RIGHT_ALONG, LEFT_ALONG),
    ("excavator_iso", "excavator", A, CROSS, BACKWARDS, ["blade_valve"], BLADE_UP["excavator"]),
    ("excavator_sae", "excavator", X, CROSS, BACKWARDS, ["blade_valve"], BLADE_UP["excavator"]),
    *arm_cases("demolition_robot", "demolition_robot", "tool", LEFT_ALONG, RIGHT_ALONG),
    ("demolition_robot", "demolition_robot", A, CROSS, AHEAD, ["reel_valve"], turned("reel")),
    foot_case(Y, LEFT_ALONG, "front_left"),
    foot_case(Y, RIGHT_ALONG, "front_right"),
    foot_case(START, LEFT_ALONG, "rear_left"),
    foot_case(START, RIGHT_ALONG, "rear_right"),
    foot_case(BACK, LEFT_ALONG, "front_left", "front_right", "rear_left", "rear_right"),
    track_arm_case(LEFT_PRESSED, LEFT_ALONG, "front_left"),
    track_arm_case(LEFT_PRESSED, RIGHT_ALONG, "front_right"),
    track_arm_case(RIGHT_PRESSED, LEFT_ALONG, "rear_left"),
    track_arm_case(RIGHT_PRESSED, RIGHT_ALONG, "rear_right"),
    track_arm_case(RIGHT_SHOULDER, LEFT_ALONG, "front_left", "front_right", "rear_left", "rear_right"),
    ("loader_crane", "loader_crane", None, RIGHT_ALONG, BACKWARDS, ["lift_valve"], turned("boom")),
]


@pytest.fixture(scope="module")
def simulation_of():
    names = (*SWING, "rover", "loader_crane")
    on_arms = load_machine(machine_file("demolition_robot"), {"stance": "tracks", "track_arms": "true"})
    machines = {name: shipped_machine(name) for name in names} | {ON_ARMS: on_arms}
    return {name: Simulation(machine, World()) for name, machine in machines.items()}


@pytest.mark.parametrize(
    ("pattern", "machine", "mode", "axis", "way", "valves", "look"),
    CASES,
    ids=[f"{pattern}-{valves[-1]}" for pattern, _, _, _, _, valves, _ in CASES],
)
def test_control_pattern_lever_moves_its_function_in_the_right_direction(
    simulation_of, pattern, machine, mode, axis, way, valves, look
):
    operator = Operator(simulation_of[machine], pattern)
    if mode is not None:
        operator.choose(mode)
    places = [look(operator)]
    for deflection in (way, -way):
        commands = operator.hold({axis: deflection})
        assert [name for name, value in commands.valves.items() if value != 0.0] == valves
        places.append(look(operator))
    assert places[1] > places[0] + LEAST
    assert places[2] < places[1] - LEAST


def test_every_valve_of_every_control_pattern_is_tested():
    arms, robot = (load_control_mapping(pattern_file(name)).levers for name in (ON_ARMS, "demolition_robot"))
    assert [lever for lever in arms if not lever.actuator.startswith("track_arm")] == list(robot)
    for pattern in {case[0] for case in CASES}:
        levers = load_control_mapping(pattern_file(pattern)).levers
        known = {lever.actuator for lever in robot} if pattern == ON_ARMS else set()
        tried = {valve for name, *_, valves, _ in CASES if name == pattern for valve in valves}
        assert {lever.actuator for lever in levers} - known == tried
    tested = {case[0] for case in (*CASES, *DRIVES)} | TIPS
    assert {path.stem for path in pattern_file("rover").parent.iterdir()} == tested


# Pattern, axes held, and the rover's motion: forward, to the left [m] and turn to the left [rad]; None: any.
DRIVES = [
    ("rover", {LEFT_ALONG: AHEAD}, (1, 0, 0)),
    ("rover", {LEFT_ACROSS: LEFT}, (0, 1, 0)),
    ("rover", {RIGHT_ACROSS: LEFT}, (0, 0, 1)),
    ("car", {LEFT_ALONG: AHEAD}, (1, 0, 0)),
    ("car", {RIGHT_ACROSS: LEFT}, (0, 0, 0)),
    ("car", {LEFT_ALONG: AHEAD, RIGHT_ACROSS: LEFT}, (1, 1, 1)),
    ("car", {LEFT_ALONG: BACKWARDS, RIGHT_ACROSS: LEFT}, (-1, 1, -1)),
    ("tank", {LEFT_ALONG: AHEAD, RIGHT_ALONG: AHEAD}, (1, 0, 0)),
    ("tank", {LEFT_ALONG: BACKWARDS, RIGHT_ALONG: AHEAD}, (0, 0, 1)),
    ("tank", {RIGHT_ALONG: AHEAD}, (1, 1, 1)),
]


@pytest.mark.parametrize(("pattern", "levers", "way"), DRIVES, ids=[f"{case[0]}-{case[1]}" for case in DRIVES])
def test_rover_follows_the_sticks_of_its_control_patterns(simulation_of, pattern, levers, way):
    operator = Operator(simulation_of["rover"], pattern)
    for _ in range(4):  # It steers before it moves.
        operator.hold(levers)
    went = [*operator.simulation.base_pose()[0][:2], operator.heading("base_link")]
    assert [0 if abs(distance) < LEAST else math.copysign(1, distance) for distance in went] == list(way)
