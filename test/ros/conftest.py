"""Fixtures of the tests of the nodes: a simulator, and a node that publishes, subscribes and requests over real DDS."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from nursery import Child, open_nursery
from patience import DEADLINE, wait_until
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import grouser
from grouser.nodes.simulator.node import SimulatorNode, spinning

# Depth of the queues: more messages than any test causes while the subscriber does not get the processor.
KEPT = 10_000
LONGEST_END = 30.0  # [s] of a process that is told to end, after which it is killed
MOST_REQUESTS = 100  # for steps, until something is seen
DATA = Path(__file__).resolve().parent / "data"


class Inbox:
    """The messages of one topic, in the order of their arrival."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._messages: list[Any] = []

    def receive(self, message: Any) -> None:
        with self._condition:
            self._messages.append(message)
            self._condition.notify_all()

    def mark(self) -> int:
        """The number of messages so far, for `wait`."""
        with self._condition:
            return len(self._messages)

    def wait(
        self, predicate: Callable[[Any], bool] = lambda message: True, what: str = "a message", since: int | None = None
    ) -> Any:
        """Waits for the first message, from now on or since a `mark`, that satisfies `predicate`."""
        with self._condition:
            return self._next(predicate, len(self._messages) if since is None else since, what)

    def first(self, what: str = "a message") -> Any:
        """Waits for the first message of all."""
        return self.collect(1, what)[0]

    def collect(self, count: int, what: str = "messages") -> list[Any]:
        """Waits for the first `count` messages."""
        with self._condition:
            assert self._condition.wait_for(lambda: len(self._messages) >= count, DEADLINE), f"too few: {what}"
            return self._messages[:count]

    def wait_ever(self, predicate: Callable[[Any], bool], what: str) -> Any:
        """Waits for the first message of all that satisfies `predicate`."""
        with self._condition:
            return self._next(predicate, 0, what)

    def all(self) -> list[Any]:
        """All messages so far."""
        with self._condition:
            return list(self._messages)

    def _next(self, predicate: Callable[[Any], bool], place: int, what: str) -> Any:
        """Waits for the first message, from an index on, that satisfies a predicate; checks each message once."""
        end = time.monotonic() + DEADLINE
        while True:
            if len(self._messages) == place:
                self._condition.wait(max(end - time.monotonic(), 0.0))
            elif predicate(self._messages[place]):
                return self._messages[place]
            else:
                place += 1
            assert time.monotonic() < end, f"never heard: {what}"


class Actor:
    """Sends goals to an action."""

    def __init__(self, peer: "Peer", action_type: type, name: str) -> None:
        self._executor = peer.node.executor
        self._client = ActionClient(peer.node, action_type, name)
        # An action client drops feedback that arrives after the result, so the topic is subscribed instead.
        self.feedback = Inbox()
        feedback = action_type.Impl.FeedbackMessage
        peer.hear_by(feedback, f"{name}/_action/feedback", lambda told: self.feedback.receive(told.feedback))

    def send(self, goal: Any) -> Any:
        """Sends a goal; returns its handle once the server has answered."""
        assert self._client.wait_for_server(DEADLINE), "the action was never offered"
        return self._answer(lambda: self._client.send_goal_async(goal))

    def cancel(self, handle: Any) -> int:
        """Cancels a goal; returns the number of goals that will be canceled."""
        return len(self._answer(handle.cancel_goal_async).goals_canceling)

    def end(self, handle: Any) -> tuple[int, Any]:
        """Waits for the end of a goal; returns its status and result."""
        answer = self._answer(handle.get_result_async)
        return answer.status, answer.result

    def _answer(self, request: Callable[[], Any]) -> Any:
        """Makes a request in the executor's thread, and waits for its answer.

        An action client notes a request after sending it, without a lock: in another thread the answer may come before,
        and is then ignored.
        """
        return answer_of(answer_of(self._executor.create_task(request)))

    def destroy(self) -> None:
        self._client.destroy()


