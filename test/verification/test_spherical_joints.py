"""Spherical joints of the tree: against the same bodies in a loop, on the ground, under torques and damping."""

import numpy as np
import pytest

from grouser import ParameterError, Simulation, World
from grouser.physics.base.spatial import matrix

EARTH = World(ground=None)
SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
INERTIA = np.array([0.13, 0.28, 0.17])
ARM = np.array([0.1, -0.05, 0.3])


def ball_machine(parts, element="", inertia=INERTIA, com=ARM, shape=None, xyz=(0.0, 0.0, 0.0)):
    """A body that hangs on a ball joint in the world."""
    return parts.machine(
        '<link name="world"/>',
        parts.link("bob", 1.0, inertia, com=com, shape=shape),
        parts.joint("bearing", "floating", "world", "bob", xyz=xyz),
        extension=f'<spherical_joint joint="bearing" {element}/>',
    )


def loop_machine(parts):
    """The same body, floating, held by a spherical loop joint."""
    return parts.machine(
        '<link name="world"/>',
        parts.link("bob", 1.0, INERTIA, com=ARM),
        parts.joint("free", "floating", "world", "bob"),
        extension='<loop_joint name="bearing" type="spherical"><parent link="world"/><child link="bob"/></loop_joint>',
    )


def rate(simulation):
    return simulation.spherical_joint["bearing"].angular_velocity


def test_spherical_joint_equals_a_spherical_loop_joint(parts):
    """Both converge, with the step, to one motion."""
    apart = []
    for step in (1e-3, 5e-4):
        tree, loop = Simulation(ball_machine(parts), EARTH, step), Simulation(loop_machine(parts), EARTH, step)
        tree.state.v[:] = loop.state.v[3:] = 1.0, -2.0, 3.0
        for simulation in (tree, loop):
            simulation.step(round(0.5 / step))
        apart.append(np.abs(matrix(tree.link_pose("bob")[1]) - matrix(loop.link_pose("bob")[1])).max())
    # first order: half the step, half the distance, but for the next order, w h = 0.003 of it
    assert apart[1] == pytest.approx(0.5 * apart[0], rel=0.05)
    assert apart[0] < 0.02


def test_spherical_joint_initial_orientation_and_reset(parts):
    simulation = Simulation(ball_machine(parts, 'rpy="0.5 -0.4 2.5"'), EARTH)
    start = matrix(simulation.spherical_joint["bearing"].orientation)
    assert simulation.link_pose("bob")[1] == pytest.approx(simulation.spherical_joint["bearing"].orientation)
    cr, sr, cp, sp, cy, sy = [f(a) for a in (0.5, -0.4, 2.5) for f in (np.cos, np.sin)]
    roll = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    pitch = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    yaw = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    assert start == pytest.approx(yaw @ pitch @ roll, abs=1e-15)
    simulation.step(100)
    simulation.reset()
    assert np.array_equal(matrix(simulation.spherical_joint["bearing"].orientation), start)


def test_loop_assembly_turns_a_spherical_joint_without_initial_orientation(parts):
    """The tip of the bob is tied to a place a quarter turn away; a start that is given is kept, and refused."""

    def tied(element):
        return parts.machine(
            '<link name="world"/>',
            parts.link("bob", 1.0, INERTIA, com=ARM),
            parts.joint("bearing", "floating", "world", "bob"),
            extension=f'<spherical_joint joint="bearing" {element}/><loop_joint name="tie" type="spherical">'
            '<parent link="world" xyz="0 0.5 0"/><child link="bob" xyz="0.5 0 0"/></loop_joint>',
        )

    position, turn = Simulation(tied(""), EARTH).link_pose("bob")
    assert position + matrix(turn) @ [0.5, 0.0, 0.0] == pytest.approx([0.0, 0.5, 0.0], abs=1e-9)
    with pytest.raises(Exception, match="cannot be closed"):
        Simulation(tied('rpy="0 0 0"'), EARTH)


def test_spherical_joint_torques_act_about_the_axes_of_the_child(parts):
    inertia = (0.2, 0.4, 0.5)
    machine = ball_machine(parts, 'effort_limit="2" rpy="0 1.5707963267948966 0"', inertia, (0.0, 0.0, 0.0))
    simulation = Simulation(machine, SPACE, 1e-3)
    assert simulation.command.drives == {f"bearing/{axis}": "effort" for axis in "xyz"}
    for axis in range(3):
        simulation.reset()
        simulation.command[f"bearing/{'xyz'[axis]}"] = 1.5 if axis < 2 else -7.0
        simulation.step(100)
        torque = 1.5 if axis < 2 else -2.0
        # about one principal axis alone, semi-implicit Euler's rate is exact to rounding over a hundred steps
        assert rate(simulation) == pytest.approx(np.eye(3)[axis] * torque * 0.1 / inertia[axis], abs=1e-13)
        assert simulation.spherical_joint["bearing"].torque == pytest.approx(np.eye(3)[axis] * torque)
    assert "bearing" not in simulation.joint_position
    with pytest.raises(ParameterError, match="bearing/[xyz]"):
        simulation.command["bearing"] = 1.0


