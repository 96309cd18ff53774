"""Parameters hidden in synthetic noisy measurements of a lift and of a wheel on soil, and a measured wheel."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, chi2

from grouser.identification.reading import load_identification
from grouser.trials.trial import Trial

VALVE, CYLINDER = "machine.directional_valve.lift_valve", "machine.cylinder.lift"
LIFT = {
    f"{VALVE}.gain": (1.15, "{low: 0.5, high: 2}"),
    f"{VALVE}.supply_overlap": (0.08, "{low: 0, high: 0.2}"),
    "machine.fluid.bulk_modulus": (0.9e9, "{low: 3e8, high: 2e9}"),
    f"{CYLINDER}.viscous_friction": (2600.0, "{low: 500, high: 1e4}"),
    f"{CYLINDER}.leakage": (4e-12, "{low: 4e-13, high: 4e-11}"),
}
# Steps of the spool both ways, and a stay at the end, in which the load sinks by the leakage.
SPOOL = [(0.0, 0.0), (0.05, 0.5), (0.3, 0.0), (0.4, -0.4), (0.6, 0.3), (0.8, 0.0)]
POSITION_NOISE, PRESSURE_NOISE = 1e-4, 5e4  # [m, Pa]


class Hidden(NamedTuple):
    """Synthetic measurements: the YAML file of their identification, and the true values."""

    file: object
    truth: dict


def parameters_of(hidden):
    return "parameters:\n" + "".join(f"  {name}: {bounds}\n" for name, (_, bounds) in hidden.items())


def hidden_lift(folder, seed, names=tuple(LIFT), starts=1):
    rng = np.random.default_rng(seed)
    hidden = {name: LIFT[name] for name in names}
    truth = {name: value for name, (value, _) in hidden.items()}
    signals = ("lift", "pressure.lift.piston_side")
    program = {"commands": [{"time": time, "valve": "lift_valve", "value": value} for time, value in SPOOL]}
    arguments = {"holding_brake": "false"}
    record = Trial("hydraulic_lift", 1.0, signals, program=program, arguments=arguments, every=0.005).run(truth)
    noise = rng.normal(size=(2, len(record.time))) * [[POSITION_NOISE], [PRESSURE_NOISE]]
    spool = [[value for time, value in SPOOL if time <= now + 1e-9][-1] for now in record.time]
    columns = [record.time, spool, 1e3 * (record[signals[0]] + noise[0]), 1e-5 * (record[signals[1]] + noise[1])]
    write_csv(folder / "lift.csv", "time,spool,position,pressure", columns)
    (folder / "lift.yaml").write_text(
        f"""
trial: {{machine: hydraulic_lift, arguments: {{holding_brake: "false"}}, duration: 1.0}}
measurements:
  - file: lift.csv
    signals:
      lift: {{column: position, unit: mm}}
      pressure.lift.piston_side: {{column: pressure, unit: bar}}
    commands: {{lift_valve: spool}}
starts: {starts}
"""
        + parameters_of(hidden)
    )
    return Hidden(folder / "lift.yaml", truth)


SOIL = "world.ground.soil.type"
SOIL_HIDDEN = {
    f"{SOIL}.frictional_modulus": (1.1e6, "{low: 3e5, high: 1e7}"),
    f"{SOIL}.friction_angle_deg": (33.0, "{low: 20, high: 45}"),
}


def hidden_soil(folder, seed, hidden=SOIL_HIDDEN, starts=1):
    """A wheel that starts to roll on lunar simulant: sinkage and drawbar pull over time."""
    rng = np.random.default_rng(seed)
    truth = {name: value for name, (value, _) in hidden.items()}
    trial = """
  machine: single_wheel_testbed
  arguments: {radius: 0.092, width: 0.107, load: 64.68}
  world: {ground: {soil: {level: stress, type: {preset: lunar_simulant}}}}
  program: {commands: [{time: 0, joint: rail, value: 0.2}, {time: 0, joint: drive, value: 3.1}]}
  duration: 0.4
"""
    signals = ("wheel.wheel.sinkage", "wheel.wheel.drawbar_pull")
    (folder / "soil.yaml").write_text(
        f"trial: {trial}"
        f"""
