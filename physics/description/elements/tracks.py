"""Tracks: the belt closes around its wheels, and its shoes divide it."""

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from grouser.physics.description.data.mechanism import Collision, Joint, Mimic
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.data.track import BeltPath, Track, TrackWheel
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    link,
    name_of,
    non_negative,
    positive,
)
from grouser.physics.description.table.family import Entry, Extension, Family, Scope
from grouser.physics.description.table.requirements import require_independent, require_steers
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.belt_path import lay_belt
from grouser.physics.description.urdf.robot import Robot

SHOES_MIN, SHOES_MAX = 8, 400
# Belts may be longer than their path by this share: more hangs down between the wheels.
SLACK_MAX = 0.03
# Sine of the largest angle between axes that count as parallel: files have few digits.
_SAME_AXIS = 1e-3
_TURNING = ("continuous", "revolute")
# Deepest sag of a span as a share of its length: beyond, the parabola is no longer what a belt hangs in.
SAG_MAX = 1.0 / 16.0
# For the weight of belts as they are laid [m/s2].
_GRAVITY = 9.80665


@dataclass(frozen=True)
class WrittenTrack:
    """A `Track` as written; None for defaults that depend on other values."""

    name: str
    sprocket: str
    radius: float
    width: float
    shoes: int
    pitch: float | None
    thickness: float
    offset: float
    ahead: Vector3
    grouser_height: float
    mass: float
    friction: float
    pretension: float
    tensioner: str | None
    tension_stiffness: float
    jump_tension: float
    throw_force: float
    stiffness: float
    damping: float
    shear_displacement_modulus: float
    steering: str | None


TRACK = ElementKind(
    "track",
    "A track: a belt of shoes around a sprocket and at least one `<track_wheel>`. The link that carries the sprocket "
    "gets the belt as a collision shape; its `<contact>` gives the friction of the shoes on rigid ground and on other "
    "solids. Wheels held by a continuous or revolute joint turn with the belt.",
    (
        name_of("of the track"),
        Attribute(
            "sprocket",
            Kind.JOINT,
            "-",
            "continuous or revolute joint that drives the belt; a positive turn rolls the machine ahead where its axis "
            "points to the left of `ahead`, and back where it points to the right",
            required=True,
        ),
        positive("radius", "m", "of the sprocket, to the belt's pitch line"),
        positive("width", "m", "of the shoes"),
        Attribute("shoes", Kind.COUNT, "-", "number of shoes", required=True, minimum=SHOES_MIN, maximum=SHOES_MAX),
        positive(
            "pitch",
            "m",
            f"length of a shoe along the belt; the belt may be longer than its path by {100 * SLACK_MAX:g} %",
            default_text="that at which the belt fits",
        ),
        non_negative("thickness", "m", "from the pitch line to the faces of the shoes", default=0.0),
        Attribute(
            "offset", Kind.NUMBER, "m", "middle of the belt from the sprocket's link, along its axis", default=0.0
        ),
        Attribute(
            "ahead",
            Kind.DIRECTION,
            "-",
            "direction ahead in the frame of the link that carries the sprocket; made normal to the sprocket's axis",
            default=(1.0, 0.0, 0.0),
        ),
        non_negative("grouser_height", "m", "of the bars across the shoes' faces, for the thrust on soil", default=0.0),
        non_negative(
            "mass",
            "kg",
            "of the belt, which turns with the sprocket, and hangs down on its upper run; part of the link's own",
            default=0.0,
        ),
        non_negative(
            "friction",
            "N",
            "force along the belt that its pins and wheels take to turn: dry friction about the sprocket, beside that "
            "of its joint",
            default=0.0,
        ),
        positive("pretension", "N", "of the belt at rest"),
        Attribute(
            "tensioner",
            Kind.LINK,
            "-",
            "wheel of this track at which a tensioner keeps the pretension, however the sprocket pulls",
            default_text="none: the mean over the belt stays",
        ),
        non_negative(
            "tension_stiffness",
            "N/m",
            "by how much the tension rises as wheels on suspensions lengthen the belt's path: of tensioner and belt",
            default=0.0,
        ),
        positive(
            "jump_tension",
            "N",
            "greatest tension at the sprocket that its teeth hold: beyond it the belt jumps over one",
            default=math.inf,
        ),
        positive(
            "throw_force",
            "N",
            "greatest force of the ground from the side under which the belt stays on its wheels",
            default=math.inf,
        ),
        positive("stiffness", "N/m3", "of the pads on rigid ground, per area", default=1e8),
        non_negative("damping", "N s/m3", "of the pads on rigid ground, per area", default=1e6),
        positive("shear_displacement_modulus", "m", "K of the friction of the pads on rigid ground", default=5e-3),
        Attribute(
            "steering",
            Kind.JOINT,
            "-",
            "joint above the link that carries the sprocket, which steers the track: that of an arm, a leg or a "
            "turntable; revolute or continuous, without mimic",
            default_text="none",
        ),
    ),
    WrittenTrack,
    field="tracks",
    unique="name",
)
TRACK_WHEEL = ElementKind(
    "track_wheel",
    "A wheel that a belt runs around: an idler, a road wheel or a return roller. The belt is the shortest one around "
    "all of its wheels; a wheel within it touches nothing.",
    (
        name_of("name of the track", "track"),
        link(
            "that is the wheel. Its axle, a fixed, continuous or revolute joint, is on the link that carries the "
            "sprocket, or on a suspension: between the two links there may be fixed joints, continuous and revolute "
            "ones about axes parallel to the sprocket's, and prismatic ones across it"
        ),
        positive("radius", "m", "to the belt's pitch line"),
    ),
    TrackWheel,
    field="track_wheels",
    unique="link",
)


