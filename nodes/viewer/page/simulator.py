"""What the page asks of the simulator: its services and parameters."""

import asyncio
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from grouser.physics.base.errors import GrouserError
from grouser.physics.description.data.pose import Pose

try:  # no dependency: where there is none, nothing can be added to the scene
    from simulation_interfaces import srv as standard

    from grouser.nodes.services.interfaces import set_resource
except ModuleNotFoundError:
    standard = None

_PATIENCE = 10.0  # [s] for an answer
_LONG_PATIENCE = 600.0  # [s] where the physics may be compiled
_DONE = 1  # result code of success of simulation_interfaces
_BOX_COLOUR = "0.80 0.52 0.25 1"
_TRIGGERS = ("reset", "step", "clear_emergency_stop")
Answer = tuple[bool, str]  # whether it was done, and what there is to say


class Simulator:
    """A simulator, as seen by coroutines of another thread than the executor's.

    Args:
        node: that calls.
        name: of the simulator's node.
        executor: that runs the node.
    """

    def __init__(self, node: Node, name: str, executor: Executor) -> None:
        self._name = name
        self._executor = executor
        self._clients = {one: node.create_client(Trigger, f"{name}/{one}") for one in _TRIGGERS}
        self._clients["pause"] = node.create_client(SetBool, f"{name}/pause")
        self._clients["record"] = node.create_client(SetBool, f"{name}/record")
        self._clients["set_parameters"] = node.create_client(SetParameters, f"{name}/set_parameters")
        self._clients["get_parameters"] = node.create_client(GetParameters, f"{name}/get_parameters")
        if standard is not None:
            self._clients["spawn"] = node.create_client(standard.SpawnEntity, f"{name}/spawn_entity")
            self._clients["delete"] = node.create_client(standard.DeleteEntity, f"{name}/delete_entity")
            if hasattr(standard, "LoadWorld"):
                self._clients["load_world"] = node.create_client(standard.LoadWorld, f"{name}/load_world")

    def offers(self, service: str) -> bool:
        """Whether a service can be called now; for any thread."""
        return service in self._clients and bool(self._clients[service].service_is_ready())

    async def in_executor(self, function: Callable[[], Any]) -> Any:
        """Result of a function that the executor's thread runs; raises a GrouserError that it raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future = loop.create_future()

        def run() -> None:
            try:
                result = function()
            except GrouserError as error:
                loop.call_soon_threadsafe(_settle, done, None, error)
            else:
                loop.call_soon_threadsafe(_settle, done, result, None)

        self._executor.create_task(run)
        return await done

    async def call(self, service: str, request: Any, patience: float = _PATIENCE) -> Any:
        """The answer of a service.

        Raises:
            ConnectionError: there is no such service, or no answer in time.
        """
        loop = asyncio.get_running_loop()
        answered: asyncio.Future = loop.create_future()

        def ask() -> bool:
            if not self.offers(service):
                return False
            future: Future = self._clients[service].call_async(request)
            future.add_done_callback(
                lambda done: loop.call_soon_threadsafe(_settle, answered, done.result(), done.exception())
            )
            return True

        if not await self.in_executor(ask):
            raise ConnectionError(f"the simulator {self._name} is not there, or does not offer this")
        try:
            return await asyncio.wait_for(answered, patience)
        except asyncio.TimeoutError:
            raise ConnectionError(f"the simulator {self._name} gave no answer in {patience:g} s") from None

    async def trigger(self, service: str) -> Answer:
        """Calls one of the services without arguments."""
        response = await self.call(service, Trigger.Request(), _LONG_PATIENCE)
        return response.success, response.message

    async def pause(self, value: bool) -> Answer:
        """Lets the simulation stand still, or go on."""
        response = await self.call("pause", SetBool.Request(data=value))
        return response.success, response.message

    async def record(self, value: bool) -> Answer:
        """Begins a recording, or ends it."""
        response = await self.call("record", SetBool.Request(data=value))
        return response.success, response.message

    async def step(self, count: int) -> Answer:
        """Advances a paused simulation by so many steps."""
        done, text = await self.set_parameter("step_request_count", count)
        return await self.trigger("step") if done else (done, text)

    async def set_parameter(self, name: str, value: Any) -> Answer:
        """Sets a parameter."""
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        (result,) = (await self.call("set_parameters", request)).results
        return result.successful, result.reason

    async def real_time_factor(self) -> float:
        """The wanted real-time factor; 0: as fast as possible."""
        (value,) = (await self.call("get_parameters", GetParameters.Request(names=["real_time_factor"]))).values
        return value.double_value

    async def spawn(self, name: str, pose: Pose, uri: str = "", text: str = "") -> Answer:
        """Adds a machine or an object, by the name of its file or by its text; the answer's text is its name."""
        request = standard.SpawnEntity.Request(name=name, allow_renaming=bool(text), initial_pose=_stamped(pose))
        set_resource(request, uri, text)
        response = await self.call("spawn", request, _LONG_PATIENCE)
        done = response.result.result == _DONE
        return done, response.entity_name if done else response.result.error_message

    async def delete(self, name: str) -> Answer:
        """Removes a machine or an object."""
        response = await self.call("delete", standard.DeleteEntity.Request(entity=name), _LONG_PATIENCE)
        return response.result.result == _DONE, response.result.error_message

    async def load_world(self, name: str) -> Answer:
        """Removes everything and loads a world by the name of its file."""
        request = standard.LoadWorld.Request()
        set_resource(request, name)
        response = await self.call("load_world", request, _LONG_PATIENCE)
        return response.result.result == _DONE, response.result.error_message


def box_text(size: tuple[float, float, float], mass: float) -> str:
    """URDF of a box.

    Args:
        size: its edges [m].
        mass: [kg], spread evenly.
    """
    x, y, z = size
    shape = f'<geometry><box size="{x:g} {y:g} {z:g}"/></geometry>'
    inertia = " ".join(
        f'{axis}="{mass * (one * one + other * other) / 12.0:.9g}"'
        for axis, one, other in (("ixx", y, z), ("iyy", x, z), ("izz", x, y))
    )
    return f"""<robot name="box"><link name="box">
  <inertial><mass value="{mass:g}"/><inertia {inertia} ixy="0" ixz="0" iyz="0"/></inertial>
  <visual>{shape}<material name="wood"><color rgba="{_BOX_COLOUR}"/></material></visual>
  <collision>{shape}</collision>
</link></robot>"""


def _stamped(pose: Pose) -> PoseStamped:
    message = PoseStamped()
    place, turn = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = pose.position
    turn.x, turn.y, turn.z, turn.w = pose.quaternion
    return message


def _settle(future: asyncio.Future, result: Any, error: BaseException | None) -> None:
    """Ends a future, unless nobody waits for it any more."""
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
