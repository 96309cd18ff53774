"""Signals by name, and their recording."""

import dataclasses
import typing

import numpy as np
import pyarrow.parquet
import pytest

from grouser import ParameterError, Simulation, load_machine, load_world
from grouser.physics.base import optional
from grouser.physics.readings import measurements
from grouser.physics.simulation.signals import RECORDS

CLASSES = {
    "pressure": measurements.CylinderPressure,
    "cylinder": measurements.CylinderState,
    "cylinder_energy": measurements.CylinderEnergy,
    "hydraulic_motor": measurements.HydraulicMotorState,
    "pump": measurements.PumpState,
    "wheel": measurements.WheelState,
    "track": measurements.TrackState,
    "flexible_link": measurements.FlexibleLinkState,
}


@pytest.fixture
def lift():
    simulation = Simulation(load_machine("hydraulic_lift"), load_world("flat"))
    simulation.command["lift_valve"] = 0.5
    return simulation


def test_every_number_of_a_record_is_a_signal():
    assert set(CLASSES) == set(RECORDS)
    for quantity, record in CLASSES.items():
        types = typing.get_type_hints(record)
        numbers = [field.name for field in dataclasses.fields(record) if types[field.name] in (float, bool)]
        assert sorted(RECORDS[quantity]) == sorted(numbers)


def test_names_are_the_way_in_python(lift):
    lift.step(300)
    values = {name: signal.value for name, signal in lift.signals.items()}
    assert values["pressure.lift.rod_side"] == lift.pressure["lift"].rod_side
    assert values["cylinder.lift.force"] == lift.cylinder["lift"].force
    assert values["spool_position.lift_valve"] == lift.circuit.spool_position["lift_valve"]
    assert values["command.lift_valve"] == 0.5
    assert values["link_pose.load.z"] == lift.link_pose("load")[0][2]
    assert values["energy.kinetic"] == lift.energy().kinetic
    assert lift.signals["lift"].value == values["joint_position.lift"] == lift.joint_position["lift"] != 0.0
    assert (lift.signals["lift"].unit, lift.signals["joint_effort.lift"].unit) == ("m", "N")


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("lft", "did you mean 'lift'"),
        ("pressure.lift.piston", "did you mean 'pressure.lift.piston_side'"),
        ("press.lift.piston_side", "did you mean 'pressure'"),
        ("cylinder.*.forc", "did you mean 'cylinder.lift.force'"),
        (3, "valid: "),
    ],
)
def test_unknown_names_are_refused_with_the_closest(lift, name, closest):
    with pytest.raises(ParameterError, match=closest):
        lift.record([name])


def test_recording_changes_no_bit_and_samples_at_its_times(lift):
    plain = lift.batch(1)[0]
    plain.step(250)
    record = lift.record(["lift", "cylinder.*.force"], every=0.01)
    lift.step(7)
    lift.step(243)
    assert record.names == ("lift", "cylinder.lift.force")
    np.testing.assert_allclose(record.time, 0.01 * np.arange(26), rtol=1e-14)
    assert record["lift"][-1] == plain.joint_position["lift"] == lift.joint_position["lift"]
    assert record["cylinder.lift.force"][-1] == plain.cylinder["lift"].force
    record.stop()
    lift.step(10)
    assert len(record) == 26


def test_a_record_has_one_value_for_each_time(lift):
    record = lift.record("lift", every=0.01)
    lift.step(55)
    saved = lift.snapshot()
    lift.step(50)
    first = record.values.copy()
    lift.restore(saved)
    assert len(record) == 6
    lift.step(50)
    np.testing.assert_array_equal(record.values, first)
    lift.reset()
    assert record.time.tolist() == [0.0]


def test_copies_of_a_batch_record_for_themselves(lift):
    batch = lift.batch(2)
    batch[1].command["lift_valve"] = -0.5
    records = [copy.record("lift", every=0.02) for copy in batch]
    batch.step(100, threads=1)
    assert [len(record) for record in records] == [6, 6]
    assert [record["lift"][-1] for record in records] == [copy.joint_position["lift"] for copy in batch]
    assert records[0]["lift"][-1] != records[1]["lift"][-1]


def test_tables_have_units_and_all_digits(lift, tmp_path):
    record = lift.record(["lift", "pressure.lift.piston_side"])
    lift.step(20)
    record.save(tmp_path / "run.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    assert [table.field(name).metadata[b"unit"] for name in table.column_names] == [b"s", b"m", b"Pa"]
    np.testing.assert_array_equal(table["lift"].to_numpy(), record["lift"])
    record.save(tmp_path / "run.csv")
    read = np.genfromtxt(tmp_path / "run.csv", delimiter=",", skip_header=1)
    np.testing.assert_array_equal(read, np.column_stack([record.time, record.values]))
    figure = record.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000
    assert [panel.get_ylabel() for panel in figure.axes] == ["[m]", "[Pa]"]
    with pytest.raises(ParameterError, match=".parquet or .csv"):
        record.save(tmp_path / "run.xls")


@pytest.mark.parametrize("every", [0.0015, 0.0, -1.0, "fast"])
def test_intervals_are_multiples_of_the_step(lift, every):
    with pytest.raises(ParameterError, match="every"):
        lift.record("lift", every)


def test_a_missing_package_is_named_with_its_remedy():
    with pytest.raises(ParameterError, match=r'without the Python package nowhere.*pip install "grouser\[study\]"'):
        optional.require_package("nowhere.at.all", "study", "a table")