def with_belts(robot: Robot, extension: Extension, _warnings: list[str]) -> Robot:
    """Gives the carrying links their belts as collision shapes, and lets the wheels turn with the belts.

    Raises:
        MachineError: a belt does not fit its wheels.
    """
    _check_owners(extension)
    joints = {joint.name: joint for joint in robot.joints}
    above = {joint.child: joint for joint in robot.joints}
    shapes: dict[str, list[Collision]] = {}
    for entry in extension["tracks"]:
        track, sprocket = entry.value, joints[entry.value.sprocket]
        wheels = _wheels_of(extension, track.name)
        path, frame, place = _lay(entry, wheels, joints, above)
        shapes.setdefault(sprocket.parent, []).append(_belt_shape(track, path, frame, place))
        for wheel in wheels:
            held = above[wheel.value.link]
            if held.type in _TURNING and held.mimic is None:
                way = math.copysign(1.0, float(_axle(wheel, sprocket, above) @ _axis_of(sprocket)))
                joints[held.name] = replace(held, mimic=Mimic(sprocket.name, way * track.radius / wheel.value.radius))
    links = tuple(
        replace(link, collisions=(*link.collisions, *shapes[link.name])) if link.name in shapes else link
        for link in robot.links
    )
    return replace(robot, links=links, joints=tuple(joints[joint.name] for joint in robot.joints))


def complete_track(entry: Entry, scope: Scope) -> Track:
    """The track with its path, and the pitch at which its belt fits.

    Raises:
        MachineError: the belt does not fit its wheels.
    """
    written = entry.value
    above = {joint.child: joint for joint in scope.joints.values()}
    path, frame, place = _lay(entry, _wheels_of(scope.extension, written.name), scope.joints, above)
    _check_tensioner(entry, scope)
    if written.steering is not None:
        carrier = scope.joints[written.sprocket].parent
        require_steers(entry.element, scope.joints[written.steering], carrier, above)
    values = vars(written) | {
        "ahead": tuple(frame[:, 0].tolist()),
        "left": tuple(frame[:, 1].tolist()),
        "sense": math.copysign(1.0, float(frame[:, 1] @ _axis_of(scope.joints[written.sprocket]))),
        "origin": tuple(place.tolist()),
        "pitch": written.pitch or path.total / written.shoes,
        "steering": written.steering or "",
    }
    return Track(path=path, **values)


def _check_owners(extension: Extension) -> None:
    names = {entry.value.name for entry in extension["tracks"]}
    for entry in extension["track_wheels"]:
        if entry.value.track not in names:
            known = ", ".join(f"'{name}'" for name in sorted(names)) or "none"
            raise entry.element.error(f"track = '{entry.value.track}' is no <track>; there are: {known}")


def _wheels_of(extension: Extension, track: str) -> list[Entry]:
    return [entry for entry in extension["track_wheels"] if entry.value.track == track]


