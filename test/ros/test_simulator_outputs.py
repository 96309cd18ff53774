"""Output of the simulator node: topics, types, quality of service, rates, stamps and contents."""

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

import grouser
from grouser.nodes.shared import topics

JOINTS = ["boom_joint", "mast_joint", "drum_joint", "winch_joint"]
STEP = 1_000_000  # [ns]

OUTPUTS = {
    "/clock": ("rosgraph_msgs/msg/Clock", ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE),
    "/joint_states": ("sensor_msgs/msg/JointState", ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE),
    "/tf": ("tf2_msgs/msg/TFMessage", ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE),
    "/tf_static": ("tf2_msgs/msg/TFMessage", ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL),
    "/robot_description": ("std_msgs/msg/String", ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL),
    "/contact_wrenches/chassis": (
        "geometry_msgs/msg/WrenchStamped",
        ReliabilityPolicy.BEST_EFFORT,
        DurabilityPolicy.VOLATILE,
    ),
    "/contact_wrenches/boom": (
        "geometry_msgs/msg/WrenchStamped",
        ReliabilityPolicy.BEST_EFFORT,
        DurabilityPolicy.VOLATILE,
    ),
    **{
        f"/obstacle_wrenches/{link}": (
            "geometry_msgs/msg/WrenchStamped",
            ReliabilityPolicy.BEST_EFFORT,
            DurabilityPolicy.VOLATILE,
        )
        for link in ("chassis", "boom")
    },
    "/contact_markers": (
        "visualization_msgs/msg/MarkerArray",
        ReliabilityPolicy.RELIABLE,
        DurabilityPolicy.VOLATILE,
    ),
    "/hydraulics/circuit": (
        "control_msgs/msg/DynamicInterfaceGroupValues",
        ReliabilityPolicy.RELIABLE,
        DurabilityPolicy.VOLATILE,
    ),
    "/hydraulics/state": (
        "control_msgs/msg/DynamicInterfaceGroupValues",
        ReliabilityPolicy.RELIABLE,
        DurabilityPolicy.VOLATILE,
    ),
    "/ground_truth/odom": ("nav_msgs/msg/Odometry", ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE),
    "/objects/poses": ("tf2_msgs/msg/TFMessage", ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE),
    "/objects/shapes": (
        "visualization_msgs/msg/MarkerArray",
        ReliabilityPolicy.RELIABLE,
        DurabilityPolicy.TRANSIENT_LOCAL,
    ),
    "/diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE),
}
INPUTS = {
    "/valve_commands": "control_msgs/msg/DynamicInterfaceGroupValues",
    "/valve_commands_array": "std_msgs/msg/Float64MultiArray",
    "/joint_commands": "sensor_msgs/msg/JointState",
    "/emergency_stop": "std_msgs/msg/Bool",
    "/push": "geometry_msgs/msg/WrenchStamped",
}
SERVICES = {
    "/simulator/reset": "std_srvs/srv/Trigger",
    "/simulator/pause": "std_srvs/srv/SetBool",
    "/simulator/step": "std_srvs/srv/Trigger",
    "/simulator/record": "std_srvs/srv/SetBool",
}


def nanoseconds(stamp: Time) -> int:
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def stamps(messages: list) -> np.ndarray:
    return np.array([nanoseconds(message.header.stamp) for message in messages])


def test_topics_have_their_types_and_quality_of_service(peer, start_simulator):
    start_simulator()
    for topic, (kind, reliability, durability) in OUTPUTS.items():
        peer.wait_for(lambda topic=topic: peer.node.get_publishers_info_by_topic(topic), topic)
        (publisher,) = peer.node.get_publishers_info_by_topic(topic)
        assert publisher.topic_type == kind
        assert publisher.qos_profile.reliability == reliability, topic
        assert publisher.qos_profile.durability == durability, topic
    for topic, kind in INPUTS.items():
        peer.wait_for(lambda topic=topic: peer.node.get_subscriptions_info_by_topic(topic), topic)
        assert {info.topic_type for info in peer.node.get_subscriptions_info_by_topic(topic)} == {kind}
    peer.wait_for(lambda: dict(peer.node.get_service_names_and_types()).keys() >= SERVICES.keys(), "all services")
    offered = dict(peer.node.get_service_names_and_types())
    for service, kind in SERVICES.items():
        assert offered[service] == [kind]


