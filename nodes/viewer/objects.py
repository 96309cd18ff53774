"""Plain objects in the browser: from markers of their shapes and a message of their poses."""

from collections.abc import Iterable, Mapping
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
        self._frames: dict[str, viser.FrameHandle] = {}
        self._poses: dict[str, np.ndarray] = {}

    def show(self, markers: Iterable[Marker]) -> list[str]:
        """Replaces all objects; one appears when its pose is known.

        Args:
            markers: in frames with the names of their objects.

        Returns:
            Descriptions of shapes that cannot be drawn.
        """
        for frame in self._frames.values():
            frame.remove()
        self._frames.clear()
        problems = []
        for number, marker in enumerate(markers):
            name = marker.header.frame_id
            node = f"/objects/{name.replace('/', '|')}"
            if name not in self._frames:
                self._frames[name] = self._scene.add_frame(node, show_axes=False, visible=False)
            colour = (marker.color.r, marker.color.g, marker.color.b, marker.color.a)
            try:
                add_shape(self._scene, f"{node}/{number}", geometry_of(marker), _pose_of(marker), colour)
            except MeshError as problem:
                problems.append(f"object '{name}': {problem}")
        places = {name: pose for name, pose in self._poses.items() if name in self._frames}
        self._poses.clear()
        self.move(places)
        return problems

    def move(self, poses: Mapping[str, np.ndarray]) -> None:
        """Moves objects to their poses x y z qx qy qz qw in the world, (7,), by name, as far as they have moved."""
        for name, pose in poses.items():
            frame, shown = self._frames.get(name), self._poses.get(name)
            if frame is not None and shown is not None and np.abs(pose - shown).max() < _UNSEEN:
                continue
            self._poses[name] = pose
            if frame is not None:
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
