"""The hydraulic lift against its converged reference (Radau, rtol 1e-10) and against Radau on other parameters."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from shipped import reference_case, reference_curve, reference_values

from grouser import MachineError, ParameterError, experiments
from grouser.references.comparison import compare_value


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
@pytest.mark.parametrize("step", [1e-4, 1e-3, 1e-2])
def test_lift_reference_numbers(step, scheme):
    result = experiments.run("hydraulic_lift", step=step, scheme=scheme)
    compared = [compare_value(value, result) for value in reference_case("hydraulic_lift", "lift_100_kg").values]
    assert len(compared) == 9
    assert [item for item in compared if not item.agrees] == []


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_lift_reference_curve(step, scheme):
    reference = reference_curve("hydraulic_lift.csv")
    result = experiments.run("hydraulic_lift", step=step, scheme=scheme)
    ours = np.interp(result["time"], reference["t"], reference["xp"])
    on_reference = np.isin(np.round(result["time"], 6), np.round(reference["t"], 6))
    # the semi-implicit scheme's error with sub-steps of 0.1 ms is 4.8e-5 m
    assert np.abs(np.asarray(result["position"]) - ours)[on_reference].max() < 1e-4


# Steady speed of the split scheme as a share of the reference: the error of the published scheme.
@pytest.mark.parametrize(
    "piston_mass, step, share",
    [
        (5, 1e-4, 1.0),
        (5, 2e-4, 0.947636),
        (5, 5e-4, 0.784978),
        (5, 1e-3, 0.490118),
        (50, 1e-3, 0.953621),
        (5, 2e-3, 0.0),
    ],
)
def test_split_scheme_loses_speed_as_computed(piston_mass, step, share):
    result = experiments.run("hydraulic_lift", scheme="split", piston_mass=piston_mass, step=step, duration=2.6)
    time, position = np.asarray(result["time"]), np.asarray(result["position"])
    speed = (np.interp(2.5, time, position) - np.interp(1.2, time, position)) / 1.3
    # the speed drifts by about this much over the stroke
    assert speed / reference_values("hydraulic_lift", "lift_100_kg")["steady_speed"] == pytest.approx(share, abs=2e-3)


def converged(schedule, times, *, load, viscous, supply, tank_underlap, frequency, gravity):
    """Equations (1) to (5) without dry friction; the load starts on the lower stop and leaves it when pushed."""
    area_a, area_b = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
    gain, tank, beta, stroke = 0.62 * math.pi * 6e-3 * 2e-4 * math.sqrt(2 / 850), 1e5, 1.4e9, 0.5

    def flow(drop):
        return math.copysign(math.sqrt(abs(drop)), drop)

    def rates(t, y, u):
        spool, rate, pressure_a, pressure_b, x, v = y
        up, down = max(spool - 0.05, 0.0), max(-spool - 0.05, 0.0)
        out_a, out_b = max(tank_underlap - spool, 0.0), max(tank_underlap + spool, 0.0)
        flow_a = gain * (up * flow(supply - pressure_a) - out_a * flow(pressure_a - tank))
        flow_b = gain * (down * flow(supply - pressure_b) - out_b * flow(pressure_b - tank))
        force = area_a * pressure_a - area_b * pressure_b - viscous * v - load * gravity
        resting = x <= 0.0 and force <= 0.0
        return [
            rate,
            frequency**2 * (u - spool) - 2 * frequency * rate,
            beta / (1e-4 + area_a * x) * (flow_a - area_a * v),
            beta / (1e-4 + area_b * (stroke - x)) * (flow_b + area_b * v),
            0.0 if resting else v,
            0.0 if resting else force / (load + 5.0),
        ]

    state, found, begin = [0.0, 0.0, tank, tank, 0.0, 0.0], [], 0.0
    for end, u in schedule:
        inside = times[(times > begin + 1e-9) & (times <= end + 1e-9)]
        solution = solve_ivp(
            *(rates, (begin, end), state, "Radau"), args=(u,), rtol=1e-8, atol=1e-10, max_step=5e-3, dense_output=True
        )
        found.append(solution.sol(inside))
        state, begin = solution.y[:, -1], end
    return np.concatenate(found, axis=1)


# Only without cavitation: the simulated chambers stop at zero pressure, the plain equations continue below it.
CASES = [
    {"load": 40.0, "viscous": 8000.0, "supply": 10e6, "tank_underlap": 0.2, "frequency": 30.0, "gravity": 9.81},
    {"load": 250.0, "viscous": 8000.0, "supply": 10e6, "tank_underlap": 0.3, "frequency": 20.0, "gravity": 1.6},
    {"load": 50.0, "viscous": 4000.0, "supply": 10e6, "tank_underlap": 0.1, "frequency": 40.0, "gravity": 0.0},
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_lift_extends_holds_and_retracts(case, step):
    # up for 1 s, neutral for 0.5 s (the load sinks through the open tank edges), down
    command = [[0, 1], [1, 1], [1, 0], [1.5, 0], [1.5, -1]]
    result = experiments.run(
        "hydraulic_lift",
        load_mass=case["load"],
        gravity=case["gravity"],
        viscous_friction=case["viscous"],
        supply_pressure=case["supply"],
        tank_underlap=case["tank_underlap"],
        valve_frequency=case["frequency"],
        dry_friction=0.0,
        command=command,
        duration=1.9,
        step=step,
    )
    time = np.asarray(result["time"])[1:]
    spool, _, pressure_a, pressure_b, position, velocity = converged(
        [(1.0, 1.0), (1.5, 0.0), (1.9, -1.0)], time, **case
    )
    assert min(pressure_a.min(), pressure_b.min()) > 0.0
    assert position.max() > 0.15 and position[-1] < position.max() - 0.02
    ours = {name: np.asarray(result[name])[1:] for name in ("position", "velocity", "spool")}
    # sub-steps of 0.1 ms, first order: half a sub-step at full speed is 1e-5 m; the spool's steps add to it
    assert np.abs(ours["position"] - position).max() < 3e-4
    assert np.abs(ours["spool"] - spool).max() < 0.01
    calm = ((time > 0.3) & (time < 1.0)) | ((time > 1.3) & (time < 1.5)) | (time > 1.75)
    assert ours["velocity"][calm] == pytest.approx(velocity[calm], abs=5e-4)
    for name, reference in (("pressure_piston_side", pressure_a), ("pressure_rod_side", pressure_b)):
        assert np.asarray(result[name])[1:][calm] == pytest.approx(reference[calm], abs=2e4)


def test_lift_at_the_upper_stop_keeps_the_supply_pressure():
    result = experiments.run("hydraulic_lift", duration=8.0, step=0.01)
    assert result["position"][-1] == 0.5
    assert abs(result["velocity"][-1]) < 1e-9
    assert np.ptp(result["pressure_piston_side"][-200:]) < 1.0


def test_lift_retracts_onto_the_lower_stop_and_rests():
    result = experiments.run("hydraulic_lift", command=[[0, 1], [1, 1], [1, -1]], duration=3.0, step=0.002)
    assert max(result["position"]) > 0.2
    assert result["position"][-1] == pytest.approx(0.0, abs=1e-12)
    assert abs(result["velocity"][-1]) < 1e-9
    assert result["energy_error"] < 1e-3


def test_invalid_lift_parameters_are_refused():
    with pytest.raises(MachineError, match="rod_diameter"):
        experiments.run("hydraulic_lift", rod_diameter=0.05)
    with pytest.raises(ParameterError, match="stroke"):
        experiments.run("hydraulic_lift", stroke=-1.0)
    with pytest.raises(ParameterError, match="sche"):
        experiments.run("hydraulic_lift", scheme="implizit")
