"""Machines among grains: an excavator fills a box, a rover crosses pebbles, a trough conveys."""

from dataclasses import replace

import numpy as np
import pytest

import grouser
from grouser import catalogue
from grouser.function_blocks.reader import load_control_program
from grouser.program import CommandProgram, TimedCommand
from grouser.trials.playing import play


def thinned(name: str, **changes) -> grouser.World:
    """A world that comes along, with other grains in its first fill."""
    world = grouser.load_world(name)
    first, *others = world.granular.fills
    media = replace(world.granular, fills=(replace(first, **changes), *others))
    return replace(world, granular=media)


def test_excavator_scoops_gravel_into_a_box():
    """Once through its program for digging, with lumps of 0.1 m."""
    world = thinned("gravel_pit", radius=(0.045, 0.055), count=250)
    simulation = grouser.Simulation(grouser.load_machine("excavator"), world)
    mass = simulation.grains.mass.sum()
    program = load_control_program(catalogue.program_file("excavator_digging"))
    play(simulation, program, 17_500)
    place = simulation.grains.position
    inside = (np.abs(place[:, :2] - [0.8, 1.6]) < 0.5).all(axis=1) & (place[:, 2] < 0.5)
    assert inside.sum() >= 5
    assert simulation.bucket_load("bucket").mass < 0.2 * simulation.grains.mass[inside].sum()
    assert simulation.grains.mass.sum() == pytest.approx(mass, rel=1e-12)
    assert place[:, 2].min() > 0.0
    balance = simulation.energy_balance()
    assert balance.actuator_work["grains on bucket_body"] < 0.0
    assert abs(balance.residual) < 0.01 * sum(map(abs, balance.actuator_work.values()))


def test_rover_crosses_pebbles():
    world = thinned("pebbles", count=250)
    simulation = grouser.Simulation(grouser.load_machine("rover"), world)
    before = simulation.grains.position
    program = CommandProgram([TimedCommand(0.0, "twist.x", 0.4, 0.5, "twist")])
    play(simulation, program, 9000)
    after = simulation.grains.position
    assert simulation.base_pose()[0][0] > 2.5
    assert (np.linalg.norm(after - before, axis=1) > 0.01).sum() > 10
    assert (after[:, 2] > 0.9 * simulation.grains.radius).all()


def test_trough_conveys_at_the_speed_of_a_block():
    """Stones that roll little travel at about the speed of a block on a trough of the same motion: 0.52 a omega."""
    world = thinned("vibrating_trough", count=40)
    world = replace(world, granular=replace(world.granular, emitters=()))
    simulation = grouser.Simulation(grouser.load_machine("rover"), world)
    simulation.step(1000)
    start = simulation.grains.position[:, 0]
    simulation.step(3000)
    speed = (simulation.grains.position[:, 0] - start).mean() / 3.0
    rigid = 0.52 * 1.19e-3 * 2.0 * np.pi * 25.0
    assert 0.5 * rigid < speed < 1.5 * rigid
