"""Relaxation oscillations of one and two masses: the published cases, their limits, and invalid input.

The numbers are those of converged references (event-driven matrix exponentials, or closed forms) of the cases of
Mikhailova (2004) and Sukhomlinov and Mikhailova (2003); the paper states an accuracy of 0.5 % at its steps.
"""

import json
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from shipped import reference_values

from grouser import ParameterError, cli, experiments

PAPER = 0.005

# R, f1, zeta: slip time, stick time, period, greatest speed, pull of the spring at the stop.
_CYCLE = ("slip_time", "stick_time", "period", "max_speed")
ONE_MASS = {
    given: (*(reference_values("stick_slip_one_mass", case)[name] for name in _CYCLE), pull)
    for given, case, pull in (
        ((5.0, 0.2, 0.0), "case_1", 4.0),
        ((4.0, 0.5, 0.05), "case_2", 2.583500416),
        ((10.0, 0.3, 0.1), "case_3", 8.301137405),
    )
}


def one_mass(kinetic, excess, damping, **others):
    return experiments.run(
        "stick_slip_one_mass", kinetic_friction=kinetic, static_excess=excess, damping_ratio=damping, **others
    )


@pytest.mark.parametrize("case", ONE_MASS)
def test_one_mass_stick_slip_agrees_with_the_paper(case):
    """To 0.5 % at the paper's step, and to a fifth of that at a fifth of it."""
    slip, stick, period, speed, pull = ONE_MASS[case]
    for step, tolerance in ((0.005, PAPER), (0.001, PAPER / 5.0)):
        result = one_mass(*case, step=step)
        assert result["regime"] == "stick_slip"
        assert result["period"] == pytest.approx(period, rel=tolerance)
        assert result["max_speed"] == pytest.approx(speed, rel=tolerance)
        assert result["slip_time"] == pytest.approx(slip, rel=tolerance)
        # of a cycle
        assert result["stick_time"] == pytest.approx(stick, abs=tolerance * period)
        assert result["slip_time"] + result["stick_time"] == pytest.approx(result["period"], rel=1e-9)
        # the pull reaches the static friction in closed form; the rest speed times this time is what is left
        assert result["first_slip_time"] == pytest.approx((1.0 + case[1]) * case[0], abs=1e-8)
        assert result["stops_per_half_period"] is None
        # what friction takes up after a stop is the pull of the spring, in the step after it
        friction, rest = result["friction"], np.abs(result["velocity"]) <= 1e-10
        rest &= result["time"] > result["first_slip_time"]
        assert friction[rest].min() == pytest.approx(pull, abs=tolerance * period + step)
        assert friction[rest].max() == pytest.approx((1.0 + case[1]) * case[0], abs=2.0 * step)
        assert friction[np.abs(result["velocity"]) > 1e-9] == pytest.approx(case[0])


def test_stick_slip_depends_only_on_the_difference_of_friction_levels():
    first, second = one_mass(5.0, 0.4, 0.05), one_mass(8.0, 0.25, 0.05)
    for name in ("period", "slip_time", "max_speed"):
        # the same steps, begun at another place within the first
        assert first[name] == pytest.approx(second[name], rel=1e-4)


# zeta: least A = f1 R that oscillates, by the closed form.
CRITICAL = {0.02: 0.53098851, 0.1: 1.4701178, 0.3: 4.4841931, 0.6: 22.327756}


def critical_difference(damping, step, low, high):
    while high / low > 1.0 + 1e-4:
        middle = math.sqrt(low * high)
        # the first slip ends within a natural period, or never
        end = 1.0 + middle + 2.2 * math.pi
        regime = one_mass(1.0, middle, damping, step=step, duration=end)["regime"]
        low, high = (low, middle) if regime == "stick_slip" else (middle, high)
    return math.sqrt(low * high)


