"""Plain objects beside a robot, over DDS: no topics of their own, poses on one topic, the standard services."""

import numpy as np
import pytest
import trimesh
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Log
from rclpy.parameter import Parameter
from simulation_interfaces import msg, srv
from simulation_interfaces.msg import EntityCategory, EntityFilters, EntityState, Result
from std_msgs.msg import Bool
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from grouser.commands.replay import replay
from grouser.nodes.shared import topics
from grouser.recording.events import Joined, Left
from grouser.recording.mcap_file import Recording

OK = Result.RESULT_OK
STEP = 1_000_000  # [ns]
BOX = """<robot name="box">
  <link name="{root}"/>
  <link name="body">
    <inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>
  </link>
  <joint name="glue" type="fixed"><parent link="{root}"/><child link="body"/></joint>
</robot>
"""
LOOSE, FIXED = BOX.format(root="base"), BOX.format(root="world")
UP = '<origin xyz="0 0 0.3"/>'  # of the body above the root link
# What a robot of the simulator has in its namespace, among others.
OF_ROBOTS = ("joint_states", "robot_description", "ground_truth/odom", "emergency_stop")


def spawn_request(kind, name, place, text=LOOSE, **fields):
    pose = PoseStamped()
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = place
    request = kind(name=name, initial_pose=pose, **fields)
    # a message of its own holds the resource where the version has one
    getattr(request, "entity_resource", request).resource_string = text
    return request


@pytest.fixture
def spawn(ask):
    """Spawns a box at (x, y, z)."""

    def spawn(name, place, text=LOOSE, **fields):
        request = spawn_request(srv.SpawnEntity.Request, name, place, text, **fields)
        return ask("SpawnEntity", **{field: getattr(request, field) for field in request.get_fields_and_field_types()})

    return spawn


@pytest.fixture
def spawn_together(ask):
    """Spawns several boxes by one request: places by name."""

    def spawn_together(places, **texts):
        requests = [spawn_request(msg.SpawnEntity, name, at, texts.get(name, LOOSE)) for name, at in places.items()]
        return ask("SpawnEntities", spawn_requests=requests)

    return spawn_together


needs_spawn_entities = pytest.mark.skipif(not hasattr(srv, "SpawnEntities"), reason="not in this version")


def names_of(message):
    return [one.child_frame_id for one in message.transforms]


def heights(message):
    return {one.child_frame_id: one.transform.translation.z for one in message.transforms}


def stamp_of(transform):
    return transform.header.stamp.sec * 1_000_000_000 + transform.header.stamp.nanosec


def own_endpoints(node):
    """Names of topics, services and parameters of the simulator."""
    return {
        *(publisher.topic_name for publisher in node.publishers),
        *(subscription.topic_name for subscription in node.subscriptions),
        *(service.srv_name for service in node.services),
        *node.get_parameters_by_prefix(""),
    }


def test_objects_have_no_endpoints_of_their_own(spawn, start_simulator, loader_file):
    node = start_simulator(start_paused=True)
    before = own_endpoints(node)
    assert spawn("box", (0.0, 5.0, 0.2)).result.result == OK
    assert spawn("wall", (0.0, 9.0, 0.2), FIXED, entity_namespace="yard").result.result == OK
    assert own_endpoints(node) == before
    assert spawn("scout", (0.0, -5.0, 1.0), loader_file.read_text()).result.result == OK
    assert own_endpoints(node) - before >= {f"/scout/{name}" for name in OF_ROBOTS}


