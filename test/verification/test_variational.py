"""The variational integrator: against independent Lie-group integrators, converged references and invariants."""

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from momentum import momentum_of
from scipy.integrate import solve_ivp
from scipy.optimize import root

import grouser
from grouser import MachineError, Simulation, World
from grouser.physics.base.errors import ConvergenceError
from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import matrix, skew
from grouser.physics.description.data.mechanism import JointLimit
from grouser.physics.model.multibody import FREE, PLANAR, SPHERICAL
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix
from grouser.physics.multibody.newton_euler import inverse_dynamics

EARTH = World(ground=None)
SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
GROUND_LINK = '<link name="world"/>'
ALL_JOINTS = Path(__file__).parents[1] / "data" / "machines" / "all_joints.urdf"
# The 3D pendulum of the published comparisons: inertia about the pivot, z downwards.
MASS, ARM, INERTIA, GRAVITY = 1.0, np.array([0.0, 0.0, 0.3]), np.array([0.13, 0.28, 0.17]), 9.81
RATE = 4.14
DOWN = World(gravity=(0.0, 0.0, GRAVITY), ground=None)


def pendulum(parts, element="", inertia=INERTIA, arm=ARM):
    """A body on a ball joint in the world; `inertia` is about that joint, about principal axes if the arm is one."""
    about_centre = inertia - MASS * (arm @ arm - arm**2)
    return parts.machine(
        GROUND_LINK,
        parts.link("bob", MASS, about_centre, com=arm),
        parts.joint("bearing", "floating", "world", "bob"),
        extension=f'<spherical_joint joint="bearing" {element}/>',
    )


def variational(machine, world, step, v=None):
    simulation = Simulation(machine, world, step, integrator="variational")
    if v is not None:
        simulation.state.v[:] = v
    return simulation


# --- against Lie-group integrators ------------------------------------------------------------------------------------


def rodrigues(f):
    angle = np.linalg.norm(f)
    a, b = np.sinc(angle / np.pi), 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    return np.eye(3) + a * skew(f) + b * skew(f) @ skew(f)


def rotation_of(momentum, inertia, step):
    """F in SO(3) of h momentum^ = F J_d - J_d F^T (Lee, Leok and McClamroch, 2005), by scipy."""
    moments = 0.5 * np.trace(inertia) * np.eye(3) - inertia

    def missing(f):
        way = rodrigues(f) @ moments
        found = way - way.T
        return step * momentum - np.array([found[2, 1], found[0, 2], found[1, 0]])

    found = root(missing, step * np.linalg.solve(inertia, momentum), tol=1e-15)
    assert np.abs(found.fun).max() < 1e-15
    return rodrigues(found.x)


class LieGroupPendulum:
    """The integrator of Lee, Leok and McClamroch for a body on a pivot, with a torque in body axes."""

    def __init__(self, inertia, arm, gravity, rate, torque):
        self.inertia, self.arm, self.gravity, self.torque = inertia, arm, gravity, torque
        self.rotation, self.momentum = np.eye(3), inertia @ rate

    def moment(self):
        return np.cross(self.arm, MASS * self.rotation.T @ self.gravity) + self.torque

    def step(self, h):
        half = self.momentum + 0.5 * h * self.moment()
        turn = rotation_of(half, self.inertia, h)
        self.rotation = self.rotation @ turn
        self.momentum = turn.T @ half + 0.5 * h * self.moment()

    @property
    def rate(self):
        return np.linalg.solve(self.inertia, self.momentum)


