"""Machines with namespaces that are spawned and deleted in one simulator, over DDS."""

import pytest
from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import PoseStamped, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from simulation_interfaces import srv
from simulation_interfaces.msg import EntityState, Result, SimulationState
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

import grouser
from grouser.commands.replay import replay
from grouser.nodes.shared import topics
from grouser.physics.base.errors import ParameterError
from grouser.recording.events import Joined, Left, Placed
from grouser.recording.mcap_file import Recording

OK = Result.RESULT_OK
BOX = """<robot name="box">
  <link name="body">
    <inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>
  </link>
</robot>
"""


@pytest.fixture
def spawn(ask):
    """Spawns from a text or a file at (x, y, z)."""

    def spawn(name, place, text="", file="", **fields):
        pose = PoseStamped()
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = place
        uri = f"file://{file}" if file else ""
        return ask("SpawnEntity", name=name, uri=uri, resource_string=text, initial_pose=pose, **fields)

    return spawn


def state(ask, entity):
    return ask("GetEntityState", entity=entity).state


def test_two_equal_machines_have_separate_topics_and_frames(peer, ask, spawn, start_simulator, loader_file):
    """Each has its own topics, commands and frames."""
    start_simulator()
    answer = spawn("scout", (0.0, 5.0, 1.0), file=loader_file)
    assert (answer.result.result, answer.entity_name) == (OK, "scout"), answer.result.error_message
    mine, other = peer.hear(JointState, "joint_states"), peer.hear(JointState, "scout/joint_states")
    assert list(other.first().name) == list(mine.first().name)
    truth = peer.hear(Odometry, "scout/ground_truth/odom").first()
    assert truth.child_frame_id == "scout/chassis"
    assert truth.pose.pose.position.y == pytest.approx(5.0, abs=0.01)
    transforms = peer.hear(TFMessage, topics.TF, topics.TF_QUALITY)

    def frames():
        def pair(transform: TransformStamped):
            return transform.header.frame_id, transform.child_frame_id

        return {pair(transform) for message in transforms.all() for transform in message.transforms}

    peer.wait_for(lambda: ("scout/odom", "scout/base_footprint") in frames(), "the scout's frames")
    peer.wait_for(lambda: ("odom", "base_footprint") in frames(), "the frames of the first")
    description = peer.hear(String, "scout/robot_description", topics.LATCHED).first()
    assert description.data == grouser.load_machine(loader_file).urdf

    drive = next(one for one in grouser.load_machine(loader_file).drives if one.mode == "position")
    for _ in range(3):
        peer.say("scout/joint_commands", JointState(name=[drive.joint], position=[0.3]))
    place = list(mine.first().name).index(drive.joint)
    other.wait(lambda message: abs(message.position[place] - 0.3) < 0.05, "that the scout's joint moves")
    assert abs(mine.all()[-1].position[place]) < 0.05


def edges(inbox):
    """Child -> parent of all transforms so far."""
    return {one.child_frame_id: one.header.frame_id for message in inbox.all() for one in message.transforms}


def test_frames_of_a_spawned_machine_begin_with_its_namespace_and_are_below_the_map(
    peer, ask, spawn, start_simulator, loader_file
):
    """The entity's name does not matter where there is a namespace. All machines are in one tree."""
    start_simulator()
    moving = peer.hear(TFMessage, topics.TF, topics.TF_QUALITY)
    still = peer.hear(TFMessage, topics.TF_STATIC, topics.LATCHED)
    assert spawn("scout", (0.0, 5.0, 1.0), file=loader_file, entity_namespace="/yard/one").result.result == OK
    peer.wait_for(lambda: "yard/one/odom" in edges(moving), "the scout's frames")
    truth = peer.hear(Odometry, "/yard/one/ground_truth/odom").first()
    assert (truth.header.frame_id, truth.child_frame_id) == ("map", "yard/one/chassis")
    parents = {**edges(still), **edges(moving)}
    assert parents["yard/one/odom"] == parents["odom"] == "map"
    assert {parent for parent in parents.values() if parent not in parents} == {"map"}
    links = {link.name for link in grouser.load_machine(loader_file).links}
    assert links | {f"yard/one/{link}" for link in links} <= parents.keys()