def test_no_other_topics_are_published(peer, start_simulator):
    start_simulator()
    peer.hear(Clock, "/clock", topics.CLOCK_QUALITY).first()

    def names():
        found = peer.node.get_publisher_names_and_types_by_node("simulator", "/")
        return {name for name, _ in found} - {"/rosout", "/parameter_events"}

    # actions publish too: status and feedback of their goals
    actions = (f"/{topics.FOLLOW_JOINT_TRAJECTORY}", topics.SIMULATE_STEPS.replace("~", "/simulator"))
    of_actions = {f"{action}/_action/{what}" for action in actions for what in ("status", "feedback")}
    # the names of publishers arrive later than their messages
    peer.wait_for(lambda: names() >= set(OUTPUTS), "all publishers of the simulator")
    assert names() == {*OUTPUTS, *of_actions, "/simulator/transition_event"}  # the last of its lifecycle


@pytest.mark.parametrize(("rate", "interval"), [(100.0, 10), (50.0, 20), (0.0, 1), (300.0, 3)])
def test_a_rate_is_a_whole_number_of_steps(peer, start_simulator, rate, interval):
    other = dict.fromkeys(("hydraulics_rate", "contact_rate", "clock_rate"), 1.0)
    start_simulator(joint_state_rate=rate, start_paused=True, step_request_count=30 * interval, **other)
    joint_states = peer.hear(JointState, "joint_states")
    end = peer.step()
    joint_states.wait_ever(lambda message: nanoseconds(message.header.stamp) == end, "the last sample")
    times = stamps(joint_states.all())
    assert len(times) >= 30
    assert set(times % (interval * STEP)) == {0}
    assert set(np.diff(times)) == {interval * STEP}


def test_every_stream_has_its_own_rate(peer, start_simulator):
    rates = {"clock_rate": 200.0, "joint_state_rate": 100.0, "hydraulics_rate": 50.0, "contact_rate": 20.0}
    start_simulator(start_paused=True, step_request_count=300, **rates)
    inboxes = {
        10: peer.hear(JointState, "joint_states"),
        20: peer.hear(DynamicInterfaceGroupValues, "hydraulics/state"),
        50: peer.hear(WrenchStamped, "contact_wrenches/chassis", topics.SENSOR_DATA),
    }
    clock = peer.hear(Clock, "/clock", topics.CLOCK_QUALITY)
    end = peer.step()
    for interval, inbox in inboxes.items():
        inbox.wait_ever(lambda message: nanoseconds(message.header.stamp) == end, "the last sample")
        times = stamps(inbox.all())
        assert set(times % (interval * STEP)) == {0}
        assert set(np.diff(times)) == {interval * STEP}
    clock.wait_ever(lambda message: nanoseconds(message.clock) == end, "the last time")
    times = np.array([nanoseconds(message.clock) for message in clock.all()])
    assert set(times % (5 * STEP)) == {0}
    assert set(np.diff(times)) == {5 * STEP}


def test_transforms_and_joint_states_share_their_stamp(peer, start_simulator):
    start_simulator()
    joint_states = peer.hear(JointState, "joint_states")
    transforms = peer.hear(TFMessage, "/tf", topics.TF_QUALITY)
    # from here on both are received
    begun = max(stamps([joint_states.first()])[0], nanoseconds(transforms.wait().transforms[0].header.stamp))
    joint_states.wait_ever(lambda message: nanoseconds(message.header.stamp) >= begun, "joint_states")
    transforms.wait_ever(lambda message: nanoseconds(message.transforms[0].header.stamp) >= begun, "/tf")
    assert begun in stamps(joint_states.all())
    assert begun in [nanoseconds(message.transforms[0].header.stamp) for message in transforms.all()]


def test_joint_states_name_every_movable_joint(peer, start_simulator):
    start_simulator()
    message = peer.hear(JointState, "joint_states").first()
    assert message.name == JOINTS
    assert len(message.position) == len(message.velocity) == len(message.effort) == len(JOINTS)


def test_robot_description_is_the_expanded_urdf_and_latched(peer, start_simulator):
    node = start_simulator()
    peer.hear(Clock, "/clock", topics.CLOCK_QUALITY).first()
    assert peer.hear(String, "robot_description", topics.LATCHED).first().data == node.machine.urdf