@pytest.mark.parametrize("torque", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.5)])
def test_variational_ball_joint_agrees_with_the_lie_group_integrator(parts, torque):
    """A hundred steps of an asymmetric body, to rounding: the motion amplifies errors by e^0.9 in a second."""
    arm, about_pivot = np.array([0.1, -0.2, 0.3]), np.array([0.33, 0.28, 0.27])
    simulation = variational(pendulum(parts, 'effort_limit="1"', about_pivot, arm), EARTH, 0.01, (4.0, -3.0, 5.0))
    simulation.command.update({f"bearing/{axis}": value for axis, value in zip("xyz", torque, strict=True)})
    centre = about_pivot - MASS * (arm @ arm - arm**2)
    inertia = np.diag(centre) + MASS * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    alone = LieGroupPendulum(inertia, arm, np.array([0.0, 0.0, -GRAVITY]), np.array([4.0, -3.0, 5.0]), torque)
    for _ in range(100):
        simulation.step()
        alone.step(0.01)
        assert matrix(simulation.spherical_joint["bearing"].orientation) == pytest.approx(alone.rotation, abs=1e-12)
        assert simulation.spherical_joint["bearing"].angular_velocity == pytest.approx(alone.rate, abs=1e-11)


def test_variational_first_steps_of_the_published_pendulum(parts):
    """Angular velocities of an independent Lie-group integrator, to their fifteen digits."""
    simulation = variational(pendulum(parts), DOWN, 0.01, (RATE, RATE, RATE))
    for expected in (
        (4.27806355408695, 4.16233745321447, 3.98550388639643),
        (4.40123039186753, 4.18027022650837, 3.82543971583225),
        (4.50857399809738, 4.19380430446913, 3.66050511379577),
    ):
        simulation.step()
        assert simulation.state.v == pytest.approx(expected, abs=2e-14)


def test_variational_free_body_agrees_with_the_lie_group_integrator(parts):
    """Centre of mass against a parabola by Verlet's steps; rotation against a free top; frame off the centre."""
    com, inertia = np.array([0.2, -0.1, 0.3]), np.diag([0.1, 0.2, 0.25])
    machine = parts.machine(parts.link("body", 2.0, np.diag(inertia), com=com))
    h, turning, moving = 0.01, np.array([3.0, -4.0, 5.0]), np.array([1.0, 2.0, 3.0])
    simulation = variational(machine, EARTH, h, [*moving, *turning])
    rotation, momentum = np.eye(3), inertia @ turning
    speed, start = moving + np.cross(turning, com), np.array(com)
    for k in range(1, 101):
        simulation.step()
        turn = rotation_of(momentum, inertia, h)
        rotation, momentum = rotation @ turn, turn.T @ momentum
        position, quaternion = simulation.base_pose()
        assert matrix(quaternion) == pytest.approx(rotation, abs=1e-12)
        fallen = start + k * h * speed - np.array([0.0, 0.0, 0.5 * GRAVITY * (k * h) ** 2])
        assert position + matrix(quaternion) @ com == pytest.approx(fallen, abs=1e-12)


# --- against converged references -----------------------------------------------------------------------------------


def chain(parts):
    """Three bodies on ball joints in series."""
    return parts.machine(
        GROUND_LINK,
        *(parts.link(name, 1.0, (0.05, 0.04, 0.03), com=(0.05, -0.02, -0.2)) for name in "abc"),
        parts.joint("j1", "floating", "world", "a"),
        parts.joint("j2", "floating", "a", "b", xyz=(0.1, 0.0, -0.4)),
        parts.joint("j3", "floating", "b", "c", xyz=(0.1, 0.0, -0.4)),
        extension="".join(f'<spherical_joint joint="j{k}"/>' for k in (1, 2, 3)),
    )


def arm(parts):
    """Six joints, one of them prismatic, with dampers and efforts; two springs, one of them stiffening."""
    axes = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0.6, 0.8), (0, 0, 1)]
    bodies, joints, above = [], [], "world"
    for k, axis in enumerate(axes):
        bodies.append(parts.link(f"l{k}", 2.0 - 0.2 * k, (0.02, 0.03, 0.025), com=(0.02, 0.01, -0.15)))
        inside = f'<dynamics damping="{0.05 * (k + 1)}"/>'
        joint = parts.joint(f"j{k}", "continuous", above, f"l{k}", axis=axis, xyz=(0.01, 0.02, -0.3), inside=inside)
        # a prismatic joint without limits
        joints.append(joint.replace("continuous", "prismatic") if k == 2 else joint)
        above = f"l{k}"
    return parts.machine(
        GROUND_LINK,
        *bodies,
        *joints,
        extension='<servo_drive joint="j1" mode="effort" effort_limit="9"/>'
        '<servo_drive joint="j4" mode="effort" effort_limit="9"/>'
        '<compliant_joint joint="j2" axial_stiffness="300" axial_damping="2"/>'
        '<compliant_joint joint="j3" axial_stiffness="5" cubic_stiffness="20" rest_position="0.3" '
        'rotational_stiffness="200 0 0" rotational_damping="0.2 0 0"/>',
    )


