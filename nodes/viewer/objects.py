"""Plain objects in the browser: from markers of their shapes and a message of their poses."""

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

import numpy as np
import viser
from visualization_msgs.msg import Marker

from grouser.nodes.viewer.shapes import add_shape
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Cylinder, Geometry, Mesh, PointSet, Sphere
from grouser.physics.description.urdf.meshes import MeshError

_UNSEEN = 1e-5  # smallest motion that is drawn [m and -]


class ObjectsView:
    """Draws the plain objects of a simulator.

    Args:
        scene: where they are drawn.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene = scene
        self._shapes: dict[str, list[Marker]] = {}
        self._frames: dict[str, viser.FrameHandle] = {}
        self._poses: dict[str, np.ndarray] = {}
        self._received: Mapping[str, np.ndarray] = {}  # also of objects whose shapes come later

    def show(self, markers: Iterable[Marker]) -> list[str]:
        """Draws these objects, and no others; one appears when its pose is known.

        Args:
            markers: in frames with the names of their objects.

        Returns:
            Descriptions of shapes that cannot be drawn.
        """
        shapes: dict[str, list[Marker]] = {}
        for marker in markers:
            shapes.setdefault(marker.header.frame_id, []).append(marker)
        for name in [name for name, shown in self._shapes.items() if shapes.get(name) != shown]:
            self._frames.pop(name).remove()
            self._poses.pop(name, None)
        problems = [text for name in shapes if name not in self._frames for text in self._add(name, shapes[name])]
        self._shapes = shapes
        self.move(self._received)
        return problems

    def _add(self, name: str, markers: list[Marker]) -> Iterator[str]:
        """Adds an object, out of sight; yields descriptions of shapes that cannot be drawn."""
        node = f"/objects/{name.replace('/', '|')}"
        self._frames[name] = self._scene.add_frame(node, show_axes=False, visible=False)
        for number, marker in enumerate(markers):
            colour = (marker.color.r, marker.color.g, marker.color.b, marker.color.a)
            try:
                add_shape(self._scene, f"{node}/{number}", geometry_of(marker), _pose_of(marker), colour)
            except MeshError as problem:
                yield f"object '{name}': {problem}"

    def move(self, poses: Mapping[str, np.ndarray]) -> None:
        """Moves objects to their poses x y z qx qy qz qw in the world, (7,), by name, as far as they have moved."""
        self._received = poses
        for name, pose in poses.items():
            shown = self._poses.get(name)
            if name in self._frames and (shown is None or np.abs(pose - shown).max() >= _UNSEEN):
                frame, self._poses[name] = self._frames[name], pose
                frame.position, frame.wxyz, frame.visible = pose[:3], np.roll(pose[3:], 1), True


def geometry_of(marker: Marker) -> Geometry:
    """The shape of a marker.

    Raises:
        MeshError: the marker is of another type, or its mesh is no file.
    """
    x, y, z = marker.scale.x, marker.scale.y, marker.scale.z
    match marker.type:
        case Marker.CUBE:
            return Box((x, y, z))
        case Marker.SPHERE:
            return Sphere(0.5 * x)
        case Marker.CYLINDER:
            return Cylinder(0.5 * x, z)
        case Marker.SPHERE_LIST:
            return PointSet(np.array([(point.x, point.y, point.z) for point in marker.points]), 0.5 * x)
        case Marker.MESH_RESOURCE:
            address = urlsplit(marker.mesh_resource)
            if address.scheme != "file":
                raise MeshError(f"{marker.mesh_resource} is no file")
            return Mesh(marker.mesh_resource, unquote(address.path), (x, y, z))
        case other:
            raise MeshError(f"markers of type {other} are not drawn")


def _pose_of(marker: Marker) -> Pose:
    place, turn = marker.pose.position, marker.pose.orientation
    return Pose((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))
