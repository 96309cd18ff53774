"""Processes of the benchmark of the ROS side: each obeys commands on its standard input, one a line.

    python -m grouser.benchmarks.ros_processes simulate demolition_robot [name=number ...]

An answer is a line of JSON on the standard output.
"""

import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import rclpy
from geometry_msgs.msg import Twist, Vector3
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, Joy
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from grouser.bridges.scheduling import Scheduling, apply_scheduling
from grouser.bridges.trials.latency_trial import move_stick
from grouser.bridges.trials.rigs import COMMAND, stick_mapping
from grouser.nodes.bridges.ros_plant import RosPlant
from grouser.nodes.shared import topics
from grouser.nodes.simulator.node import SimulatorNode, spinning
from grouser.nodes.simulator.publishing import Publishing

_ROOM = 10_000  # queue of a listener
_PRIORITY = 10  # of SCHED_FIFO, of a joystick's bridge and who hears it
_PUBLISHED_OFTEN = 300  # times that the peer sends each message for one figure
# Largest speed of a joint of a rover that stands, and smallest of one that moves [rad/s].
_STANDS, _MOVES = 1e-3, 5e-3
_BOX = """<robot name="box">
  <link name="body">
    <inertial><mass value="20"/><inertia ixx="0.53" iyy="0.53" izz="0.53" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>
  </link>
</robot>"""
_NOT_THE_MACHINES = ("/rosout", "/parameter_events", topics.DIAGNOSTICS)


def simulate(machine: str, *settings: str) -> None:
    """A simulator. ``measure``: processor times by thread [s], figures of its loop, lateness of /clock [s]."""
    lateness: list[float] = []
    publish = Publishing.publish_clock

    def noting(publishing: Publishing, nanoseconds: int) -> None:
        lateness.append(time.monotonic() - 1e-9 * nanoseconds)
        publish(publishing, nanoseconds)

    Publishing.publish_clock = noting  # type: ignore[assignment,method-assign]
    node = SimulatorNode(_parameters((f'machine="{machine}"', "enable_stamped_cmd_vel=false", *settings)))
    with spinning(node):
        node.built.wait()

        def measure() -> dict[str, Any]:
            report = node.report
            assert report is not None
            heard, lateness[:] = lateness[:], []
            return {
                **_processor_times(),
                "simulated": report.elapsed_simulated,
                "overruns": report.overruns,
                "dropped": report.dropped_samples,
                "step": report.step_time_median,
                "lateness": heard,
            }

        _obey({"measure": measure})


def view(*settings: str) -> None:
    """A viewer. ``port``: of its page; ``measure``: processor times by thread [s], memory [bytes]."""
    from grouser.nodes.viewer.node import Viewer, spin_in_bursts  # needs packages that are not for ROS

    viewer = Viewer(_parameters(("port=0", *settings)))
    executor = SingleThreadedExecutor()
    executor.add_node(viewer)
    threading.Thread(target=spin_in_bursts, args=(viewer, executor, threading.Event()), name="pictures").start()

    def measure() -> dict[str, Any]:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return {**_processor_times(), "memory": pages * os.sysconf("SC_PAGE_SIZE")}

    _obey({"port": lambda: viewer.page.port, "measure": measure})


def listen() -> None:
    """Subscribes to everything that the simulator publishes. ``measure``: messages by topic."""
    node, counts = Node("listener"), {}

    def count(topic: str) -> Callable[[bytes], None]:
        counts[topic] = 0

        def count(_: bytes) -> None:
            counts[topic] += 1

        return count

    for topic, kind, quality in _published(node):
        node.create_subscription(_message_type(kind), topic, count(topic), quality, raw=True)
    _spin(node)
    _obey({"measure": lambda: counts})


def watch_clock() -> None:
    """Subscribes to /clock. ``measure``: wall time of arrival less its time [s]."""
    node, lateness = Node("watch"), []

    def note(message: Clock) -> None:
        lateness.append(time.monotonic() - message.clock.sec - 1e-9 * message.clock.nanosec)

    node.create_subscription(
        Clock, topics.CLOCK, note, QoSProfile(depth=_ROOM, reliability=topics.CLOCK_QUALITY.reliability)
    )
    _spin(node)

    def measure() -> list[float]:
        heard, lateness[:] = lateness[:], []
        return heard

    _obey({"measure": measure})


def watch_joy() -> None:
    """Subscribes to joy. ``measure``: the first axis of each message that changed it, and its arrival [s]."""
    apply_scheduling(Scheduling("fifo", _PRIORITY))
    node, arrivals = Node("watch"), []

    def note(message: Joy) -> None:
        now = time.monotonic()
        if message.axes and (not arrivals or arrivals[-1][0] != message.axes[0]):
            arrivals.append((message.axes[0], now))

    node.create_subscription(Joy, topics.JOY, note, topics.RELIABLE)
    _spin(node)
    _obey({"measure": lambda: arrivals})


