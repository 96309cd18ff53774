"""Turns of a vehicle with two tracks: reference numbers, closed forms, limits, marched elements, and invalid input."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import brentq

from grouser import ParameterError, cli, experiments
from grouser.studies.tracks import quadrature, shear, skid_steer

# Radius: belt force of each side, lateral moment, outer and inner belt speed over that of the hull, shift. By
# quadrature and root finding of another implementation, for 20 kN, 1.5 m, 0.25 m, 1.4 m, mu = 0.7, K = 0.05 m.
TURNS = {
    "velocity": {
        3.0: (2544.5, 3438.7, 1.28885, 0.72346, 0.0665),
        10.0: (1305.3, 1747.6, 1.08383, 0.91818, 0.0960),
        30.0: (526.7, 702.6, 1.02751, 0.97275, 0.1054),
    },
    "displacement": {
        3.0: (1925.9, 2517.6, 1.27635, 0.74409, -0.2867),
        10.0: (841.9, 1092.1, 1.08103, 0.92141, -0.2621),
        30.0: (317.3, 410.6, 1.02672, 0.97357, -0.2541),
    },
    "state": {
        3.0: (2064.6, 2765.4, 1.29343, 0.72773, -0.2022),
        10.0: (873.1, 1147.5, 1.08303, 0.91947, -0.2348),
        30.0: (321.8, 418.7, 1.02696, 0.97334, -0.2447),
    },
}
LOCKED, PIVOT_SPEED, PIVOT_FORCE, PIVOT_MOMENT = 11449.0, 0.881, 3467.0, 4736.0
# Other vehicles, of which no reference is known: long and narrow, short and wide.
OTHERS = (
    {"weight": 5e3, "contact_length": 2.4, "width": 0.15, "tread": 1.1, "friction": 0.45},
    {"weight": 8e4, "contact_length": 0.9, "width": 0.6, "tread": 1.6, "friction": 0.9},
)


def turn(**parameters):
    return experiments.run("skid_steer_moment", **parameters)


def complete(**parameters):
    given = {"weight": 20e3, "contact_length": 1.5, "width": 0.25, "tread": 1.4, "friction": 0.7}
    return given | parameters


@pytest.mark.parametrize("mode", ["radius", "pivot", "locked"])
def test_results_are_plain_numbers(mode):
    results = turn(mode=mode, radius=[5.0]).results
    assert {type(value) for values in results.values() if values is not None for value in values} == {float}


@pytest.mark.parametrize("direction", TURNS)
def test_turns_agree_with_the_reference(direction):
    """To the digits of the reference, whose own error is below 1e-4."""
    result = turn(direction=direction, radius=list(TURNS[direction]))
    force, moment, outer, inner, shift = np.array(list(TURNS[direction].values())).T
    radius = np.array(result["radius"])
    assert result["belt_force_inner"] == pytest.approx(force, rel=1e-4, abs=0.06)
    assert result["belt_force_outer"] == pytest.approx(force, rel=1e-4, abs=0.06)
    assert result["lateral_moment"] == pytest.approx(moment, rel=1e-4, abs=0.06)
    assert np.array(result["belt_speed_outer"]) / radius == pytest.approx(outer, abs=6e-6)
    assert np.array(result["belt_speed_inner"]) / radius == pytest.approx(inner, abs=6e-6)
    assert result["speed_ratio"] == pytest.approx(outer / inner, abs=2e-5)
    assert result["centre_shift"] == pytest.approx(shift, abs=6e-5)


@pytest.mark.parametrize("direction", TURNS)
def test_coulomb_turns_do_not_depend_on_radius_or_direction(direction):
    result = turn(law="coulomb", direction=direction, radius=[0.3, 2.0, 500.0])
    assert result["lateral_moment"] == pytest.approx([4736.2] * 3, abs=0.1)
    assert result["belt_force_outer"] == pytest.approx([3467.2] * 3, abs=0.1)
    assert result["centre_shift"] == [0.0] * 3
    assert result["speed_ratio"][1] == pytest.approx(1.44057 / 0.55943, rel=1e-5)


def test_pivot_turn_and_locked_tracks_agree_with_the_reference():
    pivot, locked = turn(mode="pivot", law="coulomb"), turn(mode="locked")
    assert pivot["belt_speed_outer"][0] == pytest.approx(PIVOT_SPEED, abs=5e-4)
    assert pivot["belt_force_outer"][0] == pytest.approx(PIVOT_FORCE, abs=0.5)
    assert pivot["lateral_moment"][0] == pytest.approx(PIVOT_MOMENT, abs=0.5)
    assert pivot["speed_ratio"] == pytest.approx([-1.0])
    assert locked["lateral_moment"][0] == pytest.approx(LOCKED, abs=0.5)
    assert locked["speed_ratio"] is None
    assert pivot["radius"] == locked["radius"] == [0.0]


@pytest.mark.parametrize("vehicle", OTHERS)
def test_locked_and_pivoting_tracks_agree_with_double_integrals(vehicle):
    length, width, tread = vehicle["contact_length"], vehicle["width"], vehicle["tread"]
    greatest = vehicle["friction"] * vehicle["weight"]

    def mean(function, still=0.0):
        """Over one contact, x and y from its middle; both halves of its length are alike, and y = still is singular."""
        parts = ((-0.5 * width, still), (still, 0.5 * width)) if still < 0.5 * width else ((-0.5 * width, 0.5 * width),)
        total = sum(dblquad(function, *part, 0.0, 0.5 * length, epsrel=1e-8)[0] for part in parts)
        return total / (0.5 * length * width)

    locked = turn(mode="locked", **vehicle)
    moment = greatest * mean(lambda x, y: math.hypot(x, y + 0.5 * tread))
    assert locked["lateral_moment"][0] == pytest.approx(moment, rel=1e-6)

    def forces(overspeed):
        forward = mean(lambda x, y: (overspeed - y) / math.hypot(x, overspeed - y), overspeed)
        own = mean(lambda x, y: y * (overspeed - y) / math.hypot(x, overspeed - y), overspeed)
        lateral = mean(lambda x, y: x * x / math.hypot(x, overspeed - y), overspeed)
        return forward, lateral, 0.5 * tread * forward + own - lateral

    overspeed = brentq(lambda value: forces(value)[2], 0.01 * length, 4.0 * length)
    forward, lateral, _ = forces(overspeed)
    pivot = turn(mode="pivot", law="coulomb", **vehicle)
    assert pivot["belt_speed_outer"][0] == pytest.approx(0.5 * tread + overspeed, rel=1e-5)
    assert pivot["belt_force_inner"][0] == pytest.approx(0.5 * greatest * forward, rel=1e-5)
    assert pivot["lateral_moment"][0] == pytest.approx(greatest * lateral, rel=1e-5)


def marched_forces(vehicle, direction, modulus, radius, speeds, shift, rows=24, ages=400, parts=8):
    """Forces on the hull by elements that are followed over the ground, (outer, inner) x (forward, lateral, moments).

    The hull goes round the origin of the ground at 1 rad/s; its x axis points along the world's x at the time 0. Each
    element is followed from its landing by its place, displacement and state in the axes of the ground, in steps with
    the velocity of their middle: `parts` from one age to the next, an even number.
    """
    length, width, tread = vehicle["contact_length"], vehicle["width"], vehicle["tread"]
    totals = []
    for side, speed in zip((-1.0, 1.0), speeds, strict=True):
        start = math.copysign(0.5 * length, speed)
        stay = length / abs(speed)
        step = stay / (ages * parts)
        across = 0.5 * side * tread + (np.arange(rows) + 0.5) / rows * width - 0.5 * width

        def sliding(time, across=across, speed=speed, start=start):
            hull = np.exp(1j * time)[:, None]
            place = hull * (shift + start - speed * time[:, None] + 1j * (across - radius))
            return 1j * place - hull * speed

        passed = sliding((np.arange(ages * parts) + 0.5) * step)
        decay = np.exp(-np.abs(passed) * step / modulus)
        growth = (1.0 - decay) * passed / np.abs(passed)
        state = np.zeros_like(passed)
        state[0] = growth[0]
        for k in range(1, len(state)):
            state[k] = decay[k] * state[k - 1] + growth[k]
        reached = np.arange(ages) * parts + parts // 2 - 1  # the steps that end at the ages
        times = (np.arange(ages) + 0.5) / ages * stay
        displacement, velocity = (step * passed.cumsum(axis=0))[reached], sliding(times)
        share = 1.0 - np.exp(-np.abs(displacement) / modulus)
        traction = {
            "velocity": share * velocity / np.abs(velocity),
            "displacement": share * displacement / np.abs(displacement),
            "state": state[reached],
        }[direction]
        force = -traction * np.exp(-1j * times)[:, None]
        lateral = (start - speed * times)[:, None] * force.imag
        totals.append([
            part.mean() for part in (force.real, force.imag, lateral - across * force.real, lateral)
        ])  # fmt: skip
    return 0.5 * vehicle["friction"] * vehicle["weight"] * np.array(totals)


@pytest.mark.parametrize("direction", TURNS)
@pytest.mark.parametrize(
    ("vehicle", "modulus", "radius"),
    [(complete(), 0.05, 3.0), (OTHERS[0], 0.02, 6.0), (OTHERS[1], 0.2, 1.5), (OTHERS[1], 0.1, 0.3)],
)
def test_turns_balance_elements_that_are_marched_over_the_ground(direction, vehicle, modulus, radius):
    """Midpoint sums of 24 rows and 400 ages: 2e-3 of the greatest force."""
    result = turn(direction=direction, shear_displacement_modulus=modulus, radius=radius, **vehicle)
    speeds = result["belt_speed_outer"][0], result["belt_speed_inner"][0]
    outer, inner = marched_forces(vehicle, direction, modulus, radius, speeds, result["centre_shift"][0])
    greatest = vehicle["friction"] * vehicle["weight"]
    length = vehicle["contact_length"]
    assert (outer + inner)[:2] == pytest.approx(np.zeros(2), abs=2e-3 * greatest)
    assert (outer + inner)[2] == pytest.approx(0.0, abs=2e-3 * greatest * length)
    assert result["belt_force_outer"][0] == pytest.approx(abs(outer[0]), abs=2e-3 * greatest)
    assert result["belt_force_inner"][0] == pytest.approx(abs(inner[0]), abs=2e-3 * greatest)
    moment = abs(outer[3] + inner[3])
    assert result["lateral_moment"][0] == pytest.approx(moment, abs=2e-3 * greatest * length)


@pytest.mark.parametrize("direction", ["velocity", "state"])
def test_small_modulus_gives_coulomb_friction(direction):
    """A part of about K over the sliding of an element lacks its shear: 1e-6 m of 0.1 m, at each radius."""
    given = {"direction": direction, "radius": [0.0, 0.4, 0.9, 3.0, 30.0]}
    coulomb, result = turn(law="coulomb", **given), turn(shear_displacement_modulus=1e-6, **given)
    assert result["lateral_moment"] == pytest.approx(coulomb["lateral_moment"], rel=1e-3)
    assert result["belt_force_outer"] == pytest.approx(coulomb["belt_force_outer"], rel=1e-3)
    assert result["belt_speed_outer"] == pytest.approx(coulomb["belt_speed_outer"], rel=1e-3)


@pytest.mark.parametrize("direction", ["displacement", "state"])
@pytest.mark.parametrize("vehicle", [complete(), *OTHERS])
def test_wide_turns_have_a_closed_form(direction, vehicle):
    """mu W L^3/(72 K R) with s_0 = -L/6: the shear is mu p j/K, and j grows linearly and by the square of the age."""
    modulus, radius = 0.05, 1e6
    result = turn(direction=direction, shear_displacement_modulus=modulus, radius=radius, **vehicle)
    length = vehicle["contact_length"]
    moment = vehicle["friction"] * vehicle["weight"] * length**3 / (72.0 * modulus * radius)
    # the exponential bends by j/K, here 1e-5
    assert result["lateral_moment"][0] == pytest.approx(moment, rel=1e-3)
    assert result["centre_shift"][0] == pytest.approx(-length / 6.0, rel=1e-3)


@pytest.mark.parametrize("direction", TURNS)
def test_lateral_moment_falls_to_zero_with_the_radius(direction):
    result = turn(direction=direction, radius=[2.0, 4.0, 10.0, 100.0, 1e4, 1e6, 1e9])
    moment = np.array(result["lateral_moment"])
    assert (np.diff(moment) < 0.0).all()
    assert moment[-2] / moment[-1] == pytest.approx(1e3, rel=1e-3)
    assert moment[-1] < 1e-3
    assert result["speed_ratio"][-1] == pytest.approx(1.0, abs=1e-8)


def test_lateral_moment_is_bounded_by_pure_lateral_sliding():
    """mu W L/4, which is reached where the belts need to slide along by little only: on a wide tread."""
    for vehicle in (complete(), *OTHERS):
        bound = 0.25 * vehicle["friction"] * vehicle["weight"] * vehicle["contact_length"]
        for settings in ({"law": "coulomb"}, *({"direction": direction} for direction in TURNS)):
            assert max(turn(radius=[2.0, 20.0], **vehicle, **settings)["lateral_moment"]) < bound
    wide = turn(mode="pivot", law="coulomb", tread=150.0, width=0.01)
    assert wide["lateral_moment"][0] == pytest.approx(5250.0, rel=1e-3)


@pytest.mark.parametrize("direction", ["velocity", "state"])
def test_turns_are_continuous_where_the_inner_belt_stands(direction):
    """The belt reverses between; forces of elements that stay down for several turns are interpolated."""
    radius = np.linspace(0.80, 0.92, 13)
    result = turn(direction=direction, radius=radius.tolist())
    inner = np.array(result["belt_speed_inner"])
    assert inner[0] < 0.0 < inner[-1]
    assert (np.diff(inner) > 0.0).all()
    assert np.ptp(result["lateral_moment"]) < 0.01 * result["lateral_moment"][0]


@pytest.mark.parametrize("direction", TURNS)
def test_turns_are_similar(direction):
    """All lengths twice: the same forces; forces go with friction and weight."""
    first = turn(direction=direction)
    lengths = {"contact_length": 3.0, "width": 0.5, "tread": 2.8, "shear_displacement_modulus": 0.1}
    second = turn(direction=direction, radius=[6.0, 20.0, 60.0], weight=60e3, friction=0.35, **lengths)
    assert second["belt_force_outer"] == pytest.approx(1.5 * np.array(first["belt_force_outer"]), rel=1e-6)
    assert second["lateral_moment"] == pytest.approx(3.0 * np.array(first["lateral_moment"]), rel=1e-6)
    assert second["centre_shift"] == pytest.approx(2.0 * np.array(first["centre_shift"]), abs=1e-6)


@pytest.mark.parametrize("direction", TURNS)
@pytest.mark.parametrize("radius", [0.3, 3.0, 100.0])
@pytest.mark.parametrize("modulus", [1e-4, 0.05, 1.0])
def test_forces_are_converged_over_the_nodes(monkeypatch, direction, radius, modulus):
    vehicle = skid_steer.TrackedVehicle(1.0, 1.5, 0.25, 1.4, 1.0, modulus, direction)

    def forces():
        sides = [skid_steer.track_forces(vehicle, side, radius, -0.12 * side, 0.05) for side in (-1, 1)]
        return np.array(sides)

    ours = forces()
    monkeypatch.setattr(quadrature, "_NODES", 9)
    nodes, matrix = quadrature._radau()
    monkeypatch.setattr(shear, "RADAU_NODES", nodes)
    monkeypatch.setattr(shear, "RADAU_MATRIX", matrix)
    monkeypatch.setattr(shear, "_TURN", 0.2)
    assert ours == pytest.approx(forces(), abs=1e-5 * np.abs(ours).max())


@pytest.mark.parametrize(("direction", "radius"), [("velocity", 0.0), ("displacement", 3.0), ("state", 0.0)])
def test_drawn_shear_adds_up_to_the_belt_forces(direction, radius):
    """Each of 300 by 60 arrows stands for its share of the contact: midpoint sums of an interpolated field."""
    vehicle = skid_steer.TrackedVehicle(20e3, 1.5, 0.25, 1.4, 0.7, 0.05, direction)
    (turn_found,) = skid_steer.steady_turns(vehicle, [radius])
    for side, forces in ((skid_steer.OUTER, turn_found.outer), (skid_steer.INNER, turn_found.inner)):
        field = 7000.0 * skid_steer.shear_field(vehicle, turn_found, side, 300, 60)
        assert field.mean().real == pytest.approx(forces.forward, abs=5e-3 * 7000.0)
        assert field.mean().imag == pytest.approx(forces.lateral, abs=5e-3 * 7000.0)


def test_radau_nodes_integrate_polynomials_and_decay():
    """Degree 2 n - 2 = 8, and a decay of 1e6 panels' worth is damped, not reflected."""
    weights = quadrature.RADAU_MATRIX[-1]
    for degree in range(9):
        assert weights @ quadrature.RADAU_NODES**degree == pytest.approx(1.0 / (degree + 1), rel=1e-12)
    system = np.eye(5) + 1e6 * quadrature.RADAU_MATRIX
    assert abs(np.linalg.solve(system, np.ones(5))[-1]) < 1e-5