def test_each_machine_can_be_left_to_a_node_that_localizes(peer, spawn, start_simulator, loader_file):
    node = start_simulator(publish_map_tf=False)
    moving = peer.hear(TFMessage, topics.TF, topics.TF_QUALITY)
    assert spawn("scout", (0.0, 5.0, 1.0), file=loader_file).result.result == OK
    peer.wait_for(lambda: "scout/odom" in edges(moving), "the scout's frames")
    assert "base_footprint" in edges(moving) and "odom" not in edges(moving)
    (result,) = node.set_parameters([Parameter("scout.publish_map_tf", value=False)])
    assert result.successful, result.reason

    def has_odometry_frame(message):
        return any(one.child_frame_id == "scout/odom" for one in message.transforms)

    def is_scout(message):
        return any(one.child_frame_id == "scout/chassis" for one in message.transforms)

    moving.wait(lambda message: is_scout(message) and not has_odometry_frame(message), "the scout without the map")
    (result,) = node.set_parameters([Parameter("publish_map_tf", value=True)])
    assert result.successful, result.reason
    peer.wait_for(lambda: "odom" in edges(moving), "the first below the map")


def test_first_machine_gets_its_names_back_when_it_is_spawned_under_its_name(
    peer, ask, spawn, start_simulator, loader_file, tmp_path
):
    """In another world too, with its order of valves, and in a recording."""
    file = tmp_path / "back.mcap"
    node = start_simulator(start_paused=True, record=str(file))
    assert ask("LoadWorld", uri="slope").result.result == OK
    peer.wait_for(lambda: peer.node.count_publishers("joint_states") == 0, "that the first is gone")
    assert spawn("scout", (0.0, 9.0, 3.0), file=loader_file).result.result == OK
    assert spawn("loader", (0.0, 0.0, 1.0), file=loader_file).result.result == OK
    assert sorted(ask("GetEntities").entities) == ["loader", "scout"]
    peer.wait_for(lambda: peer.node.count_publishers("joint_states") == 1, "the first")
    assert peer.node.count_publishers("loader/joint_states") == 0
    assert node.has_parameter("faults.boom_valve.stuck_spool")
    truth = peer.hear(Odometry, "ground_truth/odom")
    assert ask("StepSimulation", steps=1100).result.result == OK
    assert truth.first().child_frame_id == "chassis"
    assert spawn("loader", (0.0, 5.0, 1.0), file=loader_file).result.result == srv.SpawnEntity.Response.NAME_NOT_UNIQUE
    assert ask("DeleteEntity", entity="loader").result.result == OK
    assert sorted(ask("GetEntities").entities) == ["scout"]
    node.stop()
    assert replay(Recording(file)).difference is None


def test_reset_of_everything_brings_the_first_machine_back(peer, ask, spawn, start_simulator, loader_file, tmp_path):
    """As if the simulator was launched again; a reset of less does not, and in another world there is none."""
    file = tmp_path / "reset.mcap"
    node = start_simulator(start_paused=True, record=str(file))
    start = state(ask, "loader").pose
    scopes = srv.ResetSimulation.Request
    assert ask("StepSimulation", steps=1100).result.result == OK
    assert ask("DeleteEntity", entity="loader").result.result == OK
    assert spawn("box", (0.0, 5.0, 0.2), text=BOX).result.result == OK
    assert ask("ResetSimulation", scope=scopes.SCOPE_STATE).result.result == OK
    assert list(ask("GetEntities").entities) == ["box"]
    assert ask("ResetSimulation", scope=scopes.SCOPE_SPAWNED).result.result == OK
    assert list(ask("GetEntities").entities) == []
    assert ask("ResetSimulation", scope=scopes.SCOPE_ALL).result.result == OK
    assert list(ask("GetEntities").entities) == ["loader"]
    assert state(ask, "loader").pose == start
    heard = peer.hear(JointState, "joint_states")
    assert ask("StepSimulation", steps=1100).result.result == OK
    heard.first()
    assert spawn("box", (0.0, 5.0, 0.2), text=BOX).result.result == OK
    assert ask("ResetSimulation").result.result == OK
    assert list(ask("GetEntities").entities) == ["loader"]
    assert ask("LoadWorld", uri="slope").result.result == OK
    assert spawn("loader", (0.0, 0.0, 1.0), file=loader_file).result.result == OK
    assert ask("ResetSimulation").result.result == OK
    assert list(ask("GetEntities").entities) == []
    node.stop()
    assert replay(Recording(file)).difference is None