measurements:
  - file: soil.csv
    begin: 0
    signals:
      {signals[0]}: {{column: sinkage, sigma: 0.0003}}
      {signals[1]}: {{column: pull, sigma: 0.5}}
starts: {starts}
""" + parameters_of(hidden)
    )
    time = np.arange(0.1, 0.401, 0.01)
    write_csv(folder / "soil.csv", "time,sinkage,pull", [time, 0.0 * time, 0.0 * time])
    identification = load_identification(folder / "soil.yaml", 1)
    sinkage, pull = np.split(identification.comparison.simulated(0, truth), 2)
    noise = rng.normal(size=(2, len(time))) * [[0.0003], [0.5]]
    write_csv(folder / "soil.csv", "time,sinkage,pull", [time, sinkage + noise[0], pull + noise[1]])
    return Hidden(folder / "soil.yaml", truth)


def write_csv(file, names, columns):
    np.savetxt(file, np.column_stack(columns), delimiter=",", header=names, comments="", fmt="%.12g")


def distance(result, truth):
    """Square of the distance of the truth by the covariance of the estimates: chi squared, if intervals are right."""
    statistics = result.statistics
    pairs = [
        (one.parameter.variable(one.value), one.parameter.variable(truth[one.parameter.name]))
        for one in result.estimates
    ]
    along = statistics.directions @ np.subtract(*np.transpose(pairs)) * statistics.singular_values
    return float(along @ along) / statistics.variance


def covered(result, truth):
    return [one.lower <= truth[one.parameter.name] <= one.upper for one in result.estimates]


def test_hidden_parameters_of_a_lift(tmp_path):
    hidden = hidden_lift(tmp_path, 1)
    result = load_identification(hidden.file, 1).run()
    # one in a thousand such measurements is further away
    assert distance(result, hidden.truth) < chi2.ppf(0.999, len(hidden.truth))
    assert not result.statistics.undetermined.any()
    position, pressure = result.groups
    # 201 samples know their sigma to 5 %; three times that
    assert position.sigma == pytest.approx(POSITION_NOISE, rel=0.15)
    assert pressure.sigma == pytest.approx(PRESSURE_NOISE, rel=0.15)


def test_hidden_parameters_of_a_soil(tmp_path):
    hidden = hidden_soil(tmp_path, 1)
    result = load_identification(hidden.file, 1).run()
    assert distance(result, hidden.truth) < chi2.ppf(0.999, len(hidden.truth))
    low, high = chi2.ppf([0.001, 0.999], result.statistics.degrees) / result.statistics.degrees
    assert low < result.statistics.variance < high


@pytest.mark.soak
@pytest.mark.parametrize("hide", [hidden_lift, partial(hidden_soil, starts=4)], ids=["lift", "soil"])
def test_intervals_of_hidden_parameters_cover_as_often_as_they_say(tmp_path, hide):
    """30 measurements: the count of covered values of each parameter, and the mean distance, are chance.

    A single search of the soil ends in another minimum for one of them.
    """
    count = 30
    found, distances = [], []
    for seed in range(100, 100 + count):
        hidden = hide(tmp_path, seed)
        result = load_identification(hidden.file, 1).run()
        found.append(covered(result, hidden.truth))
        distances.append(distance(result, hidden.truth))
    shares = np.mean(found, axis=0)
    print(f"covered {shares}, mean square of distances {np.mean(distances):.2f} of {len(shares)}")
    low, high = binom.ppf([0.001, 0.999], count, 0.95) / count
    assert all(low <= share <= high for share in shares)
    assert np.sum(distances) < chi2.ppf(0.999, count * len(shares))


# Pavlov and Johnson, CMU robomechanics/3d-terramechanics (MIT licence): a smooth wheel of 58 mm x 50 mm that is driven
# on dry sand, means of three trials. Slip, load [N], drawbar pull [N], sinkage [mm].
MEASURED = [
    (0.231181, 24.6214, 0.702886, 17.8778),
    (0.500002, 25.2776, 0.966554, 22.74),
    (0.750185, 23.9959, 0.816105, 25.4407),
]
# Ten times the measured speed: the law of the soil knows paths, not times.
SPEED, RADIUS = 0.1, 0.058
# Mean standard deviations of the trials [N, mm], over all slips.
PULL_SIGMA, SINKAGE_SIGMA = 0.3, 0.7


def measured_wheel(folder, parameters):
    lines = [
        (slip, load, SPEED, SPEED / (1.0 - slip) / RADIUS, pull, sinkage) for slip, load, pull, sinkage in MEASURED
    ]
    write_csv(folder / "wheel.csv", "slip,load,rail,drive,pull,sinkage", np.transpose(lines))
    (folder / "wheel.yaml").write_text(
        f"""
