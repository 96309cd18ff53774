"""Conversion between plain data and messages of `simulation_interfaces`: pure functions."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from geometry_msgs.msg import Accel, Twist, Vector3
from geometry_msgs.msg import Pose as PoseMessage
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    EntityState,
    NamedPose,
    TagsFilter,
)

from grouser.nodes.services import interfaces
from grouser.nodes.services.bounds import RegionType
from grouser.nodes.services.choice import EntityChoice, TagChoice
from grouser.nodes.services.host import Category, Entity, EntitySnapshot, Traits, WorldEntry
from grouser.nodes.services.motion import EntityMotion, Velocity, seen_from_outside
from grouser.nodes.services.regular_expression import RegularExpression
from grouser.nodes.services.request_error import Reason, RequestError
from grouser.nodes.shared.messages import set_stamp
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.pose import Vector3 as Numbers
from grouser.physics.description.data.rotation import compose
from grouser.physics.description.data.world import NamedPose as WorldPose

if TYPE_CHECKING:
    from grouser.nodes.services.region import Region

_WORLD_NAMES = ("", "world")
# Tolerance of the squared length of a quaternion: that of tf2.
_NORM_TOLERANCE = 0.01
_FARTHEST = 1e9  # [m], as in world files


def pose_of(message: PoseMessage) -> Pose:
    """A pose with a normalized quaternion.

    Raises:
        RequestError: the quaternion is not normalized, or the position is not finite or too far away.
    """
    position, turn = message.position, message.orientation
    quaternion = (turn.x, turn.y, turn.z, turn.w)
    squared = sum(part * part for part in quaternion)
    if not abs(squared - 1.0) <= _NORM_TOLERANCE:
        raise RequestError(Reason.INVALID_POSE, f"the quaternion x y z w {quaternion} does not have the length 1")
    place = (position.x, position.y, position.z)
    if not all(abs(part) <= _FARTHEST for part in place):
        raise RequestError(Reason.INVALID_POSE, f"the position {place} is not finite, or beyond {_FARTHEST:g} m")
    x, y, z, w = (part / math.sqrt(squared) for part in quaternion)
    return Pose(place, (x, y, z, w))


def frame_motion(name: str, scene: EntitySnapshot) -> EntityMotion:
    """Motion in the world of a frame: that of the world, or the canonical link of an entity.

    Raises:
        RequestError: there is no such frame.
    """
    if name in (*_WORLD_NAMES, scene.frame):
        return EntityMotion()
    if name not in scene.entities:
        raise RequestError(
            Reason.INVALID_POSE, f"no frame is called {name!r}; valid: {scene.frame}, and names of entities"
        )
    return scene.entities[name].motion


def pose_in_world(message: PoseMessage, frame: EntityMotion) -> Pose:
    """The pose in the world from a pose in a frame.

    Raises:
        RequestError: as `pose_of`.
    """
    return compose(frame.pose, pose_of(message))


def velocity_in_world(message: Twist, place: Numbers, frame: EntityMotion) -> Velocity:
    """The velocity in the world from a velocity relative to a moving frame.

    Args:
        message: relative to the frame, in its axes.
        place: position of the moving point in the world [m].
        frame: motion of the frame in the world.

    Raises:
        RequestError: it is not finite.
    """
    linear, angular = _numbers(message.linear), _numbers(message.angular)
    if not all(map(math.isfinite, (*linear, *angular))):
        raise RequestError(Reason.OPERATION_FAILED, f"the twist {linear}, {angular} is not finite")
    return seen_from_outside(Velocity(linear, angular), place, frame)


def is_zero(message: Twist | Accel) -> bool:
    """Whether all components are zero."""
    return not any((*_numbers(message.linear), *_numbers(message.angular)))


def fill_state(message: EntityState, entity: Entity, scene: EntitySnapshot) -> None:
    """Writes the motion of an entity in the world. Accelerations are zero for static objects, otherwise NaN."""
    message.header.frame_id = scene.frame
    set_stamp(message.header.stamp, scene.nanoseconds)
    fill_pose(message.pose, entity.motion.pose)
    _fill(message.twist.linear, entity.motion.velocity.linear)
    _fill(message.twist.angular, entity.motion.velocity.angular)
    unknown = (0.0 if entity.traits.category is Category.STATIC_OBJECT else math.nan,) * 3
    _fill(message.acceleration.linear, unknown)
    _fill(message.acceleration.angular, unknown)


def fill_pose(message: PoseMessage, pose: Pose) -> None:
    """Writes a pose."""
    _fill(message.position, pose.position)
    turn = message.orientation
    turn.x, turn.y, turn.z, turn.w = pose.quaternion


def fill_info(message: EntityInfo, traits: Traits) -> None:
    """Writes the traits of an entity."""
    message.category.category = int(traits.category)
    message.description = traits.description
    message.tags = list(traits.tags)


def traits_of(message: EntityInfo) -> Traits:
    """The traits of an entity.

    Raises:
        RequestError: there is no such category.
    """
    return Traits(_category(message.category), message.description, tuple(message.tags))


def fill_box(message: Bounds, box: tuple[np.ndarray, np.ndarray] | None) -> None:
    """Writes a box from its lower and upper corner, upper corner first; None: empty bounds."""
    message.type = int(RegionType.EMPTY if box is None else RegionType.BOX)
    message.points = [] if box is None else [_vector(corner) for corner in reversed(box)]


def named_pose(pose: WorldPose) -> NamedPose:
    """The message of a named pose."""
    message = NamedPose(name=pose.name, description=pose.description, tags=list(pose.tags))
    fill_pose(message.pose, pose.pose)
    return message


def fill_world(message: Any, entry: WorldEntry) -> None:
    """Writes a world into a WorldResource, which not every version has."""
    message.name = entry.world.name
    message.description = entry.world.description
    message.tags = list(entry.world.tags)
    interfaces.set_resource(message, entry.uri, entry.text)


def tag_choice(message: TagsFilter) -> TagChoice:
    """The filter for tags.

    Raises:
        RequestError: its mode is not known.
    """
    return TagChoice(frozenset(message.tags), message.filter_mode)


def entity_choice(message: EntityFilters) -> EntityChoice:
    """The filter for entities.

    Raises:
        RequestError: a filter is not valid.
    """
    bounds = message.bounds
    return EntityChoice(
        RegularExpression(message.filter) if message.filter else None,
        frozenset(_category(category) for category in message.categories),
        tag_choice(message.tags),
        _region(bounds) if bounds.type != RegionType.EMPTY else None,
    )


def _region(message: Bounds) -> "Region":
    from grouser.nodes.services.region import Region  # takes long to import, and few filters have bounds

    return Region(message.type, np.array([_numbers(point) for point in message.points]).reshape(-1, 3))


def _category(message: EntityCategory) -> Category:
    try:
        return Category(message.category)
    except ValueError:
        valid = ", ".join(f"{category.value} ({category.name.lower()})" for category in Category)
        raise RequestError(
            Reason.OPERATION_FAILED, f"there is no category {message.category}; valid: {valid}"
        ) from None


def _numbers(message: Vector3) -> Numbers:
    return (message.x, message.y, message.z)


def _vector(numbers: np.ndarray) -> Vector3:
    message = Vector3()
    _fill(message, numbers.tolist())
    return message


def _fill(message, numbers) -> None:
    message.x, message.y, message.z = numbers
