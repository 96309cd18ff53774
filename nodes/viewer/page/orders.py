"""Carries out what the page's users order: the run of the simulation, patterns, and what is in the scene."""

import asyncio
from collections.abc import Awaitable, Callable

from grouser import catalogue
from grouser.nodes.viewer.page.node import PageNode
from grouser.nodes.viewer.page.protocol import Order
from grouser.nodes.viewer.page.simulator import Answer, Simulator, box_text
from grouser.physics.description import load_world
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose
from grouser.physics.description.data.world import World

_BOX_AHEAD, _BOX_ABOVE = 2.5, 1.0  # of the machine's root: where a box appears [m], beside its own size
_ROWS = (0, 1, -1, 2, -2)  # to its left and right, in widths, where further boxes appear
_GAP = 1.2  # from box to box, in their sizes
_ATTEMPTS = 5  # to find a free place


class Orders:
    """Carries out orders.

    Args:
        node: that commands the machine.
        simulator: that it is in.
        world: name of the world.
        root_pose: present pose of the machine.
        show_world: told when another world was loaded.

    Attributes:
        world: name of the present world.
        factor: real-time factor that was ordered; None: none yet.
        busy: what takes longer now, in words.
    """

    def __init__(
        self,
        node: PageNode,
        simulator: Simulator,
        world: str,
        root_pose: Callable[[], Pose],
        show_world: Callable[[World], None],
    ) -> None:
        self.world = world
        self.factor: float | None = None
        self.busy = ""
        self._node = node
        self._simulator = simulator
        self._root_pose = root_pose
        self._show_world = show_world
        self._boxes: list[str] = []
        self._entity = ""
        self._changing = asyncio.Lock()

    async def carry_out(self, order: Order) -> Answer:
        """Carries out an order.

        Raises:
            GrouserError: it cannot be carried out.
            ConnectionError: the simulator does not answer.
        """
        carry_out: Callable[..., Awaitable[Answer]] = getattr(self, f"_{order.type}")
        return await carry_out(**order.values)

    async def _release(self) -> Answer:
        answer = await self._simulator.trigger("clear_emergency_stop")
        if answer[0]:
            await self._simulator.in_executor(self._node.released)
        return answer

    async def _pause(self, value: bool) -> Answer:
        return await self._simulator.pause(value)

    async def _step(self, count: int) -> Answer:
        return await self._simulator.step(count)

    async def _reset(self) -> Answer:
        answer = await self._simulator.trigger("reset")
        if answer[0]:
            await self._simulator.in_executor(self._node.released)
        return answer

    async def _speed(self, factor: float) -> Answer:
        answer = await self._simulator.set_parameter("real_time_factor", factor)
        if answer[0]:
            self.factor = factor
        return answer

    async def _record(self, value: bool) -> Answer:
        return await self._simulator.record(value)

    async def _seek(self, time: float) -> Answer:
        return await self._simulator.set_parameter("replay_time", time)

    async def _backward(self, value: bool) -> Answer:
        return await self._simulator.set_parameter("replay_backward", value)

    async def _pattern(self, name: str) -> Answer:
        await self._simulator.in_executor(lambda: self._node.choose(name))
        return True, f"pattern {name or 'sliders only'}"

    async def _box(self, size: tuple[float, float, float], mass: float) -> Answer:
        """A box in front of the machine; beside the one before it, and above those where there is no more room."""
        root = self._root_pose()
        for attempt in range(_ATTEMPTS):
            layer, row = divmod(len(self._boxes) + attempt, len(_ROWS))
            aside, up = _ROWS[row] * _GAP * size[1], layer * _GAP * size[2]
            place = compose(root, Pose((_BOX_AHEAD + 0.5 * size[0], aside, 0.0))).position
            height = float(root.position[2]) + _BOX_ABOVE + 0.5 * size[2] + up
            pose = Pose((float(place[0]), float(place[1]), height))
            done, text = await self._simulator.spawn("box", pose, text=box_text(size, mass))
            if done:
                self._boxes.append(text)
                return done, f"{text} is there"
        return done, text

    async def _clear(self) -> Answer:
        gone = []
        while self._boxes:
            done, text = await self._simulator.delete(self._boxes[-1])
            if not done:
                return done, text
            gone.append(self._boxes.pop())
        return True, f"{len(gone)} boxes are gone"

    async def _scene(self, machine: str, world: str) -> Answer:
        """Another machine or another world; the machine is then where the world has its start."""
        async with self._changing:
            self.busy = f"loading {machine} in the world {world}; new physics is compiled first"
            try:
                return await self._change(machine, world)
            finally:
                self.busy = ""

    async def _change(self, machine: str, world: str) -> Answer:
        path = catalogue.machine_file(machine)
        loaded = load_world(catalogue.world_file(world))
        present = self._node.machine
        # The machine that the simulator was launched with has the topics without a prefix, and its successors too.
        self._entity = self._entity or (present.name if present else "")
        await self._simulator.in_executor(self._node.rest)
        if world != self.world:
            done, text = await self._simulator.load_world(world)
            if not done:
                return done, text
            self._boxes.clear()
            self.world = world
            self._show_world(loaded)
        else:
            done, text = await self._simulator.delete(self._entity)
            if not done:
                return done, text
        done, text = await self._simulator.spawn(self._entity, loaded.spawn, uri=str(path))
        if not done:
            return done, text
        await self._simulator.pause(False)
        return True, f"{machine} is there"