def test_graded_panels_resolve_a_root_and_a_jump():
    edges = quadrature.graded_panels(2.0, [(0.7, 1e-9)], longest=0.5)
    assert edges[0] == 0.0
    assert edges[-1] == 2.0
    assert np.diff(edges).max() <= 0.5
    nodes, weights = quadrature.gauss_nodes(edges)
    root = np.sqrt(np.abs(nodes - 0.7)) * np.sign(nodes - 0.7)
    assert weights @ root == pytest.approx((1.3**1.5 - 0.7**1.5) / 1.5, rel=1e-10)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"radius": [-1.0]}, "radius"),
        ({"radius": []}, "radius"),
        ({"radius": [math.inf]}, "radius"),
        ({"width": 1.5}, "width"),
        ({"law": "viscous"}, "law"),
        ({"direction": "sideways"}, "direction"),
        ({"mode": "spin"}, "mode"),
        ({"shear_displacement_modulus": 0.0}, "shear_displacement_modulus"),
        ({"weight": 0.0}, "weight"),
    ],
)
def test_invalid_turns_are_refused_by_name(settings, name):
    with pytest.raises(ParameterError, match=name):
        turn(**settings)


def test_turn_without_a_balance_is_refused():
    """Where elements stay down for most of a turn of the hull, shear against the displacement drives it."""
    with pytest.raises(ParameterError, match=r"radius = 8.05.*displacement.*wider"):
        turn(
            direction="displacement", tread=2.54, width=0.2, contact_length=7.26, radius=8.05,
            shear_displacement_modulus=0.005,
        )  # fmt: skip


@pytest.mark.parametrize("mode", ["locked", "pivot", "radius"])
def test_turns_are_drawn(tmp_path, mode):
    (tmp_path / "reference.csv").write_text("radius_m,lateral_moment_Nm\n3,2765.4\n10,1147.5\n")
    arguments = ["reproduce", "skid_steer_moment", "--set", f"mode={mode}", "--set", "direction=state"]
    arguments += ["--json", str(tmp_path / "turn.json"), "--plot", str(tmp_path / "turn.png")]
    assert cli.main([*arguments, "--reference", str(tmp_path / "reference.csv")]) == 0
    assert (tmp_path / "turn.png").stat().st_size > 10_000
    document = json.loads((tmp_path / "turn.json").read_text())
    assert document["units"]["lateral_moment"] == "N m"
    assert ("speed_ratio" in document["results"]) == (mode != "locked")