def step_by_service(peer, steps):
    """Advances a simulator with that `step_request_count` once; returns the reply."""
    reply = peer.ask(Trigger, "/simulator/step", Trigger.Request())
    assert reply.success, f"{steps} steps: {reply.message}"
    return reply


def test_transforms_equal_the_link_poses_of_the_simulation(peer, start_simulator, loader_file):
    """Every frame's pose, chained from odom over /tf and /tf_static, is the link's pose in the same simulation."""
    steps = 130
    start_simulator(start_paused=True, step_request_count=steps)
    transforms = peer.hear(TFMessage, "/tf", topics.TF_QUALITY)
    fixed = peer.hear(TFMessage, "/tf_static", topics.LATCHED)
    joint_states = peer.hear(JointState, "joint_states")
    peer.wait_for(lambda: peer.node.count_publishers("/tf") == 1, "/tf")
    step_by_service(peer, steps)
    at_end = lambda message: nanoseconds(message.transforms[0].header.stamp) == steps * STEP  # noqa: E731
    if not any(at_end(message) for message in transforms.all()):
        transforms.wait(at_end)
    moving = next(message for message in transforms.all() if at_end(message))
    edges = {item.child_frame_id: item for item in [*moving.transforms, *fixed.first().transforms]}

    machine = grouser.load_machine(loader_file)
    simulation = grouser.Simulation(machine, grouser.World(), step=0.001)
    simulation.step(steps)
    assert set(edges) == {"odom", "base_footprint", *(link.name for link in machine.links)}
    for link in machine.links:
        position, rotation = chained_pose(edges, link.name, "odom")
        expected_position, quaternion = simulation.link_pose(link.name)
        np.testing.assert_allclose(position, expected_position, atol=1e-12)
        np.testing.assert_allclose(rotation, rotation_matrix(quaternion), atol=1e-12)
    footprint = edges["base_footprint"].transform
    assert footprint.translation.z == 0.0
    assert (footprint.rotation.x, footprint.rotation.y) == (0.0, 0.0)

    state = next(message for message in joint_states.all() if nanoseconds(message.header.stamp) == steps * STEP)
    np.testing.assert_array_equal(state.position, simulation.joint_position.values())
    np.testing.assert_array_equal(state.velocity, simulation.joint_velocity.values())
    np.testing.assert_array_equal(state.effort, simulation.joint_effort.values())


def chained_pose(edges, frame, root):
    """Position and rotation matrix of a frame in the root frame."""
    position, rotation = np.zeros(3), np.eye(3)
    while frame != root:
        edge = edges[frame].transform
        turn = rotation_matrix([edge.rotation.x, edge.rotation.y, edge.rotation.z, edge.rotation.w])
        position = turn @ position + [edge.translation.x, edge.translation.y, edge.translation.z]
        rotation = turn @ rotation
        frame = edges[frame].header.frame_id
    return position, rotation


def rotation_matrix(quaternion):
    x, y, z, w = quaternion
    vector = np.array([x, y, z])
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return (w * w - vector @ vector) * np.eye(3) + 2.0 * np.outer(vector, vector) + 2.0 * w * skew


def test_link_transforms_can_be_left_to_a_robot_state_publisher(peer, start_simulator):
    start_simulator(publish_link_tf=False)
    message = peer.hear(TFMessage, "/tf", topics.TF_QUALITY).first()
    pairs = [(item.header.frame_id, item.child_frame_id) for item in message.transforms]
    assert pairs == [("odom", "base_footprint"), ("base_footprint", "chassis"), ("map", "odom")]


def test_contact_wrench_of_the_chassis_is_the_weight(peer, start_simulator):
    """At rest the ground pushes the chassis up with the machine's weight, given in the link's frame."""
    node = start_simulator()
    weight = 9.81 * sum(link.inertial.mass for link in node.machine.links if link.inertial)
    wrenches = peer.hear(WrenchStamped, "contact_wrenches/chassis", topics.SENSOR_DATA)
    message = wrenches.wait(lambda message: message.header.stamp.sec >= 1, "a contact wrench after 1 s")
    assert message.header.frame_id == "chassis"
    # The boom still swings a little on its oil: a hundredth of the weight.
    assert message.wrench.force.z == pytest.approx(weight, rel=0.01)


REACTIONS = {  # topic -> joint, its frame, the link that the frame belongs to
    "joint_reactions/rocker_end": ("rocker end", "rocker end_frame", "coupler"),
    "joint_reactions/mast_foot": ("mast_foot", "mast_foot_frame", "world"),
    "joint_reactions/lamp_hinge": ("lamp_hinge", "lamp_hinge_frame_2", "jib"),  # a link has the other name
}


