"""The implicit midpoint rule: order, energy over long runs, and rejected machines."""

import warnings

import numpy as np
import pytest

from grouser import MachineError, ParameterError, Simulation, World

SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
EARTH = World(ground=None)
GROUND_LINK = '<link name="world"/>'


def double_pendulum(parts, extension=""):
    """Two asymmetric bodies on two skew axes."""
    return parts.machine(
        GROUND_LINK,
        parts.link("upper", 1.0, (0.02, 0.03, 0.04), com=(0.2, 0.05, -0.1)),
        parts.link("lower", 0.7, (0.01, 0.03, 0.02), com=(0.3, -0.1, 0.05)),
        parts.joint("shoulder", "continuous", "world", "upper", axis=(0, 0.8, 0.6)),
        parts.joint("elbow", "continuous", "upper", "lower", axis=(1, 0, 0), xyz=(0.4, 0.1, 0.0)),
        extension=extension,
    )


def chain(parts, springs=""):
    """Three bars in a plane under gravity; a loop joint connects the last tip to the world."""
    bars = [
        parts.link(name, 1.0, (1e-3, length**2 / 12.0, length**2 / 12.0), com=(0.5 * length, 0.0, 0.0))
        for name, length in (("crank", 0.3), ("coupler", 0.5), ("rocker", 0.4))
    ]
    return parts.machine(
        GROUND_LINK,
        *bars,
        parts.joint("a", "continuous", "world", "crank", axis=(0, 1, 0)),
        parts.joint("b", "continuous", "crank", "coupler", axis=(0, 1, 0), xyz=(0.3, 0, 0)),
        parts.joint("c", "continuous", "coupler", "rocker", axis=(0, 1, 0), xyz=(0.5, 0, 0)),
        extension=f'<loop_joint name="pair" type="spherical"{springs}><parent link="world" xyz="0.55 0 0"/>'
        '<child link="rocker" xyz="0.4 0 0"/></loop_joint><initial_position joint="a" position="-0.8"/>',
    )


def machines(parts, name):
    return {
        "tree": lambda: double_pendulum(parts),
        "loop": lambda: chain(parts),
        "spring": lambda: chain(parts, ' stiffness="2000"'),
    }[name]()


def state_after(machine, integrator, step, duration=0.4):
    simulation = Simulation(machine, EARTH, step, integrator=integrator)
    simulation.step(round(duration / step))
    return np.concatenate([simulation.state.q, simulation.state.v])


