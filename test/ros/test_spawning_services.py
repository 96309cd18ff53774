"""Spawning, moving and deleting entities and loading worlds, over DDS; each test holds for every version.

Their host steps a separate simulation for each machine, so that machines do not collide. It supports
everything that the services need.
"""

import math
import re
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

import pytest
import trimesh
from geometry_msgs.msg import Pose
from rclpy.node import Node
from simulation_interfaces import msg, srv
from simulation_interfaces.msg import EntityFilters, Result, SimulationState, SimulatorFeatures

from grouser.nodes.services.host import (
    Capability,
    Category,
    Entity,
    EntitySnapshot,
    RunState,
    Scope,
    Shape,
    Traits,
    WorldEntry,
)
from grouser.nodes.services.motion import EntityMotion, Velocity
from grouser.nodes.services.request_error import Reason, RequestError
from grouser.nodes.services.services import SimulationServices
from grouser.physics.description.data.pose import Pose as PlainPose
from grouser.physics.description.data.rotation import matrix, rotate
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation

OK = Result.RESULT_OK
STEP = 0.001  # [s]
URDF = """<robot name="{name}">
  <link name="body">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry>{shape}</geometry></collision>
  </link>
</robot>
"""
BALL = URDF.format(name="ball", shape='<sphere radius="0.5"/>')
XACRO = """<robot name="ball" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="radius" value="${0.2 + 0.05}"/>
  <link name="body">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="${radius}"/></geometry></collision>
  </link>
</robot>
"""


class Yard:
    """A host that supports everything, without physics between its machines."""

    capabilities = frozenset(Capability)

    def __init__(self):
        self.entry: WorldEntry | None = WorldEntry(World(name="nowhere", gravity=(0.0, 0.0, 0.0), ground=None))
        self.members: dict[str, Simulation] = {}
        self.orders: dict[str, object] = {}
        self.packages: dict[str, str] = {}
        self.steps = 0
        self.now = RunState.STOPPED
        self.ended = False

    def state(self):
        return self.now if self.entry is not None else RunState.NO_WORLD

    def stepping(self):
        return False

    def set_state(self, target):
        if target is RunState.STOPPED:
            self.reset(Scope.TIME | Scope.STATE | Scope.SPAWNED)
        self.now = target

    def quit(self):
        self.ended = True

    def reset(self, scope):
        if Scope.TIME in scope:
            self.steps = 0
        if Scope.SPAWNED in scope:
            self.members.clear()
        if Scope.STATE in scope:
            for member in self.members.values():
                member.reset()

    def step(self, count, after_step=None):
        if self.now is not RunState.PAUSED:
            raise RequestError(Reason.OPERATION_FAILED, "stepping requires a paused simulation")
        for member in self.members.values():
            member.step(count)
        self.steps += count
        done: Future = Future()
        done.set_result(None)
        return done

    def scene(self):
        world = self.world().world
        entities = {
            obstacle.name: Entity(
                Traits(Category.STATIC_OBJECT), EntityMotion(obstacle.pose), (Shape(obstacle.geometry, obstacle.pose),)
            )
            for obstacle in world.obstacles
        }
        for name, member in self.members.items():
            position, quaternion = (tuple(part.tolist()) for part in member.base_pose())
            linear, angular = (rotate(quaternion, tuple(part.tolist())) for part in member.base_twist())
            pose = PlainPose(position, quaternion)
            shapes = tuple(Shape(shape.geometry, pose) for shape in member.machine.links[0].collisions)
            entities[name] = Entity(Traits(Category.ROBOT), EntityMotion(pose, Velocity(linear, angular)), shapes)
        return EntitySnapshot(round(self.steps * STEP * 1e9), "map", entities)

    def world(self):
        if self.entry is None:
            raise RequestError(Reason.NO_WORLD_LOADED, "no world is loaded")
        return self.entry

    def spawn(self, orders):
        for order in orders:
            self.orders[order.name] = order
            self.members[order.name] = Simulation(order.machine, replace(self.world().world, spawn=order.pose), STEP)

    def delete(self, name):
        if name not in self.members:
            raise RequestError(Reason.OPERATION_FAILED, f"{name} belongs to the world")
        del self.members[name]

    def set_entity_state(self, name, pose, velocity):
        state = self.members[name].state
        if pose is not None:
            state.q[:3], state.q[3:7] = pose.position, pose.quaternion
        if velocity is not None:
            turn = matrix(tuple(state.q[3:7].tolist())).T
            state.v[:3], state.v[3:6] = turn @ velocity.linear, turn @ velocity.angular

    def load_world(self, entry):
        self.members.clear()
        self.entry, self.now = entry, RunState.STOPPED

    def unload_world(self):
        self.members.clear()
        self.entry = None


