"""Hours of simulated operation with all that users do to a simulator: `make soak`.

The simulator runs in a process of its own, as fast as it can; this one commands it at random, well and badly, pauses,
steps, resets, breaks and mends it, takes it through its lifecycle and kills it, while listeners come and go. Simulated
time must go on, no number that is heard may be NaN, and the simulator's memory must stay flat.

Memory is measured in the same state every time: after a round of commands the simulator is reset, whole and running,
and only this driver is left with it. What is compared are medians of many rounds, and not their extremes: an allocator
may keep a page more or less, a leak adds up. The warm-up, in which thread stacks, arenas and code come in for the first
time, is left out. Nothing is asked of the simulator's garbage collector: what it does not collect by itself counts.

`SOAK_HOURS` sets the simulated time of each test, 2 by default.
"""

import array
import collections
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, PoseStamped, Quaternion, Twist, Vector3
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import OccupancyGrid, Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState, LaserScan, PointCloud2
from simulation_interfaces.msg import EntityState
from simulation_interfaces.srv import DeleteEntity, SetEntityState, SpawnEntity
from std_msgs.msg import Bool, Float64MultiArray, Header, String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

import grouser
from grouser import catalogue
from grouser.nodes.shared import topics
from grouser.physics.hydraulics.faults import machine_faults

HOURS = float(os.environ.get("SOAK_HOURS", "2"))
ROUND = 60.0  # simulated time between two looks at the memory [s]
SHORT_LIVES = 3  # processes that are killed before the one whose memory counts
WARM_UP = 0.2  # share of the rounds
FLAT = 0.02  # the issue's
STALL = 60.0  # [s] of wall time without any progress of simulated time
ANSWER = 180.0  # [s]

MOST_GUESTS = 3
BOX = """<robot name="box"><link name="body">
  <inertial><mass value="20"/><inertia ixx="0.5" iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>
</link></robot>"""

LISTENING = (
    (JointState, topics.JOINT_STATES, topics.RELIABLE),
    (TFMessage, topics.TF, topics.TF_QUALITY),
    (TFMessage, topics.TF_STATIC, topics.LATCHED),
    (String, topics.ROBOT_DESCRIPTION, topics.LATCHED),
    (Clock, topics.CLOCK, topics.CLOCK_QUALITY),
    (DynamicInterfaceGroupValues, "hydraulics/state", topics.RELIABLE),
    (DynamicInterfaceGroupValues, "slip", topics.RELIABLE),
    (MarkerArray, "contact_markers", topics.RELIABLE),
    (Odometry, topics.ODOMETRY, topics.RELIABLE),
    (Odometry, topics.GROUND_TRUTH, topics.RELIABLE),
    (Imu, "imu/data", topics.SENSOR_DATA),
    (LaserScan, topics.SCAN, topics.SENSOR_DATA),
    (PointCloud2, "terrain", topics.LATCHED),
    (OccupancyGrid, topics.RUT_DEPTH, topics.LATCHED),
)


def not_a_number(message: Any) -> bool:
    """Whether any number of a message, or of what it holds, is NaN."""
    if isinstance(message, float):
        return math.isnan(message)
    if isinstance(message, array.array | np.ndarray):
        return bool(np.isnan(message).any())
    if isinstance(message, list | tuple):
        return any(map(not_a_number, message))
    if isinstance(message, PointCloud2):
        return bool(np.isnan(np.frombuffer(message.data.tobytes(), "<f4")).any())
    slots = getattr(message, "__slots__", ())
    return any(not_a_number(getattr(message, slot)) for slot in slots if slot != "_check_fields")