class Peer:
    """Another node, which subscribes, publishes and requests."""

    def __init__(self) -> None:
        self.node = Node("peer")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()
        self._publishers: dict[str, Any] = {}
        self._clients: dict[str, Any] = {}
        self._actors: list[Actor] = []

    def _spin(self) -> None:
        """Runs callbacks; ignores entities that the test's thread destroys before the executor waits on them."""
        while not self._ending.is_set():
            with suppress(InvalidHandle):
                self._executor.spin_once()

    def hear(self, message_type: type, topic: str, quality: QoSProfile | int = 10) -> Inbox:
        inbox = Inbox()
        self.hear_by(message_type, topic, inbox.receive, quality)
        return inbox

    def hear_by(
        self, message_type: type, topic: str, receive: Callable[[Any], None], quality: QoSProfile | int = 10
    ) -> Subscription:
        """Calls a function with every message, in order; none is lost if it is late."""
        offered = QoSProfile(depth=quality) if isinstance(quality, int) else quality
        every = QoSProfile(depth=KEPT, reliability=offered.reliability, durability=offered.durability)
        subscription = self.node.create_subscription(message_type, topic, receive, every)
        self._executor.wake()
        return subscription

    def forget(self, subscription: Subscription) -> None:
        """Destroys a subscription of `hear_by` in the executor, which must not be waiting on it."""
        self._executor.create_task(self.node.destroy_subscription, subscription)

    def run(self, node: Node) -> None:
        """Runs another node in the same executor, until `leave`."""
        self._executor.add_node(node)

    def leave(self, node: Node) -> None:
        self._executor.remove_node(node)

    def publisher(self, message_type: type, topic: str, quality: QoSProfile | int = 10) -> Any:
        """A publisher with at least one subscriber."""
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(message_type, topic, quality)
        publisher = self._publishers[topic]
        self.wait_for(lambda: publisher.get_subscription_count() > 0, f"a subscriber of {topic}")
        return publisher

    def say(self, topic: str, message: Any, quality: QoSProfile | int = 10) -> None:
        self.publisher(type(message), topic, quality).publish(message)

    def ask(self, service_type: type, name: str, request: Any) -> Any:
        if name not in self._clients:
            self._clients[name] = self.node.create_client(service_type, name)
        client = self._clients[name]
        assert client.wait_for_service(DEADLINE), f"never offered: {name}"
        return answer_of(client.call_async(request), name)

    def ask_standard(self, node: str, name: str, /, **fields: Any) -> Any:
        """Calls a standard service of a simulator, by the name of its type and the fields of the request."""
        from grouser.nodes.services.interfaces import service_type  # not installed everywhere
        from grouser.nodes.services.services import snake_case

        kind = service_type(name)
        return self.ask(kind, f"/{node}/{snake_case(name)}", kind.Request(**fields))

    def step(self) -> int:
        """Lets a paused simulator make the steps of a request; returns the time then [ns].

        All samples on the way are published, and the last sample of each topic is of this time.
        """
        reply = self.ask(Trigger, "/simulator/step", Trigger.Request())
        assert reply.success, reply.message
        return round(1e9 * float(re.search(r"now at t = ([\d.]+) s", reply.message)[1]))

    def step_until(self, inbox: Inbox, predicate: Callable[[Any], bool], what: str, since: int = 0) -> Any:
        """Lets a paused simulator make steps until a message since a `mark` satisfies `predicate`; returns it.

        It does not depend on the wall clock: a simulator that is stepped skips no sample.
        """
        for _ in range(MOST_REQUESTS):
            end = self.step()
            inbox.wait_ever(lambda message, end=end: nanoseconds_of(message) >= end, f"the sample at {end} ns")
            for message in inbox.all()[since:]:
                if predicate(message):
                    return message
        raise AssertionError(f"never heard: {what}")

    def set_parameters(self, *changes: Parameter) -> list[SetParametersResult]:
        """Sets parameters of the simulator, one after the other; returns the result of each."""
        request = SetParameters.Request(parameters=[change.to_parameter_msg() for change in changes])
        return list(self.ask(SetParameters, "/simulator/set_parameters", request).results)

    def act(self, action_type: type, name: str) -> Actor:
        self._actors.append(Actor(self, action_type, name))
        self._executor.wake()
        return self._actors[-1]

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Waits for a state of the graph of nodes."""
        wait_until(condition, what)

    def close(self) -> None:
        self._ending.set()
        self._executor.create_task(lambda: None)  # something to do, after which the thread looks whether it is to end
        self._thread.join()
        self._executor.shutdown()
        for actor in self._actors:
            actor.destroy()
        self.node.destroy_node()


def nanoseconds_of(message: Any) -> int:
    """The stamp of a message [ns]."""
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def answer_of(future: Any, what: str = "an action") -> Any:
    """Waits for a future; returns its result."""
    answered = threading.Event()
    future.add_done_callback(lambda _: answered.set())
    assert answered.wait(DEADLINE), f"never answered: {what}"
    return future.result()


@pytest.fixture(scope="module")
def ros() -> Iterator[None]:
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    yield
    rclpy.try_shutdown()


@pytest.fixture
def peer(ros: None) -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.close()


@pytest.fixture
def ask(peer: Peer) -> Callable[..., Any]:
    """Calls a standard service of the simulator, by the name of its type and the fields of the request."""
    return partial(peer.ask_standard, "simulator")


@pytest.fixture(scope="session")
def compiled() -> None:
    """Compiles the physics before a test waits for a simulator: a first run takes a minute or more."""
    for name in ("loader", "linkage"):
        grouser.Simulation(grouser.load_machine(DATA / f"{name}.urdf"), grouser.World()).step(1)


@pytest.fixture
def start_simulator(ros: None, compiled: None) -> Iterator[Callable[..., SimulatorNode]]:
    """Starts simulators with the given parameters; ends them after the test."""
    with ExitStack() as stack:

        def start(**parameters: Any) -> SimulatorNode:
            values = {"machine": str(DATA / "loader.urdf"), **parameters}
            node = SimulatorNode([Parameter(name, value=value) for name, value in values.items()])
            stack.enter_context(spinning(node))
            assert node.built.wait(DEADLINE), "the simulation was never built"
            assert node.error is None, node.error
            return node

        yield start


@pytest.fixture
def run_live(peer: Peer, start_simulator: Callable[..., SimulatorNode]) -> Callable[..., np.ndarray]:
    """Lets a simulator run a program as fast as possible, and records the motion of the first joint.

    The callable takes the program's file, the duration [s], the rate of joint_states [Hz] and the simulator's
    parameters; it returns time, position and velocity of every sample, (3, samples).
    """

    def run(program: Path | str, duration: float, rate: float, **parameters: Any) -> np.ndarray:
        start_simulator(
            program=str(program),
            start_paused=True,
            step_request_count=round(duration / parameters["step"]),
            joint_state_rate=rate,
            clock_rate=0.0,
            **parameters,
        )
        inbox = peer.hear(JointState, "joint_states", 5000)
        peer.wait_for(lambda: peer.node.count_publishers("joint_states") == 1, "joint_states")
        assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
        end = round(1e9 * duration)
        inbox.wait_ever(lambda m: m.header.stamp.sec * 10**9 + m.header.stamp.nanosec >= end, "the last sample")
        heard = [
            (m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec, m.position[0], m.velocity[0]) for m in inbox.all()
        ]
        return np.array(sorted(set(heard))).T

    return run


@pytest.fixture
def launch(compiled: None) -> Iterator[Callable[..., Child]]:
    """Starts Python modules as processes. They end with the test, and their nodes have left the graph then."""
    open_nursery()
    with ended_together() as processes:

        def start(*arguments: str) -> Child:
            processes.append(Child(*arguments))
            return processes[-1]

        yield start


@pytest.fixture
def launch_anew() -> Iterator[Callable[..., subprocess.Popen]]:
    """Starts Python modules as `launch` does, in interpreters of their own."""
    with ended_together() as processes:

        def start(*arguments: str, **options: Any) -> subprocess.Popen:
            process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                **options,
            )
            processes.append(process)
            return process

        yield start


@contextmanager
def ended_together() -> Iterator[list[Any]]:
    """Processes that are ended, all at the same time."""
    processes: list[Any] = []
    yield processes
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.communicate(timeout=LONGEST_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@pytest.fixture
def load_sensing_file() -> Path:
    """A machine with every hydraulic element, such as cylinders, a motor and two pumps."""
    return DATA.parents[1] / "data" / "machines" / "load_sensing.urdf"


@pytest.fixture
def linkage_file() -> Path:
    """A machine with a closed loop, a compliant joint, and a flexible link that carries another; its base is fixed."""
    return DATA / "linkage.urdf"


@pytest.fixture
def loader_file() -> Path:
    """A small machine with a cylinder, a drive of each mode and a floating base."""
    return DATA / "loader.urdf"
