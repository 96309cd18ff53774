"""Joint limits, dry friction, mimicking joints and joints with several coordinates, against closed forms."""

import math

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose

GRAVITY = 9.81
AIR = World(ground=None)
FREE_SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)


def bounded(name, kind, child, lower, upper, axis, inside=""):
    """URDF text of a joint with limits."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="world"/><child link="{child}"/><axis xyz="{axis}"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="1e9" velocity="1e9"/>{inside}</joint>'
    )


def slider(parts, mass, extension="", inside="", axis=(1, 0, 0), kind="prismatic", step=1e-3):
    """A body with this mass, and this inertia about its axis, on one joint."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("body", mass, (mass, mass, mass)),
        parts.joint("slide", kind, "world", "body", axis=axis, inside=inside),
        extension=extension,
    )
    return Simulation(machine, AIR, step=step)


def effort_drive(joint):
    return f'<servo_drive joint="{joint}" mode="effort" effort_limit="1e9"/>'


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_falling_arm_comes_to_rest_on_its_limit(parts, side, step):
    limits = (-2.0, 0.4) if side > 0 else (-0.4, 2.0)
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("arm", 2.0, (0.1, 0.1, 0.1), com=(0.5, 0, 0)),
        bounded("hinge", "revolute", "arm", *limits, axis=f"0 {side} 0"),
    )
    simulation = Simulation(machine, AIR, step=step)
    falling = []
    for _ in range(round(2.0 / step)):
        simulation.step()
        falling.append(side * simulation.joint_velocity["hinge"])
        # the stop lets a step end at the limit, not beyond it
        assert side * simulation.joint_position["hinge"] < 0.4 + 1e-9
    assert max(falling) > 2.0
    # no restitution: the rebound speed is within the solver's tolerance
    assert min(falling) > -1e-6
    assert side * simulation.joint_position["hinge"] == pytest.approx(0.4, abs=1e-9)
    torque = 2.0 * GRAVITY * 0.5 * math.cos(0.4)
    assert simulation.joint_effort["hinge"] == pytest.approx(-side * torque, rel=1e-6)


def test_joint_beyond_its_limit_returns_without_momentum(parts):
    machine = parts.machine(
        '<link name="world"/>', parts.link("body", 2.0), bounded("slide", "prismatic", "body", 0, 0.1, axis="1 0 0")
    )
    simulation = Simulation(machine, AIR)
    simulation.state.q[0] = 0.102
    simulation.step()
    # each step corrects a share of the violation; the momentum does not change
    assert 0.1 < simulation.joint_position["slide"] < 0.102
    assert simulation.state.v[0] == 0.0
    simulation.step(100)
    assert simulation.joint_position["slide"] == pytest.approx(0.1, abs=1e-9)
    assert simulation.energy().kinetic == 0.0


@pytest.mark.parametrize("multiplier, lower, upper", [(-2.0, -0.1, 0.3), (0.5, -1.2, 0.4), (-0.25, -0.8, 2.4)])
def test_limits_of_a_mimicking_joint_limit_its_leader(parts, multiplier, lower, upper):
    # the follower may go from -0.5 to 0.3 and has an offset of 0.1
    follow = f'<mimic joint="lead" multiplier="{multiplier}" offset="0.1"/>'
    machine = parts.machine(
        '<link name="world"/>',
        *[parts.link(name, 1.0) for name in ("one", "two")],
        parts.joint("lead", "prismatic", "world", "one", axis=(1, 0, 0)),
        bounded("follow", "prismatic", "two", -0.5, 0.3, axis="0 1 0", inside=follow),
        extension=effort_drive("lead"),
    )
    simulation = Simulation(machine, AIR)
    for effort, end in ((20.0, upper), (-20.0, lower)):
        simulation.command["lead"] = effort
        simulation.step(2000)
        assert simulation.joint_position["lead"] == pytest.approx(end, abs=1e-9)
        reached = 0.3 if effort * multiplier > 0 else -0.5
        assert simulation.joint_position["follow"] == pytest.approx(reached, abs=2e-9)
        assert abs(simulation.joint_velocity["lead"]) < 1e-9


# --- dry and viscous friction -----------------------------------------------------------------------------------------