def test_joint_reactions_are_those_of_the_simulation(peer, start_simulator, linkage_file):
    """A loop joint and two compliant ones, each on a topic of its own, in a frame of its own."""
    steps = 40
    start_simulator(machine=str(linkage_file), start_paused=True, step_request_count=steps)
    inboxes = {topic: peer.hear(WrenchStamped, topic, topics.SENSOR_DATA) for topic in REACTIONS}
    for topic in REACTIONS:
        peer.wait_for(lambda topic=topic: peer.node.count_publishers(topic) == 1, topic)
        (publisher,) = peer.node.get_publishers_info_by_topic(f"/{topic}")
        assert publisher.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    step_by_service(peer, steps)
    simulation = grouser.Simulation(grouser.load_machine(linkage_file), grouser.World(), step=0.001)
    simulation.step(steps)
    for topic, (joint, frame, _) in REACTIONS.items():
        message = inboxes[topic].wait_ever(lambda message: nanoseconds(message.header.stamp) == steps * STEP, topic)
        assert message.header.frame_id == frame
        force, torque = message.wrench.force, message.wrench.torque
        heard = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
        np.testing.assert_array_equal(heard, simulation.joint_reaction[joint])
        assert np.linalg.norm(heard) > 1.0


def test_joint_reactions_have_their_own_rate(peer, start_simulator, linkage_file):
    start_simulator(machine=str(linkage_file), reaction_rate=50.0, start_paused=True, step_request_count=120)
    inbox = peer.hear(WrenchStamped, "joint_reactions/mast_foot", topics.SENSOR_DATA)
    end = peer.step()
    inbox.wait_ever(lambda message: nanoseconds(message.header.stamp) == end, "the last sample")
    times = stamps(inbox.all())
    assert set(times % (20 * STEP)) == {0}
    assert set(np.diff(times)) == {20 * STEP}


def test_a_reaction_is_a_force_on_the_child_in_the_joints_frame(peer, start_simulator, linkage_file):
    """The mast's joint is pitched by 0.5 rad and carries 5 kg: at rest it pushes the mast up."""
    start_simulator(machine=str(linkage_file), real_time_factor=0.0)
    inbox = peer.hear(WrenchStamped, "joint_reactions/mast_foot", topics.SENSOR_DATA)
    # Inertia 1 kg m2 on 500 N m/rad and 50 N m s/rad: the slower of its two motions to rest decays with 14/s.
    wrench = inbox.wait(lambda message: message.header.stamp.sec >= 3, "a reaction after 3 s").wrench
    weight = 5.0 * 9.81
    assert [wrench.force.x, wrench.force.y, wrench.force.z] == pytest.approx(
        [-weight * np.sin(0.5), 0.0, weight * np.cos(0.5)], abs=1e-9 * weight
    )
    # The moment of the weight bends the joint, 500 N m/rad; the mast leans by that angle more.
    lean = -wrench.torque.y / 500.0
    assert -wrench.torque.y == pytest.approx(weight * 0.4 * np.sin(0.5 + lean), rel=1e-9)