def stick(events: str, interval: str) -> None:
    """A joystick's bridge to joy. ``measure``: lets another process move it; raw deflections and their times [s]."""
    scheduling = Scheduling("fifo", _PRIORITY)
    apply_scheduling(scheduling)
    plant = RosPlant(Node("stick"), stick_mapping(COMMAND), (), False, "")
    _obey({"measure": lambda: list(move_stick(COMMAND, plant, int(events), float(interval), scheduling).items())})


def sleep() -> None:
    """Sleeps until the next of 100 instants a second. ``measure``: its delay [s]."""
    lateness: list[float] = []

    def run() -> None:
        due = time.monotonic()
        while True:
            due += 0.01
            time.sleep(max(due - time.monotonic(), 0.0))
            lateness.append(time.monotonic() - due)

    threading.Thread(target=run, daemon=True).start()

    def measure() -> list[float]:
        woken, lateness[:] = lateness[:], []
        return woken

    _obey({"measure": measure})


def repeat() -> None:
    """Publishes the simulator's messages again, with rclpy alone.

    ``measure``: processor time by topic [s a message].
    """
    node = Node("peer")
    taken: dict[str, tuple[type, bytes, QoSProfile]] = {}

    def take(topic: str, kind: type, quality: QoSProfile) -> Callable[[bytes], None]:
        return lambda data: taken.setdefault(topic, (kind, data, quality)) and None

    kinds = {topic: (_message_type(kind), quality) for topic, kind, quality in _published(node)}
    for topic, (kind, quality) in kinds.items():
        node.create_subscription(kind, topic, take(topic, kind, quality), quality, raw=True)
    until = time.monotonic() + 3.0
    while time.monotonic() < until:
        rclpy.spin_once(node, timeout_sec=0.1)
    ready = [
        (topic, node.create_publisher(kind, f"/peer{topic}", quality), deserialize_message(data, kind))
        for topic, (kind, data, quality) in taken.items()
    ]

    def measure() -> dict[str, float]:
        costs = {}
        for topic, publisher, message in ready:
            started = time.thread_time()
            for _ in range(_PUBLISHED_OFTEN):
                publisher.publish(message)
            costs[topic] = (time.thread_time() - started) / _PUBLISHED_OFTEN
        return costs

    _obey({"measure": measure})


def drive() -> None:
    """Drives a rover that stands. ``step``: steps from a twist to the first motion; ``live``: wall time to it [s]."""
    node = Node("driver")
    publisher = node.create_publisher(Twist, topics.CMD_VEL, topics.RELIABLE)
    heard: list[tuple[int, float, float]] = []

    def note(message: JointState) -> None:
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        heard.append((stamp, max(map(abs, message.velocity)), time.monotonic()))

    node.create_subscription(JointState, topics.JOINT_STATES, note, QoSProfile(depth=_ROOM))
    clients = {
        name: node.create_client(kind, f"/simulator/{name}")
        for name, kind in (("pause", SetBool), ("step", Trigger), ("reset", Trigger))
    }
    _spin(node)

    def call(name: str, request: Any) -> None:
        clients[name].wait_for_service()
        answered = threading.Event()
        clients[name].call_async(request).add_done_callback(lambda _: answered.set())
        answered.wait()

    def stand() -> None:
        publisher.publish(Twist())
        call("reset", Trigger.Request())
        begin = len(heard)
        while len(heard) < begin + 20 or max(speed for _, speed, _ in heard[-20:]) > _STANDS:
            time.sleep(0.1)

    def step() -> int:
        stand()
        call("pause", SetBool.Request(data=True))
        time.sleep(0.2)  # for what is under way, here and below
        publisher.publish(Twist(linear=Vector3(x=0.2)))
        time.sleep(0.2)
        count = 0
        while heard[-1][1] < _MOVES:
            call("step", Trigger.Request())
            time.sleep(0.05)
            count += 1
        call("pause", SetBool.Request(data=False))
        return count

    def live() -> float:
        stand()
        begin, started = len(heard), time.monotonic()
        publisher.publish(Twist(linear=Vector3(x=0.2)))
        while True:
            moved = next((when for _, speed, when in heard[begin:] if speed >= _MOVES), None)
            if moved is not None:
                return moved - started
            time.sleep(0.005)

    _obey({"step": step, "live": live})


