"""What `grouser inspect` shows of tracks and of wheels on soil."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.track import BeltPath, Track
from grouser.physics.description.urdf.placement import initial_positions, link_poses, subtree_masses
from grouser.text_table import table

# Gravity of the ground pressure [m/s2].
_GRAVITY = 9.81
# The lowest run of a belt is as straight as this: height over length [-].
_LEVEL = 0.02


def running_gear_facts(machine: Machine) -> dict[str, list[dict[str, Any]]]:
    """Tracks and wheels, in the types of JSON.

    The ground pressure is that of the whole weight in a gravity of 9.81 m/s2, even under all tracks; of a machine that
    also has wheels it is not known.
    """
    area = sum(_contact_length(track.path) * track.width for track in machine.tracks)
    weight = _GRAVITY * subtree_masses(machine, link_poses(machine, initial_positions(machine)))[machine.root].mass
    alone = machine.floating_base and not machine.wheels and area > 0.0
    return {
        "tracks": [_track_facts(machine, track, weight / area if alone else None) for track in machine.tracks],
        "wheels": [
            {
                "link": wheel.link,
                "radius": wheel.radius,
                "width": wheel.width,
                "grousers": wheel.grousers,
                "grouser_height": wheel.grouser_height,
                "level": wheel.level,
                "steering": wheel.steering or None,
                "drive": _drive(machine, _joint_of(machine, wheel.link)),
            }
            for wheel in machine.wheels
        ],
    }


def _track_facts(machine: Machine, track: Track, pressure: float | None) -> dict[str, Any]:
    return {
        "name": track.name,
        "sprocket": track.sprocket,
        "drive": _drive(machine, track.sprocket),
        "belt_length": track.path.total,
        "shoes": track.shoes,
        "pitch": track.pitch,
        "width": track.width,
        "wheels": 1 + sum(wheel.track == track.name for wheel in machine.track_wheels),
        "ground_contact_length": _contact_length(track.path),
        "mean_ground_pressure": pressure,
        "pretension": track.pretension,
        "mass": track.mass,
    }


def _contact_length(path: BeltPath) -> float:
    """Length of the level spans at the belt's lowest height; 0 where the belt is round there [m]."""
    level = [k for k, radius in enumerate(path.radius) if radius == 0.0 and abs(path.direction[k][1]) < _LEVEL]
    if not level:
        return 0.0
    lowest = min(path.point[k][1] for k in level)
    return float(sum(path.length[k] for k in level if path.point[k][1] <= lowest + _LEVEL * path.total))


def _joint_of(machine: Machine, link: str) -> str:
    """The joint that holds a link; "" for the root."""
    return next((joint.name for joint in machine.joints if joint.child == link), "")


def _drive(machine: Machine, joint: str) -> str | None:
    """What turns a joint: the mode of its servo drive, or its hydraulic motors; None for nothing."""
    modes = [f"servo, {drive.mode}" for drive in machine.drives if drive.joint == joint]
    motors = [f"hydraulic motor '{motor.name}'" for motor in machine.hydraulic_motors if motor.joint == joint]
    return ", ".join([*modes, *motors]) or None


def running_gear_lines(facts: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """Tables of the tracks and wheels in `running_gear_facts`; nothing without any."""
    if facts["tracks"]:
        yield from ("", "tracks")
        headings = ("track", "drive", "belt [m]", "shoes", "pitch [m]", "width [m]", "wheels", "on ground [m]")
        rows = [
            (
                track["name"],
                track["drive"] or "none",
                f"{track['belt_length']:.3f}",
                str(track["shoes"]),
                f"{track['pitch']:.4f}",
                f"{track['width']:g}",
                str(track["wheels"]),
                f"{track['ground_contact_length']:.3f}",
                "-" if track["mean_ground_pressure"] is None else f"{1e-3 * track['mean_ground_pressure']:.3g}",
            )
            for track in facts["tracks"]
        ]
        yield from table((*headings, "pressure [kPa]"), rows)
    if facts["wheels"]:
        yield from ("", "wheels on soil")
        yield from table(
            ("link", "drive", "radius [m]", "width [m]", "grousers", "steered by"),
            [
                (
                    wheel["link"],
                    wheel["drive"] or "none",
                    f"{wheel['radius']:g}",
                    f"{wheel['width']:g}",
                    f"{wheel['grousers']} of {1e3 * wheel['grouser_height']:g} mm" if wheel["grousers"] else "none",
                    wheel["steering"] or "-",
                )
                for wheel in facts["wheels"]
            ],
        )