def exact_critical_difference(damping):
    """Where the speed of the closed form, 1 + e^(-zeta t) (-cos w t + (A - zeta)/w sin w t), touches zero."""
    frequency, time = math.sqrt(1.0 - damping**2), np.linspace(math.pi, 2.5 * math.pi, 20_001)
    fading, cosine, sine = np.exp(-damping * time), np.cos(frequency * time), np.sin(frequency * time)

    def slowest(difference):
        return (1.0 + fading * (-cosine + (difference - damping) / frequency * sine)).min()

    return brentq(slowest, 1e-3, 1e4, xtol=1e-10)


@pytest.mark.parametrize("damping", CRITICAL)
def test_critical_difference_of_friction_levels(damping):
    """Implicit Euler damps by h / 2 more, and a slip begins up to a step early, with a speed of up to h A."""
    assert exact_critical_difference(damping) == pytest.approx(CRITICAL[damping], rel=1e-6)
    errors = []
    for step in (0.004, 0.002, 0.001):
        found = critical_difference(damping, step, 0.8 * CRITICAL[damping], 1.4 * CRITICAL[damping])
        assert found == pytest.approx(exact_critical_difference(damping + 0.5 * step), rel=1e-4 + 2.0 * step)
        errors.append(found - CRITICAL[damping])
    # of first order: a quarter of the step leaves about a quarter of it
    assert errors[0] > errors[1] > errors[2] > 0.0
    assert errors[0] / errors[2] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize(
    ("kinetic", "excess", "damping", "regime"),
    [
        # A beside A*(0.1) = 1.47, and far from it
        (10.0, 0.155, 0.1, "stick_slip"),
        (10.0, 0.14, 0.1, "decaying"),
        (10.0, 0.01, 0.1, "decaying"),
        (2.0, 3.0, 0.1, "stick_slip"),
        # With a damping ratio of 1 or more there is no oscillation.
        (10.0, 0.2, 1.0, "sliding"),
        (10.0, 100.0, 1.0, "sliding"),
        (10.0, 100.0, 0.8, "stick_slip"),
    ],
)
def test_stick_slip_regimes_under_a_ramp(kinetic, excess, damping, regime):
    result = one_mass(kinetic, excess, damping, duration=(1.0 + excess) * kinetic + 100.0)
    assert result["regime"] == regime
    if regime != "stick_slip":
        assert result["period"] is None and result["slip_time"] is None and result["stick_time"] is None
        assert result["velocity"][-1] == pytest.approx(1.0, abs=1e-3)


def test_nothing_happens_before_the_first_slip():
    result = one_mass(5.0, 0.2, 0.0, duration=5.9)
    assert result["regime"] is None and result["first_slip_time"] is None and result["period"] is None
    assert result["max_speed"] <= 1e-10
    assert result["friction"][1:] == pytest.approx(result["time"][1:], abs=1e-8)


# R, f1: stops in a half period, regime, share of time at rest, greatest speed, highest and lowest place.
HARMONIC = {
    (5.0, 0.1): (1.0, "mixed", 0.1649322, 1.575646, 152.1104, 4.969199),
    (6.0, 0.5): (15.0, "stick_slip", 0.5977968, 4.230522, 152.1521, 5.373824),
}


@pytest.mark.parametrize("case", HARMONIC)
def test_one_mass_under_a_harmonic_load(case):
    """In the third period of the load, as the places drift for some."""
    stops, regime, share, speed, highest, lowest = HARMONIC[case]
    period = 2.0 * math.pi / 0.02
    result = one_mass(*case, 0.1, load="harmonic", load_frequency=0.02, duration=3.0 * period + 1e-6)
    assert (result["stops_per_half_period"], result["regime"]) == (stops, regime)
    assert result["period"] is None
    third = result["time"] >= 2.0 * period
    velocity, position = np.abs(result["velocity"][third]), result["position"][third]
    assert velocity.max() == pytest.approx(speed, rel=PAPER)
    assert (velocity <= 1e-10).mean() == pytest.approx(share, rel=PAPER)
    # of the way that it goes
    assert position.max() == pytest.approx(highest, abs=0.2 * PAPER * (highest - lowest))
    assert position.min() == pytest.approx(lowest, abs=0.2 * PAPER * (highest - lowest))