class Simulator:
    """A simulator's process."""

    def __init__(self, machine: str, world: str, log: Path) -> None:
        values = {
            "machine": machine,
            "world": world,
            "autostart": "false",
            "real_time_factor": "0.0",
            "diagnostics_rate": "10.0",
            "step_request_count": "200",
            "enable_stamped_cmd_vel": "false",
        }
        arguments = [part for name, value in values.items() for part in ("-p", f"{name}:={value}")]
        command = [sys.executable, "-m", "grouser.nodes.simulator", "--ros-args", *arguments]
        with log.open("a") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)

    def memory(self) -> int:
        """Resident memory [B]."""
        lines = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Rss:"))

    def counts(self) -> tuple[int, int]:
        """Threads and open files."""
        folder = Path(f"/proc/{self.process.pid}")
        return len(list((folder / "task").iterdir())), len(list((folder / "fd").iterdir()))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Driver:
    """Uses a simulator at random."""

    def __init__(self, peer: Any, machine: str, world: str, log: Path, seed: int) -> None:
        self._peer = peer
        self._random = random.Random(seed)
        self._arguments = machine, world, log
        self._machine = grouser.load_machine(catalogue.machine_file(machine))
        self._faults = machine_faults(self._machine)
        self.simulated = 0.0
        self._last = 0.0
        self.nans: list[str] = []
        self.heard = 0
        self.done: collections.Counter[str] = collections.Counter()
        self._listeners: list[Any] = []
        self._guests: list[str] = []
        node = peer.node
        self._out = {
            topic: node.create_publisher(kind, topic, quality)
            for kind, topic, quality in (
                (DynamicInterfaceGroupValues, topics.VALVE_COMMANDS, topics.RELIABLE),
                (Float64MultiArray, topics.VALVE_COMMANDS_ARRAY, topics.RELIABLE),
                (JointState, topics.JOINT_COMMANDS, topics.RELIABLE),
                (JointTrajectory, topics.JOINT_TRAJECTORY, topics.RELIABLE),
                (Twist, topics.CMD_VEL, topics.RELIABLE),
                (Bool, topics.EMERGENCY_STOP, 10),
            )
        }
        self._clients = {
            name: node.create_client(kind, f"/simulator/{name}")
            for kind, name in (
                (Trigger, "reset"),
                (Trigger, "step"),
                (Trigger, "clear_faults"),
                (SetBool, "pause"),
                (SetParameters, "set_parameters"),
                (ChangeState, "change_state"),
                (SpawnEntity, "spawn_entity"),
                (DeleteEntity, "delete_entity"),
                (SetEntityState, "set_entity_state"),
            )
        }
        self._action = ActionClient(node, FollowJointTrajectory, topics.FOLLOW_JOINT_TRAJECTORY)
        peer.hear_by(DiagnosticArray, topics.DIAGNOSTICS, self._watch, topics.RELIABLE)

    def live(self) -> None:
        """Starts a process and activates it."""
        self.simulator = Simulator(*self._arguments)
        self._last = 0.0
        self._change(Transition.TRANSITION_CONFIGURE)
        self._change(Transition.TRANSITION_ACTIVATE)

    def kill(self) -> None:
        """Kills the process, and waits until the graph shows it: until then requests go to the dead process."""
        self.simulator.kill()
        self._guests.clear()
        offered = self._clients["change_state"].service_is_ready
        self._peer.wait_for(lambda: not offered(), "the end of a lease of 10 s")

    def round(self) -> None:
        """Acts at random for some simulated time, then brings the simulator back to rest."""
        actions = {
            self._command: 40,
            self._command_badly: 20,
            self._listen: 14,
            self._fall_deaf: 12,
            self._visit: 2,
            self._send_goal: 6 if self._machine.drives else 0,
            self._break: 6,
            self._mend: 3,
            self._pause_and_step: 3,
            self._reset: 3,
            self._stop: 2,
            self._change_parameters: 3,
            self._spawn: 4,
            self._delete: 2,
            self._place: 3,
            self._deactivate: 2,
            self._reconfigure: 1,
        }
        end = self.simulated + ROUND
        while self.simulated < end:
            action = self._random.choices(list(actions), list(actions.values()))[0]
            action()
            self.done[action.__name__] += 1
            self._pass(self._random.uniform(0.1, 2.0))
        self._rest()

    def _pass(self, duration: float) -> None:
        """Lets simulated time pass [s]."""
        target = self.simulated + duration
        before, since = self.simulated, time.monotonic()
        while self.simulated < target:
            time.sleep(0.02)
            assert self.simulator.process.poll() is None, "the simulator has ended"
            if self.simulated != before:
                before, since = self.simulated, time.monotonic()
            assert time.monotonic() - since < STALL, f"no progress at {self.simulated} s"

    def _rest(self) -> None:
        while self._listeners:
            self._fall_deaf()
        while self._guests:
            self._delete()
        self._mend()
        self._ask("pause", SetBool.Request(data=False))
        self._set({"real_time_factor": 0.0, "command_timeout": 0.5})
        self._reset()
        self._pass(2.0)

    def _watch(self, message: DiagnosticArray) -> None:
        now = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self.simulated += max(now - self._last, 0.0)
        self._last = now
        self._check(message)

    def _check(self, message: Any) -> None:
        self.heard += 1
        if not_a_number(message):
            self.nans.append(f"{type(message).__name__} at {self.simulated:.3f} s")

    def _ask(self, name: str, request: Any) -> Any:
        client = self._clients[name]
        assert client.wait_for_service(ANSWER), f"never offered: {name}"
        future = client.call_async(request)
        started = time.monotonic()
        while not future.done():
            assert time.monotonic() - started < ANSWER, f"never answered: {name}"
            time.sleep(0.005)
        return future.result()

    def _change(self, transition: int) -> None:
        request = ChangeState.Request(transition=Transition(id=transition))
        assert self._ask("change_state", request).success, f"transition {transition}"

    def _set(self, values: Mapping[str, Any]) -> None:
        parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        results = self._ask("set_parameters", SetParameters.Request(parameters=parameters)).results
        assert all(result.successful for result in results), results

    def _command(self) -> None:
        uniform, valves, drives = self._random.uniform, self._machine.valves, self._machine.drives
        if valves:
            if self._random.random() < 0.5:
                data = [uniform(-1.0, 1.0) for _ in valves]
                self._out[topics.VALVE_COMMANDS_ARRAY].publish(Float64MultiArray(data=data))
            else:
                chosen = self._random.sample([valve.name for valve in valves], self._random.randint(1, len(valves)))
                message = DynamicInterfaceGroupValues(
                    interface_groups=chosen,
                    interface_values=[
                        InterfaceValue(interface_names=["spool_command"], values=[uniform(-1.0, 1.0)]) for _ in chosen
                    ],
                )
                self._out[topics.VALVE_COMMANDS].publish(message)
        if drives:
            if self._random.random() < 0.5:
                names = [drive.joint for drive in drives]
                position, velocity, effort = ([uniform(-1.0, 1.0) for _ in names] for _ in range(3))
                message = JointState(name=names, position=position, velocity=velocity, effort=effort)
                self._out[topics.JOINT_COMMANDS].publish(message)
            else:
                twist = Twist(linear=Vector3(x=uniform(-0.5, 0.5)), angular=Vector3(z=uniform(-0.5, 0.5)))
                self._out[topics.CMD_VEL].publish(twist)

    def _command_badly(self) -> None:
        nan, long = math.nan, "x" * self._random.randint(1, 100_000)
        topic, message = self._random.choice(
            [
                (topics.VALVE_COMMANDS_ARRAY, Float64MultiArray(data=[nan] * len(self._machine.valves) + [0.0])),
                (topics.VALVE_COMMANDS_ARRAY, Float64MultiArray(data=array.array("d", bytes(80_000)))),
                (topics.VALVE_COMMANDS, DynamicInterfaceGroupValues(interface_groups=[long])),
                (topics.JOINT_COMMANDS, JointState(header=Header(frame_id=long), name=[long], position=[0.0])),
                (topics.JOINT_COMMANDS, JointState(header=Header(frame_id=long), name=["a"], position=[nan, math.inf])),
                (topics.CMD_VEL, Twist(linear=Vector3(x=nan))),
                (topics.JOINT_TRAJECTORY, JointTrajectory(joint_names=[long], points=[JointTrajectoryPoint()])),
            ]
        )
        self._out[topic].publish(message)

    def _listen(self) -> None:
        kind, topic, quality = self._random.choice(LISTENING)
        self._listeners.append(self._peer.hear_by(kind, topic, self._check, quality))

    def _fall_deaf(self) -> None:
        if self._listeners:
            place = self._random.randrange(len(self._listeners))
            self._peer.forget(self._listeners.pop(place))

    def _visit(self) -> None:
        """Another participant of DDS, which ends with or without destroying its entities."""
        program = "import sys, rclpy; from rclpy.node import Node; from sensor_msgs.msg import JointState\n"
        program += (
            "rclpy.init(); node = Node('visitor'); node.create_subscription(JointState, 'joint_states', print, 10)\n"
        )
        program += "[rclpy.spin_once(node, timeout_sec=1.0) for _ in range(20)]; print('heard', flush=True)\n"
        program += "sys.stdin.read() if sys.argv[1] == 'stay' else (node.destroy_node(), rclpy.shutdown())"
        stay = self._random.choice(["stay", "leave"])
        visitor = subprocess.Popen(
            [sys.executable, "-c", program, stay], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert visitor.stdout is not None
        while line := visitor.stdout.readline():
            if line == "heard\n":
                break
        if stay == "stay":
            visitor.send_signal(signal.SIGKILL)
        visitor.communicate()

    def _send_goal(self) -> None:
        """Sends a goal, and cancels it or not."""
        drive = self._random.choice([drive for drive in self._machine.drives if drive.mode != "effort"])
        points = [
            JointTrajectoryPoint(
                positions=[self._random.uniform(-0.3, 0.3)], time_from_start=Duration(sec=self._random.randint(1, 4))
            )
        ]
        trajectory = JointTrajectory(joint_names=[drive.joint], points=points)
        assert self._action.wait_for_server(ANSWER), "the action was never offered"
        future = self._action.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory), self._on_feedback)
        if self._random.random() < 0.5:
            future.add_done_callback(lambda done: done.result().accepted and done.result().cancel_goal_async())

    def _on_feedback(self, message: Any) -> None:
        self._check(message.feedback)

    def _break(self) -> None:
        if self._faults:
            fault = self._random.choice(self._faults)
            whole = isinstance(fault.healthy, bool)
            value = True if whole else self._random.uniform(fault.lowest, fault.highest)
            self._set({fault.full_name: value})

    def _mend(self) -> None:
        self._ask("clear_faults", Trigger.Request())

    def _pause_and_step(self) -> None:
        assert self._ask("pause", SetBool.Request(data=True)).success
        for _ in range(self._random.randint(0, 3)):
            assert self._ask("step", Trigger.Request()).success
        assert self._ask("pause", SetBool.Request(data=False)).success

    def _reset(self) -> None:
        assert self._ask("reset", Trigger.Request()).success

    def _stop(self) -> None:
        self._out[topics.EMERGENCY_STOP].publish(Bool(data=True))
        self._pass(1.0)
        self._reset()

    def _change_parameters(self) -> None:
        factor = self._random.choice([0.0, self._random.uniform(0.5, 20.0)])
        self._set({"real_time_factor": factor, "command_timeout": self._random.choice([0.0, 0.1, 0.5])})
        self._pass(0.5)
        self._set({"real_time_factor": 0.0})

    def _spawn(self) -> None:
        """Spawns a box or another machine of the same kind, sometimes at an occupied place."""
        if len(self._guests) == MOST_GUESTS:
            return
        text = BOX if self._random.random() < 0.7 else ""
        request = SpawnEntity.Request(
            name=f"guest{self._random.randrange(10)}",
            allow_renaming=True,
            uri="" if text else self._arguments[0],
            resource_string=text,
            initial_pose=PoseStamped(pose=self._somewhere()),
        )
        answer = self._ask("spawn_entity", request)
        if answer.result.result == answer.result.RESULT_OK:
            self._guests.append(answer.entity_name)
        else:
            assert answer.result.result == SpawnEntity.Response.INVALID_POSE, answer.result.error_message

    def _delete(self) -> None:
        if self._guests:
            name = self._guests.pop(self._random.randrange(len(self._guests)))
            answer = self._ask("delete_entity", DeleteEntity.Request(entity=name))
            assert answer.result.result == answer.result.RESULT_OK, answer.result.error_message

    def _place(self) -> None:
        if self._guests:
            state = EntityState(pose=self._somewhere(), twist=Twist(linear=Vector3(x=self._random.uniform(-1.0, 1.0))))
            request = SetEntityState.Request(entity=self._random.choice(self._guests), state=state)
            answer = self._ask("set_entity_state", request)
            assert answer.result.result == answer.result.RESULT_OK, answer.result.error_message

    def _somewhere(self) -> Pose:
        """A pose that is mostly free, at a height from which it falls."""
        pose = Pose(orientation=Quaternion(w=1.0))
        pose.position.x, pose.position.y = (self._random.uniform(-12.0, 12.0) for _ in range(2))
        pose.position.z = 1.0
        return pose

    def _deactivate(self) -> None:
        self._change(Transition.TRANSITION_DEACTIVATE)
        self._change(Transition.TRANSITION_ACTIVATE)

    def _reconfigure(self) -> None:
        for transition in (
            Transition.TRANSITION_DEACTIVATE,
            Transition.TRANSITION_CLEANUP,
            Transition.TRANSITION_CONFIGURE,
            Transition.TRANSITION_ACTIVATE,
        ):
            self._change(transition)
        self._last = 0.0
        self._guests.clear()


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("machine", "world"), [("demolition_robot", "flat"), ("rover", "sand")])
def test_a_simulator_runs_for_hours(peer, tmp_path, machine, world):
    log = tmp_path / "simulator.log"
    driver = Driver(peer, machine, world, log, seed=1)
    started = time.monotonic()
    memory = []
    try:
        for _ in range(SHORT_LIVES):
            driver.live()
            driver.round()
            driver.kill()
        driver.live()
        while driver.simulated < 3600.0 * HOURS:
            driver.round()
            memory.append(driver.simulator.memory())
            print(
                f"{machine}: {driver.simulated:7.0f} s simulated, {time.monotonic() - started:6.0f} s of wall time, "
                f"{1e-6 * memory[-1]:.2f} MB, threads and files {driver.simulator.counts()}, "
                f"{driver.heard} messages heard, {len(driver.nans)} with NaN",
                flush=True,
            )
    finally:
        driver.simulator.kill()
        print(dict(driver.done), log.read_text()[-2000:], flush=True)
    assert "Traceback" not in log.read_text()
    assert not driver.nans
    kept = np.array(memory[int(WARM_UP * len(memory)) :])
    first, last = (np.median(part) for part in (kept[: len(kept) // 3], kept[-(len(kept) // 3) :]))
    print(f"{machine}: memory {1e-6 * first:.2f} MB after the warm-up, {1e-6 * last:.2f} MB at the end")
    assert abs(last / first - 1.0) < FLAT
