"""The four-bar linkage on ROS 2: the simulator publishes what `grouser reproduce spring_four_bar` computes.

Commands take effect once a tick, which lasts until the next sample of any stream. With /clock at every step a tick is a
step, and a program can give each step the mean of the case's torque, as the experiment does. At the usual rates a tick
is ten steps, and the demonstration program gives each tick its mean.
"""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

import grouser
from grouser import catalogue, experiments
from grouser.nodes.shared import topics
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, matrix, quaternion_from_rpy
from grouser.physics.description.urdf.placement import link_poses
from grouser.program import load_program
from grouser.resources import share_path

# A queue as deep as a run has messages: one of five could lose some.
EVERY_REACTION = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
LARGEST_REACTION = 2.448177  # [N], of the reference
POINT, FORCE = ("Cx", "Cy", "Cz"), ("Fx_on_rocker", "Fy_on_rocker", "Fz_on_rocker")


@pytest.fixture(scope="module")
def reference():
    """Times, points C, reactions, crank angles and speeds of an independent solution of the constraint."""
    path = share_path("config", "references", "four_bar_rigid_constraint.csv")
    return np.genfromtxt(path, delimiter=",", names=True)


@pytest.fixture(scope="module")
def linkage():
    """The machine and its world, stepped once, so that the midpoint rule is compiled."""
    machine = grouser.load_machine(catalogue.machine_file("four_bar"))
    world = grouser.load_world(catalogue.world_file("weightless"))
    grouser.Simulation(machine, world).step(1)
    return machine, world


@pytest.fixture
def run_linkage(peer, start_simulator, linkage):
    """Runs the linkage live for a second of simulated time."""

    def run(step, **parameters):
        """Time in steps, point C [m] and reaction on the rocker there [N], world axes, every 10 ms; and how fast the
        coupler turns at most [rad/s]."""
        steps = round(1.0 / step)
        node = start_simulator(
            machine="four_bar", world="weightless", step=step, start_paused=True, step_request_count=steps, **parameters
        )
        joint_states = peer.hear(JointState, "joint_states", 200)
        reactions = peer.hear(WrenchStamped, "joint_reactions/c", EVERY_REACTION)
        fixed = peer.hear(TFMessage, "/tf_static", topics.LATCHED).first()
        for topic in ("joint_states", "joint_reactions/c"):
            peer.wait_for(lambda topic=topic: peer.node.count_publishers(topic) == 1, topic)
        assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
        for inbox in (joint_states, reactions):
            inbox.wait_ever(lambda message: message.header.stamp.sec == 1, "the last sample")
        (frame,) = [item for item in fixed.transforms if item.child_frame_id == "c_frame"]
        place, turn = frame.transform.translation, frame.transform.rotation
        in_link = Pose((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))
        states = {in_steps(message, step): message for message in joint_states.all()}
        heard = {in_steps(message, step): message for message in reactions.all()}
        times = sorted(set(heard) - {0})
        assert times == list(range(steps // 100, steps + 1, steps // 100))
        points, forces = [], []
        for time in times:
            positions = dict(zip(states[time].name, states[time].position, strict=True))
            in_world = compose(link_poses(node.machine, positions)[frame.header.frame_id], in_link)
            assert heard[time].header.frame_id == "c_frame"
            force = heard[time].wrench.force
            points.append(in_world.position)
            forces.append(matrix(in_world.quaternion) @ [force.x, force.y, force.z])
        rates = [dict(zip(state.name, state.velocity, strict=True)) for state in states.values()]
        # The axes of its first two joints are parallel.
        turning = max(np.hypot(rate["crank"] + rate["coupler_turn"], rate["coupler_lift"]) for rate in rates)
        return np.array(times), np.array(points), np.array(forces), turning

    return run


def in_steps(message, step):
    """Time of a message in steps."""
    stamp = message.header.stamp
    return round((stamp.sec + 1e-9 * stamp.nanosec) / step)


def lengths(differences):
    return np.linalg.norm(differences, axis=1)


def test_live_linkage_equals_the_experiment(run_linkage, reference, tmp_path):
    """The published torque, 1.5 N m after a ramp of 0.1 s, in steps of 0.1 ms: the experiment's own torque and step."""
    step = 1e-4
    program = tmp_path / "ramp.yaml"
    # The mean over a step of a straight line is its value half a step later.
    program.write_text(
        f"""commands:
          - {{time: 0.0, joint: crank, value: {15.0 * step / 2.0!r}}}
          - {{time: 0.0, joint: crank, value: 1.5, ramp: {0.1 - step / 2.0!r}}}
          - {{time: 0.1, joint: crank, value: 0.0}}
        """
    )
    times, points, forces, turning = run_linkage(step, program=str(program), clock_rate=0.0)
    result = experiments.run("spring_four_bar")
    # The same steps but for the rounding of the torque (1e-16 of it), a million times over.
    assert lengths(points - result["point_c"][times]).max() < 1e-10
    # A message holds the mean over the last step in the frame as it turned meanwhile; here it is turned with the frame
    # at the step's end, half a step later. The experiment's values at instants are means over two steps.
    over_step = 0.5 * (result["reaction"][times - 1] + result["reaction"][times])
    assert lengths(forces - over_step).max() < (0.5 * step * turning + 1e-5) * LARGEST_REACTION
    assert turning < 10.0

    # The tolerances of the published case, at the times of the reference that are those of messages.
    index = np.round(reference["t"] / step).astype(int)
    common = np.isin(index, times) & (np.abs(index * step - reference["t"]) < 1e-9)
    assert np.count_nonzero(common) > 10
    rows = np.searchsorted(times, index[common])
    assert lengths(points[rows] - columns(reference[common], POINT)).max() < 1e-4
    assert lengths(forces[rows] - columns(reference[common], FORCE)).max() < 0.02 * LARGEST_REACTION


def columns(table, names):
    return np.column_stack([table[name] for name in names])


def test_demonstration_program_equals_a_simulation(run_linkage, linkage, reference):
    """At the default rates and step, equal to a simulation that is given the program's value at every tick."""
    step, tick = 1e-3, 10
    times, points, forces, _ = run_linkage(step, program="four_bar")
    machine, world = linkage
    simulation = grouser.Simulation(machine, world, step)
    program = load_program(catalogue.program_file("four_bar"))
    (loop,) = machine.loop_joints
    for time, point, force in zip(times, points, forces, strict=True):
        simulation.command.update(program.values((time - tick) * step))
        simulation.step(tick)
        position, quaternion = simulation.link_pose(loop.parent.link)
        in_link = Pose(loop.parent.xyz, quaternion_from_rpy(*loop.parent.rpy))
        end = compose(Pose(tuple(position), tuple(quaternion)), in_link)
        np.testing.assert_allclose(point, end.position, atol=1e-12)
        expected = matrix(end.quaternion) @ simulation.joint_reaction["c"][:3]
        np.testing.assert_allclose(force, expected, atol=1e-12 * LARGEST_REACTION)
    # The published case's tolerance in steps of a millisecond.
    at = np.searchsorted(reference["t"], times * step - 1e-9)
    assert lengths(points - columns(reference[at], POINT)).max() < 1e-3
