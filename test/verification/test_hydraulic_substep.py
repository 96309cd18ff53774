"""A sub-step that starts where the last one did uses its flows again, and gives the same bits."""

import numpy as np
import pytest
from hydraulic_rig import Rig, cylinder

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.hydraulics import Orifice, Pump, ReliefValve
from grouser.physics.hydraulics.substep import advance_once


def rig():
    """A fixed pump with a relief valve that drives a cylinder through orifices."""
    one = Rig(
        Pump("pump", outlet="supply", inlet="tank", displacement=2e-6, speed=150.0, control="fixed"),
        ReliefValve("relief", inlet="supply", outlet="tank", pressure=1.2e7, rated_flow=5e-4, rated_rise=1e6),
        Orifice("in", "supply", "a", 1.1e-3),
        Orifice("out", "b", "tank", 0.9e-3),
        cylinder(viscous_friction=1500.0, dry_friction=120.0),
        pressures={"supply": 1.24e7, "a": 6e6, "b": 2e6},
        force=-700.0,
    )
    one.now.position[:], one.now.velocity[:] = 0.21, 0.13
    return one


def sub_step(one, same_start, length, trial):
    """One sub-step of a state of the rig; the state and the accounts after it."""
    for target, source in zip(getattr(one.workspace, trial), one.now, strict=True):
        target[...] = source
    for account in one.workspace.halves_accounts:
        account[...] = 0.0
    workspace = Packed(one.workspace)
    advance_once(
        *(Packed(one.network), 0, length, False, same_start),
        *(getattr(workspace, trial), workspace, workspace.halves_accounts),
    )
    return [np.array(values) for values in (*getattr(one.workspace, trial), *one.workspace.halves_accounts)]


@pytest.mark.parametrize("length", [4e-4, 1.5e-3])
def test_flows_of_the_same_start_are_used_again(length):
    again, anew = rig(), rig()
    whole = sub_step(again, False, length, "whole")
    halves = sub_step(again, True, 0.5 * length, "halves")
    expected = sub_step(anew, False, 0.5 * length, "halves")
    for ours, theirs in zip(halves, expected, strict=True):
        assert np.array_equal(ours, theirs)
    assert not np.array_equal(whole[1], halves[1])
    # another start has other flows
    again.set_pressures({"supply": 1.1e7})
    wrong, right = (sub_step(again, same, 0.5 * length, "halves") for same in (True, False))
    assert not np.array_equal(wrong[1], right[1])
