"""The spring four-bar linkage against its references.

The references are an index-1 constraint solution, confirmed by an independent closed-loop ordinary differential
equation to 5.5e-12 m, and spring joints integrated to a relative tolerance of 1e-9. The published case's description
gives the tolerances.
"""

import math

import matplotlib.figure
import numpy as np
import pytest
from shipped import reference_curve, reference_values

import grouser
from grouser import ParameterError, experiments
from grouser.experiments import spring_four_bar
from grouser.experiments.drawing import ReferenceTable
from grouser.physics.description.data.world import World
from grouser.resources import share_path

LARGEST_REACTION = 2.448177  # [N]
DEFAULTS = {name: parameter.default for name, parameter in spring_four_bar.PARAMETERS.items()}
# Mass for the design of a damper of sqrt(stiffness mass) [kg].
DAMPED_MASS = 0.05


@pytest.fixture(scope="module")
def reference():
    """Times, points C, reactions, crank angles and speeds of the rigid variant with the constraint."""
    return reference_curve("four_bar_rigid_constraint.csv")


@pytest.fixture(scope="module")
def springs(request):
    """Errors of undamped spring joints by stiffness."""
    path = request.path.parent.parent / "data" / "reference" / "four_bar_rigid_spring_convergence.csv"
    table = np.genfromtxt(path, delimiter=",", names=True, deletechars="")
    return {float(row["cT"]): row for row in table}


@pytest.fixture(scope="module")
def constraint():
    """The rigid variant with the constraint, in steps of 0.1 ms."""
    return experiments.run("spring_four_bar")


def at_reference(result, name, reference):
    """A result at the times of the reference; each is the end of a step."""
    step = result["time"][1]
    index = np.round(reference["t"] / step).astype(int)
    assert np.abs(index * step - reference["t"]).max() < 1e-9
    return result[name][index]


def vectors(reference, *names):
    return np.column_stack([reference[name] for name in names])


def points(reference):
    return vectors(reference, "Cx", "Cy", "Cz")


def reactions(reference):
    return vectors(reference, "Fx_on_rocker", "Fy_on_rocker", "Fz_on_rocker")


def lengths(differences):
    return np.linalg.norm(differences, axis=1)


def test_four_bar_constraint_against_the_reference(constraint, reference):
    assert lengths(at_reference(constraint, "point_c", reference) - points(reference)).max() < 1e-4
    angles = at_reference(constraint, "crank_angle", reference)
    assert np.abs(angles - reference["theta1_minus_theta10"]).max() < 1e-3
    errors = lengths(at_reference(constraint, "reaction", reference) - reactions(reference))
    assert errors.max() < 0.02 * LARGEST_REACTION
    assert constraint["max_reaction"] == pytest.approx(LARGEST_REACTION, rel=0.02)
    assert constraint["natural_frequencies"] is None


def test_four_bar_constraint_is_of_second_order(reference):
    """Half the step gives a quarter of the error of the crank's final angle; both steps divide 0.1 s."""
    last = reference["theta1_minus_theta10"][-1]
    coarse, fine = (experiments.run("spring_four_bar", step=step)["crank_angle"][-1] - last for step in (2e-3, 1e-3))
    assert math.log2(abs(coarse / fine)) == pytest.approx(2.0, abs=0.2)


def test_four_bar_loop_stays_closed(constraint):
    """The accuracy required of a four-bar loop at 1 ms, at either step."""
    assert constraint["max_gap"] < 1e-6
    assert experiments.run("spring_four_bar", step=1e-3)["max_gap"] < 1e-6


@pytest.mark.parametrize("integrator", ["implicit_midpoint", "semi_implicit"])
def test_four_bar_constraint_in_steps_of_a_millisecond(integrator, reference):
    result = experiments.run("spring_four_bar", step=1e-3, integrator=integrator)
    assert lengths(at_reference(result, "point_c", reference) - points(reference)).max() < 1e-3


@pytest.mark.parametrize("stiffness", [1e4, 1e5, 1e6, 1e7, 1e8])
def test_spring_joint_error_is_inverse_to_its_stiffness(stiffness, reference, springs):
    result = experiments.run("spring_four_bar", joint="spring", stiffness=stiffness)
    errors = lengths(at_reference(result, "point_c", reference) - points(reference))
    table = springs[stiffness]
    assert errors[reference["t"] < 0.1].max() < 2.0 * table["max_dC_t<0.1"]
    assert errors.max() < 2.0 * table["max_dC_t<1"]


@pytest.mark.parametrize("stiffness", [1e5, 1e6, 1e7, 1e8])
def test_damped_spring_joint_has_the_reference_reaction(stiffness, reference):
    damping = math.sqrt(stiffness * DAMPED_MASS)
    result = experiments.run("spring_four_bar", joint="spring", stiffness=stiffness, joint_damping=damping)
    errors = lengths(at_reference(result, "reaction", reference) - reactions(reference))
    after = reference["t"] > 0.1
    assert math.sqrt(np.mean(errors[after] ** 2)) < 0.01 * LARGEST_REACTION
    assert errors[~after].max() < 0.01 * LARGEST_REACTION


def test_natural_frequencies_of_the_flexible_four_bar():
    result = experiments.run("spring_four_bar", variant="flexible", duration=1e-3)
    expected = list(reference_values("spring_four_bar", "flexible").values())
    assert result["natural_frequencies"][:5] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("arguments", [{"variant": "flexible"}, {"variant": "flexible", "joint": "spring"}, {}])