@pytest.fixture
def host():
    return Yard()


@pytest.fixture
def ask(compiled, peer, host):
    """Calls a service of a node with this host, by the name of its type and the fields of the request."""
    node = Node("yard")
    services = SimulationServices(node, host)
    peer.run(node)

    yield partial(peer.ask_standard, "yard")
    peer.leave(node)
    services.destroy()
    node.destroy_node()


def with_resource(message, field="entity_resource", uri="", text=""):
    """A request, or a message in one, with a resource in the field that this version has for it."""
    if hasattr(message, field):
        message = message if not isinstance(message, type) else message()
        getattr(message, field).uri, getattr(message, field).resource_string = uri, text
    else:
        message.uri, message.resource_string = uri, text
    return message


@pytest.fixture
def spawn(peer, ask):
    """Spawns an entity; returns the answer."""

    def spawn(name="", uri="", text=BALL, allow_renaming=False, namespace="", pose=None, frame=""):
        request = srv.SpawnEntity.Request(name=name, allow_renaming=allow_renaming, entity_namespace=namespace)
        request.initial_pose.header.frame_id = frame
        if pose is not None:
            request.initial_pose.pose = pose
        return peer.ask(srv.SpawnEntity, "/yard/spawn_entity", with_resource(request, uri=uri, text=text))

    return spawn


def at(x, y, z, quaternion=(0.0, 0.0, 0.0, 1.0)):
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = x, y, z
    turn = pose.orientation
    turn.x, turn.y, turn.z, turn.w = quaternion
    return pose


def place_of(ask, name):
    position = ask("GetEntityState", entity=name).state.pose.position
    return [position.x, position.y, position.z]


QUARTER = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))  # about z


def test_all_services_are_offered(ask):
    offered = ask("GetSimulatorFeatures").features
    known = {name: getattr(SimulatorFeatures, name) for name in dir(SimulatorFeatures) if name.isupper()}
    absent = {name for name, number in known.items() if isinstance(number, int) and number not in offered.features}
    assert absent == {"POSE_BOUNDS"}
    assert list(offered.spawn_formats) == ["urdf", "xacro"]


def test_spawned_machine_is_simulated_and_deleted(ask, spawn, host):
    answer = spawn("left", pose=at(1.0, 2.0, 3.0), namespace="fleet/left")
    assert (answer.result.result, answer.entity_name) == (OK, "left"), answer.result.error_message
    assert place_of(ask, "left") == [1.0, 2.0, 3.0]
    assert host.orders["left"].namespace == "fleet/left"
    state = msg.EntityState(pose=at(5.0, 0.0, 0.0))
    state.twist.linear.x = 2.0
    flags = {"set_pose": True, "set_twist": True} if hasattr(srv.SetEntityState.Request, "set_pose") else {}
    assert ask("SetEntityState", entity="left", state=state, **flags).result.result == OK
    assert ask("SetSimulationState", state=SimulationState(state=SimulationState.STATE_PAUSED)).result.result == OK
    assert ask("StepSimulation", steps=500).result.result == OK
    assert place_of(ask, "left") == pytest.approx([6.0, 0.0, 0.0])  # free of forces, 0.5 s at 2 m/s
    assert ask("DeleteEntity", entity="left").result.result == OK
    assert ask("DeleteEntity", entity="left").result.result == Result.RESULT_NOT_FOUND
    assert list(ask("GetEntities").entities) == []