def test_joint_frames_move_with_their_parent_links(peer, start_simulator, linkage_file):
    """A link that hangs in a hinge has its origin in the hinge's frame and turns about that frame's z axis; on a
    flexible link the frame moves."""
    steps = 400
    start_simulator(machine=str(linkage_file), start_paused=True, step_request_count=steps)
    transforms = peer.hear(TFMessage, "/tf", topics.TF_QUALITY)
    still = peer.hear(TFMessage, "/tf_static", topics.LATCHED).first()
    peer.wait_for(lambda: peer.node.count_publishers("/tf") == 1, "/tf")
    step_by_service(peer, steps)
    at_end = lambda message: nanoseconds(message.transforms[0].header.stamp) == steps * STEP  # noqa: E731
    moving = transforms.wait_ever(at_end, "the last step")
    fixed = {item.child_frame_id for item in still.transforms}
    edges = {item.child_frame_id: item for item in [*still.transforms, *moving.transforms]}

    simulation = grouser.Simulation(grouser.load_machine(linkage_file), grouser.World(), step=0.001)
    simulation.step(steps)
    links = [link.name for link in simulation.machine.links]
    assert set(edges) == {*links, *(frame for _, frame, _ in REACTIONS.values())}
    assert fixed == {"jib", "lamp_hinge_frame", "rocker end_frame", "mast_foot_frame"}
    for link in links:
        position, rotation = chained_pose(edges, link, "world")
        expected_position, quaternion = simulation.link_pose(link)
        np.testing.assert_allclose(position, expected_position, atol=1e-12)
        np.testing.assert_allclose(rotation, rotation_matrix(quaternion), atol=1e-12)
    for _, frame, parent in REACTIONS.values():
        assert edges[frame].header.frame_id == parent

    position, rotation = chained_pose(edges, "lamp_hinge_frame_2", "world")
    lamp_position, lamp_rotation = chained_pose(edges, "lamp", "world")
    np.testing.assert_allclose(position, lamp_position, atol=1e-12)
    np.testing.assert_allclose(rotation[:, 2], lamp_rotation[:, 0], atol=1e-12)  # the hinge's axis
    assert lamp_position[2] < 0.99  # the jib has bent
    # The rocker's pin stands in the frame that the coupler has for it; the loop is closed to the solver's tolerance.
    position, rotation = chained_pose(edges, "rocker end_frame", "world")
    rocker_position, rocker_rotation = chained_pose(edges, "rocker", "world")
    np.testing.assert_allclose(position, rocker_position + rocker_rotation @ [0.0, 0.0, 0.5], atol=1e-5)
    np.testing.assert_allclose(rotation[:, 1], [0.0, 1.0, 0.0], atol=1e-5)


def test_joint_frames_are_published_beside_a_robot_state_publisher(peer, start_simulator, linkage_file):
    start_simulator(machine=str(linkage_file), publish_link_tf=False)
    fixed = peer.hear(TFMessage, "/tf_static", topics.LATCHED).first()
    assert {item.child_frame_id for item in fixed.transforms} == {"rocker end_frame", "mast_foot_frame"}
    moving = peer.hear(TFMessage, "/tf", topics.TF_QUALITY).first()
    pairs = [(item.header.frame_id, item.child_frame_id) for item in moving.transforms]
    assert pairs == [("jib", "lamp_hinge_frame_2"), ("map", "world")]


def test_joints_inside_a_flexible_link_are_not_published(peer, start_simulator, linkage_file):
    start_simulator(machine=str(linkage_file))
    message = peer.hear(JointState, "joint_states").first()
    assert message.name == ["crank_pin", "coupler_pin", "rocker_pin", "lamp_hinge"]
    assert len(message.position) == len(message.velocity) == len(message.effort) == 4


def test_flexible_state_is_that_of_the_simulation(peer, start_simulator, linkage_file):
    """The jib bends under the lamp; a group a link, at its own rate."""
    steps = 200
    start_simulator(machine=str(linkage_file), start_paused=True, step_request_count=steps)
    inbox = peer.hear(DynamicInterfaceGroupValues, "flexible/state")
    peer.wait_for(lambda: peer.node.count_publishers("/flexible/state") == 1, "flexible/state")
    (publisher,) = peer.node.get_publishers_info_by_topic("/flexible/state")
    assert publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    step_by_service(peer, steps)
    message = inbox.wait_ever(lambda message: nanoseconds(message.header.stamp) == steps * STEP, "the last step")
    times = stamps(inbox.all())
    assert set(times % (20 * STEP)) == {0}
    assert np.min(np.diff(times)) == 20 * STEP
    simulation = grouser.Simulation(grouser.load_machine(linkage_file), grouser.World(), step=0.001)
    simulation.step(steps)
    assert message.interface_groups == ["jib"]
    (values,) = message.interface_values
    state = simulation.flexible_link["jib"]
    assert dict(zip(values.interface_names, values.values, strict=True)) == {
        "tip_deflection_y": state.tip_deflection_y,
        "tip_deflection_z": state.tip_deflection_z,
        "tip_twist": state.tip_twist,
        "strain_energy": state.strain_energy,
    }
    # at rest the weight of the lamp alone would lower the tip by F L3 / (3 E I) = 0.023 m
    assert state.tip_deflection_z < -0.01