def test_four_bar_energy_balance_with_damped_rods(arguments):
    """The rods' damping takes little in a tenth of a second; after the drop it continues, and nothing adds energy."""
    machine = grouser.load_machine(share_path("urdf", "four_bar.urdf.xacro"), arguments)
    simulation = grouser.Simulation(machine, World(gravity=(0.0, 0.0, 0.0), ground=None), step=1e-4)
    work = 0.0
    for k in range(1000):
        angle = simulation.joint_position["crank"]
        torque = simulation.command["crank"] = 15.0 * (k + 0.5) * 1e-4
        simulation.step()
        work += torque * (simulation.joint_position["crank"] - angle)
    energies = [total(simulation.energy())]
    # the midpoint rule's own error is of second order, 1e-7 in the crank's angle at this step
    assert energies[0] == pytest.approx(work, rel=1e-6)
    simulation.command["crank"] = 0.0
    for _ in range(100):
        simulation.step(10)
        energies.append(total(simulation.energy()))
    if arguments:
        assert (np.diff(energies) < 0.0).all()
    else:
        assert energies == pytest.approx([work] * len(energies), rel=1e-6)


def total(energy):
    return energy.kinetic + energy.potential + energy.elastic


def test_hinge_carries_moments_and_stiffens_the_flexible_four_bar():
    """Its springs are nearly rigid: 1e8 N/m and 1e5 N m/rad on rods of 42 N m2 and a third of a metre."""
    ball, rigid, spring = (
        experiments.run("spring_four_bar", variant="flexible", duration=0.05, cut_joint=cut_joint, joint=joint)
        for cut_joint, joint in (("spherical", "constraint"), ("revolute", "constraint"), ("revolute", "spring"))
    )
    # a constraint can only raise frequencies (Rayleigh), a stiff spring a little less
    assert (rigid["natural_frequencies"][:5] > ball["natural_frequencies"][:5]).all()
    assert (rigid["natural_frequencies"][:5] > spring["natural_frequencies"][:5]).all()
    assert spring["natural_frequencies"][:5] == pytest.approx(rigid["natural_frequencies"][:5], rel=1e-3)
    # a ball joint transmits no moment
    assert np.abs(ball["reaction_moment"]).max() < 1e-9
    assert np.abs(rigid["reaction_moment"]).max() > 1e-3
    scale = np.abs(rigid["reaction_moment"]).max()
    assert spring["reaction_moment"] == pytest.approx(rigid["reaction_moment"], abs=0.02 * scale)


def test_stiffness_sweep_converges_except_the_undamped_reaction():
    """Distances are inverse to the stiffness; the undamped reaction oscillates at any stiffness, as does the load."""
    sweep = [1e4, 1e5, 1e6]
    result = experiments.run("spring_four_bar", sweep=sweep, duration=0.3)
    assert result["sweep_stiffness"].tolist() == sweep
    for name in ("sweep_max_point_error", "sweep_max_gap"):
        slopes = np.diff(np.log10(result[name]))
        assert slopes == pytest.approx(-1.0, abs=0.1)
    assert (result["sweep_reaction_error"] > 0.3).all()
    damped = experiments.run(
        "spring_four_bar", sweep=sweep, duration=0.3, stiffness=1e8, joint_damping=math.sqrt(1e8 * DAMPED_MASS)
    )
    assert (np.diff(damped["sweep_reaction_error"]) < 0.0).all()
    assert damped["sweep_reaction_error"][-1] < 0.01 * LARGEST_REACTION


@pytest.mark.parametrize("torque_time", [0.0105, 0.02, 0.0213])
def test_torque_impulse_is_that_of_the_ramp(torque_time):
    """Also when the drop is within a step; the time is so short that the linkage, initially at rest, hardly moves."""
    torque = 1e-3
    result = experiments.run("spring_four_bar", torque=torque, torque_time=torque_time, duration=0.05, step=1e-3)
    speed = result["crank_speed"]
    # the reduced inertia from the reference: 1.5 N m / 0.1 s ramp, speed t2 / (2 J) 15 N m/s
    inertia = 15.0 * 0.002**2 / (2.0 * 0.00499668206076)
    assert speed[-1] == pytest.approx(0.5 * torque * torque_time / inertia, rel=1e-3)


def test_four_bar_plot_has_the_published_axes(constraint, reference):
    columns = {name: reference[name] for name in reference.dtype.names}
    figure = matplotlib.figure.Figure()
    spring_four_bar.plot(DEFAULTS, constraint, figure, (ReferenceTable(columns),))
    assert [axes.get_ylabel() for axes in figure.axes] == [
        label for letter in "xyz" for label in (f"{letter} of C [m]", f"reaction along {letter} [N]")
    ]
    assert all(len(axes.lines) == 2 for axes in figure.axes)
    swept = experiments.run("spring_four_bar", sweep=[1e5, 1e6], duration=0.01, step=1e-3)
    figure = matplotlib.figure.Figure()
    spring_four_bar.plot({**DEFAULTS, "sweep": [1e5, 1e6]}, swept, figure, ())
    assert [axes.get_xscale() for axes in figure.axes[6:]] == ["log", "log"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("duration", 1e-4),
        ("stiffness", 0.0),
        ("elements", 1),
        ("joint", "glue"),
        ("sweep", [1e4, 0.0]),
        ("sweep", ["x"]),
    ],
)
def test_bad_four_bar_parameters_are_rejected(name, value):
    with pytest.raises(ParameterError, match=name):
        experiments.run("spring_four_bar", **{name: value})
