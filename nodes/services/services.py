"""The services and the action of `simulation_interfaces`, under the node's name."""

import re
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

from geometry_msgs.msg import PoseStamped
from rclpy.action import CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result, Spawnable

from grouser import __version__
from grouser.nodes.services import conversions, interfaces, resources
from grouser.nodes.services.bounds import box_around
from grouser.nodes.services.host import (
    Capability,
    Category,
    Entities,
    Entity,
    EntitySnapshot,
    Host,
    RunState,
    Scope,
    SpawnOrder,
    Traits,
)
from grouser.nodes.services.naming import check_namespace, choose_name
from grouser.nodes.services.request_error import Reason, RequestError
from grouser.nodes.services.states import check_transition
from grouser.nodes.shared import topics
from grouser.nodes.shared.deferred_action import DeferredActionServer
from grouser.physics.base.errors import GrouserError, StateError
from grouser.physics.description.data.world import NamedPose
from grouser.physics.description.text.names import closest
from grouser.physics.description.world.reader import SPAWN

# Features that every host supports.
_FEATURES = (
    "NAMED_POSES",
    "ENTITY_TAGS",
    "ENTITY_BOUNDS",
    "ENTITY_BOUNDS_BOX",
    "ENTITY_BOUNDS_CONVEX",
    "ENTITY_CATEGORIES",
    "ENTITY_STATE_GETTING",
    "ENTITY_INFO_GETTING",
    "ENTITY_INFO_SETTING",
    "SPAWNABLES",
    "SIMULATION_STATE_GETTING",
    "SIMULATION_STATE_SETTING",
    "SIMULATION_STATE_PAUSE",
    "STEP_SIMULATION_SINGLE",
    "STEP_SIMULATION_MULTIPLE",
    "STEP_SIMULATION_ACTION",
    "WORLD_TAGS",
    "WORLD_INFO_GETTING",
    "AVAILABLE_WORLDS",
)
_FEATURES_OF = {
    Capability.RESET_TIME: ("SIMULATION_RESET", "SIMULATION_RESET_TIME"),
    Capability.RESET_STATE: ("SIMULATION_RESET", "SIMULATION_RESET_STATE"),
    Capability.RESET_SPAWNED: ("SIMULATION_RESET", "SIMULATION_RESET_SPAWNED"),
    Capability.SPAWN: ("SPAWNING", "SPAWNING_RESOURCE_STRING", "SPAWNING_ENTITIES"),
    Capability.DELETE: ("DELETING",),
    Capability.SET_STATE: ("ENTITY_STATE_SETTING",),
    Capability.LOAD_WORLD: ("WORLD_LOADING", "WORLD_RESOURCE_STRING"),
    Capability.UNLOAD_WORLD: ("WORLD_UNLOADING",),
}
_SCOPES = {
    Scope.TIME: Capability.RESET_TIME,
    Scope.STATE: Capability.RESET_STATE,
    Scope.SPAWNED: Capability.RESET_SPAWNED,
}
# Steps are made faster than messages are sent: a subscriber that wants every feedback needs a deep queue.
_FEEDBACK_QUALITY = QoSProfile(depth=1000)
_SCOPE_DEFAULT, _SCOPE_ALL = 0, 255
_MOST_STEPS = 1_000_000_000


class _Service(NamedTuple):
    """Handler of a service, and capabilities of the host, of which it needs any; empty: always offered."""

    answer: Callable[[Any, Any], None]
    needs: frozenset[Capability] = frozenset()