def test_repeated_names_are_refused_or_renamed(ask, spawn):
    answers = srv.SpawnEntity.Response
    assert spawn().entity_name == "ball"  # by its description
    assert spawn().result.result == answers.NAME_NOT_UNIQUE
    assert spawn("ball").result.result == answers.NAME_NOT_UNIQUE
    assert spawn("ball", allow_renaming=True).entity_name == "ball_2"
    assert spawn(allow_renaming=True).entity_name == "ball_3"
    for wrong in ("two balls", "2balls", "a/b", "ball?", "bäll"):
        for allow in (False, True):
            refused = spawn(wrong, allow_renaming=allow)
            assert refused.result.result == answers.NAME_INVALID
            assert repr(wrong) in refused.result.error_message
    odd = URDF.format(name="2nd ball", shape='<sphere radius="0.5"/>')
    assert spawn(text=odd).result.result == answers.NAME_INVALID
    assert spawn(text=odd, allow_renaming=True).entity_name == "entity_2nd_ball"
    assert list(ask("GetEntities").entities) == ["ball", "ball_2", "ball_3", "entity_2nd_ball"]


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ({"text": ""}, "NO_RESOURCE"),
        ({"uri": "http://example.org/ball.urdf"}, "UNSUPPORTED_FORMAT"),
        ({"uri": "/tmp/ball.usd"}, "UNSUPPORTED_FORMAT"),
        ({"text": "<sdf version='1.9'/>"}, "UNSUPPORTED_FORMAT"),
        ({"text": "<!-- <robot> --><mujoco/>"}, "UNSUPPORTED_FORMAT"),
        ({"text": "<robot name='x'>"}, "RESOURCE_PARSE_ERROR"),
        ({"text": "no description"}, "RESOURCE_PARSE_ERROR"),
        ({"text": XACRO.replace("0.2", "nothing")}, "RESOURCE_PARSE_ERROR"),
        ({"text": BALL.replace('mass value="2"', 'mass value="-2"')}, "RESOURCE_PARSE_ERROR"),
        ({"text": URDF.format(name="x", shape='<mesh filename="/nowhere/m.stl"/>')}, "MISSING_ASSETS"),
        ({"text": URDF.format(name="x", shape='<mesh filename="package://nobody/m.stl"/>')}, "MISSING_ASSETS"),
        ({"text": URDF.format(name="x", shape='<mesh filename="/nowhere/m.blend"/>')}, "UNSUPPORTED_ASSETS"),
        ({"uri": "/nowhere/ball.urdf"}, "RESULT_NOT_FOUND"),
        ({"uri": "package://nobody/ball.urdf"}, "RESULT_NOT_FOUND"),
        ({"uri": "no_such_machine"}, "RESULT_NOT_FOUND"),
        ({"namespace": "two words"}, "NAMESPACE_INVALID"),
        ({"namespace": "a//b"}, "NAMESPACE_INVALID"),
        ({"namespace": "/2nd"}, "NAMESPACE_INVALID"),
        ({"pose": at(0.0, 0.0, 0.0, (0.0, 0.0, 0.0, 0.0))}, "INVALID_POSE"),
        ({"pose": at(0.0, 0.0, 0.0, (0.0, 0.0, 0.0, 1.01))}, "INVALID_POSE"),
        ({"pose": at(math.nan, 0.0, 0.0)}, "INVALID_POSE"),
        ({"pose": at(1e12, 0.0, 0.0)}, "INVALID_POSE"),
        ({"frame": "nowhere"}, "INVALID_POSE"),
    ],
)
def test_refused_spawns_give_a_reason(ask, spawn, order, code):
    answer = spawn("thing", **order)
    response = srv.SpawnEntity.Response
    assert answer.result.result == getattr(response, code, getattr(Result, code, None)), answer.result.error_message
    assert answer.result.error_message
    assert answer.entity_name == ""
    assert list(ask("GetEntities").entities) == []