def _lay(entry: Entry, wheels: Collection[Entry], joints, above) -> tuple[BeltPath, np.ndarray, np.ndarray]:
    """The path of a belt, and axes and origin of its plane in the frame of the link that carries it.

    Returns:
        The path; ahead, left (the sprocket's axis) and up as columns, (3, 3); origin [m], (3,).
    """
    track, element = entry.value, entry.element
    sprocket = joints[track.sprocket]
    require_independent(element, sprocket)
    if sprocket.type not in _TURNING:
        raise element.error(f"sprocket = '{sprocket.name}' is {sprocket.type}", f"name a {' or '.join(_TURNING)} joint")
    if not wheels:
        raise element.error(f"track '{track.name}' has a sprocket and no other wheel", "add a <track_wheel>")
    axis = _axis_of(sprocket)
    ahead = np.array(track.ahead) - (np.array(track.ahead) @ axis) * axis
    if np.linalg.norm(ahead) < _SAME_AXIS:
        raise element.error("ahead is parallel to the sprocket's axis", "give a direction across it")
    ahead /= np.linalg.norm(ahead)
    # up is up in the link's frame, whichever way the axis points
    left = -axis if np.cross(ahead, axis)[2] < 0.0 else axis
    frame = np.column_stack([ahead, left, np.cross(ahead, left)])
    place = np.array(sprocket.pose.position)
    centres, radii, names = [np.zeros(2)], [track.radius], [f"sprocket '{sprocket.name}'"]
    for wheel in wheels:
        away = frame.T @ (_wheel_place(wheel, sprocket, above) - place)
        centres.append(away[[0, 2]])
        radii.append(wheel.value.radius)
        names.append(f"wheel '{wheel.value.link}'")
    for one, other in itertools.combinations(range(len(names)), 2):
        distance = float(np.hypot(*(centres[one] - centres[other])))
        if distance < radii[one] + radii[other]:
            raise element.error(
                f"{names[one]} and {names[other]} overlap: their axes are {distance:.4g} m apart, and their radii "
                f"{radii[one]:g} and {radii[other]:g} m"
            )
    path = _lay_hanging(entry, np.array(centres), np.array(radii))
    _check_touched(wheels, path, sprocket, above)
    _check_length(element, track, path)
    return path, frame, place + track.offset * axis


def _lay_hanging(entry: Entry, centres: np.ndarray, radii: np.ndarray) -> BeltPath:
    """The belt as it hangs between its wheels by its weight and pretension."""
    track = entry.value
    straight = lay_belt(centres, radii, track.thickness)
    sag = track.mass * _GRAVITY / (straight.total * track.pretension)
    upper = (straight.radius == 0.0) & (straight.direction[:, 0] > 0.0)
    longest = float(np.max((straight.length * straight.direction[:, 0])[upper], initial=0.0))
    if sag * longest > 8.0 * SAG_MAX:
        raise entry.element.error(
            f"under a pretension of {track.pretension:g} N the belt of {track.mass:g} kg hangs down by "
            f"{sag * longest**2 / 8.0:.4g} m between wheels {longest:.4g} m apart, by more than a sixteenth",
            f"a pretension of {track.pretension * sag * longest / (8.0 * SAG_MAX):.4g} N holds it, or a return roller",
        )
    return lay_belt(centres, radii, track.thickness, sag)


def _check_touched(wheels: Collection[Entry], path: BeltPath, sprocket: Joint, above: Mapping[str, Joint]) -> None:
    """Requires that the belt touches the wheels that move at the zero of their joints: it follows no others."""
    touched = set(path.wheel.ravel().tolist())
    for number, wheel in enumerate(wheels, 1):
        if number not in touched and is_sprung(_chain_of(wheel, sprocket, above)):
            raise wheel.element.error(
                f"link '{wheel.value.link}' moves on its suspension, and the belt does not touch it where its joints "
                "are at zero",
                "move it out to the belt, or hold it by a fixed joint",
            )


def _check_tensioner(entry: Entry, scope: Scope) -> None:
    track = entry.value
    wheels = [wheel.value.link for wheel in _wheels_of(scope.extension, track.name)]
    if track.tensioner is not None and track.tensioner not in wheels:
        known = ", ".join(f"'{name}'" for name in wheels)
        raise entry.element.error(f"tensioner = '{track.tensioner}' is no wheel of this track; there are: {known}")


