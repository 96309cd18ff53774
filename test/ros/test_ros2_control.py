"""The example of ros2_control and MoveIt fits the simulator; commands of its hardware components move the joints.

ros2_control is C++ and not among the wheels. `HardwareComponent` publishes and subscribes what
`joint_state_topic_hardware_interface/JointStateTopicSystem` does (version 1.1.0, `read` and `write` of its source).
"""

import math
import threading
import xml.etree.ElementTree as ElementTree

import pytest
import yaml
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import grouser
from grouser.nodes.shared import topics
from grouser.nodes.simulator.parameters import DECLARATIONS
from grouser.resources import share_path

MACHINE = share_path("config", "ros2_control", "rover.urdf.xacro")
STATES = ["position", "velocity", "effort"]
# Largest error of the drives of urdf/rover.urdf.xacro at their limit of 80 N m.
STEERING_ERROR = 80.0 / 2000.0  # [rad], at rest
SPEED_ERROR = 80.0 / 400.0  # [rad/s]


def yaml_of(name: str) -> dict:
    return yaml.safe_load((MACHINE.parent / name).read_text())


class HardwareComponent:
    """The hardware component of one `<ros2_control>` element."""

    def __init__(self, element: ElementTree.Element) -> None:
        self.plugin = element.findtext("hardware/plugin")
        self.parameters = {one.get("name"): one.text for one in element.iterfind("hardware/param")}
        self.command_interfaces = {
            joint.get("name"): [one.get("name") for one in joint.iterfind("command_interface")]
            for joint in element.iterfind("joint")
        }
        self.commands = {
            f"{joint.get('name')}/{one.get('name')}": float(one.findtext("param[@name='initial_value']") or math.nan)
            for joint in element.iterfind("joint")
            for one in joint.iterfind("command_interface")
        }
        self.states = {
            f"{joint.get('name')}/{one.get('name')}": math.nan
            for joint in element.iterfind("joint")
            for one in joint.iterfind("state_interface")
        }
        self._threshold = float(self.parameters.get("trigger_joint_command_threshold", 1e-5))
        self._latest = JointState()

    @property
    def commands_topic(self) -> str:
        return self.parameters.get("joint_commands_topic", "/robot_joint_commands")

    @property
    def states_topic(self) -> str:
        return self.parameters.get("joint_states_topic", "/robot_joint_states")

    def start(self, peer) -> None:
        """As `on_init` does."""
        self._clock = peer.node.get_clock()
        self._publisher = peer.node.create_publisher(JointState, self.commands_topic, QoSProfile(depth=1))
        peer.hear_by(JointState, self.states_topic, self._hear, qos_profile_sensor_data)

    def _hear(self, message: JointState) -> None:
        self._latest = message

    def read(self) -> None:
        latest = self._latest
        for index, name in enumerate(latest.name):
            if name in self.command_interfaces:
                for field in STATES:
                    values = getattr(latest, field)
                    if values and math.isfinite(values[index]):
                        assert f"{name}/{field}" in self.states, "set_state throws"
                        self.states[f"{name}/{field}"] = values[index]

    def write(self) -> None:
        difference = sum(abs(self.states[one] - command) for one, command in self.commands.items())
        if difference <= self._threshold:
            return
        message = JointState()
        for joint, interfaces in self.command_interfaces.items():
            message.name.append(joint)
            message.header.stamp = self._clock.now().to_msg()
            for interface in interfaces:
                getattr(message, interface).append(self.commands[f"{joint}/{interface}"])
        self._publisher.publish(message)


@pytest.fixture
def components() -> dict[str, HardwareComponent]:
    """The `<ros2_control>` elements of the robot_description that the simulator publishes."""
    root = ElementTree.fromstring(grouser.load_machine(MACHINE).urdf)
    return {element.get("name"): HardwareComponent(element) for element in root.iterfind("ros2_control")}


@pytest.fixture
def hardware(peer, start_simulator, components):
    """Started components, and a function that runs them until a condition holds."""
    node = start_simulator(machine=str(MACHINE))
    for component in components.values():
        component.start(peer)

    class Hardware:
        simulator = node
        steering, wheels = components["steering"], components["wheels"]
        joint_states = peer.hear(JointState, topics.JOINT_STATES)

        def run(self, until, what):
            period = 1.0 / yaml_of("rover_controllers.yaml")["controller_manager"]["ros__parameters"]["update_rate"]
            pause = threading.Event()
            for _ in range(3000):
                for component in components.values():
                    component.read()
                if until():
                    return
                for component in components.values():
                    component.write()
                pause.wait(period)
            raise AssertionError(f"never: {what}")

        def simulated(self):
            stamp = self.joint_states.all()[-1].header.stamp
            return stamp.sec + 1e-9 * stamp.nanosec

        def run_for(self, seconds):
            self.joint_states.first()
            end = self.simulated() + seconds
            self.run(lambda: self.simulated() >= end, f"{seconds} s later")

    return Hardware()