def test_emergency_stop_holds_a_spherical_joint_within_its_limit(parts):
    simulation = Simulation(ball_machine(parts, 'effort_limit="2"', com=(0.0, 0.0, 0.0)), SPACE, 1e-3)
    simulation.state.v[0] = 1.0
    simulation.emergency_stop = True
    simulation.step(30)
    assert rate(simulation)[0] == pytest.approx(1.0 - 2.0 * 0.03 / INERTIA[0], abs=1e-5)
    simulation.step(100)
    assert rate(simulation) == pytest.approx(np.zeros(3), abs=1e-6)


def test_spherical_joint_damping_opposes_the_rates(parts):
    simulation = Simulation(ball_machine(parts, 'damping="0.3"', (0.2, 0.2, 0.2), (0, 0, 0)), SPACE, 1e-3)
    simulation.state.v[:] = 1.0, 2.0, -3.0
    simulation.step(500)
    # implicit Euler: each step divides by 1 + h d / I
    expected = np.array([1.0, 2.0, -3.0]) / (1.0 + 1e-3 * 0.3 / 0.2) ** 500
    assert rate(simulation) == pytest.approx(expected, rel=1e-12)
    balance = simulation.energy_balance()
    assert balance.dissipation["damping of bearing"] == pytest.approx(-balance.kinetic, rel=1e-9)


def test_work_of_spherical_joint_torques_is_listed_by_name(parts):
    simulation = Simulation(ball_machine(parts, 'effort_limit="20"'), EARTH, 1e-4)
    simulation.command.update({"bearing/x": 3.0, "bearing/y": -2.0})
    simulation.step(5000)
    balance = simulation.energy_balance()
    assert set(balance.actuator_work) == {"bearing/x", "bearing/y"}
    moved = abs(balance.kinetic) + abs(balance.potential)
    # first order in w h, with w = 7 rad/s at the end
    assert abs(balance.residual) < 7.0 * 1e-4 * moved


def test_rod_on_a_spherical_joint_rests_on_the_ground(parts):
    """A rod on a ball joint 0.3 m above the ground lies down on it; the joint and the ground share its weight."""
    machine = ball_machine(
        parts,
        'damping="0.1" rpy="0 0.2 0.3"',
        inertia=(0.01, 0.09, 0.09),
        com=(0.5, 0.0, 0.0),
        shape='<box size="2 0.02 0.02"/>',
        xyz=(0.0, 0.0, 0.3),
    )
    simulation = Simulation(machine, World(), 1e-3)
    simulation.step(4000)
    along = matrix(simulation.link_pose("bob")[1]) @ [1.0, 0.0, 0.0]
    assert rate(simulation) == pytest.approx(np.zeros(3), abs=1e-4)
    # the edge below the tip stands on the ground: 0.3 + sin down - 0.01 cos = 0
    assert 0.3 + along[2] == pytest.approx(0.01 * np.hypot(along[0], along[1]), abs=1e-4)
    # the ball joint carries no moment: that of the ground's forces, friction included, is against that of the weight
    joint = np.array([0.0, 0.0, 0.3])
    of_ground = sum(np.cross(contact.point_world - joint, contact.force_world) for contact in simulation.contacts())
    of_weight = np.cross(0.5 * along, [0.0, 0.0, -9.81])
    assert of_ground + of_weight == pytest.approx(np.zeros(3), abs=1e-3 * np.linalg.norm(of_weight))


def test_spherical_joint_restart_is_exact(parts):
    machine = ball_machine(parts, 'effort_limit="2" damping="0.1"')
    simulation = Simulation(machine, EARTH)
    simulation.command["bearing/z"] = 1.0
    simulation.step(100)
    saved = simulation.snapshot()
    simulation.step(100)
    other = Simulation(machine, EARTH)
    other.restore(saved)
    other.step(100)
    assert np.array_equal(other.state.q, simulation.state.q)
    assert np.array_equal(other.state.v, simulation.state.v)


def test_power_balance_of_a_chain_of_spherical_joints(parts):
    """Rate of energy against the power of gravity alone: forward dynamics by the step, refined until it agrees."""
    machine = parts.machine(
        '<link name="world"/>',
        *(parts.link(name, 1.0, INERTIA, com=ARM) for name in ("a", "b", "c")),
        parts.joint("j1", "floating", "world", "a"),
        parts.joint("j2", "floating", "a", "b", xyz=(0.2, 0.1, 0.6)),
        parts.joint("j3", "floating", "b", "c", xyz=(0.2, 0.1, 0.6)),
        extension="".join(f'<spherical_joint joint="{joint}"/>' for joint in ("j1", "j2", "j3")),
    )
    errors = []
    for step in (1e-4, 5e-5):
        simulation = Simulation(machine, EARTH, step)
        simulation.state.v[:] = 1.0, -1.0, 2.0, 0.5, 0.5, -1.0, 2.0, 1.0, 0.0
        simulation.step(round(0.2 / step))
        balance = simulation.energy_balance()
        errors.append(balance.residual)
    # first order in the step
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.05)