def double_pendulum(parts):
    return parts.machine(
        GROUND_LINK,
        *(parts.link(name, 1.0, (0.01, 0.03, 0.03), com=(0.25, 0.0, 0.0)) for name in ("upper", "lower")),
        parts.joint("shoulder", "continuous", "world", "upper", axis=(0, 1, 0)),
        parts.joint("elbow", "continuous", "upper", "lower", axis=(0, 1, 0), xyz=(0.5, 0, 0)),
    )


def every_joint(base):
    """The test machine with every kind of joint, without joint limits."""
    machine = grouser.load_machine(ALL_JOINTS, base=base)
    return replace(machine, joints=tuple(replace(joint, limit=JointLimit()) for joint in machine.joints))


MACHINES = {
    "chain": chain,
    "arm": arm,
    "double_pendulum": double_pendulum,
    "every_joint": lambda _: every_joint("floating"),
}
EFFORTS = {"j1": 2.0, "j4": -0.5}


class Reference:
    """q' and v' of a machine from its mass matrix and inverse dynamics, both verified against Pinocchio."""

    def __init__(self, simulation):
        self.system, self.effort = simulation.arrays.system, np.zeros(len(simulation.state.v))
        for joint, effort in simulation.command.items():
            self.effort[simulation.arrays.names.joints[joint].v] = effort
        model = self.system.multibody
        self.model, self.kinematics = Packed(model), Packed(make_kinematics(model))
        self.positions, bodies, rates = len(model.q_initial), len(model.body_parent), len(model.rate_damping)
        self.buffers, self.mass = np.zeros((2, bodies, 6)), Packed(make_mass_matrix(model))
        self.composite, self.still, self.force = np.zeros((bodies, 10)), np.zeros(rates), np.zeros(rates)

    def __call__(self, _, y):
        q, v = np.ascontiguousarray(y[: self.positions]), np.ascontiguousarray(y[self.positions :])
        update_kinematics(self.model, q, v, self.kinematics)
        mass_matrix(self.model, self.kinematics, self.composite, self.mass)
        inverse_dynamics(self.model, self.kinematics, self.still, *self.buffers, self.force)
        mass = full_matrix(self.system.multibody, self.mass)
        return np.concatenate([self.rates(q, v), np.linalg.solve(mass, self.push(q, v) - self.force)])

    def push(self, q, v):
        model, axial = self.system.multibody, self.system.springs
        push = self.effort - model.rate_damping * v
        np.subtract.at(push, model.spring_rate, model.spring_stiffness * q[model.spring_position])
        bent = q[axial.position_index] - axial.rest_position
        spring = axial.stiffness * bent + axial.cubic_stiffness * bent**3 + axial.damping * v[axial.rate_index]
        np.subtract.at(push, axial.rate_index, spring)
        return push

    def rates(self, q, v):
        model, rates = self.system.multibody, np.zeros(self.positions)
        for body, kind in enumerate(model.body_kind):
            if model.body_mimics[body]:
                continue
            at, first = model.body_q[body], model.column_rate[model.column_start[body]]
            if kind == PLANAR:
                turn = q[at + 2]
                cosine, sine = math.cos(turn), math.sin(turn)
                x, y = v[first : first + 2]
                rates[at : at + 3] = cosine * x - sine * y, sine * x + cosine * y, v[first + 2]
            elif kind in (FREE, SPHERICAL):
                if kind == FREE:
                    rates[at : at + 3] = matrix(q[at + 3 : at + 7]) @ v[first : first + 3]
                    at, first = at + 3, first + 3
                (x, y, z, w), turning = q[at : at + 4], v[first : first + 3]
                rates[at : at + 3] = 0.5 * (w * turning + np.cross((x, y, z), turning))
                rates[at + 3] = -0.5 * turning @ (x, y, z)
            else:
                rates[at] = v[first]
        return rates