def test_resources_are_files_packages_names_and_texts(ask, spawn, host, tmp_path):
    file = tmp_path / "a ball.urdf"
    file.write_text(BALL)
    for name, order in {
        "by_uri": {"uri": file.as_uri()},
        "by_path": {"uri": str(file)},
        "by_package": {"uri": "package://grouser/urdf/stick_slip.urdf.xacro"},
        "by_name": {"uri": "stick_slip"},
        "by_text": {"text": XACRO},
    }.items():
        answer = spawn(name, **{"text": "not read beside a uri", **order})
        assert (answer.result.result, answer.entity_name) == (OK, name), answer.result.error_message
    machines = {name: host.orders[name].machine.name for name in host.orders}
    assert machines == {
        "by_uri": "ball",
        "by_path": "ball",
        "by_package": "stick_slip",
        "by_name": "stick_slip",
        "by_text": "ball",
    }
    assert host.orders["by_text"].machine.links[0].collisions[0].geometry.radius == 0.25


def test_packages_of_the_host_are_found(ask, spawn, host, tmp_path):
    trimesh.creation.box((0.3, 0.3, 0.3)).export(tmp_path / "box.stl")
    host.packages = {"parts_of_no_index": str(tmp_path)}
    mesh = '<mesh filename="package://parts_of_no_index/box.stl"/>'
    for number, text in enumerate((BALL, XACRO)):
        name = f"box{number}"
        answer = spawn(name, text=re.sub("<sphere [^>]*/>", mesh, text))
        assert answer.result.result == OK, answer.result.error_message
        assert host.orders[name].machine.links[0].collisions[0].geometry.path == str(tmp_path / "box.stl")


def test_poses_are_in_the_frame_that_is_named(ask, spawn):
    assert spawn("first", pose=at(1.0, 2.0, 0.0, QUARTER)).result.result == OK
    assert spawn("second", pose=at(3.0, 0.0, 0.5), frame="first").result.result == OK
    for frame in ("world", "map"):
        assert spawn(f"in_{frame}", pose=at(3.0, 0.0, 0.5), frame=frame).result.result == OK
        assert place_of(ask, f"in_{frame}") == [3.0, 0.0, 0.5]
    assert place_of(ask, "second") == pytest.approx([1.0, 5.0, 0.5])  # 3 m along the first one's x, which is y


def test_states_are_set_and_read_in_the_named_frame(ask, spawn):
    """An entity at rest in a rotating frame moves with it."""
    assert spawn("turntable", pose=at(1.0, 0.0, 0.0, QUARTER)).result.result == OK
    assert spawn("rider").result.result == OK
    flags = {"set_pose": True, "set_twist": True} if hasattr(srv.SetEntityState.Request, "set_pose") else {}
    turning = msg.EntityState(pose=at(1.0, 0.0, 0.0, QUARTER))
    turning.twist.angular.z = 2.0
    turning.twist.linear.z = 0.25
    assert ask("SetEntityState", entity="turntable", state=turning, **flags).result.result == OK
    riding = msg.EntityState(pose=at(3.0, 0.0, 0.0))
    riding.header.frame_id = "turntable"
    riding.twist.linear.x = 0.5
    assert ask("SetEntityState", entity="rider", state=riding, **flags).result.result == OK
    state = ask("GetEntityState", entity="rider").state
    assert state.header.frame_id == "map"
    position, linear, angular = state.pose.position, state.twist.linear, state.twist.angular
    assert [position.x, position.y, position.z] == pytest.approx([1.0, 3.0, 0.0])
    assert [linear.x, linear.y, linear.z] == pytest.approx([-2.0 * 3.0, 0.5, 0.25])  # omega x r, and along y
    assert [angular.x, angular.y, angular.z] == pytest.approx([0.0, 0.0, 2.0])