def test_dry_friction_sticks_below_its_static_level_and_slides_above(parts):
    friction = '<joint_friction joint="slide" static="20" kinetic="14"/>'
    simulation = slider(parts, 2.0, friction + effort_drive("slide"))
    for share in (0.99, -0.99):
        simulation.command["slide"] = share * 20
        simulation.step(2000)
        assert simulation.joint_position["slide"] == 0.0
        assert simulation.joint_velocity["slide"] == 0.0
        assert simulation.joint_effort["slide"] == pytest.approx(0.0, abs=1e-12)
    simulation.command["slide"] = 1.01 * 20
    simulation.step(500)
    # from the step of breakaway on, the kinetic level acts
    expected = (20.2 - 14) * 0.5 / 2.0
    assert simulation.joint_velocity["slide"] == pytest.approx(expected, rel=1e-9)
    # between both levels it continues to slide, but does not start
    simulation.command["slide"] = 16.0
    simulation.step(500)
    assert simulation.joint_velocity["slide"] == pytest.approx(expected + (16 - 14) / 2.0 * 0.5, rel=1e-9)
    simulation.reset()
    simulation.command["slide"] = 16.0
    simulation.step(500)
    assert simulation.joint_position["slide"] == 0.0


@pytest.mark.parametrize(
    "inside, extension",
    [
        ("", '<joint_friction joint="slide" static="0.6" kinetic="0.4"/>'),
        ('<dynamics friction="0.4"/>', ""),
    ],
)
def test_dry_friction_stops_a_flywheel_in_time(parts, inside, extension):
    inertia, speed, torque = 0.05, 30.0, 0.4
    simulation = slider(parts, inertia, extension, inside, (0, 0, 1), "continuous")
    simulation.state.v[0] = speed
    while simulation.joint_velocity["slide"] > 0.0:
        simulation.step()
        assert simulation.time < 5.0
    assert simulation.time == pytest.approx(inertia * speed / torque, abs=1.1e-3)
    # semi-implicit Euler loses half a step of the initial speed
    assert simulation.joint_position["slide"] == pytest.approx(
        inertia * speed**2 / (2 * torque), abs=1.1e-3 * speed / 2
    )
    stopped = simulation.joint_position["slide"]
    simulation.step(100)
    assert simulation.joint_position["slide"] == stopped


@pytest.mark.parametrize(
    "inside, extension",
    [
        ('<dynamics damping="0.5"/>', ""),
        ('<dynamics damping="0.2"/>', '<joint_friction joint="slide" static="0" viscous="0.3"/>'),
    ],
)
def test_viscous_friction_decays_exponentially(parts, inside, extension):
    inertia, damping, end = 0.4, 0.5, 1.0

    def error(step):
        simulation = slider(parts, inertia, extension, inside, (0, 0, 1), "continuous", step=step)
        simulation.state.v[0] = 10.0
        simulation.step(round(end / step))
        return simulation.joint_velocity["slide"] - 10.0 * math.exp(-damping * end / inertia)

    coarse, fine = error(1e-2), error(2.5e-3)
    # implicit Euler: v (1 - d h / I / 2) to first order, from above
    assert math.log(coarse / fine, 4) == pytest.approx(1.0, abs=0.05)
    assert 0.0 < fine < 10.0 * math.exp(-1.25) * 0.5 * 2.5e-3 * (damping / inertia) ** 2 * 1.05


# --- mimicking joints and joints with several coordinates -------------------------------------------------------------


@pytest.mark.parametrize("kind", ["prismatic", "continuous"])
@pytest.mark.parametrize("multiplier", [-1.0, 0.5, -2.0])
def test_mimicking_joint_adds_its_inertia_to_the_leader(parts, kind, multiplier):
    follow = f'<mimic joint="lead" multiplier="{multiplier}"/>'
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("one", 0.4, (0.4, 0.4, 0.4)),
        parts.link("two", 0.7, (0.7, 0.7, 0.7)),
        parts.joint("lead", kind, "world", "one", axis=(0, 1, 0)),
        parts.joint("follow", kind, "world", "two", axis=(0, 1, 0), inside=follow),
        extension=effort_drive("lead"),
    )
    simulation = Simulation(machine, AIR)
    simulation.command["lead"] = 3.0
    simulation.step(100)
    expected = 3.0 / (0.4 + multiplier**2 * 0.7) * 0.1
    assert simulation.joint_velocity["lead"] == pytest.approx(expected, rel=1e-12)
    assert simulation.joint_velocity["follow"] == multiplier * simulation.joint_velocity["lead"]