def started(parts, name, step):
    machine = MACHINES[name](parts)
    simulation = Simulation(machine, EARTH, step, integrator="variational")
    simulation.state.v[:] = np.random.default_rng(3).uniform(-2.0, 2.0, len(simulation.state.v))
    if name == "arm":
        simulation.command.update(EFFORTS)
    return simulation


@pytest.mark.parametrize("name", MACHINES)
def test_variational_integrator_is_of_second_order(parts, name):
    """Trees of all joints, dampers, springs and efforts: half the step gives a quarter of the error."""
    simulation, duration = started(parts, name, 2e-3), 0.3
    start = np.concatenate([simulation.state.q, simulation.state.v])
    exact = solve_ivp(Reference(simulation), (0.0, duration), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for step in (2e-3, 1e-3):
        simulation = started(parts, name, step)
        simulation.step(round(duration / step))
        errors.append(np.linalg.norm(np.concatenate([simulation.state.q, simulation.state.v]) - exact))
    # a time-symmetric scheme has even powers only: the next is (w h)^2 of the first, w up to 40 rad/s of the spring
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=(40.0 * 2e-3) ** 2)
    assert errors[0] > 1e-7


def slide(parts, inside="", extension=""):
    """A mass on a prismatic joint without limits: its momentum is mass times mean rate."""
    rail = parts.joint("rail", "continuous", "world", "mass", inside=inside).replace("continuous", "prismatic")
    return parts.machine(GROUND_LINK, parts.link("mass", 0.2), rail, extension=extension)


def test_variational_damper_decays_by_the_cayley_map(parts):
    """A step multiplies the speed by (1 - h d/2m)/(1 + h d/2m), the exponential to second order."""
    machine = slide(parts, '<dynamics damping="0.3"/>')
    for step, count in ((1e-2, 100), (0.1, 10)):
        simulation = variational(machine, SPACE, step, 2.0)
        simulation.step(count)
        half = 0.5 * step * 0.3 / 0.2
        assert simulation.state.v[0] == pytest.approx(2.0 * ((1.0 - half) / (1.0 + half)) ** count, rel=1e-13)
        # the logarithm's series: (h d/2m)^2 / 3 of the exponent d t/m, and the next power
        exponent = 0.3 / 0.2 * step * count
        assert math.log(2.0 / simulation.state.v[0]) / exponent - 1.0 == pytest.approx(half**2 / 3.0, rel=half**2)


def test_variational_springs_are_stable_at_any_stiffness(parts):
    """h w = 141; springs at the ends of the step would be unstable beyond 2."""
    machine = slide(parts, extension='<compliant_joint joint="rail" axial_stiffness="4e9"/>')
    simulation = variational(machine, SPACE, 1e-3, 2.0)
    energy = simulation.energy().kinetic
    for _ in range(100):
        simulation.step(10)
        now = simulation.energy()
        # the energy of a linear oscillator is kept to rounding, of a speed (h w)^2/4 = 5000 times a resolved one
        assert now.kinetic + now.elastic == pytest.approx(energy, rel=1000 * 5000 * 2.2e-16)


def test_variational_work_and_energy_agree(parts):
    """Efforts and dampers by name; the residual is the integrator's own error, of second order."""
    residuals = []
    for step in (2e-3, 1e-3):
        simulation = started(parts, "arm", step)
        simulation.step(round(0.4 / step))
        balance = simulation.energy_balance()
        residuals.append(balance.residual)
    assert set(balance.actuator_work) == set(EFFORTS)
    assert set(balance.dissipation) >= {f"damping of j{k}" for k in range(6)}
    assert all(loss > 0.0 for name, loss in balance.dissipation.items() if name.startswith("damping"))
    assert residuals[0] / residuals[1] == pytest.approx(4.0, rel=0.05)
    moved = sum(map(abs, (balance.kinetic, balance.potential, balance.elastic)))
    assert abs(residuals[1]) < 1e-3 * moved