def populate(count: str) -> None:
    """Spawns boxes on the ground beside a rover, a square of them, and hears their poses.

    ``one_by_one``, ``together``: wall time [s] to spawn them by SpawnEntity, by SpawnEntities; ``clear`` deletes them;
    ``measure``: messages heard.
    """
    from simulation_interfaces import srv  # not installed everywhere
    from simulation_interfaces.msg import Result

    from grouser.nodes.services import interfaces

    node, heard = Node("populate"), [0]

    def hear(_: bytes) -> None:
        heard[0] += 1

    node.create_subscription(TFMessage, topics.OBJECT_POSES, hear, topics.RELIABLE, raw=True)
    _spin(node)
    names = {"SpawnEntity": "spawn_entity", "SpawnEntities": "spawn_entities", "ResetSimulation": "reset_simulation"}
    clients = {
        kind: node.create_client(getattr(srv, kind), f"/simulator/{name}")
        for kind, name in names.items()
        if hasattr(srv, kind)
    }

    def call(kind: str, request: Any) -> None:
        clients[kind].wait_for_service()
        answered = threading.Event()
        future = clients[kind].call_async(request)
        future.add_done_callback(lambda _: answered.set())
        answered.wait()
        result = future.result().result
        assert result.result == Result.RESULT_OK, result.error_message

    def boxes(kind: type) -> list[Any]:
        number, side = int(count), math.ceil(math.sqrt(int(count)))
        requests = []
        for k in range(number):
            request = kind(name=f"box_{k}")
            place = request.initial_pose.pose.position
            place.x, place.y, place.z = 2.5 + 0.6 * (k // side), 0.6 * (k % side - 0.5 * side), 0.2
            interfaces.set_resource(request, "", _BOX)
            requests.append(request)
        return requests

    def timed(spawn: Callable[[], object]) -> float:
        started = time.monotonic()
        spawn()
        return time.monotonic() - started

    def one_by_one() -> None:
        for request in boxes(srv.SpawnEntity.Request):
            call("SpawnEntity", request)

    def together() -> None:
        call("SpawnEntities", srv.SpawnEntities.Request(spawn_requests=boxes(interfaces.message_type("SpawnEntity"))))

    def clear() -> None:
        call("ResetSimulation", srv.ResetSimulation.Request(scope=srv.ResetSimulation.Request.SCOPE_SPAWNED))

    _obey(
        {
            "one_by_one": lambda: timed(one_by_one),
            "together": lambda: timed(together) if "SpawnEntities" in clients else None,
            "clear": lambda: timed(clear),
            "measure": lambda: heard[0],
        }
    )


def _published(node: Node) -> list[tuple[str, str, QoSProfile]]:
    """Topics of the machine that the simulator publishes, with their types and quality."""
    while not node.count_publishers(topics.CLOCK):
        time.sleep(0.05)
    time.sleep(1.0)  # the others are announced with it
    found = []
    for topic, kinds in node.get_topic_names_and_types():
        offered = node.get_publishers_info_by_topic(topic)
        if (
            "/_action/" in topic
            or topic in _NOT_THE_MACHINES
            or not any(one.node_name == "simulator" for one in offered)
        ):
            continue
        quality = offered[0].qos_profile
        latched = quality.durability == DurabilityPolicy.TRANSIENT_LOCAL
        reliable = quality.reliability == ReliabilityPolicy.RELIABLE
        found.append(
            (
                topic,
                kinds[0],
                QoSProfile(
                    depth=100,
                    reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
                    durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
                ),
            )
        )
    return found


def _message_type(name: str) -> type:
    """The class of a type such as ``sensor_msgs/msg/JointState``."""
    package, _, message = name.split("/")
    return getattr(import_module(f"{package}.msg"), message)


def _parameters(settings: Sequence[str]) -> list[Parameter]:
    """Parameters of a node from "name=value", the values in JSON."""
    parted = (setting.partition("=") for setting in settings)
    return [Parameter(name, value=json.loads(value)) for name, _, value in parted]


def _processor_times() -> dict[str, Any]:
    """Wall time, and processor times of this process and by thread [s]."""
    threads = {
        thread.name: time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
        for thread in threading.enumerate()
        if thread.ident is not None
    }
    return {"wall": time.monotonic(), "process": time.process_time(), "threads": threads}


def _spin(node: Node) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    threading.Thread(target=executor.spin, daemon=True).start()


def _obey(words: dict[str, Callable[[], Any]]) -> None:
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(words[line.strip()]()), flush=True)


def main(role: str, *arguments: str) -> None:
    """Runs one of the processes until its standard input ends."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    roles: dict[str, Callable[..., None]] = {
        "simulate": simulate,
        "view": view,
        "listen": listen,
        "watch_clock": watch_clock,
        "watch_joy": watch_joy,
        "stick": stick,
        "sleep": sleep,
        "repeat": repeat,
        "drive": drive,
        "populate": populate,
    }
    roles[role](*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
