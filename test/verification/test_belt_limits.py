"""Belts past their limits: they jump over teeth of the sprocket, or are thrown off their wheels."""

import math

import pytest
from tracked_vehicle import RADIUS, tracked_vehicle

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground
from grouser.runtime.belt_watch import BeltWatch

SPEED = 0.3


def driven(left=SPEED, right=SPEED, seconds=3.0, world=None, **values):
    """A simulation that has driven for a while, and its warnings."""
    machine = tracked_vehicle(pretension=2e4, shear=5e-3, **values)
    simulation, told = Simulation(machine, world or World()), []
    watch = BeltWatch(simulation, machine.tracks, told.append)
    simulation.step(500)
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = left / RADIUS, right / RADIUS
    for _ in range(int(seconds / 0.05)):
        simulation.step(50)
        watch.look()
    return simulation, told


def test_belt_that_jumps_loses_a_tooth_of_travel_each_time_and_says_so():
    """A pivot turn takes more tension than the teeth hold."""
    simulation, told = driven(-SPEED, SPEED, track='jump_tension="22500"')
    track = simulation.track["right"]
    assert track.jumped_teeth > 0.0
    assert not track.thrown
    pitch = simulation.machine.tracks[1].pitch
    lost = abs(simulation.state.tracks.travel[1])
    assert (track.jumped_teeth - 1.0) * pitch <= lost <= (track.jumped_teeth + 0.1) * pitch
    assert any("the belt of track 'right' has jumped over" in text for text in told)


def test_belt_within_its_limits_neither_jumps_nor_is_thrown():
    limited, told = driven(track='jump_tension="45000" throw_force="60000"')
    free, _ = driven()
    assert told == []
    assert limited.state.q.tobytes() == free.state.q.tobytes()


def test_thrown_belt_drives_no_more_and_still_does_not_slide_sideways():
    """Across a slope of 25 degrees the ground holds each track from the side."""
    slope, weight = math.radians(25.0), 20e3
    world = World(
        ground=Ground(normal=(0.0, -math.sin(slope), math.cos(slope))),
        spawn=Pose((0.0, 0.0, 0.0), (math.sin(0.5 * slope), 0.0, 0.0, math.cos(0.5 * slope))),
    )
    limit = 0.5 * weight * math.sin(slope)
    for share, thrown in ((1.6, False), (0.7, True)):
        simulation, told = driven(world=world, weight=weight, track=f'throw_force="{share * limit}"')
        assert [track.thrown for track in simulation.track.values()] == [thrown, thrown]
        assert sum("is thrown" in text for text in told) == (2 if thrown else 0)
        before = simulation.link_pose("base")[0]
        simulation.step(1000)
        ahead, aside, _ = simulation.link_pose("base")[0] - before
        assert abs(aside) < 0.05
        if thrown:
            assert abs(ahead) < 1e-2
            assert simulation.track["left"].thrust == pytest.approx(0.0, abs=20.0)
            simulation.reset()
            assert not simulation.track["left"].thrown
        else:
            assert ahead == pytest.approx(SPEED, rel=0.1)
