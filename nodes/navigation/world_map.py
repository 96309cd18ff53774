"""The map of a world, and the transform to the odometry frame: ``python -m grouser.nodes.navigation.world_map``.

Publishes ``map`` (nav_msgs/OccupancyGrid) like a map server, and the transform from the map frame to the odometry frame
like a localization node. Kinds of localization:

- truth: from ``odom`` and ``ground_truth/odom``, without the drift of odometry
- odometry: both frames coincide until a pose arrives on ``initialpose``
- none: another node localizes
"""

import math
import sys
from array import array
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.node import Node
from rclpy.parameter import Parameter
from tf2_msgs.msg import TFMessage

from grouser import catalogue
from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.parameters import Declaration, declare
from grouser.nodes.shared.process import run_node
from grouser.occupancy import OccupancyMap, Passable, occupancy_map
from grouser.physics.description import load_world
from grouser.runtime.frames import footprint_pose, frame_above

_OCCUPIED = 100
_NOWHERE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_WARNING_PERIOD = 5.0  # [s]

DECLARATIONS: dict[str, Declaration] = {
    "world": Declaration("flat", "World: path of a YAML file, or the name of one that comes with grouser."),
    "resolution": Declaration(0.05, "Side of the map's cells [m].", True, 0.005, 10.0),
    "margin": Declaration(5.0, "How far the map goes beyond what it shows [m].", True, 0.0, 1000.0),
    "lowest": Declaration(0.25, "Height of obstacles that are driven over [m].", True, -1000.0, 1000.0),
    "highest": Declaration(2.0, "Height from which on obstacles are driven under [m].", True, -1000.0, 1000.0),
    "steepest_deg": Declaration(20.0, "Slope of the ground that is driven on [degrees].", True, 0.0, 90.0),
    "localization": Declaration(
        "truth",
        "Where the transform from the map to the odometry comes from; none: somebody else publishes it.",
        choices=("truth", "odometry", "none"),
    ),
    "map_frame": Declaration("map", "Frame of the world."),
    "odom_frame": Declaration("odom", "Frame of the odometry."),
    "transform_tolerance": Declaration(
        0.1, "How far ahead of its measurement the transform is stamped [s].", True, 0.0, 10.0
    ),
}


class WorldMapNode(Node):
    """Publishes a world's map, and localizes the machine in it.

    Args:
        overrides: parameters that come before those of the command line and of files.

    Raises:
        GrouserError: a parameter or the world is not valid.
    """

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        super().__init__("world_map", parameter_overrides=list(overrides))
        values = declare(self, DECLARATIONS)
        grid = occupancy_map(
            load_world(catalogue.world_file(values["world"])),
            Passable(values["lowest"], values["highest"], math.radians(values["steepest_deg"])),
            values["resolution"],
            values["margin"],
        )
        self._map = self.create_publisher(OccupancyGrid, topics.MAP, topics.LATCHED)
        self._map.publish(occupancy_grid(values["map_frame"], grid))
        self._map_frame, self._odom_frame = values["map_frame"], values["odom_frame"]
        self._tolerance = round(1e9 * values["transform_tolerance"])
        self._transform = messages.make_transforms([(self._map_frame, self._odom_frame)])
        self._reckoned: tuple[int, np.ndarray] | None = None
        self._real: tuple[int, np.ndarray] | None = None
        if values["localization"] == "truth":
            self._tf = self.create_publisher(TFMessage, topics.TF, topics.TF_QUALITY)
            self.create_subscription(Odometry, topics.ODOMETRY, self._on_odometry, topics.RELIABLE)
            self.create_subscription(Odometry, topics.GROUND_TRUTH, self._on_truth, topics.RELIABLE)
        elif values["localization"] == "odometry":
            self._tf = self.create_publisher(TFMessage, topics.TF_STATIC, topics.LATCHED)
            self.create_subscription(Odometry, topics.ODOMETRY, self._on_odometry, topics.RELIABLE)
            self.create_subscription(
                PoseWithCovarianceStamped, topics.INITIAL_POSE, self._on_initial_pose, topics.RELIABLE
            )
            self._publish_transform(0, _NOWHERE)

    def _on_odometry(self, message: Odometry) -> None:
        self._reckoned = messages.nanoseconds_of(message.header.stamp), messages.pose_array(message.pose.pose)
        self._compare()

    def _on_truth(self, message: Odometry) -> None:
        # The base tilts with the ground; the pose on the map is that of its footprint.
        real = footprint_pose(messages.pose_array(message.pose.pose), None)
        self._real = messages.nanoseconds_of(message.header.stamp), real
        self._compare()

    def _compare(self) -> None:
        """Publishes the transform when odometry and ground truth of the same time are known."""
        if self._reckoned is not None and self._real is not None and self._reckoned[0] == self._real[0]:
            stamp, reckoned = self._reckoned
            self._publish_transform(stamp + self._tolerance, frame_between(self._real[1], reckoned))

    def _on_initial_pose(self, message: PoseWithCovarianceStamped) -> None:
        pose = messages.pose_array(message.pose.pose)
        if message.header.frame_id != self._map_frame or not np.isfinite(pose).all():
            self.get_logger().warning(
                f"{topics.INITIAL_POSE} refused: it must be finite and in the frame {self._map_frame}, "
                f"it is in {message.header.frame_id!r}",
                throttle_duration_sec=_WARNING_PERIOD,
            )
            return
        stamp, reckoned = (0, _NOWHERE) if self._reckoned is None else self._reckoned
        self._publish_transform(stamp, frame_between(footprint_pose(pose, None), reckoned))

    def _publish_transform(self, stamp: int, pose: np.ndarray) -> None:
        messages.fill_transforms(self._transform, stamp, pose[np.newaxis])
        self._tf.publish(self._transform)


def occupancy_grid(frame: str, grid: OccupancyMap) -> OccupancyGrid:
    """A map as a message, in this frame."""
    message = OccupancyGrid()
    message.header.frame_id = frame
    message.info.resolution = grid.resolution
    message.info.height, message.info.width = grid.occupied.shape
    message.info.origin.position.x, message.info.origin.position.y = grid.origin
    message.info.origin.orientation.w = 1.0
    message.data = array("b", (_OCCUPIED * grid.occupied.astype(np.int8)).tobytes())
    return message


def frame_between(real: np.ndarray, reckoned: np.ndarray) -> np.ndarray:
    """Pose of the odometry frame, from the true pose of the footprint and its pose by odometry; shapes (7,).

    The height is ignored: odometry and localization are planar.
    """
    return frame_above(real, reckoned * (1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or world."""
    return run_node("world_map", WorldMapNode, lambda node: None, arguments)


if __name__ == "__main__":
    sys.exit(main())
