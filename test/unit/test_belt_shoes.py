"""Shoes as pictures show them, against the pads and the paths of the physics."""

import math

import numpy as np
import pytest
from shipped import shipped_machine
from sprung_track import arm, sprung_track

from grouser import Simulation, World
from grouser.physics.base.spatial import matrix
from grouser.physics.description.data.pose import Pose
from grouser.physics.tracks.belts import most_pads
from grouser.physics.tracks.pads import PADS
from grouser.physics.tracks.shoes import AHEAD, AREA, FACE_AHEAD, FACE_UP, UP, place_pads
from grouser.runtime.belt_shoes import BeltShoes, lay_around


def pads_of_shoes(simulation, t, position):
    """Middle of the face and normal out of each shoe that lies on one segment, by the physics; NaN for others."""
    tracks = simulation.arrays.context.system.tracks
    pads = np.zeros((most_pads(tracks, t), AREA + 1))
    count = place_pads(simulation._engine.packed.tracks, t, position, pads)
    whole, found, row = tracks.pitch[t] * tracks.width[t], [], 0
    while row < count:
        parts = []
        while not parts or sum(parts) < whole * (1.0 - 1e-9):
            parts.append(pads[row : row + PADS, AREA].sum())
            row += PADS
        one = pads[row - PADS] if len(parts) == 1 else np.full(AREA + 1, np.nan)
        found.append([one[AHEAD], one[UP], -one[FACE_AHEAD], -one[FACE_UP]])
    return np.array(found)


@pytest.mark.parametrize("name", ["demolition_robot", "excavator", "tracked_testbed"])
def test_shoes_are_where_the_pads_of_the_physics_are(name):
    machine = shipped_machine(name)
    simulation = Simulation(machine, World())
    for t, track in enumerate(machine.tracks):
        shoes = BeltShoes(machine, track)
        for position in (0.0, 0.3, -17.3, 4321.0):
            places, quaternions = shoes.poses(position, Pose(), {})
            assert np.linalg.norm(quaternions, axis=1) == pytest.approx(np.ones(track.shoes))
            turns = np.array([matrix(quaternion) for quaternion in quaternions])
            faces = places + track.thickness * turns[:, :, 2]
            expected = pads_of_shoes(simulation, t, position)
            whole = np.isfinite(expected[:, 0])
            assert len(expected) == track.shoes and np.count_nonzero(whole) > track.shoes // 2
            plane = (faces - track.origin) @ track.frame
            # a chord of the tightest arc is this far inside of it
            within = track.radius * (1.0 - math.cos(0.5 * track.pitch / track.radius)) + 1e-9
            assert plane[:, 1] == pytest.approx(np.zeros(track.shoes), abs=1e-12)
            assert np.abs(plane[:, [0, 2]] - expected[:, :2])[whole].max() < within
            assert (turns[:, :, 2] @ track.frame)[whole][:, [0, 2]] == pytest.approx(expected[whole, 2:], abs=1e-9)


def test_belt_follows_its_sprung_wheels():
    """Wheels out of line: the path is that of the physics, bends inward included."""
    arms = [arm(f"road_{k}", at, 1.2e4, 600.0) for k, at in enumerate((-0.45, -0.15, 0.15, 0.45))]
    turns = {"road_0_pivot": 0.2, "road_1_pivot": 0.5, "road_3_pivot": -0.1}
    rows = "".join(f'<initial_position joint="{joint}" position="{turn}"/>' for joint, turn in turns.items())
    machine = sprung_track(
        "".join(one[0] for one in arms), "".join(one[1] for one in arms) + rows, base="held", track='mass="20"'
    )
    simulation = Simulation(machine, World(), spawn="as_given")
    shoes = BeltShoes(machine, machine.tracks[0])
    assert set(shoes.wheel_links) == {f"road_{k}" for k in range(4)}
    poses = {link.name: Pose(*map(tuple, simulation.link_pose(link.name))) for link in machine.links}
    simulation.step(1)
    path = simulation.arrays.context.workspace.tracks.path
    laid = shoes._laid(poses["hull"], poses)
    for ours, theirs in zip(laid, (path.start, path.length, path.point, path.direction, path.radius), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-9)
    assert path.start[-1] + path.length[-1] != pytest.approx(machine.tracks[0].path.total, abs=1e-3)
    places, _ = shoes.poses(2.0, poses["hull"], poses)
    # the shoes divide the path that the wheels have lengthened, each a chord of it
    gaps = np.linalg.norm(np.roll(places, -1, axis=0) - places, axis=1)
    assert gaps.max() < (path.start[-1] + path.length[-1]) / machine.tracks[0].shoes + 1e-9
    assert gaps.min() > 0.9 * gaps.max()


def test_belt_around_fixed_wheels_is_the_belt_of_the_description():
    for name in ("demolition_robot", "excavator"):
        machine = shipped_machine(name)
        for track in machine.tracks:
            shoes = BeltShoes(machine, track)
            assert shoes.wheel_links == ()
            start, length, *_ = lay_around(shoes._centre, shoes._radii, track.path.sag)
            assert start[-1] + length[-1] == pytest.approx(track.path.total, rel=1e-12)


def test_path_of_any_plane_and_sense_turns_with_its_sprocket():
    """A quarter of a pitch of travel moves a shoe on a straight run by that, ahead on the upper run."""
    machine = shipped_machine("excavator")
    for track in machine.tracks:
        shoes, way = BeltShoes(machine, track), 0.25 * track.pitch
        before, _ = shoes.poses(0.0, Pose(), {})
        after, _ = shoes.poses(track.sense * way / track.radius, Pose(), {})
        moved = (after - before) @ track.frame
        upper = np.argmax(before @ track.frame[:, 2])
        lower = np.argmin(before @ track.frame[:, 2])
        assert moved[upper, 0] == pytest.approx(way, rel=1e-2)
        assert moved[lower, 0] == pytest.approx(-way, rel=1e-2)
