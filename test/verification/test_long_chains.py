"""Chains whose mass matrix is factorised by recursion move as with its entries, and keep energy and momentum."""

import functools

import numpy as np
import pytest
from momentum import momentum_of

from grouser import Simulation, World
from grouser.physics.model.build import build_model
from grouser.physics.simulation import building

EARTH, SPACE = World(ground=None), World(gravity=(0.0, 0.0, 0.0), ground=None)


def chain(parts, links, kind="continuous", floating=False, height=0.0, inside="", shape=lambda k: None, extension=""):
    """Rods of 0.2 m in a row, hinged in turn about x and about y; the first is free or hinged to the world.

    `shape` gives the text of the shape of rod k, or None.
    """
    text = [] if floating else ['<link name="world"/>']
    for k in range(links):
        text.append(parts.link(f"rod_{k}", 0.3, (1.2e-3, 1.1e-3, 2e-5), shape(k), com=(0, 0, -0.1)))
        if k or not floating:
            at, axis = (0, 0, -0.2 if k else height), (0, 1, 0) if k % 2 else (1, 0, 0)
            parent = f"rod_{k - 1}" if k else "world"
            text.append(parts.joint(f"pin_{k}", kind, parent, f"rod_{k}", axis, at, inside))
    return parts.machine(*text, extension=extension)


def pair(monkeypatch, machine, world, **settings):
    """The machine with its mass matrix factorised by recursion, and with the entries of the matrix."""
    ours = Simulation(machine, world, **settings)
    with monkeypatch.context() as patch:
        patch.setattr(building, "build_model", functools.partial(build_model, longest_with_entries=10**6))
        return ours, Simulation(machine, world, **settings)


@pytest.mark.parametrize(
    ("integrator", "tolerance"), [("semi_implicit", 1e-10), ("implicit_midpoint", 1e-10), ("variational", 1e-9)]
)
@pytest.mark.parametrize("floating", [False, True], ids=["hanging", "floating"])
def test_smooth_chains_move_as_with_entries(parts, monkeypatch, floating, integrator, tolerance):
    """Inertias are taken about the origin, 40 lengths from the last rod, and round to 1e-13 of those of the rods.

    The variational integrator resolves positions to 1e-15, its rates to 1e-12 in each of 60 steps of a millisecond.
    """
    machine = chain(parts, 40, floating=floating, inside='<dynamics damping="0.01"/>')
    simulations = pair(monkeypatch, machine, EARTH, integrator=integrator)
    rates = np.random.default_rng(8).uniform(-0.5, 0.5, len(simulations[0].state.v))
    for simulation in simulations:
        simulation.state.v[:] = rates
        simulation.step(60)
    ours, theirs = (simulation.state.v for simulation in simulations)
    assert np.abs(theirs - rates).max() > 0.1
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=tolerance * np.abs(theirs).max())


DRIVES = "".join(
    f'<servo_drive joint="pin_{k}" mode="position" stiffness="40" damping="0.8" effort_limit="{limit}"/>'
    f'<joint_friction joint="pin_{k + 1}" static="{static}" kinetic="{0.6 * static}"/>'
    f'<compliant_joint joint="pin_{k + 2}" axial_stiffness="15" axial_damping="0.02"/>'
    for k, limit, static in zip(range(3, 30, 5), (50, 1, 50, 2, 50, 3), (0.01, 20, 0.02, 20, 0.05, 0.1), strict=True)
)


def test_driven_chains_on_the_ground_move_as_with_entries(parts, monkeypatch):
    """Drives within and beyond their limits, joints that stick and slide, springs, and contacts.

    Five rods touch: more contacts would be redundant, and rounding would decide how they share the load.
    """
    machine = chain(
        *(parts, 34, "revolute"),
        height=0.03,
        shape=lambda k: '<sphere radius="0.04"/>' if k % 7 == 3 else None,
        extension=f'<initial_position joint="pin_0" position="1.5707963"/>{DRIVES}',
    )
    simulations = pair(monkeypatch, machine, World(), tolerance=1e-13, most_sweeps=1000)
    touching = []
    for simulation in simulations:
        for step in range(60):
            simulation.command["pin_3"] = simulation.command["pin_8"] = 0.01 * step
            simulation.step()
        touching.append(len(simulation.contacts()))
    ours, theirs = (simulation.state for simulation in simulations)
    assert touching == [5, 5]
    np.testing.assert_allclose(ours.v, theirs.v, rtol=0.0, atol=1e-9 * np.abs(theirs.v).max())


def test_a_fast_chain_in_space_keeps_energy_and_momentum_as_with_entries(parts, monkeypatch):
    """Rods turn by more than 0.01 rad in a step: the velocity products are iterated."""
    simulations = pair(monkeypatch, chain(parts, 60, floating=True), SPACE)
    rates = np.random.default_rng(4).uniform(-3.0, 3.0, len(simulations[0].state.v))
    energies = []
    for simulation in simulations:
        simulation.state.v[:] = rates
        start, energy = momentum_of(simulation)[:3], simulation.energy().kinetic
        simulation.step(100)
        assert momentum_of(simulation)[:3] == pytest.approx(start, rel=1e-11)
        energies.append(simulation.energy().kinetic / energy - 1.0)
    # the step exchanges half a per cent of the energy, both ways alike
    assert energies[0] == pytest.approx(energies[1], abs=1e-9)
    ours, theirs = (simulation.state.v for simulation in simulations)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-9 * np.abs(theirs).max())