def test_deleted_machine_stops_publishing_and_the_others_continue(peer, ask, spawn, start_simulator, loader_file):
    node = start_simulator()
    assert spawn("scout", (0.0, 5.0, 1.0), file=loader_file).result.result == OK
    peer.wait_for(lambda: peer.node.count_publishers("scout/ground_truth/odom") == 1, "the scout")
    before = node.report.time
    assert ask("DeleteEntity", entity="scout").result.result == OK
    peer.wait_for(lambda: peer.node.count_publishers("scout/ground_truth/odom") == 0, "that the scout is gone")
    assert "scout" not in ask("GetEntities").entities
    peer.wait_for(lambda: node.report.time > before + 0.5, "that the simulation goes on")
    assert ask("DeleteEntity", entity="scout").result.result == Result.RESULT_NOT_FOUND


def test_spawned_machines_collide(ask, spawn, start_simulator):
    """A box that is dropped on another one rests on it."""
    start_simulator(start_paused=True)
    assert spawn("lower", (0.0, 5.0, 0.2), text=BOX).result.result == OK
    assert spawn("upper", (0.05, 5.0, 0.7), text=BOX).result.result == OK
    assert ask("StepSimulation", steps=2000).result.result == OK
    # to the 10 um of penetration that contacts leave alone, twice
    assert state(ask, "upper").pose.position.z == pytest.approx(0.6, abs=2e-5)


def test_refused_services_return_their_codes_and_change_nothing(ask, spawn, start_simulator, loader_file):
    start_simulator(start_paused=True)
    codes = srv.SpawnEntity.Response
    assert spawn("inside", (0.0, 0.0, 0.2), text=BOX).result.result == codes.INVALID_POSE
    assert spawn("first", (0.0, 5.0, 1.0), file=loader_file, entity_namespace="yard").result.result == OK
    assert spawn("first", (0.0, 9.0, 0.2), text=BOX).result.result == codes.NAME_NOT_UNIQUE
    for namespace in ("yard", "/yard", "/"):  # the last is that of the first machine
        second = spawn("second", (0.0, 9.0, 1.0), file=loader_file, entity_namespace=namespace)
        assert second.result.result == codes.NAMESPACE_INVALID
    assert spawn("loader", (0.0, 8.0, 0.2), text=BOX).result.result == codes.NAME_NOT_UNIQUE
    assert sorted(ask("GetEntities").entities) == ["first", "loader"]
    assert ask("StepSimulation", steps=1).result.result == OK


def test_emergency_stop_stops_one_machine_only(peer, spawn, start_simulator, loader_file):
    node = start_simulator()
    assert spawn("scout", (0.0, 5.0, 1.0), file=loader_file).result.result == OK
    joint = next(one.joint for one in grouser.load_machine(loader_file).drives if one.mode == "velocity")
    mine, other = peer.hear(JointState, "joint_states"), peer.hear(JointState, "scout/joint_states")
    place = list(mine.first().name).index(joint)
    peer.say("scout/emergency_stop", Bool(data=True), topics.LATCHED)
    peer.wait_for(lambda: node.report.emergency_stop, "the stop")
    timer = peer.node.create_timer(
        0.1,
        lambda: [peer.say(topic, JointState(name=[joint], velocity=[0.5])) for topic in ("joint_commands",)],
    )
    mine.wait(lambda message: message.velocity[place] > 0.4, "that the first still moves")
    peer.node.destroy_timer(timer)
    peer.say("scout/joint_commands", JointState(name=[joint], velocity=[0.5]))
    other.collect(len(other.all()) + 20)
    assert max(abs(message.velocity[place]) for message in other.all()[-20:]) < 1e-3