# --- invariants -----------------------------------------------------------------------------------------------------


def vertical_momentum(simulation):
    momentum = INERTIA * simulation.state.v
    return (matrix(simulation.state.q) @ momentum)[2]


def total_energy(simulation):
    energy = simulation.energy()
    return energy.kinetic + energy.potential


def test_variational_momentum_and_energy_over_a_million_steps(parts):
    """2.8 hours of the pendulum at 10 ms."""
    simulation = variational(pendulum(parts), DOWN, 0.01, (RATE, RATE, RATE))
    energy, momentum, samples, every = total_energy(simulation), vertical_momentum(simulation), 10_000, 100
    errors = np.zeros(samples)
    for k in range(samples):
        simulation.step(every)
        errors[k] = total_energy(simulation) - energy
    # a step rounds the momentum by at most the last digit of its components: its length, 1.3 at most
    assert abs(vertical_momentum(simulation) - momentum) < 1e6 * 2.2e-16 * 1.3
    # the error depends on the position: that of 100 s, 2.9e-3 J, bounds all but rare positions
    assert np.abs(errors).max() < 1.5 * 2.94e-3
    halves = [np.abs(part).max() for part in np.split(errors, 2)]
    assert halves[1] < 1.2 * halves[0]
    # no drift: the slope through the means of 100 blocks, 100 s each and so independent, against their scatter
    means, times = errors.reshape(100, -1).mean(axis=1), np.linspace(-1.0, 1.0, 100)
    slope = times @ means / (times @ times)
    scatter = np.std(means - slope * times) / np.sqrt(times @ times)
    assert abs(slope) < 4.0 * scatter


def test_other_integrators_gain_or_lose_energy(parts):
    """The energy of the semi-implicit scheme in the same twenty seconds."""
    worst = {}
    for integrator in ("variational", "semi_implicit"):
        simulation = Simulation(pendulum(parts), DOWN, 0.01, integrator=integrator)
        simulation.state.v[:] = RATE
        energy, errors = total_energy(simulation), []
        for _ in range(200):
            simulation.step(10)
            errors.append(abs(total_energy(simulation) - energy))
        worst[integrator] = max(errors)
    assert worst["semi_implicit"] > 10.0 * worst["variational"]


def test_variational_free_machine_keeps_its_momenta(parts):
    """Linear and angular momentum of a floating tree of every kind of joint, in space."""
    simulation = variational(every_joint("floating"), SPACE, 2e-3)
    simulation.state.v[:] = np.random.default_rng(4).uniform(-2.0, 2.0, len(simulation.state.v))
    momenta = []
    for _ in range(2):
        momenta.append(momentum_of(simulation))
        simulation.step(500)
    # one last digit a step
    assert momenta[1] == pytest.approx(momenta[0], abs=500 * 2.2e-16 * np.abs(momenta[0]).max())


def test_variational_integrator_is_time_reversible(parts):
    simulation = variational(chain(parts), EARTH, 1e-2, np.linspace(-2.0, 2.0, 9))
    start = np.array(simulation.state.q)
    simulation.step(50)
    simulation.state.v[:] *= -1.0
    simulation.step(50)
    # 1e-15 a step, amplified over half a second forward and back by less than e^5 for rates of 10 1/s
    assert simulation.state.q == pytest.approx(start, abs=100 * 1e-15 * math.exp(5.0))


# --- with the other parts of the simulation ---------------------------------------------------------------------------


def test_variational_restart_is_bit_exact(parts):
    simulation = started(parts, "arm", 2e-3)
    simulation.step(150)
    saved = simulation.snapshot()
    simulation.step(150)
    other = Simulation(arm(parts), EARTH, 2e-3, integrator="variational")
    other.restore(saved)
    other.step(150)
    assert np.array_equal(other.state.q, simulation.state.q)
    assert np.array_equal(other.state.v, simulation.state.v)
    batch = Simulation(arm(parts), EARTH, 2e-3, integrator="variational").batch(2)
    batch[1].restore(saved)
    batch.step(150)
    assert np.array_equal(batch[1].state.v, simulation.state.v)