def test_mimicking_joint_adds_its_friction_and_damping_to_the_leader(parts):
    # through a gear of 2, a coefficient d at the follower is 4 d at the leader and a dry torque T is 2 T
    follow = '<mimic joint="lead" multiplier="2"/><dynamics damping="0.1" friction="0.5"/>'
    machine = parts.machine(
        '<link name="world"/>',
        *[parts.link(name, 1.0) for name in ("one", "two")],
        parts.joint("lead", "continuous", "world", "one"),
        parts.joint("follow", "continuous", "world", "two", inside=follow),
        extension=effort_drive("lead"),
    )
    simulation = Simulation(machine, AIR)
    simulation.command["lead"] = 0.9
    simulation.step(100)
    assert simulation.joint_velocity["lead"] == 0.0, "2 * 0.5 N m hold the joint"
    simulation.command["lead"] = 5.0
    simulation.step(10_000)
    # towards (5 - 1) / 0.4 with the time constant (1 + 4) / 0.4 s; implicit Euler errs by a step's share of it
    expected = (5.0 - 1.0) / 0.4 * (1.0 - math.exp(-10.0 * 0.4 / 5.0))
    assert simulation.joint_velocity["lead"] == pytest.approx(expected, rel=1e-3)


def test_prismatic_joint_slides_down_its_slope(parts):
    slope = math.radians(20)
    simulation = slider(parts, 3.0, axis=(math.cos(slope), 0, -math.sin(slope)))
    simulation.step(500)
    assert simulation.joint_velocity["slide"] == pytest.approx(GRAVITY * math.sin(slope) * 0.5, rel=1e-12)
    assert simulation.link_pose("body")[0][2] == pytest.approx(
        -math.sin(slope) * simulation.joint_position["slide"], rel=1e-12
    )


def straight_line_error(parts, kind, step):
    """Deviation of a spinning body on a planar or floating joint from a straight line through free space after 1 s."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("plate", 2.0, (0.1, 0.1, 0.2)),
        parts.joint("free", kind, "world", "plate", axis=(0, 0, 1), xyz=(0.5, 0, 1)),
        parts.link("other", 1.0),
        parts.joint("hinge", "continuous", "plate", "other"),
    )
    simulation = Simulation(machine, FREE_SPACE, step=step)
    simulation.state.v[:2] = [0.3, -0.2]
    simulation.state.v[-2] = 3.0  # the plate's spin about z, in both kinds of joint
    simulation.step(round(1.0 / step))
    return np.linalg.norm(simulation.link_pose("plate")[0] - [0.8, -0.2, 1.0])


def test_spinning_body_on_a_planar_joint_moves_in_a_straight_line(parts):
    coarse, fine = straight_line_error(parts, "planar", 1e-3), straight_line_error(parts, "planar", 2.5e-4)
    # body-fixed velocities turn with the body: semi-implicit Euler errs in first order, by w^2 v h / 2 at most
    assert math.log(coarse / fine, 4) == pytest.approx(1.0, abs=0.1)
    assert coarse < 3.0**2 * 0.36 * 1e-3


def test_spinning_body_on_a_floating_joint_moves_in_a_straight_line(parts):
    # nothing touches the tree: its centre of mass moves straight on, to rounding
    assert straight_line_error(parts, "floating", 1e-3) < 1e-10


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_planar_and_floating_joints_fall_and_land(parts, kind):
    # the planar joint's plane is upright; its frame is turned, so that "down" is none of its axes
    turn = "0.4 0 0" if kind == "floating" else "0 0.4 0"
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("ball", 2.0, (0.008,) * 3, '<sphere radius="0.1"/>'),
        f'<joint name="free" type="{kind}"><parent link="world"/><child link="ball"/><axis xyz="0 1 0"/>'
        f'<origin xyz="0 0 1" rpy="{turn}"/></joint>',
    )
    simulation = Simulation(machine, World(spawn=Pose()))
    simulation.step(400)
    # semi-implicit Euler: g t (t + h) / 2
    assert simulation.link_pose("ball")[0][2] == pytest.approx(1 - GRAVITY * 0.4 * 0.401 / 2, rel=1e-12)
    simulation.step(600)
    assert simulation.link_pose("ball")[0][2] == pytest.approx(0.1, abs=2e-5)
    assert simulation.contact_wrench["ball"][:3] @ simulation.contact_wrench["ball"][:3] == pytest.approx(
        (2.0 * GRAVITY) ** 2, rel=1e-4
    )
