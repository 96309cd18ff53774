"""Signals for plots: chosen values of the published topics, in the units of the field."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from grouser.nodes.shared import topics
from grouser.nodes.viewer.arrivals import Arrivals, Polled
from grouser.nodes.viewer.values import GroupValues, Values

_JOINT_QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_JOULES = " [J]"  # how the names of energies end


@dataclass(frozen=True)
class Quantity:
    """What one plot shows.

    Attributes:
        source: hydraulics, slip, buckets, digging, joints or energy.
        prefix: how the names of its values begin.
        unit: in which it is shown.
        per_unit: of the unit in what is published.
    """

    source: str
    prefix: str
    unit: str
    per_unit: float = 1.0


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "pressure": Quantity("hydraulics", "pressure", "bar", 1e5),
        "flow": Quantity("hydraulics", "flow", "l/min", 1e-3 / 60.0),
        "spool position": Quantity("hydraulics", "spool_position", "-"),
        "cylinder force": Quantity("hydraulics", "force", "kN", 1e3),
        "hydraulic power": Quantity("hydraulics", "power", "kW", 1e3),
        "slip ratio": Quantity("slip", "slip_ratio", "-"),
        "sinkage": Quantity("slip", "sinkage", "mm", 1e-3),
        "drawbar pull": Quantity("slip", "drawbar_pull", "N"),
        "bucket load": Quantity("buckets", "mass", "kg"),
        "bucket fill factor": Quantity("buckets", "fill_factor", "-"),
        "separation force": Quantity("digging", "separation", "kN", 1e3),
        "penetration force": Quantity("digging", "penetration", "kN", 1e3),
        "joint effort": Quantity("joints", "effort", "N m or N"),
        "joint velocity": Quantity("joints", "velocity", "rad/s or m/s"),
        "energy": Quantity("energy", "", "kJ", 1e3),
    }
)


class Signals:
    """The newest values of the topics that plots show.

    Args:
        node: that subscribes.
    """

    def __init__(self, node: Node) -> None:
        self._hydraulics = GroupValues(node, topics.HYDRAULICS)
        self._slip = GroupValues(node, topics.SLIP)
        self._buckets = GroupValues(node, topics.BUCKETS)
        self._digging = GroupValues(node, topics.DIGGING)
        self._joints = Arrivals(node, JointState, topics.JOINT_STATES, _JOINT_QUALITY, Polled())
        self._joint_values: Values = {}
        self._energy: Values = {}
        self._sources: Mapping[str, Callable[[], Values]] = {
            "hydraulics": self._hydraulics.take,
            "slip": self._slip.take,
            "buckets": self._buckets.take,
            "digging": self._digging.take,
            "joints": self._take_joints,
            "energy": lambda: self._energy,
        }

    def clear(self) -> None:
        """Forgets the values of a machine that is gone."""
        self._hydraulics.clear()
        self._slip.clear()
        self._buckets.clear()
        self._digging.clear()
        self._joints.history.clear()
        self._joint_values = self._energy = {}

    def hear_energy(self, status: DiagnosticStatus) -> None:
        """Takes the energies of a status of /diagnostics."""
        energies = {}
        for pair in status.values:
            try:
                if pair.key.endswith(_JOULES):
                    energies[pair.key.removesuffix(_JOULES).replace("_", " ")] = float(pair.value)
            except ValueError:
                continue
        self._energy = {name: {"energy": value} for name, value in energies.items()}

    def values(self, source: str) -> Values:
        """The newest values of a source, by group and name."""
        return self._sources[source]()

    def series(self, quantity: Quantity) -> dict[str, float]:
        """The values of a quantity now, in its unit, by what they belong to."""
        found = {}
        for group, values in self.values(quantity.source).items():
            for name, value in values.items():
                if name.startswith(quantity.prefix):
                    rest = name.removeprefix(quantity.prefix).replace("_", " ").strip() if quantity.prefix else ""
                    found[f"{group} {rest}".strip()] = value / quantity.per_unit
        return found

    def _take_joints(self) -> Values:
        self._joints.take()
        newest = self._joints.history.newest()
        if newest is not None and (message := self._joints.history.to_show(newest)) is not None:
            read = self._joints.read(message)
            columns = {"position": read.position, "velocity": read.velocity, "effort": read.effort}
            self._joint_values = {
                joint: {name: column[place] for name, column in columns.items() if place < len(column)}
                for place, joint in enumerate(read.name)
            }
        return self._joint_values
