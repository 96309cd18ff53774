"""The map of a world, and the transform to the odometry frame: ``python -m grouser.nodes.navigation.world_map``.

Publishes ``map`` (nav_msgs/OccupancyGrid) like a map server, ``soil_costs`` for a machine on the same cells, and the
transform from the map frame to the odometry frame like a localization node. Kinds of localization:

- truth: from ``odom`` and ``ground_truth/odom``, without the drift of odometry
- odometry: both frames coincide until a pose arrives on ``initialpose``; ``/diagnostics`` says how far it is off
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
from grouser.nodes.navigation.drift import DriftReport
from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.parameters import Declaration, declare
from grouser.nodes.shared.process import run_node
from grouser.occupancy import OccupancyMap, Passable, occupancy_map
from grouser.physics.description import load_machine, load_world
from grouser.physics.description.data.world import World
from grouser.runtime.frames import footprint_pose, frame_above, relative_poses
from grouser.soil_map import enter_ruts, soil_costs

_OCCUPIED = 100
_NOWHERE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_WARNING_PERIOD = 5.0  # [s]

DECLARATIONS: dict[str, Declaration] = {
    "world": Declaration("flat", "World: path of a YAML file, or the name of one that comes with grouser."),
    "machine": Declaration(
        "", "Machine on wheels or tracks that soil_costs are for: path of its URDF or xacro file, or a name; '': none."
    ),
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
    "drift_tolerance": Declaration(
        0.3, "Error of localization by odometry from which on the log and /diagnostics warn [m].", True, 0.001, 1000.0
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
        world = load_world(catalogue.world_file(values["world"]))
        grid = occupancy_map(
            world,
            Passable(values["lowest"], values["highest"], math.radians(values["steepest_deg"])),
            values["resolution"],
            values["margin"],
        )
        self._map = self.create_publisher(OccupancyGrid, topics.MAP, topics.LATCHED)
        self._map.publish(occupancy_grid(values["map_frame"], grid, grid.occupied))
        if values["machine"]:
            self._soil = SoilLayer(self, values["map_frame"], grid, values["machine"], world)
        self._map_frame, self._odom_frame = values["map_frame"], values["odom_frame"]
        self._tolerance = round(1e9 * values["transform_tolerance"])
        self._transform = messages.make_transforms([(self._map_frame, self._odom_frame)])
        self._reckoned: tuple[int, np.ndarray] | None = None
        self._real: tuple[int, np.ndarray] | None = None
        self._odom_on_map = _NOWHERE
        self._drift: DriftReport | None = None
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
            self.create_subscription(Odometry, topics.GROUND_TRUTH, self._on_truth, topics.RELIABLE)
            self._drift = DriftReport(self, values["drift_tolerance"])
            self._publish_transform(0, _NOWHERE)
            self.get_logger().info(
                "localization by odometry: where wheels slip, the pose on the map drifts, and nothing corrects it"
            )

    def _on_odometry(self, message: Odometry) -> None:
        self._reckoned = messages.nanoseconds_of(message.header.stamp), messages.pose_array(message.pose.pose)
        self._compare()

    def _on_truth(self, message: Odometry) -> None:
        # The base tilts with the ground; the pose on the map is that of its footprint.
        real = footprint_pose(messages.pose_array(message.pose.pose), None)
        self._real = messages.nanoseconds_of(message.header.stamp), real
        self._compare()

    def _compare(self) -> None:
        """Publishes the transform, or reports the drift, when odometry and ground truth of the same time are known."""
        if self._reckoned is None or self._real is None or self._reckoned[0] != self._real[0]:
            return
        stamp, reckoned = self._reckoned
        if self._drift is None:
            self._publish_transform(stamp + self._tolerance, frame_between(self._real[1], reckoned))
        else:
            told = relative_poses(_inverse(self._odom_on_map), reckoned[np.newaxis])[0]
            self._drift.compare(stamp, told, self._real[1])

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
        self._odom_on_map = frame_between(footprint_pose(pose, None), reckoned)
        self._publish_transform(stamp, self._odom_on_map)
        if self._drift is not None:
            self._drift.begin_anew()

    def _publish_transform(self, stamp: int, pose: np.ndarray) -> None:
        messages.fill_transforms(self._transform, stamp, pose[np.newaxis])
        self._tf.publish(self._transform)


class SoilLayer:
    """Publishes ``soil_costs``: of the natural ground under a machine, and of the ruts in it.

    The grid is that of the map from the start, as costmaps that do not roll need it, and it never grows.

    Args:
        node: that publishes.
        frame: of the map.
        grid: the map.
        machine: path of a machine's file, or its name.
        world: of the map.

    Raises:
        GrouserError: the machine is not valid, or has neither wheels nor tracks.
    """

    def __init__(self, node: Node, frame: str, grid: OccupancyMap, machine: str, world: World) -> None:
        self._node, self._frame, self._grid = node, frame, grid
        self._natural = soil_costs(load_machine(catalogue.machine_file(machine)), world, grid)
        self._ruts = np.zeros_like(self._natural)
        self._publisher = node.create_publisher(OccupancyGrid, topics.SOIL_COSTS, topics.LATCHED)
        self._publish()
        node.create_subscription(OccupancyGrid, topics.RUT_DEPTH, self._on_ruts, topics.LATCHED)

    def _on_ruts(self, message: OccupancyGrid) -> None:
        origin, before = message.info.origin.position, self._ruts.copy()
        if message.header.frame_id != self._frame or len(message.data) != message.info.width * message.info.height:
            self._node.get_logger().warning(
                f"{topics.RUT_DEPTH} refused: it must be in the frame {self._frame}, it is in "
                f"{message.header.frame_id!r} with {len(message.data)} cells",
                throttle_duration_sec=_WARNING_PERIOD,
            )
            return
        ruts = np.reshape(message.data, (message.info.height, message.info.width)) / 100.0
        enter_ruts(self._ruts, self._grid, ruts, (origin.x, origin.y), message.info.resolution)
        if not np.array_equal(self._ruts, before):
            self._publish()

    def _publish(self) -> None:
        self._publisher.publish(occupancy_grid(self._frame, self._grid, np.maximum(self._natural, self._ruts)))


def occupancy_grid(frame: str, grid: OccupancyMap, costs: np.ndarray) -> OccupancyGrid:
    """Costs from 0 to 1 of the cells of a map as a message, in this frame."""
    message = OccupancyGrid()
    message.header.frame_id = frame
    message.info.resolution = grid.resolution
    message.info.height, message.info.width = grid.occupied.shape
    message.info.origin.position.x, message.info.origin.position.y = grid.origin
    message.info.origin.orientation.w = 1.0
    message.data = array("b", np.rint(_OCCUPIED * costs).astype(np.int8).tobytes())
    return message


def frame_between(real: np.ndarray, reckoned: np.ndarray) -> np.ndarray:
    """Pose of the odometry frame, from the true pose of the footprint and its pose by odometry; shapes (7,).

    The height is ignored: odometry and localization are planar.
    """
    return frame_above(real, reckoned * (1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0))


def _inverse(pose: np.ndarray) -> np.ndarray:
    return relative_poses(pose[np.newaxis], _NOWHERE[np.newaxis])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or world."""
    return run_node("world_map", WorldMapNode, lambda node: None, arguments)


if __name__ == "__main__":
    sys.exit(main())
