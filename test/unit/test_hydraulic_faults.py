"""Catalogue of hydraulic faults: completeness, ranges, and errors for invalid faults."""

import math
from pathlib import Path

import numpy as np
import pytest

from grouser import ParameterError, Simulation, World, load_machine
from grouser.physics.description import parse_machine
from grouser.physics.hydraulics.faults import machine_faults

ROOT = Path(__file__).resolve().parents[2]
MACHINES = Path(__file__).resolve().parents[1] / "data" / "machines"


@pytest.fixture(scope="module")
def machine():
    return load_machine(MACHINES / "load_sensing.urdf")


@pytest.fixture
def simulation(machine):
    return Simulation(machine, World(ground=None))


def names_of(faults, component):
    return [fault.name for fault in faults if fault.component == component]


def test_faults_of_each_component(machine):
    faults = machine_faults(machine)
    assert names_of(faults, "boom") == ["stuck_spool", "slow_spool"]
    assert names_of(faults, "main") == names_of(faults, "charge")[:1] == ["stop"]
    assert names_of(faults, "main_relief") == ["low_setting"]
    assert names_of(faults, "boom_hold") == ["low_holding_pressure"]
    assert names_of(faults, "swing_hose_a") == ["burst_hose"]
    assert names_of(faults, "boom.piston") == names_of(faults, "gallery") == ["burst"]
    offsets = ["sensor_offset_piston_side", "sensor_offset_rod_side"]
    assert names_of(faults, "boom_left") == ["worn_seal", *offsets]
    # valves, cylinders and motors may share their names; a single-acting cylinder has one sensor
    assert names_of(faults, "jack") == ["stuck_spool", "slow_spool", "worn_seal", offsets[0]]
    assert names_of(faults, "swing") == ["stuck_spool", "slow_spool", "worn_motor"]
    assert names_of(faults, "oil") == ["entrained_air"]
    assert not names_of(faults, "tank")


def test_fault_names_and_command_places_are_unique(machine):
    faults = machine_faults(machine)
    assert len({fault.full_name for fault in faults}) == len(faults)
    assert len({(fault.field, fault.place) for fault in faults}) == len(faults)
    for fault in faults:
        assert fault.lowest <= fault.healthy <= fault.highest
        assert fault.description.endswith("." if not fault.unit else f"[{fault.unit}].")


def test_a_machine_without_hydraulics_has_no_faults():
    text = '<robot name="stone"><link name="stone"><inertial><mass value="1"/>{}</inertial></link></robot>'
    machine = parse_machine(text.format('<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'), "stone.urdf")
    assert machine_faults(machine) == ()
    assert dict(Simulation(machine).faults) == {}


def test_every_fault_is_documented(machine):
    text = (ROOT / "docs" / "faults.md").read_text()
    for name in {fault.name for fault in machine_faults(machine)}:
        assert f"| `{name}" in text, name


def test_faults_are_set_read_and_cleared_by_the_view(simulation):
    faults = simulation.faults
    assert faults.active == {}
    faults["boom"]["stuck_spool"] = True
    faults["main_relief"]["low_setting"] = 3e6
    faults["boom_left"]["sensor_offset_rod_side"] = -2e5
    assert faults["boom"]["stuck_spool"] is True
    assert faults["main_relief"]["low_setting"] == 3e6
    assert faults["boom_right"]["sensor_offset_rod_side"] == 0.0
    assert faults.active == {
        ("boom", "stuck_spool"): True,
        ("main_relief", "low_setting"): 3e6,
        ("boom_left", "sensor_offset_rod_side"): -2e5,
    }
    assert set(faults) == {fault.component for fault in faults.catalogue}
    assert len(faults) == len(set(faults))
    assert {fault.full_name for fault in faults.catalogue} == {
        f"faults.{component}.{name}" for component, own in faults.items() for name in own
    }
    cleared = {"faults.boom.stuck_spool", "faults.main_relief.low_setting", "faults.boom_left.sensor_offset_rod_side"}
    assert set(faults.clear()) == cleared
    assert faults.active == {}
    assert faults["boom"]["stuck_spool"] is False


@pytest.mark.parametrize(
    "component, name, value, message",
    [
        ("boon", "stuck_spool", True, "did you mean 'boom'?"),
        ("boom", "stuck_spol", True, "did you mean 'stuck_spool'?"),
        ("boom", "stuck_spool", 2, "true or false"),
        ("boom", "stuck_spool", "yes", "true or false"),
        ("boom", "stuck_spool", math.nan, "true or false"),
        ("boom", "slow_spool", 1.0, r"a number from 0 to 0.99 \[-\]"),
        ("boom", "slow_spool", True, "a number from 0 to 0.99"),
        ("boom", "slow_spool", math.nan, "a number from 0 to 0.99"),
        ("boom", "slow_spool", "0.5", "a number from 0 to 0.99"),
        ("boom_left", "worn_seal", -1e-12, r"a number from 0 to 1e-09 \[m3/\(s Pa\)\]"),
        ("main_relief", "low_setting", 23.1e6, r"a number from 0 to 2.3e\+07 \[Pa\]"),
        ("swing_hose_a", "burst_hose", 1e-4, r"a number from 0 to 7.85398e-05 \[m2\]"),
        ("oil", "entrained_air", math.inf, "a number from 0 to 0.5"),
    ],
)
def test_an_invalid_fault_value_is_refused(simulation, component, name, value, message):
    with pytest.raises(ParameterError, match=message):
        simulation.faults[component][name] = value
    assert simulation.faults.active == {}


@pytest.mark.parametrize("value", [1, True, np.True_])
def test_boolean_fault_values_are_accepted_in_several_types(simulation, value):
    simulation.faults["boom"]["stuck_spool"] = value
    assert simulation.faults["boom"]["stuck_spool"] is True


def test_simulation_with_all_faults_stays_finite(simulation):
    """All faults at once at their greatest values: pressures stay finite and above the vapour pressure."""
    for fault in simulation.faults.catalogue:
        simulation.faults[fault.component][fault.name] = bool(fault.highest) if not fault.unit else fault.highest
    assert len(simulation.faults.active) == len(simulation.faults.catalogue)
    for valve in simulation.command.valves:
        simulation.command[valve] = 0.7
    simulation.step(500)
    assert min(simulation.circuit.line_pressure.values()) > 100.0