def test_more_regimes_under_a_harmonic_load():
    """A load of speed pi/2 at most needs pi/2 A* to stick everywhere; damped enough nothing is left but the turns."""
    load = {"load": "harmonic", "load_frequency": 0.01, "duration": 640.0}
    found = {excess: one_mass(10.0, excess, 0.1, **load) for excess in (0.05, 0.19, 1.05 * math.pi / 2.0 * 0.14701178)}
    assert [result["regime"] for result in found.values()] == ["mixed", "mixed", "stick_slip"]
    stops = [result["stops_per_half_period"] for result in found.values()]
    # at the turn alone; on a part of the way; everywhere
    assert stops[0] == 1.0 < stops[1] < stops[2]
    damped = one_mass(10.0, 0.05, 0.6, **load)
    assert (damped["regime"], damped["stops_per_half_period"]) == ("sliding", 1.0)
    # so fast that the mass never rests
    fast = one_mass(0.1, 0.0, 0.05, load="harmonic", load_frequency=1.3, duration=200.0)
    assert fast["regime"] in ("sliding", "decaying")


def test_one_mass_under_a_triangle():
    """Between two turns it is a ramp, up and down alike."""
    ramp = one_mass(4.0, 0.5, 0.05)
    triangle = one_mass(4.0, 0.5, 0.05, load="triangle", load_frequency=0.02, duration=629.0)
    assert triangle["regime"] == "stick_slip"
    for name in ("period", "slip_time", "max_speed"):
        assert triangle[name] == pytest.approx(ramp[name], rel=PAPER)
    # the way of pi / Om less 2 R of friction, in cycles, one of them at the turn
    assert triangle["stops_per_half_period"] == pytest.approx((math.pi / 0.02 - 8.0) / ramp["period"], abs=1.5)
    assert one_mass(10.0, 0.1, 0.1, load="triangle", duration=629.0)["regime"] == "mixed"
    assert one_mass(10.0, 0.1, 1.0, load="triangle", duration=629.0)["regime"] == "sliding"


# Load on, zeta, R: events of a cycle, period, greatest speeds, number of events up to the last one, first events.
TWO_MASSES = {
    "C1": ((1, 0.06, 7.5), "2stop 2start", 11.30587158, 2.360166015, 2.300663683, 94, 513.5291972,
           [(1, 9.0), (1, 11.924437908)]),
    "C2": ((1, 0.06, 15.0), "1stop 2stop 1start 1stop 1start 2start", 19.17313766, 3.845724837, 5.789251643, 160,
           529.8431904, [(1, 18.0), (1, 20.582357132), (1, 26.069781698), (1, 28.652138830)]),
    "C3": ((2, 0.03, 10.0), "1stop 1start", 4.098768103, 2.430516688, 2.929059321, 238, 518.3130245,
           [(2, 12.0), (2, 16.151071934), (2, 19.795887028), (1, 21.929958953)]),
    "C4": ((2, 0.06, 15.0), "1start 2stop 1stop 2start 1start 1stop", 9.451679483, 3.652589655, 3.78007042, 321,
           529.8969087, [(2, 18.0), (2, 21.894119143), (2, 27.080214836), (1, 30.602283498)]),
    "C5": ((2, 0.06, 20.0), "2stop 2start 1start 2stop 1stop 2start 1start 1stop", 26.43578275, 5.563930482,
           7.99201161, 155, 538.6555467, [(2, 24.0), (2, 27.708219645), (2, 34.745018228)]),
}  # fmt: skip


def two_masses(load_on, damping, kinetic, **others):
    return experiments.run(
        "stick_slip_two_mass", load_on=load_on, damping_ratio=damping, kinetic_friction=kinetic, **others
    )