def test_variational_integrator_refuses_a_step_without_solution(parts):
    """At 200 rad/s and 10 ms no rotation within a step gives the body its momentum."""
    simulation = variational(pendulum(parts), DOWN, 0.01, (200.0, -150.0, 100.0))
    before = simulation.state.v.copy()
    with pytest.raises(
        ConvergenceError, match=r"at t = 0\.0+ s of 0\.01 s did not converge: .* bearing: take a smaller"
    ):
        simulation.step(2)
    assert np.array_equal(simulation.state.v, before)


def test_variational_integrator_gives_no_warning_when_it_converges(parts):
    """Nor for machines at rest, where only rounding moves."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moving = started(parts, "arm", 1e-3)
        moving.step(500)
        assert moving.diagnostics.iterations_max < 10
        resting = variational(pendulum(parts), EARTH, 0.01)
        resting.state.q[:] = 1.0, 0.0, 0.0, 0.0
        resting.step(100)
        assert resting.diagnostics.iterations_max < 10


def test_variational_integrator_with_an_imu(parts):
    machine = parts.machine(
        GROUND_LINK,
        parts.link("bob", 1.0, (0.1, 0.1, 0.1), com=(0.0, 0.0, -0.5)),
        parts.joint("bearing", "floating", "world", "bob"),
        extension='<spherical_joint joint="bearing" rpy="0.3 0 0"/>'
        '<sensor name="unit" type="imu" link="bob" xyz="0 0 -0.5"/>',
    )
    simulation = variational(machine, EARTH, 1e-3)
    simulation.step(500)
    reading = simulation.sensors.imu["unit"]
    assert reading.angular_velocity == pytest.approx(simulation.state.v, abs=1e-15)
    # along the rod: its weight and the centripetal force, in the middle of the step
    angle = 2.0 * math.atan2(simulation.state.q[0], simulation.state.q[3])
    along = GRAVITY * math.cos(angle) + 0.5 * simulation.state.v[0] ** 2
    # w h = 4e-3, over half a step
    assert reading.specific_force[2] == pytest.approx(along, rel=4e-3)


@pytest.mark.parametrize(
    ("extension", "words", "other"),
    [
        ('<joint_friction joint="elbow" static="1"/>', "dry friction", "semi_implicit"),
        (
            '<servo_drive joint="elbow" mode="velocity" damping="1" effort_limit="1"/>',
            "drive that is not commanded",
            "semi_implicit",
        ),
        (
            '<loop_joint name="tie" type="spherical" stiffness="9"><parent link="world" xyz="1 0 0"/>'
            '<child link="lower" xyz="0.5 0 0"/></loop_joint>',
            "loop joints",
            "implicit_midpoint",
        ),
        ('<compliant_joint joint="elbow" axial_stiffness="9" backlash="0.1"/>', "backlash", "implicit_midpoint"),
        (
            '<compliant_joint joint="elbow" hysteresis="1" hysteresis_stiffness="9"/>',
            "hysteresis",
            "implicit_midpoint",
        ),
    ],
)
def test_variational_integrator_rejects_machines_it_cannot_simulate(parts, extension, words, other):
    machine = parts.machine(
        GROUND_LINK,
        *(parts.link(name, 1.0, (0.01, 0.03, 0.03), com=(0.25, 0.0, 0.0)) for name in ("upper", "lower")),
        parts.joint("shoulder", "continuous", "world", "upper", axis=(0, 1, 0)),
        parts.joint("elbow", "continuous", "upper", "lower", axis=(0, 1, 0), xyz=(0.5, 0, 0)),
        extension=extension,
    )
    with pytest.raises(MachineError, match=f"variational.*{words}.*{other}"):
        Simulation(machine, EARTH, integrator="variational")


def test_machine_description_selects_the_variational_integrator(parts):
    machine = pendulum(parts, '/><integrator method="variational"')
    assert Simulation(machine, EARTH).integrator == "variational"
    ball = parts.machine(parts.link("ball", 1.0, shape='<sphere radius="0.1"/>'))
    with pytest.raises(MachineError, match="variational.*contacts with the ground"):
        Simulation(ball, World(), integrator="variational")