def test_all_poses_are_on_one_topic_at_its_rate(peer, spawn, start_simulator):
    start_simulator(start_paused=True, step_request_count=100)
    poses = peer.hear(TFMessage, topics.OBJECT_POSES)
    peer.wait_for(lambda: peer.node.count_publishers(topics.OBJECT_POSES) == 1, "the topic")
    assert spawn("box", (0.0, 5.0, 3.2)).result.result == OK
    assert spawn("wall", (1.0, 9.0, 0.2), FIXED).result.result == OK
    poses.wait_ever(lambda message: names_of(message) == ["box", "wall"], "both")
    begin = poses.mark()
    end = peer.step()
    poses.wait(lambda message: stamp_of(message.transforms[0]) >= end, "the last sample", since=begin)
    stepped = poses.all()[begin:]
    assert all(names_of(message) == ["box", "wall"] for message in stepped)
    stamps = [stamp_of(message.transforms[0]) for message in stepped]
    assert [stamp // STEP for stamp in stamps] == [20, 40, 60, 80, 100]  # 50 Hz
    assert {one.header.frame_id for message in stepped for one in message.transforms} == {"map"}
    for message, stamp in zip(stepped, stamps, strict=True):
        time = 1e-9 * stamp
        # free fall, to the first order of the step
        assert heights(message)["box"] == pytest.approx(3.2 - 0.5 * 9.81 * time**2, abs=9.81 * time * 1e-3)
        assert heights(message)["wall"] == pytest.approx(0.2, abs=1e-12)


def test_rate_of_the_poses_can_be_changed(peer, spawn, start_simulator):
    start_simulator(start_paused=True, step_request_count=30)
    poses = peer.hear(TFMessage, topics.OBJECT_POSES)
    peer.wait_for(lambda: peer.node.count_publishers(topics.OBJECT_POSES) == 1, "the topic")
    assert spawn("box", (0.0, 5.0, 0.2)).result.result == OK
    (result,) = peer.set_parameters(Parameter("object_rate", value=100.0))
    assert result.successful, result.reason
    end = peer.step()
    poses.wait_ever(lambda message: names_of(message) and stamp_of(message.transforms[0]) >= end, "the last sample")
    stamps = {stamp_of(message.transforms[0]) // STEP for message in poses.all() if message.transforms}
    assert stamps >= {10, 20, 30}


def test_message_without_transforms_says_that_there_are_no_objects(peer, ask, spawn, start_simulator):
    start_simulator()
    poses = peer.hear(TFMessage, topics.OBJECT_POSES)
    poses.wait_ever(lambda message: not message.transforms, "none")
    assert spawn("box", (0.0, 5.0, 0.2)).result.result == OK
    poses.wait_ever(lambda message: names_of(message) == ["box"], "the box")
    assert ask("DeleteEntity", entity="box").result.result == OK
    poses.wait(lambda message: not message.transforms, "none again", since=poses.mark() - 1)


@pytest.mark.parametrize("published", [False, True])
def test_objects_are_on_tf_only_if_wanted(peer, spawn, start_simulator, published):
    start_simulator(publish_object_tf=published)
    poses, transforms = peer.hear(TFMessage, topics.OBJECT_POSES), peer.hear(TFMessage, topics.TF, topics.TF_QUALITY)
    assert spawn("box", (0.0, 5.0, 0.2)).result.result == OK
    heard = poses.wait_ever(lambda message: names_of(message) == ["box"], "the box")
    after = stamp_of(heard.transforms[0])
    if published:
        transforms.wait_ever(lambda message: names_of(message) == ["box"], "the box on /tf")
    transforms.wait_ever(
        lambda message: any(one.child_frame_id != "box" and stamp_of(one) > after for one in message.transforms),
        "transforms of the robot",
    )
    on_tf = {(one.header.frame_id, one.child_frame_id) for message in transforms.all() for one in message.transforms}
    assert (("map", "box") in on_tf) == published
    taken = spawn("chassis", (0.0, 9.0, 0.2))  # a link of the robot
    assert (taken.result.result == OK) != published, taken.result.error_message


def test_standard_services_serve_objects(ask, spawn, start_simulator):
    start_simulator(start_paused=True)
    assert spawn("box", (0.0, 5.0, 0.2)).result.result == OK
    assert spawn("wall", (0.0, 9.0, 0.2), FIXED).result.result == OK
    moving = EntityFilters(categories=[EntityCategory(category=EntityCategory.CATEGORY_DYNAMIC_OBJECT)])
    still = EntityFilters(categories=[EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)])
    assert list(ask("GetEntities").entities) == ["loader", "box", "wall"]
    assert list(ask("GetEntities", filters=moving).entities) == ["box"]
    assert list(ask("GetEntities", filters=still).entities) == ["wall"]
    box = ask("GetEntityBounds", entity="box").bounds
    assert [box.points[0].z, box.points[1].z] == pytest.approx([0.2, -0.2])
    wanted = EntityState()
    wanted.pose.position.x, wanted.pose.position.z, wanted.twist.linear.x = 7.0, 4.0, 2.0
    assert ask("SetEntityState", entity="box", state=wanted).result.result == OK
    assert ask("StepSimulation", steps=100).result.result == OK
    now = ask("GetEntityState", entity="box").state
    assert now.pose.position.x == pytest.approx(7.2, abs=1e-9)
    assert now.twist.linear.x == pytest.approx(2.0, abs=1e-9)
    states = ask("GetEntitiesStates")
    same = dict(zip(states.entities, states.states, strict=True))["box"]
    assert (same.header, same.pose, same.twist) == (now.header, now.pose, now.twist)
    refused = ask("SetEntityState", entity="wall", state=wanted).result
    assert refused.result != OK and refused.error_message
    assert ask("DeleteEntity", entity="box").result.result == OK
    assert list(ask("GetEntities").entities) == ["loader", "wall"]


def test_shapes_are_published_when_objects_come_and_go(peer, ask, spawn, start_simulator, tmp_path):
    """Visuals, or collision shapes without any; each in the frame of its object, at its place in it."""
    start_simulator(start_paused=True)
    heard = peer.hear(MarkerArray, topics.OBJECT_SHAPES, topics.LATCHED)
    ball = """<visual><geometry><sphere radius="0.7"/></geometry>
      <material name="m"><color rgba="0.1 0.2 0.3 0.4"/></material></visual>"""
    capsule = '<collision><origin xyz="0 1 0"/><geometry><capsule radius="0.1" length="0.6"/></geometry></collision>'
    for name, shape, place in (("ball", ball, (0.0, 9.0, 0.2)), ("pill", capsule, (0.0, -9.0, 5.0))):
        text = LOOSE.replace("</inertial>", f"</inertial>{shape}").replace('type="fixed">', 'type="fixed">' + UP)
        assert spawn(name, place, text).result.result == OK
    message = heard.wait_ever(lambda message: {one.ns for one in message.markers} == {"", "ball", "pill"}, "both")
    assert message.markers[0].action == Marker.DELETEALL
    shown = {name: [one for one in message.markers if one.header.frame_id == name] for name in ("ball", "pill")}
    assert all(one.action == Marker.ADD and one.frame_locked for one in message.markers[1:])
    (ball_marker,) = shown["ball"]
    assert (ball_marker.type, ball_marker.scale.x, ball_marker.pose.position.z) == (Marker.SPHERE, 1.4, 0.3)
    colour = ball_marker.color
    assert (colour.r, colour.g, colour.b, colour.a) == pytest.approx((0.1, 0.2, 0.3, 0.4))
    places = [(one.type, one.pose.position.y, one.pose.position.z) for one in shown["pill"]]
    assert places == [
        (Marker.CYLINDER, 1.0, pytest.approx(0.3)),
        (Marker.SPHERE, 1.0, pytest.approx(0.6)),
        (Marker.SPHERE, 1.0, pytest.approx(0.0)),
        (Marker.CUBE, 0.0, pytest.approx(0.3)),
    ]
    assert ask("DeleteEntity", entity="ball").result.result == OK
    heard.wait_ever(lambda message: {one.ns for one in message.markers} == {"", "pill"}, "the pill alone")
    late = peer.hear(MarkerArray, topics.OBJECT_SHAPES, topics.LATCHED).first()
    assert {one.ns for one in late.markers} == {"", "pill"}


def test_mesh_of_an_object_is_a_marker_with_its_file(peer, spawn, start_simulator, tmp_path):
    start_simulator(start_paused=True)
    heard = peer.hear(MarkerArray, topics.OBJECT_SHAPES, topics.LATCHED)
    file = tmp_path / "a stone.stl"
    trimesh.creation.box((1.0, 1.0, 1.0)).export(file)
    mesh = f'<mesh filename="{file.as_uri()}" scale="0.5 0.5 0.2"/>'
    assert spawn("stone", (0.0, 9.0, 1.0), LOOSE.replace('<box size="0.4 0.4 0.4"/>', mesh)).result.result == OK
    (_, marker) = heard.wait_ever(lambda message: len(message.markers) == 2, "the stone").markers
    assert (marker.type, marker.mesh_resource) == (Marker.MESH_RESOURCE, file.as_uri())
    assert (marker.scale.x, marker.scale.y, marker.scale.z) == (0.5, 0.5, 0.2)


def test_emergency_stop_and_reset_leave_objects_to_physics(peer, ask, spawn, start_simulator):
    node = start_simulator(start_paused=True)
    assert spawn("box", (0.0, 5.0, 3.2)).result.result == OK
    peer.say("emergency_stop", Bool(data=True), topics.LATCHED)
    peer.wait_for(lambda: node.report.emergency_stop, "the stop")
    assert ask("StepSimulation", steps=100).result.result == OK
    assert ask("GetEntityState", entity="box").state.pose.position.z < 3.2
    assert ask("ResetSimulation", scope=srv.ResetSimulation.Request.SCOPE_STATE).result.result == OK
    assert ask("GetEntityState", entity="box").state.pose.position.z == pytest.approx(3.2, abs=1e-12)
    assert ask("ResetSimulation", scope=srv.ResetSimulation.Request.SCOPE_SPAWNED).result.result == OK
    assert list(ask("GetEntities").entities) == ["loader"]


@needs_spawn_entities
def test_entities_of_one_request_are_spawned_together(ask, spawn_together, start_simulator):
    start_simulator(start_paused=True)
    places = {f"box_{k}": (0.6 * k, 5.0, 0.2) for k in range(40)}
    answer = spawn_together(places)
    assert answer.result.result == OK, answer.result.error_message
    assert [one.entity_name for one in answer.results] == list(places)
    assert all(one.result.result == OK for one in answer.results)
    states = ask("GetEntitiesStates", filters=EntityFilters(filter="^box_"))
    for name, state in zip(states.entities, states.states, strict=True):
        at = state.pose.position
        np.testing.assert_allclose((at.x, at.y, at.z), places[name], atol=1e-9)


@needs_spawn_entities
def test_refused_entity_of_a_request_does_not_refuse_the_others(ask, spawn_together, start_simulator):
    start_simulator(start_paused=True)
    places = {"first": (0.0, 5.0, 0.2), "same_place": (0.1, 5.0, 0.2), "last": (0.0, 9.0, 0.2)}
    answer = spawn_together(places)
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert [one.result.result for one in answer.results] == [OK, msg.SpawnResult.INVALID_POSE, OK]
    assert list(ask("GetEntities").entities) == ["loader", "first", "last"]


def test_warnings_of_a_refused_entity_are_not_reported(ask, peer, spawn, start_simulator):
    start_simulator(start_paused=True)
    told = peer.hear(Log, "/rosout", 1000)
    assert spawn("first", (0.0, 5.0, 0.2)).result.result == OK
    assert spawn("same_place", (0.1, 5.0, 0.2)).result.result == srv.SpawnEntity.Response.INVALID_POSE
    assert spawn("in_the_ground", (0.0, 9.0, 0.1)).result.result == OK
    told.wait_ever(lambda message: "in_the_ground" in message.msg, "the warning of the last entity")
    assert not [message.msg for message in told.all() if "overlap" in message.msg]


@needs_spawn_entities
def test_run_with_objects_spawned_together_replays_bit_by_bit(
    ask, spawn, spawn_together, start_simulator, loader_file, tmp_path
):
    """Boxes that start at different depths in the ground are lifted; a wall comes after one that stands in it."""
    file = tmp_path / "objects.mcap"
    node = start_simulator(start_paused=True, record=str(file))
    assert ask("StepSimulation", steps=300).result.result == OK
    places = {f"box_{k}": (0.6 * k, 5.0, 0.2 - 0.013 * k) for k in range(5)}
    answer = spawn_together({**places, "wall": (1.2, 5.0, 0.05), "far": (0.0, 9.0, 1.0)}, wall=FIXED)
    assert answer.result.result == OK, answer.result.error_message
    assert spawn("box_5", (3.0, 5.0, 0.1)).result.result == OK
    assert ask("StepSimulation", steps=800).result.result == OK
    assert ask("ResetSimulation", scope=srv.ResetSimulation.Request.SCOPE_SPAWNED).result.result == OK
    assert ask("StepSimulation", steps=300).result.result == OK
    node.stop()
    kinds = [type(event) for event in Recording(file).events()]
    assert (kinds.count(Joined), kinds.count(Left)) == (8, 8)
    assert replay(Recording(file)).difference is None


def test_first_machine_keeps_its_topics_though_it_is_a_plain_object(peer, start_simulator, tmp_path):
    file = tmp_path / "box.urdf"
    file.write_text(LOOSE)
    start_simulator(machine=str(file))
    assert peer.hear(Odometry, topics.GROUND_TRUTH).first().child_frame_id == "base"