def sequence(result, count):
    """The last events, as in the table."""
    return [f"{mass}{'start' if what == 'slip' else what}" for mass, what in result["events"][-count:]]


@pytest.mark.parametrize("case", TWO_MASSES)
def test_two_mass_stick_slip_agrees_with_the_paper(case):
    """To 0.5 % at the default step, and to a quarter of that at a quarter of it."""
    given, cycle, period, first_speed, second_speed, count, last, first_events = TWO_MASSES[case]
    cycle, errors = cycle.split(), {}
    for step in (0.002, 0.0005):
        result = two_masses(*given, step=step, duration=last + 1.0)
        tolerance = PAPER * step / 0.002
        assert result["regime"] == "stick_slip"
        assert result["period"] == pytest.approx(period, rel=tolerance)
        assert result["max_speed_1"] == pytest.approx(first_speed, rel=tolerance)
        assert result["max_speed_2"] == pytest.approx(second_speed, rel=tolerance)
        found = sequence(result, len(cycle))
        assert any(found == cycle[k:] + cycle[:k] for k in range(len(cycle)))
        for (mass, time), (found_mass, _), found_time in zip(
            first_events, result["events"], result["event_times"], strict=False
        ):
            assert found_mass == mass
            assert found_time == pytest.approx(time, rel=PAPER * step / 0.002)
        errors[step] = np.abs(result["event_times"][: len(first_events)] - [time for _, time in first_events]).max()
    assert errors[0.002] / errors[0.0005] == pytest.approx(4.0, rel=0.2)
    # after 500 of time an event comes late or early by some hundredths
    assert (result["event_times"] < last + 0.1).sum() == count


def test_long_step_of_two_masses_can_converge_to_another_cycle():
    """C3 grows out of a long beginning that a step of 0.005 changes for good; shorter ones lead to the same cycle."""
    given, period, last = TWO_MASSES["C3"][0], TWO_MASSES["C3"][2], TWO_MASSES["C3"][6]
    for step in (0.003, 0.002, 0.001):
        assert two_masses(*given, step=step, duration=last)["period"] == pytest.approx(period, rel=PAPER)
    assert two_masses(*given, step=0.005, duration=last)["period"] > 4.0 * period


def test_two_masses_under_triangle_and_harmonic_loads():
    """The cycle of the ramp between turns of a triangle; both kinds of mixed motion, and sliding, else."""
    given, _, period, first_speed, *_ = TWO_MASSES["C4"]
    triangle = two_masses(*given, load="triangle", load_frequency=0.01, duration=629.0)
    assert triangle["regime"] == "stick_slip"
    assert triangle["period"] == pytest.approx(period, rel=PAPER)
    assert triangle["max_speed_1"] == pytest.approx(first_speed, rel=PAPER)
    half = math.pi / 0.01

    def stops(damping, excess):
        result = experiments.run(
            *("stick_slip_two_mass",), load="harmonic", load_on=2, kinetic_friction=10.0, duration=2.0 * half + 0.1,
            step=0.005, damping_ratio=damping, static_excess=excess,
        )  # fmt: skip
        within = (result["event_times"] > half) & (result["event_times"] < 2.0 * half)
        events = [event for event, here in zip(result["events"], within, strict=True) if here]
        return result["regime"], [events.count([mass, "stop"]) for mass in (1, 2)]

    # both masses rest at the turns alone; the one that is pulled sticks and slips on its way as well; both do
    assert stops(0.06, 0.02) == ("mixed", [1, 1])
    regime, (first, second) = stops(0.06, 0.1)
    assert regime == "mixed" and second > 1 >= first
    regime, (first, second) = stops(0.06, 0.6)
    assert regime == "stick_slip" and min(first, second) > 5
    assert stops(0.4, 0.02) == ("sliding", [1, 1])