def test_hydraulics_state_is_that_of_the_simulation(peer, start_simulator, loader_file):
    steps = 40
    start_simulator(start_paused=True, step_request_count=steps)
    inbox = peer.hear(DynamicInterfaceGroupValues, "hydraulics/state")
    peer.wait_for(lambda: peer.node.count_publishers("/hydraulics/state") == 1, "hydraulics/state")
    step_by_service(peer, steps)
    message = inbox.collect(4)[-1]  # the one at the start may have gone out before anybody listened
    simulation = grouser.Simulation(grouser.load_machine(loader_file), grouser.World(), step=0.001)
    simulation.step(round(nanoseconds(message.header.stamp) / STEP))
    assert message.interface_groups == ["boom_cylinder"]
    (values,) = message.interface_values
    state = simulation.cylinder["boom_cylinder"]
    assert dict(zip(values.interface_names, values.values, strict=True)) == {
        "pressure_piston_side": state.pressure_piston_side,
        "pressure_rod_side": state.pressure_rod_side,
        "flow": state.flow_piston_side,
        "spool_position": state.spool_position,
        "force": state.force,
        "power": state.power,
        "temperature": 313.15,
    }
    assert state.force > 0.0  # the brake holds the boom


def test_a_stream_on_demand_follows_requests_for_steps(peer, start_simulator, loader_file):
    """Its messages are made only for subscribers; a request ends with one of its last step."""
    steps = 40  # fewer than from one sample to the next
    start_simulator(start_paused=True, step_request_count=steps)
    inbox = peer.hear(DynamicInterfaceGroupValues, "hydraulics/circuit")
    peer.wait_for(lambda: peer.node.count_publishers("/hydraulics/circuit") == 1, "hydraulics/circuit")
    for request in (1, 2):
        step_by_service(peer, steps)
        message = inbox.wait_ever(
            lambda told, end=request * steps * STEP: nanoseconds(told.header.stamp) == end, "the last step"
        )
    simulation = grouser.Simulation(grouser.load_machine(loader_file), grouser.World(), step=0.001)
    simulation.step(2 * steps)
    lines = message.interface_values[message.interface_groups.index("pressure")]
    pressure = simulation.circuit.line_pressure
    assert {name: pressure[name] for name in simulation.circuit.lines} == dict(
        zip(lines.interface_names, lines.values, strict=True)
    )


def test_motors_and_pumps_are_on_hydraulics_state(peer, start_simulator, load_sensing_file):
    start_simulator(machine=str(load_sensing_file), start_paused=True, step_request_count=20)
    inbox = peer.hear(DynamicInterfaceGroupValues, "hydraulics/state")
    peer.wait_for(lambda: peer.node.count_publishers("/hydraulics/state") == 1, "hydraulics/state")
    step_by_service(peer, 20)
    message = inbox.collect(2)[-1]
    simulation = grouser.Simulation(grouser.load_machine(load_sensing_file), grouser.World(), step=0.001)
    simulation.step(round(nanoseconds(message.header.stamp) / STEP))
    names = [group.interface_names for group in message.interface_values]
    values = dict(zip(message.interface_groups, message.interface_values, strict=True))
    assert message.interface_groups == ["boom_left", "boom_right", "jack", "swing", "main", "charge"]
    assert list(names[0]) == list(names[2]) != list(names[3]) != list(names[4]) == list(names[5])
    motor, pump = simulation.circuit.hydraulic_motor["swing"], simulation.circuit.pump["main"]
    assert dict(zip(values["swing"].interface_names, values["swing"].values, strict=True)) == {
        "pressure_a": motor.pressure_a,
        "pressure_b": motor.pressure_b,
        "flow": motor.flow_a,
        "spool_position": motor.spool_position,
        "torque": motor.torque,
        "speed": motor.velocity,
        "power": motor.power,
        "temperature": simulation.machine.fluid.temperature,
    }
    assert dict(zip(values["main"].interface_names, values["main"].values, strict=True)) == {
        "swash": pump.swash,
        "flow": pump.flow,
        "pressure": pump.pressure,
        "power": pump.shaft_power,
        "temperature": simulation.machine.fluid.temperature,
    }
    assert pump.shaft_power > 0.0