def test_machine_is_placed_by_service(ask, spawn, start_simulator):
    start_simulator(start_paused=True)
    assert spawn("box", (0.0, 5.0, 3.0), text=BOX).result.result == OK
    wanted = EntityState()
    wanted.pose.position.x, wanted.pose.position.z = 7.0, 4.0
    wanted.twist.linear.x = 2.0
    assert ask("SetEntityState", entity="box", state=wanted).result.result == OK
    assert ask("StepSimulation", steps=100).result.result == OK
    now = state(ask, "box")
    # x = x0 + v t, z = z0 - g t^2 / 2, to the first order of the step of 1 ms
    assert now.pose.position.x == pytest.approx(7.2, abs=1e-9)
    assert now.pose.position.z == pytest.approx(4.0 - 0.5 * 9.81 * 0.1**2, abs=9.81 * 0.1 * 1e-3)
    assert now.twist.linear.x == pytest.approx(2.0, abs=1e-9)


def test_stop_removes_spawned_machines(ask, spawn, start_simulator):
    start_simulator(start_paused=True)
    assert spawn("box", (0.0, 5.0, 0.2), text=BOX).result.result == OK
    stopped = SimulationState(state=SimulationState.STATE_STOPPED)
    assert ask("SetSimulationState", state=stopped).result.result == OK
    assert list(ask("GetEntities").entities) == ["loader"]


def test_loading_and_unloading_a_world(peer, ask, spawn, start_simulator):
    """Loading a world removes all machines; without a world, none can be spawned."""
    node = start_simulator()
    reached = node.report.time
    assert ask("LoadWorld", uri="slope").result.result == OK
    assert list(ask("GetEntities").entities) == []
    assert ask("GetCurrentWorld").world.name == "slope"
    assert ask("GetSimulationState").state.state == SimulationState.STATE_STOPPED
    assert spawn("box", (0.0, 0.0, 2.0), text=BOX).result.result == OK
    assert ask("StepSimulation", steps=100).result.result == OK
    assert node.report.time > reached  # time keeps running forward
    assert ask("UnloadWorld").result.result == OK
    assert ask("GetCurrentWorld").result.result == srv.GetCurrentWorld.Response.NO_WORLD_LOADED
    assert spawn("box", (0.0, 0.0, 2.0), text=BOX).result.result != OK
    assert ask("LoadWorld", uri="flat").result.result == OK
    assert spawn("box", (0.0, 0.0, 2.0), text=BOX).result.result == OK
    playing = SimulationState(state=SimulationState.STATE_PLAYING)
    assert ask("SetSimulationState", state=playing).result.result == OK
    poses = peer.hear(TFMessage, topics.OBJECT_POSES)
    poses.wait_ever(lambda message: [one.child_frame_id for one in message.transforms] == ["box"], "the box")


def test_each_machine_has_its_own_fault_parameters(peer, spawn, start_simulator, loader_file):
    node = start_simulator()
    assert spawn("scout", (0.0, 5.0, 1.0), file=loader_file).result.result == OK
    (result,) = node.set_parameters([Parameter("scout.faults.boom_valve.stuck_spool", value=True)])
    assert result.successful, result.reason
    assert node.get_parameter("faults.boom_valve.stuck_spool").value is False


def test_run_with_spawned_and_deleted_machines_replays_bit_by_bit(ask, spawn, start_simulator, loader_file, tmp_path):
    file = tmp_path / "fleet.mcap"
    node = start_simulator(start_paused=True, record=str(file))
    assert ask("StepSimulation", steps=700).result.result == OK
    assert spawn("scout", (0.0, 5.0, 1.0), file=loader_file).result.result == OK
    assert ask("StepSimulation", steps=700).result.result == OK
    wanted = EntityState()
    wanted.pose.position.x, wanted.pose.position.y, wanted.pose.position.z = 3.0, 3.0, 2.0
    assert ask("SetEntityState", entity="scout", state=wanted).result.result == OK
    assert spawn("box", (0.0, -5.0, 0.5), text=BOX).result.result == OK
    assert ask("StepSimulation", steps=700).result.result == OK
    assert ask("DeleteEntity", entity="scout").result.result == OK
    assert ask("StepSimulation", steps=700).result.result == OK
    assert ask("LoadWorld", uri="slope").result.result == OK
    assert spawn("box", (0.0, 0.0, 2.0), text=BOX).result.result == OK
    assert ask("StepSimulation", steps=700).result.result == OK
    node.stop()
    kinds = [type(event) for event in Recording(file).events()]
    assert (kinds.count(Joined), kinds.count(Left), kinds.count(Placed)) == (3, 1, 1)
    result = replay(Recording(file))
    assert result.difference is None
    assert result.time == pytest.approx(3.5)