trial:
  machine: single_wheel_testbed
  arguments: {{radius: {RADIUS}, width: 0.05}}
  world: {{ground: {{soil: {{level: stress, type: {{preset: cmu_sand}}}}}}}}
  duration: {0.14 / SPEED:g}
  every: {1e-3 / SPEED:g}
  program: {{commands: [{{time: 0, joint: rail, value: 0}}, {{time: 0, joint: drive, value: 0}}]}}
measures:
  pull: {{mean: wheel.wheel.drawbar_pull, from: {0.12 / SPEED:g}}}
  sinkage: {{mean: wheel.wheel.sinkage, from: {0.12 / SPEED:g}}}
measurements:
  - file: wheel.csv
    values:
      pull: {{sigma: {PULL_SIGMA}}}
      sinkage: {{unit: mm, sigma: {SINKAGE_SIGMA}}}
    settings:
      argument.load: {{column: load, unit: N}}
      program.commands.0.value: {{column: rail}}
      program.commands.1.value: {{column: drive}}
starts: 1
parameters:
"""
        + "".join(f"  {name}: {bounds}\n" for name, bounds in parameters.items())
    )
    return folder / "wheel.yaml"


EXPONENT, SLIP_EXPONENT, RIM = f"{SOIL}.exponent", f"{SOIL}.slip_exponent", "machine.wheel.wheel.friction"
WHEEL = {
    EXPONENT: "{low: 0.8, high: 2, start: 1.2}",
    SLIP_EXPONENT: "{low: 0, high: 1, start: 0.3}",
    RIM: "{low: 0.1, high: 1.2}",
}


@pytest.mark.soak
def test_soil_of_a_measured_wheel(tmp_path):
    """With the modulus that the owners measured by plates, the fit finds the exponent that they tuned, 1.46."""
    result = load_identification(measured_wheel(tmp_path, WHEEL), 1).run()
    exponent, slip_exponent, _ = result.estimates
    assert exponent.lower < 1.46 < exponent.upper
    # sinkage grows with slip by more than the owners' 0.01 (docs/soil_theory.md)
    assert slip_exponent.lower > 0.01
    pull, sinkage = result.groups
    # accuracy of published models of this kind on these data: 5 % of the load, 19 % of the sinkage
    assert pull.rms < 0.05 * 24.6 and sinkage.rms < 0.19 * 0.022


@pytest.mark.soak
def test_measured_wheel_does_not_tell_modulus_and_exponent(tmp_path):
    """Loads of one size press one wheel to one depth: a stiffer law of a higher exponent does the same."""
    parameters = {**WHEEL, f"{SOIL}.frictional_modulus": "{low: 1.0e+6, high: 6.0e+7}"}
    result = load_identification(measured_wheel(tmp_path, parameters), 1).run()
    assert result.statistics.undetermined.tolist() == [False, False, False, True]
    (told,) = [text for text in result.warnings if "do not tell" in text]
    assert f"{SOIL}.exponent" in told and f"log({SOIL}.frictional_modulus)" in told


@pytest.mark.soak
def test_result_does_not_depend_on_the_number_of_processes(tmp_path):
    hidden = hidden_lift(tmp_path, 1, tuple(LIFT)[:2], starts=3)
    alone, together = (load_identification(hidden.file, processes).run() for processes in (1, 2))
    assert alone.settings == together.settings
    assert [one.cost for one in alone.searches] == [one.cost for one in together.searches]