def test_unselected_parts_of_a_state_stay(ask, spawn):
    if not hasattr(srv.SetEntityState.Request, "set_pose"):
        pytest.skip("this version sets everything")
    assert spawn("ball", pose=at(1.0, 0.0, 0.0)).result.result == OK
    state = msg.EntityState(pose=at(9.0, 9.0, 9.0))
    state.twist.linear.y = 3.0
    assert ask("SetEntityState", entity="ball", state=state).result.result == OK  # neither
    assert place_of(ask, "ball") == [1.0, 0.0, 0.0]
    assert ask("SetEntityState", entity="ball", state=state, set_twist=True).result.result == OK
    now = ask("GetEntityState", entity="ball").state
    assert (now.pose.position.x, now.twist.linear.y) == (1.0, 3.0)
    assert ask("SetEntityState", entity="ball", state=msg.EntityState(pose=at(2.0, 0.0, 0.0)), set_pose=True)
    now = ask("GetEntityState", entity="ball").state
    assert (now.pose.position.x, now.twist.linear.y) == (2.0, 3.0)


def test_refused_states_give_a_reason(ask, spawn, peer):
    load(peer, text="ground: null\nobstacles: [{name: kerb, sphere: 1.0, xyz: [0.0, 9.0, 0.0]}]")
    assert spawn("ball").result.result == OK
    flags = {"set_pose": True, "set_twist": True} if hasattr(srv.SetEntityState.Request, "set_pose") else {}
    invalid = srv.SetEntityState.Response.INVALID_POSE
    for entity, pose, speed, code in (
        ("nobody", at(0.0, 0.0, 0.0), 0.0, Result.RESULT_NOT_FOUND),
        ("ball", at(0.0, 0.0, 0.0, (1.0, 1.0, 0.0, 0.0)), 0.0, invalid),
        ("ball", at(math.inf, 0.0, 0.0), 0.0, invalid),
        ("ball", at(5.0, 0.0, 0.0), math.nan, Result.RESULT_OPERATION_FAILED),
        ("kerb", at(5.0, 0.0, 0.0), 1.0, Result.RESULT_OPERATION_FAILED),
    ):
        state = msg.EntityState(pose=pose)
        state.twist.linear.x = speed
        answer = ask("SetEntityState", entity=entity, state=state, **flags)
        assert answer.result.result == code, answer.result.error_message
        assert answer.result.error_message
        assert place_of(ask, "ball") == [0.0, 0.0, 0.0]


@pytest.mark.skipif(not hasattr(srv, "SpawnEntities"), reason="not in this version")
def test_each_of_several_entities_has_its_result(ask):
    wrong = with_resource(msg.SpawnEntity(name="wrong"), text="<sdf/>")
    good = with_resource(msg.SpawnEntity(name="good"), text=BALL)
    mixed = ask("SpawnEntities", spawn_requests=[good, wrong, good])
    assert mixed.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert "spawn_requests[1]" in mixed.result.error_message
    assert [result.result.result for result in mixed.results] == [
        OK,
        msg.SpawnResult.UNSUPPORTED_FORMAT,
        msg.SpawnResult.NAME_NOT_UNIQUE,
    ]
    assert [result.entity_name for result in mixed.results] == ["good", "", ""]
    both = ask("SpawnEntities", spawn_requests=[with_resource(msg.SpawnEntity(name=n), text=BALL) for n in ("a", "b")])
    assert both.result.result == OK
    assert list(ask("GetEntities").entities) == ["good", "a", "b"]


def test_reset_removes_spawned_machines(ask, spawn):
    scope = srv.ResetSimulation.Request
    assert spawn("ball").result.result == OK
    assert ask("ResetSimulation", scope=scope.SCOPE_TIME | scope.SCOPE_STATE).result.result == OK
    assert list(ask("GetEntities").entities) == ["ball"]
    assert ask("ResetSimulation", scope=scope.SCOPE_SPAWNED).result.result == OK
    assert list(ask("GetEntities").entities) == []


def load(peer, uri="", text="", **flags):
    request = with_resource(srv.LoadWorld.Request(**flags), "world_resource", uri, text)
    return peer.ask(srv.LoadWorld, "/yard/load_world", request)