def test_the_components_suit_the_drives_and_the_topics(components):
    modes = {drive.joint: drive.mode for drive in grouser.load_machine(MACHINE).drives}
    joints = [joint for component in components.values() for joint in component.command_interfaces]
    assert sorted(joints) == sorted(modes)
    for component in components.values():
        assert component.plugin == "joint_state_topic_hardware_interface/JointStateTopicSystem"
        assert component.commands_topic == f"/{topics.JOINT_COMMANDS}"
        assert component.states_topic == f"/{topics.JOINT_STATES}"
        assert float(component.parameters["trigger_joint_command_threshold"]) < 0.0, "silence means a lost controller"
        (interface,) = {one for interfaces in component.command_interfaces.values() for one in interfaces}
        for joint, interfaces in component.command_interfaces.items():
            assert interfaces == [interface] == [modes[joint]]
            assert [one for one in STATES if f"{joint}/{one}" in component.states] == STATES
        assert len(component.states) == len(STATES) * len(component.command_interfaces)


def test_the_controllers_suit_the_components(components):
    file = yaml_of("rover_controllers.yaml")
    manager = file["controller_manager"]["ros__parameters"]
    controllers = {name: one for name, one in manager.items() if isinstance(one, dict)}
    assert set(file) == {"controller_manager", *controllers}
    assert manager["update_rate"] <= min(DECLARATIONS[f"{one}_rate"].default for one in ("clock", "joint_state"))
    steering, wheels = (file[name]["ros__parameters"] for name in ("steering_controller", "wheel_controller"))
    # A component sends NaN for joints that are not commanded.
    assert steering["joints"] == list(components["steering"].command_interfaces)
    assert wheels["joints"] == list(components["wheels"].command_interfaces)
    assert {f"{joint}/{one}" for joint in steering["joints"] for one in steering["command_interfaces"]} == set(
        components["steering"].commands
    )
    assert {f"{joint}/{wheels['interface_name']}" for joint in wheels["joints"]} == set(components["wheels"].commands)
    assert set(steering["state_interfaces"]) <= set(STATES)
    assert set(steering["constraints"]) - {"stopped_velocity_tolerance", "goal_time"} == set(steering["joints"])


def test_commands_of_the_components_move_the_joints(hardware):
    """Steering and wheels are commanded at the same time, each by its own component."""
    targets = {"front_left": 0.3, "front_right": 0.2, "rear_left": -0.3, "rear_right": -0.2}
    for wheel, angle in targets.items():
        hardware.steering.commands[f"{wheel}_steering/position"] = angle
    for joint in hardware.wheels.commands:
        hardware.wheels.commands[joint] = 2.0

    def arrived():
        steered = all(
            abs(hardware.steering.states[one] - command) <= STEERING_ERROR
            for one, command in hardware.steering.commands.items()
        )
        return steered and all(
            abs(hardware.wheels.states[one] - 2.0) <= SPEED_ERROR for one in hardware.wheels.commands
        )

    hardware.run(arrived, "the joints where they are told to be")
    assert hardware.simulator.refused_commands == 0
    assert all(math.isfinite(state) for state in [*hardware.steering.states.values(), *hardware.wheels.states.values()])
    # A repeated command is not silence: the wheels keep turning while ros2_control repeats its command.
    hardware.run_for(2.0 * hardware.simulator.parameters.command_timeout)
    assert arrived()
    assert hardware.simulator.report.watchdog_trips == 0


def test_inactive_controller_moves_nothing(hardware):
    """Commands without a value are then NaN, and are refused."""
    assert all(math.isnan(command) for command in hardware.steering.commands.values())
    hardware.run(lambda: hardware.simulator.refused_commands > 10, "refused commands")
    hardware.run_for(0.5)
    assert all(abs(hardware.steering.states[one]) <= STEERING_ERROR for one in hardware.steering.commands)
    assert all(abs(hardware.wheels.states[one]) <= SPEED_ERROR for one in hardware.wheels.commands)


def test_moveit_finds_the_action_and_its_joints(peer, start_simulator):
    """The name of the action is MoveIt's `getActionName`; the trajectory has what its planners give."""
    node = start_simulator(machine=str(MACHINE))
    manager = yaml_of("rover_moveit_controllers.yaml")["moveit_simple_controller_manager"]
    (name,) = manager["controller_names"]
    controller = manager[name]
    assert controller["type"] == "FollowJointTrajectory"
    actor = peer.act(FollowJointTrajectory, f"{name}/{controller['action_ns']}" if controller["action_ns"] else name)
    count = len(controller["joints"])
    still = [0.0] * count
    planned = JointTrajectory(
        joint_names=controller["joints"],
        points=[
            JointTrajectoryPoint(positions=still, velocities=still, accelerations=still),
            JointTrajectoryPoint(
                positions=[0.2] * count, velocities=still, accelerations=still, time_from_start=Duration(sec=1)
            ),
        ],
    )
    handle = actor.send(FollowJointTrajectory.Goal(trajectory=planned))
    assert handle.accepted
    status, result = actor.end(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    assert node.refused_commands == 0


def test_moveit_can_use_ros2_control():
    manager = yaml_of("rover_moveit_controllers.yaml")["moveit_simple_controller_manager"]
    controllers = yaml_of("rover_controllers.yaml")
    steering = controllers["steering_controller"]["ros__parameters"]
    assert manager["steering_controller"]["action_ns"] == "follow_joint_trajectory"
    assert manager["steering_controller"]["joints"] == steering["joints"]
    trajectory_controllers = {
        name
        for name, one in controllers["controller_manager"]["ros__parameters"].items()
        if isinstance(one, dict) and one["type"] == "joint_trajectory_controller/JointTrajectoryController"
    }
    assert "steering_controller" in trajectory_controllers