def fleet_of(loader_file):
    """Two equal machines, as text."""
    return (
        f"{{one: {{machine: {loader_file}, xyz: [0, 0, 1]}}, "
        f"two: {{machine: {loader_file}, xyz: [0, 6, 1], rpy_deg: [0, 0, 90]}}}}"
    )


def test_fleet_at_the_start_has_names_namespaces_and_one_tree(peer, ask, start_simulator, loader_file):
    start_simulator(fleet=fleet_of(loader_file))
    assert sorted(ask("GetEntities").entities) == ["one", "two"]
    assert state(ask, "two").pose.position.y == pytest.approx(6.0, abs=0.1)
    moving = peer.hear(TFMessage, topics.TF, topics.TF_QUALITY)
    still = peer.hear(TFMessage, topics.TF_STATIC, topics.LATCHED)
    names = peer.hear(JointState, "one/joint_states").first().name
    assert peer.hear(JointState, "two/joint_states").first().name == names
    assert peer.node.count_publishers("joint_states") == 0
    peer.wait_for(lambda: len({**edges(still), **edges(moving)}) == len(links_of(loader_file)) * 2 + 4, "all frames")
    parents = {**edges(still), **edges(moving)}
    assert {parent for parent in parents.values() if parent not in parents} == {"map"}


def links_of(file):
    return [link.name for link in grouser.load_machine(file).links]


def test_fleet_is_recorded_and_a_reset_of_everything_brings_its_machines_back(
    ask, spawn, start_simulator, loader_file, tmp_path
):
    file = tmp_path / "fleet.mcap"
    node = start_simulator(fleet=fleet_of(loader_file), start_paused=True, record=str(file))
    start = state(ask, "two").pose
    assert ask("StepSimulation", steps=1100).result.result == OK
    assert ask("DeleteEntity", entity="two").result.result == OK
    assert spawn("loader", (0.0, 12.0, 1.0), file=loader_file).result.result == OK
    assert ask("StepSimulation", steps=1100).result.result == OK
    assert node.has_parameter("loader.publish_map_tf")  # in a fleet none has the names of the node
    assert ask("ResetSimulation").result.result == OK
    assert sorted(ask("GetEntities").entities) == ["one", "two"]
    assert state(ask, "two").pose == start
    assert ask("StepSimulation", steps=1100).result.result == OK
    node.stop()
    result = replay(Recording(file))
    assert result.difference is None and result.compared >= 4


def test_excavator_loads_the_bed_beside_it(peer, ask, start_simulator):
    """The program is that of the machine without a name; a reset brings the bed back that was deleted."""
    start_simulator(
        machine="excavator", world="quarry", program="excavator_trench", beside="dump_bed", real_time_factor=0.0
    )
    loads = peer.hear(DynamicInterfaceGroupValues, "truck/bucket/load")

    def mass(message):
        return dict(zip(message.interface_values[0].interface_names, message.interface_values[0].values, strict=True))[
            "mass"
        ]

    assert mass(loads.first()) == 0.0
    loads.wait(lambda message: mass(message) > 20.0, "a bucket in the bed")
    assert peer.node.count_publishers("program_state") == 1 and peer.node.count_publishers("truck/program_state") == 0
    assert ask("DeleteEntity", entity="truck").result.result == OK
    assert ask("ResetSimulation").result.result == OK
    loads.wait(lambda message: mass(message) == 0.0, "the empty bed")


@pytest.mark.parametrize(("name", "value"), [("program", "rover"), ("valves", ["boom"]), ("beside", "x")])
def test_parameters_of_a_single_machine_are_refused_beside_a_fleet(start_simulator, loader_file, name, value):
    with pytest.raises(ParameterError, match=f"{name} = .*beside a fleet"):
        start_simulator(fleet=fleet_of(loader_file), **{name: value})
