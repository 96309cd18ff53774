"""The page: its node, its server, and the browsers that control the machine through it."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from grouser import catalogue
from grouser.nodes.shared.process import spin_until
from grouser.nodes.viewer.page.drawing import drawing
from grouser.nodes.viewer.page.hands import Helm, joystick_of
from grouser.nodes.viewer.page.node import PageNode
from grouser.nodes.viewer.page.orders import Orders
from grouser.nodes.viewer.page.protocol import Hands, Order, ProtocolError, parse
from grouser.nodes.viewer.page.server import PageServer
from grouser.nodes.viewer.page.simulator import Answer, Simulator
from grouser.nodes.viewer.pushing import Wrench
from grouser.nodes.viewer.values import Values
from grouser.physics.base.errors import GrouserError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import World

_PERIOD = 0.1  # of the state that browsers are told [s]
_MOST_ANSWERS = 20  # that wait for a slow browser: the newest
_MOST_ORDERS = 8  # of one browser that are carried out at the same time


@dataclass(eq=False)
class Browser:
    """A browser that has the page open.

    Attributes:
        connection: to it.
        answers: not sent yet.
        state: the newest one; sent when there is something new.
        news: set when there is something to send.
        revision: of the description that it has.
        circuit: whether it shows the hydraulic circuit.
        drawn: revision of the node whose circuit it has; -1: none.
        measured: what is in the circuit; sent when there is something new.
        program: whether it shows the program of function blocks.
        wires: what is on its wires; sent when there is something new.
        orders: that are being carried out.
        pushes: whether it has the push tool.
        pushed_at: when it last said so, by a steady clock [s].
    """

    connection: ServerConnection
    answers: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MOST_ANSWERS))
    state: dict[str, Any] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    revision: tuple = ()
    circuit: bool = False
    drawn: int = -1
    measured: dict[str, Any] = field(default_factory=dict)
    program: bool = False
    wires: Values = field(default_factory=dict)
    orders: set[asyncio.Task] = field(default_factory=set)
    pushes: bool = False
    pushed_at: float = 0.0


class Page:
    """Lets browsers move a machine and run its simulation.

    Args:
        host, port: of the page, as of `PageServer`.
        scene_port: where viser listens.
        timeout: silence of a browser's hands after which all is in neutral [s of wall time].
        stamped, frame: of cmd_vel, as of `PageNode`.
        simulator: name of the simulator's node.
        world: name of the world.
        root_pose: present pose of the machine.
        show_world: told when another world was loaded.

    Attributes:
        port: of the page.
        node: that commands.
        time, speed: simulation time [s] and real-time factor, which the viewer measures.
        circuit: what is in the hydraulic circuit (`shown_circuit`), which the viewer hears.
        wires: what is on the wires of the program by block and output; empty where nothing is heard of it.
        has_program: whether there is one.

    Raises:
        GrouserError: the port is taken, or the host is no address of this machine.
    """

    def __init__(
        self,
        host: str,
        port: int,
        scene_port: int,
        timeout: float,
        stamped: bool,
        frame: str,
        simulator: str,
        world: str,
        root_pose: Callable[[], Pose],
        show_world: Callable[[World], None],
    ) -> None:
        self.time, self.speed = 0.0, 0.0
        self.circuit: dict[str, Any] | None = None
        self.wires: Values = {}
        self.has_program = False
        self._browsers: set[Browser] = set()
        self._helm = Helm(timeout)
        self._timeout = timeout
        self._pushes: Mapping[str, Wrench] = {}
        self._ending = threading.Event()
        self._telling: asyncio.Task | None = None
        self._drawn: tuple[Machine | None, dict[str, Any]] = (None, {})
        self._server = PageServer(host, port, scene_port, self._control)
        self.port = self._server.port
        self.node = PageNode(timeout, stamped, frame)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._simulator = Simulator(self.node, simulator, self._executor)
        self._orders = Orders(self.node, self._simulator, world, root_pose, show_world)
        self._thread = threading.Thread(
            target=spin_until, args=(self._ending.is_set, self._executor, None), name="commands", daemon=True
        )
        self._thread.start()
        self._server.start()

    def show(self, machine: Machine) -> None:
        """Moves another machine."""
        self._executor.create_task(self.node.show, machine)

    @property
    def shows_circuit(self) -> bool:
        """Whether a browser shows the hydraulic circuit; for any thread."""
        return any(browser.circuit for browser in tuple(self._browsers))

    @property
    def pushing(self) -> bool:
        """Whether a browser has the push tool; for any thread."""
        return any(browser.pushes for browser in tuple(self._browsers))

    @property
    def shows_program(self) -> bool:
        """Whether a browser shows the program of function blocks; for any thread."""
        return any(browser.program for browser in tuple(self._browsers))

    @property
    def push_is_lost(self) -> bool:
        """Whether all browsers with the push tool have been silent for too long; for any thread."""
        now = monotonic()
        return all(now - one.pushed_at > self._timeout for one in tuple(self._browsers) if one.pushes)

    def push(self, pushes: Mapping[str, Wrench]) -> None:
        """Pushes these links from now on, and no others; arguments as of `PageNode.push`."""
        if pushes or self._pushes:
            self._pushes = pushes
            self._executor.create_task(self.node.push, pushes)

    def show_scene(self, port: int) -> None:
        """Passes on another scene of viser from now on, which listens on a port."""
        self._server.scene_port = port

    def stop(self) -> None:
        """Closes the page, with the machine in neutral."""
        self._server.stop()
        self._ending.set()
        self._executor.create_task(lambda: None)  # wakes the thread
        self._thread.join()
        self.node.finish()
        self._executor.shutdown()
        self.node.destroy_node()

    async def _control(self, connection: ServerConnection) -> None:
        """Serves a browser until it leaves; then all is in neutral if it commanded."""
        browser = Browser(connection)
        self._browsers.add(browser)
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell())
            self._telling.add_done_callback(self._report)
        sending = asyncio.create_task(_send(browser))
        try:
            async for text in connection:
                await self._hear(browser, text)
        except ConnectionClosed:
            pass
        finally:
            self._browsers.discard(browser)
            sending.cancel()
            if self._helm.leave(browser):
                self._executor.create_task(self.node.rest)

    async def _hear(self, browser: Browser, text: str | bytes) -> None:
        try:
            request = parse(text)
            if isinstance(request, Hands):
                await self._move(browser, request)
            elif request.type == "stop":  # never behind anything else
                await self._simulator.in_executor(self.node.stop_machine)
            elif request.type == "push":
                browser.pushes, browser.pushed_at = request.values["on"], monotonic()
            elif request.type == "circuit":
                browser.circuit, browser.drawn = request.values["shown"], -1
            elif request.type == "program":
                browser.program, browser.wires = request.values["shown"], {}
            elif len(browser.orders) >= _MOST_ORDERS:
                _answer(browser, request.type, (False, "too much at once: wait for the answers"))
            else:
                task = asyncio.create_task(self._obey(browser, request))
                browser.orders.add(task)
                task.add_done_callback(browser.orders.discard)
        except ProtocolError as error:
            _answer(browser, "message", (False, str(error)))

    async def _move(self, browser: Browser, hands: Hands) -> None:
        levers = self.node.levers
        if levers is None:
            return
        axes, buttons = joystick_of(hands, levers)
        if not self._helm.take(browser, hands.enable, monotonic()):
            if hands.enable:
                _answer(browser, "hands", (False, "another browser commands the machine"))
            return

        def receive() -> None:
            if self.node.levers is levers:  # else these are positions of other levers
                self.node.receive(axes, buttons)

        await self._simulator.in_executor(receive)

    async def _obey(self, browser: Browser, order: Order) -> None:
        try:
            answer = await self._orders.carry_out(order)
        except (GrouserError, ConnectionError) as error:
            answer = False, str(error)
        _answer(browser, order.type, answer)

    async def _tell(self) -> None:
        """Tells all browsers the state while there are any."""
        while self._browsers:
            state = self._state()
            holder = self._helm.holder if state["enabled"] else None
            for browser in list(self._browsers):
                told = {**state, "yours": holder is browser, "others": holder not in (None, browser)}
                if browser.revision != self._revision:
                    browser.revision = self._revision
                    browser.answers.append({"type": "description", **self._description})
                if told != browser.state:
                    browser.state = told
                    browser.news.set()
                if browser.circuit:
                    await self._tell_circuit(browser)
                if browser.program and self.wires and self.wires != browser.wires:
                    browser.wires = self.wires
                    browser.news.set()
            await asyncio.sleep(_PERIOD)

    def _report(self, told: asyncio.Task) -> None:
        """Logs a defect that ended the telling; the next browser begins it anew."""
        self._telling = None
        if not told.cancelled() and (error := told.exception()) is not None:
            self.node.get_logger().error(f"browsers are no longer told the state: {error!r}")

    async def _tell_circuit(self, browser: Browser) -> None:
        """Tells a browser what is in the circuit, and first the drawing."""
        machine, revision = self.node.machine, self.node.revision
        if machine is None:
            return
        if browser.drawn != revision:
            browser.drawn = revision
            if self._drawn[0] is not machine:
                # In a thread of its own: nothing that moves the machine waits for it.
                self._drawn = machine, await asyncio.to_thread(drawing, machine)
            browser.answers.append({"type": "drawing", **self._drawn[1]})
            browser.news.set()
        if self.circuit is not None and self.circuit != browser.measured:
            browser.measured = self.circuit
            browser.news.set()

    def _state(self) -> dict[str, Any]:
        """The state of the node, and its description if that is new.

        Not in the executor's thread, which would have to wake up for it: a machine that changes meanwhile has a new
        revision afterwards, and is described again.
        """
        standard = self._simulator.offers("spawn")
        revision = self.node.revision, self._orders.world, self._server.scene_port, standard
        if revision != getattr(self, "_revision", None):
            self._description = {
                **self.node.description(),
                "world": self._orders.world,
                "scene": self._server.scene_port,
                "machines": [_stem(file.name) for file in catalogue.machine_files()] if standard else [],
                "worlds": [file.stem for file in catalogue.world_files()] if standard else [],
            }
            self._revision = revision
        return {
            "type": "state",
            "time": round(self.time, 3),
            "speed": round(self.speed, 2),
            "factor": self._orders.factor,
            "busy": self._orders.busy,
            "program": self.has_program,
            **self.node.state(),
        }


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _answer(browser: Browser, about: str, answer: Answer) -> None:
    done, text = answer
    browser.answers.append({"type": "answer", "about": about, "done": done, "text": text})
    browser.news.set()


async def _send(browser: Browser) -> None:
    """Sends a browser the newest: a slow one skips states."""
    sent: dict[str, Any] = {}
    measured: dict[str, Any] = {}
    wires: Values = {}
    with suppress(ConnectionClosed):
        while True:
            await browser.news.wait()
            browser.news.clear()
            while browser.answers:
                await browser.connection.send(json.dumps(browser.answers.popleft()))
            if browser.state != sent:
                sent = browser.state
                await browser.connection.send(json.dumps(sent))
            if browser.measured != measured:
                measured = browser.measured
                await browser.connection.send(json.dumps({"type": "circuit", **measured}))
            if browser.wires != wires:
                wires = browser.wires
                if wires:
                    await browser.connection.send(json.dumps({"type": "program", "values": wires}))
