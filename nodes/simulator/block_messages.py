"""Deformable blocks as markers: triangles, in poses of their own."""

from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from grouser.nodes.shared.prepared_message import PreparedMessage
from grouser.runtime.sampling import BlockScene

_BRICK = ColorRGBA(r=0.66, g=0.45, b=0.33, a=1.0)


class BlockMarkers:
    """A marker for each block, whose namespace is its name.

    Args:
        frame: of the world.
    """

    def __init__(self, frame: str) -> None:
        self._header = Header(frame_id=frame)
        self._message: PreparedMessage | None = None

    def message(self, nanoseconds: int, scene: BlockScene) -> bytes:
        """The serialized markers where the blocks are now.

        Args:
            nanoseconds: simulation time.
            scene: the blocks; always the same ones.
        """
        if self._message is None:
            markers = [
                Marker(
                    header=self._header,
                    ns=name,
                    type=Marker.TRIANGLE_LIST,
                    action=Marker.ADD,
                    color=_BRICK,
                    points=[Point(x=x, y=y, z=z) for x, y, z in triangles.reshape(-1, 3).tolist()],
                )
                for name, triangles in zip(scene.names, scene.triangles, strict=True)
            ]
            for marker in markers:
                marker.scale.x = marker.scale.y = marker.scale.z = 1.0
            self._message = PreparedMessage(
                MarkerArray(markers=markers), [self._header.stamp], [marker.pose for marker in markers]
            )
        return self._message.filled(nanoseconds, scene.poses)