@pytest.mark.parametrize(
    ("integrator", "order", "longest"), [("semi_implicit", 1, 1e-3), ("implicit_midpoint", 2, 4e-3)]
)
@pytest.mark.parametrize("name", ["tree", "loop", "spring"])
def test_midpoint_rule_order_of_convergence(parts, name, integrator, order, longest):
    machine = machines(parts, name)
    exact = state_after(machine, "implicit_midpoint", 2e-5)
    steps = longest / np.array([1.0, 2.0, 4.0, 8.0])
    errors = [np.abs(state_after(machine, integrator, step) - exact).max() for step in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    # The next term of the error's series is a tenth of the leading one at the largest step (w h = 0.1, for the loop
    # joint's spring with w = 50 rad/s), and changes the fitted slope by as much.
    assert slope == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("name", ["tree", "loop", "spring"])
def test_midpoint_rule_energy_is_bounded_over_a_hundred_thousand_steps(parts, name):
    simulation = Simulation(machines(parts, name), EARTH, 1e-3, integrator="implicit_midpoint")
    balance = []
    for _ in range(1000):
        simulation.step(100)
        energy = simulation.energy()
        balance.append(energy.kinetic + energy.potential + energy.elastic)
    balance = np.array(balance)
    scale = np.ptp(balance[:100])
    # The motion is chaotic and the error is a random walk: over ten times the time it grows about sqrt(10) times,
    # seldom twice that. A drift would grow ten times.
    assert np.ptp(balance) < 2.0 * np.sqrt(10.0) * scale
    assert scale < 0.05


def test_midpoint_rule_is_time_reversible(parts):
    simulation = Simulation(double_pendulum(parts), EARTH, 1e-2, integrator="implicit_midpoint")
    start = np.array(simulation.state.q)
    simulation.step(50)
    simulation.state.v[:] *= -1.0
    simulation.step(50)
    # the iteration stops at 1e-13 of the rates; fifty steps forward and back
    assert simulation.state.q == pytest.approx(start, abs=1e-10)


def test_midpoint_rule_keeps_rigid_loops_closed(parts):
    simulation = Simulation(chain(parts), EARTH, 1e-3, integrator="implicit_midpoint")
    for _ in range(100):
        simulation.step(100)
        assert np.abs(simulation.joint_deflection["pair"][:3]).max() < 1e-6


def parallelogram(parts):
    bars = [
        parts.link(name, 1.0, (1e-3, length**2 / 12.0, length**2 / 12.0), com=(0.5 * length, 0.0, 0.0))
        for name, length in (("crank", 0.4), ("coupler", 0.6), ("rocker", 0.4))
    ]
    return parts.machine(
        GROUND_LINK,
        *bars,
        parts.joint("a", "continuous", "world", "crank"),
        parts.joint("b", "continuous", "crank", "coupler", xyz=(0.4, 0, 0)),
        parts.joint("c", "continuous", "world", "rocker", xyz=(0.6, 0, 0)),
        extension='<loop_joint name="pair" type="spherical"><parent link="coupler" xyz="0.6 0 0"/>'
        '<child link="rocker" xyz="0.4 0 0"/></loop_joint>',
    )


def test_midpoint_rule_warns_once_of_a_step_without_convergence(parts):
    """At its dead points a parallelogram has two branches: it starts in one, and reaches the next after a turn."""
    simulation = Simulation(parallelogram(parts), SPACE, 1e-2, integrator="implicit_midpoint")
    simulation.state.v[:] = [3.0, -3.0, 3.0]
    with pytest.warns(RuntimeWarning, match=r"did not settle in the step to t = 0\.010000 s: [abc] "):
        simulation.step(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulation.step(90)
    simulation.clear_diagnostics()
    with pytest.warns(RuntimeWarning, match=r"did not settle in the step to t = [23]\.\d\d0000 s: [abc] ") as caught:
        simulation.step(300)
    assert len(caught) == 1
    # much of the rates
    assert simulation.diagnostics.residual_max > 1e-3


def test_midpoint_rule_gives_no_warning_when_it_converges(parts):
    """Nor for machines at rest, where only rounding moves."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Simulation(chain(parts), EARTH, integrator="implicit_midpoint").step(500)
        Simulation(chain(parts, ' stiffness="1e8"'), SPACE, integrator="implicit_midpoint").step(10)


def test_batch_warns_of_steps_without_convergence(parts):
    batch = Simulation(parallelogram(parts), SPACE, 1e-2, integrator="implicit_midpoint").batch(2)
    batch[1].state.v[:] = [3.0, -3.0, 3.0]
    with pytest.warns(RuntimeWarning, match="did not settle") as caught:
        batch.step(110)
    assert len(caught) == 1


def test_midpoint_rule_has_no_numerical_damping(parts):
    machine = chain(parts, ' stiffness="1e7"')
    (damped,) = {one.part: one for one in Simulation(machine, EARTH).vibration.numerical_damping()}.values()
    (free,) = Simulation(machine, EARTH, integrator="implicit_midpoint").vibration.numerical_damping()
    assert damped.damping_ratio > 0.01
    assert (free.part, free.frequency, free.damping_ratio) == ("pair", damped.frequency, 0.0)
    assert Simulation(machine, EARTH, integrator="implicit_midpoint").warnings == ()


def test_reaction_of_a_loop_under_the_midpoint_rule(parts):
    """Mean reactions of both integrators agree to first order in the step."""
    reactions = []
    for integrator in ("semi_implicit", "implicit_midpoint"):
        simulation = Simulation(chain(parts), EARTH, 1e-4, integrator=integrator)
        simulation.step(3000)
        reactions.append(simulation.joint_reaction["pair"][:3])
    # w = 10 rad/s: w h = 1e-3 in 0.3 s, with an error of the angle of a few times that
    assert reactions[0] == pytest.approx(reactions[1], abs=1e-2 * np.linalg.norm(reactions[1]))


@pytest.mark.parametrize(
    ("extension", "words"),
    [
        ('<joint_friction joint="elbow" static="1"/>', "dry friction"),
        ('<servo_drive joint="elbow" mode="velocity" damping="1" effort_limit="1"/>', "drive that is not commanded"),
    ],
)
def test_midpoint_rule_rejects_machines_that_are_not_smooth(parts, extension, words):
    with pytest.raises(MachineError, match=f"implicit_midpoint.*{words}.*semi_implicit"):
        Simulation(double_pendulum(parts, extension), EARTH, integrator="implicit_midpoint")


def test_midpoint_rule_rejects_limits_and_contacts(parts):
    limited = parts.machine(GROUND_LINK, parts.link("bar", 1.0), parts.joint("hinge", "revolute", "world", "bar"))
    with pytest.raises(MachineError, match="limits of a joint"):
        Simulation(limited, EARTH, integrator="implicit_midpoint")
    ball = parts.machine(parts.link("ball", 1.0, shape='<sphere radius="0.1"/>'))
    with pytest.raises(MachineError, match="contacts with the ground"):
        Simulation(ball, World(), integrator="implicit_midpoint")


def test_machine_description_selects_the_midpoint_rule(parts):
    machine = double_pendulum(parts, '<integrator method="implicit_midpoint"/>')
    assert Simulation(machine, EARTH).integrator == "implicit_midpoint"
    assert Simulation(machine, EARTH, integrator="semi_implicit").integrator == "semi_implicit"
    with pytest.raises(ParameterError, match="midpont.*implicit_midpoint"):
        Simulation(machine, EARTH, integrator="midpont")


@pytest.mark.parametrize("name", ["loop", "spring"])
def test_midpoint_rule_restart_is_bit_exact(parts, name):
    machine = machines(parts, name)
    simulation = Simulation(machine, EARTH, integrator="implicit_midpoint")
    simulation.step(150)
    saved = simulation.snapshot()
    simulation.step(150)
    other = Simulation(machine, EARTH, integrator="implicit_midpoint")
    other.restore(saved)
    other.step(150)
    assert np.array_equal(other.state.q, simulation.state.q)
    assert np.array_equal(other.state.v, simulation.state.v)
    assert np.array_equal(other.joint_reaction["pair"], simulation.joint_reaction["pair"])