def test_worlds_are_loaded_and_unloaded(ask, spawn, peer, tmp_path):
    assert spawn("ball").result.result == OK
    assert ask("SetSimulationState", state=SimulationState(state=SimulationState.STATE_PLAYING)).result.result == OK
    file = tmp_path / "depot.yaml"
    file.write_text("name: depot\ntags: [indoor]\nobstacles: [{name: shelf, box: [1, 2, 3]}]\n")
    answer = load(peer, uri=file.as_uri())
    assert answer.result.result == OK
    assert (answer.world.name, list(answer.world.tags)) == ("depot", ["indoor"])
    assert ask("GetCurrentWorld").world == answer.world
    assert ask("GetSimulationState").state.state == SimulationState.STATE_STOPPED
    assert list(ask("GetEntities", filters=EntityFilters()).entities) == ["shelf"]

    assert ask("UnloadWorld").result.result == OK
    assert ask("UnloadWorld").result.result == srv.UnloadWorld.Response.NO_WORLD_LOADED
    assert ask("GetCurrentWorld").result.result == srv.GetCurrentWorld.Response.NO_WORLD_LOADED
    assert ask("GetSimulationState").state.state == SimulationState.STATE_NO_WORLD
    for state in (SimulationState.STATE_STOPPED, SimulationState.STATE_PLAYING, SimulationState.STATE_PAUSED):
        refused = ask("SetSimulationState", state=SimulationState(state=state)).result
        assert refused.result == srv.SetSimulationState.Response.INCORRECT_TRANSITION
        assert "no world" in refused.error_message

    text = "name: hall\nground: null\n"
    answer = load(peer, text=text)
    assert (answer.result.result, answer.world.name) == (OK, "hall")
    assert (answer.world.world_resource.uri, answer.world.world_resource.resource_string) == ("", text)
    assert load(peer, uri="package://grouser/config/worlds/flat.yaml").world.name == "flat"


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ({}, "NO_RESOURCE"),
        ({"uri": "/tmp/world.sdf"}, "UNSUPPORTED_FORMAT"),
        ({"text": "<sdf/>"}, "UNSUPPORTED_FORMAT"),
        ({"text": "gravity: [1, 2"}, "RESOURCE_PARSE_ERROR"),
        ({"text": "gravity: heavy"}, "RESOURCE_PARSE_ERROR"),
        ({"text": "fog: thick"}, "RESOURCE_PARSE_ERROR"),
        ({"text": "fog: thick", "fail_on_unsupported_element": True}, "UNSUPPORTED_ELEMENTS"),
        ({"text": "obstacles: [{mesh: {file: /nowhere/m.stl}}]"}, "MISSING_ASSETS"),
        ({"text": "ground: {heightfield: {file: /nowhere/h.csv, cell: 1}}"}, "MISSING_ASSETS"),
        ({"text": "obstacles: [{mesh: {file: /nowhere/m.blend}}]"}, "UNSUPPORTED_ASSETS"),
        (
            {
                "text": "obstacles: [{mesh: {file: /nowhere/m.stl}}]",
                "ignore_missing_or_unsupported_assets": True,
            },
            "RESULT_FEATURE_UNSUPPORTED",
        ),
        ({"uri": "/nowhere/world.yaml"}, "RESULT_NOT_FOUND"),
        ({"uri": "no_such_world"}, "RESULT_NOT_FOUND"),
    ],
)
def test_world_that_cannot_be_loaded_leaves_the_present_one(ask, peer, order, code):
    answer = load(peer, **order)
    expected = getattr(srv.LoadWorld.Response, code, getattr(Result, code, None))
    assert answer.result.result == expected, answer.result.error_message
    assert answer.result.error_message
    assert ask("GetCurrentWorld").world.name == "nowhere"


def test_quit_is_answered_first(ask, host, peer):
    assert ask("SetSimulationState", state=SimulationState(state=SimulationState.STATE_QUITTING)).result.result == OK
    peer.wait_for(lambda: host.ended, "the end")