def test_diagnostics_report_pace_and_solver(peer, start_simulator):
    start_simulator(diagnostics_rate=20.0, cpu=0)
    inbox = peer.hear(DiagnosticArray, "/diagnostics")
    message = inbox.wait(lambda message: len(message.status) == 5 and message.header.stamp.nanosec > 0)
    statuses = {status.name: {pair.key: pair.value for pair in status.values} for status in message.status}
    assert set(statuses) == {f"simulator: {part}" for part in ("pace", "solver", "energy", "commands", "timing")}
    timing = statuses["simulator: timing"]
    assert {f"command_to_force_{part} [s]" for part in ("p50", "p99", "max")} < set(timing)
    assert (timing["scheduling_asked"], timing["scheduling"]) == ("other", "other")
    assert (timing["cpu"], timing["memory_locked"]) == ("0", "false")
    assert set(statuses["simulator: pace"]) == {
        "real_time_factor",
        "overruns",
        "dropped_samples",
        "step_time_p50 [s]",
        "step_time_p99 [s]",
        "step_time_max [s]",
    }
    assert {"residual [m/s]", "iterations"} <= set(statuses["simulator: solver"])
    assert statuses["simulator: commands"]["refused_commands"] == "0"
    assert statuses["simulator: commands"]["emergency_stop"] == "false"
    assert float(statuses["simulator: pace"]["step_time_p50 [s]"]) > 0.0


def test_diagnostics_report_the_energy_of_the_simulation(peer, start_simulator, loader_file, tmp_path):
    steps = 40
    program = tmp_path / "extend.yaml"
    program.write_text("commands: [{time: 0.0, valve: boom_valve, value: 0.8}]\n", encoding="utf-8")
    start_simulator(start_paused=True, step_request_count=steps, diagnostics_rate=20.0, program=str(program))
    inbox = peer.hear(DiagnosticArray, "/diagnostics")
    step_by_service(peer, steps)
    message = inbox.wait(lambda message: nanoseconds(message.header.stamp) == steps * STEP)
    (status,) = [status for status in message.status if status.name == "simulator: energy"]
    simulation = grouser.Simulation(grouser.load_machine(loader_file), grouser.World(), step=0.001)
    simulation.command["boom_valve"] = 0.8
    simulation.step(steps)
    energy, oil = simulation.energy(), simulation.hydraulic_balance().totals()
    balance = simulation.energy_balance()
    sums = {
        "actuator_work": sum(balance.actuator_work.values()),
        "dissipation": sum(balance.dissipation.values()),
        "balance_residual": balance.residual,
    }
    expected = {**vars(energy), **sums, **{f"oil_{name}": amount for name, amount in oil.items()}}
    assert {pair.key: float(pair.value) for pair in status.values} == {
        f"{name} [J]": pytest.approx(value, rel=1e-5) for name, value in expected.items()
    }
    assert energy.potential > 100.0 and oil["supplied"] > 1.0 and oil["throttling"] > 0.0
    assert sums["actuator_work"] != 0.0 and sums["dissipation"] != 0.0


def test_diagnostics_report_the_energy_of_springs(peer, start_simulator, linkage_file):
    steps = 200
    start_simulator(machine=str(linkage_file), start_paused=True, step_request_count=steps, diagnostics_rate=20.0)
    inbox = peer.hear(DiagnosticArray, "/diagnostics")
    step_by_service(peer, steps)
    message = inbox.wait(lambda message: nanoseconds(message.header.stamp) == steps * STEP)
    (status,) = [status for status in message.status if status.name == "simulator: energy"]
    simulation = grouser.Simulation(grouser.load_machine(linkage_file), grouser.World(), step=0.001)
    simulation.step(steps)
    elastic = simulation.energy().elastic
    assert {pair.key: pair.value for pair in status.values}["elastic [J]"] == f"{elastic:.6g}"
    assert elastic > 0.01


def test_stamps_increase_over_a_reset(peer, start_simulator):
    start_simulator()
    inbox = peer.hear(JointState, "joint_states")
    before = nanoseconds(inbox.wait(lambda message: nanoseconds(message.header.stamp) > 50 * STEP).header.stamp)
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    inbox.wait(lambda message: nanoseconds(message.header.stamp) > before + 100 * STEP)
    times = stamps(inbox.all())
    assert np.all(np.diff(times) >= 0)
    assert set(times % STEP) == {0}


def test_a_reset_rewinds_time_when_asked(peer, start_simulator):
    start_simulator(reset_rewinds_time=True)
    inbox = peer.hear(JointState, "joint_states")
    inbox.wait(lambda message: nanoseconds(message.header.stamp) > 50 * STEP)
    assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    peer.wait_for(lambda: stamps(inbox.all())[-1] == 0, "a sample at time zero")