def test_unequal_masses_satisfy_their_equations():
    """The equations leave a possible friction force: at rest up to the static level, else the kinetic one."""
    values = {"coupling": 0.7, "mass_ratio": 2.5, "damping_ratio": 0.1, "kinetic_friction": 3.0, "static_excess": 0.5}
    result = experiments.run("stick_slip_two_mass", load_on=2, duration=60.0, **values)
    time, q, v = result["time"], result["positions"], result["velocities"]
    acceleration = np.diff(v, axis=0) / 0.002
    q, v, load = q[1:], v[1:], np.column_stack([np.zeros(len(time) - 1), time[1:]])
    spring = 0.7 * (q[:, 0] - q[:, 1])
    pull = load - np.column_stack([q[:, 0] + spring, -spring]) - 0.2 * v - acceleration * [1.0, 2.5]
    slides = np.abs(v) > 1.1e-10
    assert slides.any(axis=0).all() and not slides.all(axis=0).any()
    # rounding of speeds by 1e-16, over the step
    assert (pull * np.sign(v))[slides] == pytest.approx(3.0, abs=1e-10)
    assert (np.abs(pull[~slides]) <= 4.5 + 1e-10).all()
    stuck_force = np.abs(pull[~slides]).max()
    assert stuck_force > 4.4


def test_the_same_parameters_give_the_same_bits():
    first, second = (two_masses(1, 0.06, 15.0, duration=100.0) for _ in range(2))
    assert first["velocities"].tobytes() == second["velocities"].tobytes()
    assert first["events"] == second["events"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("damping_ratio", -0.1, "at least 0"),
        ("kinetic_friction", -1.0, "at least 0"),
        ("static_excess", -0.1, "at least 0"),
        ("load", "step", "ramp or triangle or harmonic"),
        ("load_frequency", 0.0, "above 0"),
        ("step", 0.0, "at least 1e-05 and at most 0.1"),
        ("step", 0.2, "at least 1e-05 and at most 0.1"),
        ("duration", 0.0, "above 0"),
        ("duration", 0.001, "from one step, 0.00"),
        ("duration", 1e6, "1e\\+07 steps"),
        ("kinetic_friction", math.nan, "a number"),
    ],
)
def test_bad_parameters_are_refused_by_name(name, value, words):
    for experiment in ("stick_slip_one_mass", "stick_slip_two_mass"):
        with pytest.raises(ParameterError, match=words) as caught:
            experiments.run(experiment, **{name: value})
        assert caught.value.name == name


@pytest.mark.parametrize(("name", "value"), [("load_on", 3), ("coupling", 0.0), ("mass_ratio", 0.0)])
def test_bad_parameters_of_two_masses_are_refused_by_name(name, value):
    with pytest.raises(ParameterError) as caught:
        experiments.run("stick_slip_two_mass", **{name: value})
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("experiment", "columns"),
    [("stick_slip_one_mass", "tau,q,qdot,Q"), ("stick_slip_two_mass", "tau,q1,v1,q2,v2,mode1,mode2")],
)
@pytest.mark.parametrize("load", ["ramp", "triangle", "harmonic"])
def test_reproduce_writes_json_and_a_plot(experiment, columns, load, tmp_path):
    out, plot, reference = tmp_path / "out.json", tmp_path / "out.png", tmp_path / "reference.csv"
    count = columns.count(",") + 1
    reference.write_text(f"{columns}\n" + "".join(",".join([str(row)] * count) + "\n" for row in range(3)))
    arguments = ["--set", "duration=60", "--set", f"load={load}", "--json", str(out), "--plot", str(plot)]
    assert cli.main(["reproduce", experiment, *arguments, "--reference", str(reference)]) == 0
    document = json.loads(out.read_text())
    assert document["parameters"]["load"] == load
    assert len(document["results"]["time"]) == round(60.0 / document["parameters"]["step"]) + 1
    assert plot.read_bytes().startswith(b"\x89PNG")