class SimulationServices:
    """Serves the requests to a host.

    Features and services that the host does not support are not offered. A RequestError becomes a result code and a
    text. The services wait for the host; step requests, which take long, have their own callback group.

    Args:
        node: its name precedes the names of the services.
        host: the simulation.
    """

    def __init__(self, node: Node, host: Host) -> None:
        self._node = node
        self._host = host
        self._traits: dict[str, Traits] = {}  # set by SetEntityInfo
        self._group = MutuallyExclusiveCallbackGroup()
        stepping = ReentrantCallbackGroup()  # a second request is refused while the first one is carried out
        for name, service in self._services().items():
            kind = interfaces.service_type(name)
            if kind is not None and (not service.needs or service.needs & host.capabilities):
                group = stepping if name == "StepSimulation" else self._group
                answer = partial(self._answer, service.answer)
                node.create_service(kind, f"~/{snake_case(name)}", answer, callback_group=group)
        self._action = DeferredActionServer(
            node,
            SimulateSteps,
            topics.SIMULATE_STEPS,
            lambda goal: None,
            callback_group=self._group,
            feedback_pub_qos_profile=_FEEDBACK_QUALITY,
            goal_callback=lambda goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._begin_steps,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    def destroy(self) -> None:
        """Destroys the action, after the end of its executor."""
        self._action.destroy()

    def _services(self) -> dict[str, _Service]:
        return {
            "GetSimulatorFeatures": _Service(self._get_features),
            "GetSimulationState": _Service(self._get_simulation_state),
            "SetSimulationState": _Service(self._set_simulation_state),
            "ResetSimulation": _Service(self._reset, frozenset(_SCOPES.values())),
            "StepSimulation": _Service(self._step),
            "GetEntities": _Service(self._get_entities),
            "GetEntitiesStates": _Service(self._get_entities_states),
            "GetEntityInfo": _Service(self._get_entity_info),
            "SetEntityInfo": _Service(self._set_entity_info),
            "GetEntityState": _Service(self._get_entity_state),
            "SetEntityState": _Service(self._set_entity_state, frozenset({Capability.SET_STATE})),
            "GetEntityBounds": _Service(self._get_entity_bounds),
            "GetSpawnables": _Service(self._get_spawnables),
            "SpawnEntity": _Service(self._spawn_entity, frozenset({Capability.SPAWN})),
            "SpawnEntities": _Service(self._spawn_entities, frozenset({Capability.SPAWN})),
            "DeleteEntity": _Service(self._delete_entity, frozenset({Capability.DELETE})),
            "GetNamedPoses": _Service(self._get_named_poses),
            "GetAvailableWorlds": _Service(self._get_available_worlds),
            "GetCurrentWorld": _Service(self._get_current_world),
            "LoadWorld": _Service(self._load_world, frozenset({Capability.LOAD_WORLD})),
            "UnloadWorld": _Service(self._unload_world, frozenset({Capability.UNLOAD_WORLD})),
        }

    def _answer(self, answer: Callable[[Any, Any], None], request: Any, response: Any) -> Any:
        result = getattr(response, "result", Result())  # GetSimulatorFeatures has no result
        result.result = Result.RESULT_OK
        try:
            answer(request, response)
        except (RequestError, GrouserError) as error:
            result.result = interfaces.result_code(_reason(error), type(response))
            result.error_message = str(error)
        return response

    # --- the simulation -----------------------------------------------------------------------------------------------

    def _get_features(self, _request, response):
        names = {*_FEATURES, *(name for can in self._host.capabilities for name in _FEATURES_OF[can])}
        if interfaces.service_type("SpawnEntities") is None:
            names.discard("SPAWNING_ENTITIES")
        response.features.features = interfaces.feature_numbers(names)
        can_spawn = Capability.SPAWN in self._host.capabilities
        response.features.spawn_formats = list(resources.MACHINE_FORMATS) if can_spawn else []
        response.features.custom_info = f"grouser {__version__}; worlds are read from YAML files"

    def _get_simulation_state(self, _request, response):
        response.state.state = interfaces.state_number(self._host.state())

    def _set_simulation_state(self, request, _response):
        present = self._host.state()
        stepping = present is RunState.PAUSED and self._host.stepping()
        target = check_transition(present, request.state.state, stepping)
        if target is RunState.QUITTING:
            # A timer in this group runs after the response is sent.
            self._quit_timer = self._node.create_timer(0.0, self._quit, self._group)
        else:
            self._host.set_state(target)

    def _quit(self):
        self._quit_timer.cancel()
        self._host.quit()

    def _reset(self, request, _response):
        able = Scope(0)
        for scope, capability in _SCOPES.items():
            able |= scope if capability in self._host.capabilities else Scope(0)
        if request.scope in (_SCOPE_DEFAULT, _SCOPE_ALL):
            wanted = able
        elif request.scope & ~int(able):
            raise RequestError(
                Reason.FEATURE_UNSUPPORTED, f"scope {request.scope} is more than this simulator can reset"
            )
        else:
            wanted = Scope(request.scope)
        self._host.reset(wanted)
        if wanted == able:
            self._traits.clear()

    def _step(self, request, _response):
        self._host.step(_step_count(request)).result()

    def _begin_steps(self, goal):
        count: int = goal.request.steps

        def report(made: int) -> bool:
            goal.publish_feedback(SimulateSteps.Feedback(completed_steps=made, remaining_steps=count - made))
            return not goal.is_cancel_requested

        goal.execute()
        try:
            future = self._host.step(_step_count(goal.request), report)
        except RequestError as error:
            future = Future()
            future.set_exception(error)
        future.add_done_callback(lambda done: self._action.notify_execute(goal, partial(_finish_steps, done)))

    # --- entities -----------------------------------------------------------------------------------------------------

    def _get_entities(self, request, response):
        choice = conversions.entity_choice(request.filters)
        response.entities = choice.of(self._scene())

    def _get_entities_states(self, request, response):
        choice = conversions.entity_choice(request.filters)
        scene = self._scene()
        response.entities = choice.of(scene)
        kind = interfaces.message_type("EntityState")
        for name in response.entities:
            response.states.append(kind())
            conversions.fill_state(response.states[-1], scene.entities[name], scene)

    def _get_entity_info(self, request, response):
        conversions.fill_info(response.info, _find(self._scene(), request.entity).traits)

    def _set_entity_info(self, request, _response):
        _find(self._scene(), request.entity)
        self._traits[request.entity] = conversions.traits_of(request.info)

    def _get_entity_state(self, request, response):
        scene = self._scene()
        conversions.fill_state(response.state, _find(scene, request.entity), scene)

    def _set_entity_state(self, request, _response):
        scene, state = self._scene(), request.state
        entity = _find(scene, request.entity)
        frame = conversions.frame_motion(state.header.frame_id, scene)
        moves = interfaces.sets_twist(request) and not conversions.is_zero(state.twist)
        speeds_up = interfaces.sets_acceleration(request) and not conversions.is_zero(state.acceleration)
        if entity.traits.category is Category.STATIC_OBJECT and (moves or speeds_up):
            raise RequestError(
                Reason.OPERATION_FAILED, f"{request.entity} is static: it takes neither twist nor acceleration"
            )
        pose = conversions.pose_in_world(state.pose, frame) if interfaces.sets_pose(request) else None
        velocity = None
        if interfaces.sets_twist(request) and entity.traits.category is not Category.STATIC_OBJECT:
            place = (pose or entity.motion.pose).position
            velocity = conversions.velocity_in_world(state.twist, place, frame)
        if pose is not None or velocity is not None:
            self._host.set_entity_state(request.entity, pose, velocity)

    def _get_entity_bounds(self, request, response):
        entity = _find(self._scene(), request.entity)
        conversions.fill_box(response.bounds, box_around(entity.shapes, entity.motion.pose))

    def _get_spawnables(self, request, response):
        machines, problems = resources.list_machines(request.sources)
        for uri, description in machines.items():
            response.spawnables.append(Spawnable(description=description))
            interfaces.set_resource(response.spawnables[-1], uri)
        response.result.error_message = "; ".join(problems)

    def _spawn_entity(self, request, response):
        (order,) = self._orders([request])
        self._host.spawn([order])
        response.entity_name = order.name

    def _spawn_entities(self, request, response):
        kind, singles = interfaces.message_type("SpawnResult"), request.spawn_requests
        if self._spawned_together(singles, response, kind):
            return
        for number, single in enumerate(singles):
            response.results.append(self._answer(self._spawn_entity, single, kind()))
            result = response.results[-1].result
            if result.result != Result.RESULT_OK:
                response.result.error_message += f"spawn_requests[{number}]: {result.error_message}\n"
        if response.result.error_message:
            raise RequestError(Reason.ENTITIES_SPAWN_FAILED, response.result.error_message.rstrip())

    def _spawned_together(self, requests, response, kind) -> bool:
        """Spawns several entities at the price of one; returns whether none was refused."""
        try:
            orders = self._orders(requests)
            if orders:
                self._host.spawn(orders)
        except (RequestError, GrouserError):
            return False
        for order in orders:
            response.results.append(kind(entity_name=order.name))
            response.results[-1].result.result = Result.RESULT_OK
        return True

    def _orders(self, requests) -> list[SpawnOrder]:
        """Orders for several requests, with names that differ from each other; each resource is read once."""
        scene, read = self._scene(), cache(partial(resources.read_machine, packages=self._host.packages))
        taken, orders = set(scene.entities), []
        for request in requests:
            uri, text = interfaces.resource(request)
            namespace = check_namespace(request.entity_namespace)
            start: PoseStamped = request.initial_pose
            pose = conversions.pose_in_world(start.pose, conversions.frame_motion(start.header.frame_id, scene))
            machine = read(uri, text)
            name = choose_name(request.name, machine.name, taken, request.allow_renaming)
            taken.add(name)
            orders.append(SpawnOrder(name, machine, uri, namespace, pose))
        return orders

    def _delete_entity(self, request, _response):
        _find(self._scene(), request.entity)
        self._host.delete(request.entity)
        self._traits.pop(request.entity, None)

    def _scene(self) -> EntitySnapshot:
        """All entities now, with the traits set by SetEntityInfo."""
        scene, traits = self._host.scene(), dict(self._traits)

        def described(name: str) -> Entity:
            entity = scene.entities[name]
            return replace(entity, traits=traits[name]) if name in traits else entity

        return replace(scene, entities=Entities({name: partial(described, name) for name in scene.entities}))

    # --- worlds -------------------------------------------------------------------------------------------------------

    def _get_named_poses(self, request, response):
        choice = conversions.tag_choice(request.tags)
        world = self._host.world().world
        poses = (NamedPose(SPAWN, world.spawn, "where the machine starts", (SPAWN,)), *world.poses)
        response.poses = [conversions.named_pose(pose) for pose in poses if choice.takes(pose.tags)]

    def _get_available_worlds(self, request, response):
        choice = conversions.tag_choice(request.filter)
        worlds, problems = resources.list_worlds(request.additional_sources)
        if problems and not (request.continue_on_error and worlds):
            raise RequestError(Reason.NOT_FOUND, "; ".join(problems))
        if not worlds:
            raise RequestError(Reason.DEFAULT_SOURCES_FAILED, "the worlds that come with grouser are not installed")
        kind = interfaces.message_type("WorldResource")
        for entry in worlds:
            if choice.takes(entry.world.tags):
                response.worlds.append(kind())
                conversions.fill_world(response.worlds[-1], entry)
        response.result.error_message = "; ".join(problems)

    def _get_current_world(self, _request, response):
        conversions.fill_world(response.world, self._host.world())

    def _load_world(self, request, response):
        entry = resources.read_world(
            *interfaces.resource(request),
            request.fail_on_unsupported_element,
            request.ignore_missing_or_unsupported_assets,
        )
        self._host.load_world(entry)
        self._traits.clear()
        conversions.fill_world(response.world, entry)

    def _unload_world(self, _request, _response):
        self._host.world()
        self._host.unload_world()
        self._traits.clear()


def _find(scene: EntitySnapshot, name: str) -> Entity:
    if name not in scene.entities:
        raise RequestError(Reason.NOT_FOUND, f"there is no entity {name!r}; {closest(name, scene.entities)}")
    return scene.entities[name]


def _finish_steps(steps: Future, goal):
    """Sets the final state of a goal; returns its result."""
    outcome = SimulateSteps.Result()
    try:
        steps.result()
    except (RequestError, GrouserError) as error:
        outcome.result.result = interfaces.result_code(_reason(error), SimulateSteps.Result)
        outcome.result.error_message = str(error)
        if goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
    else:
        outcome.result.result = Result.RESULT_OK
        goal.succeed()
    return outcome


def _step_count(request: Any) -> int:
    """Number of steps of a request.

    Raises:
        RequestError: more than a simulator should make without a word.
    """
    count: int = request.steps
    if count > _MOST_STEPS:
        raise RequestError(Reason.OPERATION_FAILED, f"steps = {count} is not valid: at most {_MOST_STEPS} in a request")
    return count


def _reason(error: RequestError | GrouserError) -> Reason:
    """Result code of an error of the host: one for each cause, whichever service is asked."""
    if isinstance(error, RequestError):
        return error.reason
    return Reason.INCORRECT_STATE if isinstance(error, StateError) else Reason.OPERATION_FAILED


def snake_case(name: str) -> str:
    """Name of a service from the name of its type."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