def _check_length(element: Element, track: WrittenTrack, path: BeltPath) -> None:
    if track.pitch is None:
        return
    belt, fits = track.shoes * track.pitch, path.total / track.shoes
    if not path.total * (1.0 - 1e-6) <= belt <= (1.0 + SLACK_MAX) * path.total:
        raise element.error(
            f"{track.shoes} shoes of {track.pitch:g} m make a belt of {belt:.4g} m, and the path around its "
            f"wheels is {path.total:.4g} m long",
            f"a pitch of {fits:.6g} m fits, up to {(1.0 + SLACK_MAX) * fits:.6g} m it hangs down between the wheels; "
            "or leave pitch out",
        )


def is_sprung(chain: Collection[Joint]) -> bool:
    """Whether a wheel moves on the link that carries the sprocket: its axle comes first in the chain of its joints."""
    return any(joint.type != "fixed" for joint in list(chain)[1:])


def _chain_of(wheel: Entry, sprocket: Joint, above: Mapping[str, Joint]) -> list[Joint]:
    """Joints from a wheel's axle to the link that carries the sprocket.

    Raises:
        MachineError: they do not lead there, or they move the wheel out of the track's plane.
    """
    element, chain = wheel.element, [above.get(wheel.value.link)]
    while chain[-1] is not None and chain[-1].parent != sprocket.parent:
        chain.append(above.get(chain[-1].parent))
    joints = [joint for joint in chain if joint is not None]
    if len(joints) < len(chain) or joints[0].type not in (*_TURNING, "fixed"):
        raise element.error(
            f"link '{wheel.value.link}' is not held to link '{sprocket.parent}', which carries the sprocket",
            f"its axle is a fixed, {' or '.join(_TURNING)} joint, on that link or on a suspension that it carries",
        )
    axis, turn = _axis_of(sprocket), Pose()
    for joint in reversed(joints):
        turn = compose(turn, joint.pose)
        along = abs(float(np.dot(rotate(turn.quaternion, joint.axis), axis)))
        if joint.type in _TURNING and along < math.sqrt(1.0 - _SAME_AXIS**2):
            raise element.error(f"the axis of joint '{joint.name}' is not parallel to that of '{sprocket.name}'")
        if joint.type == "prismatic" and along > _SAME_AXIS:
            raise element.error(f"the axis of joint '{joint.name}' is not across that of '{sprocket.name}'")
        if joint.type not in (*_TURNING, "prismatic", "fixed"):
            raise element.error(
                f"joint '{joint.name}' is {joint.type}",
                f"a wheel's suspension has fixed, prismatic, {' or '.join(_TURNING)} joints",
            )
    return joints


def _wheel_place(wheel: Entry, sprocket: Joint, above: Mapping[str, Joint]) -> np.ndarray:
    """Centre of a wheel in the frame of the link that carries the sprocket, with all joints at zero [m]."""
    pose = Pose()
    for joint in reversed(_chain_of(wheel, sprocket, above)):
        pose = compose(pose, joint.pose)
    return np.array(pose.position)


def _axle(wheel: Entry, sprocket: Joint, above: Mapping[str, Joint]) -> np.ndarray:
    """Axis of a wheel's axle in the frame of the link that carries the sprocket."""
    chain, turn = _chain_of(wheel, sprocket, above), Pose()
    for joint in reversed(chain):
        turn = compose(turn, joint.pose)
    return np.array(rotate(turn.quaternion, chain[0].axis))


def _axis_of(joint: Joint) -> np.ndarray:
    """Axis of a joint in the frame of its parent link."""
    return np.array(rotate(joint.pose.quaternion, joint.axis))


def _belt_shape(track: WrittenTrack, path: BeltPath, frame: np.ndarray, place: np.ndarray) -> Collision:
    """The belt as a convex solid in the frame of its link."""
    corners = place + path.outline @ frame[:, [0, 2]].T
    half = 0.5 * track.width * frame[:, 1]
    hull = np.concatenate([corners - half, corners + half])
    hull.flags.writeable = False
    return Collision(f"track {track.name}", Pose(), Mesh(f"track {track.name}", "", hull=hull), track=track.name)


FAMILY = Family((TRACK, TRACK_WHEEL), prepare=with_belts, complete={"tracks": complete_track})
