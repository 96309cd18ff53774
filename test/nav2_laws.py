"""What Nav2 does with the shipped parameters, in Python: layers of costs, a planner, a follower and a smoother.

The laws are the published ones: regulated pure pursuit by Macenski, Singh, Martin and Gines, "Regulated pure pursuit
for robot path tracking", Autonomous Robots 47 (2023), with rotation to a heading as Nav2 documents it; the inflation of
obstacles, and the prices of NavFn's cells, as Nav2's pages on their parameters give them.
"""

import ast
import math

import numpy as np
import yaml
from scipy.ndimage import distance_transform_edt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from grouser.resources import share_path

# Price of a cell without a cost, and of a unit of cost.
NEUTRAL, FACTOR = 50.0, 0.8
LETHAL, INSCRIBED = 254.0, 253.0


def nav2_parameters(file):
    """Name of each server, costmaps among them -> its parameters; those of the rover with soil as `rover_soil`."""
    content = yaml.safe_load(share_path("config", "nav2", f"{file}.yaml").read_text())
    own = {name: (node.get(name) or node)["ros__parameters"] for name, node in content.items()}
    if not file.endswith("_soil"):
        return own
    before = nav2_parameters(file.removesuffix("_soil"))
    return before | {name: before[name] | added for name, added in own.items()}


def at(grid, values, x, y):
    """The value of the cell at a place."""
    column, row = (int((place - low) // grid.resolution) for place, low in zip((x, y), grid.origin, strict=True))
    return values[row, column]


def global_costs(grid, soil, parameters):
    """Costs of the global costmap's cells, 0 to 254.

    Args:
        grid: the map.
        soil: costs of soil from 0 to 1.
        parameters: of the costmap.
    """
    values = np.where(grid.occupied, LETHAL, 0.0)
    if "soil_layer" in parameters["plugins"]:
        told = np.rint(100.0 * soil)
        below = 0.0 if parameters["trinary_costmap"] else np.floor(told / 100.0 * LETHAL)
        layer = np.where(told >= 100.0, LETHAL, below)
        values = np.maximum(values, layer) if parameters["use_maximum"] else layer
    inflation = parameters["inflation_layer"]
    inscribed = np.abs(ast.literal_eval(parameters["footprint"])).min() + parameters["footprint_padding"]
    if (values < LETHAL).all():
        return values
    away = grid.resolution * distance_transform_edt(values < LETHAL)
    share = np.exp(-inflation["cost_scaling_factor"] * (away - inscribed))
    around = np.where(away <= inscribed, INSCRIBED, np.floor((INSCRIBED - 1.0) * share))
    return np.maximum(values, np.where(away <= inflation["inflation_radius"], around, 0.0))


class Planner:
    """The cheapest paths over the eight neighbours of cells.

    Args:
        grid: the map.
        values: costs of its cells.
    """

    def __init__(self, grid, values):
        self._grid, (rows, self._columns) = grid, values.shape
        self._number = number = np.arange(values.size).reshape(values.shape)
        price = np.where(values >= INSCRIBED, np.inf, NEUTRAL + FACTOR * values)
        first, second, length = [], [], []
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            here = np.s_[: rows - down, max(0, -right) : self._columns - max(0, right)]
            there = np.s_[down:, max(0, right) : self._columns + min(0, right)]
            first.append(number[here].ravel())
            second.append(number[there].ravel())
            length.append(0.5 * (price[here] + price[there]).ravel() * math.hypot(down, right))
        entries = np.concatenate(length), (np.concatenate(first), np.concatenate(second))
        passable = np.isfinite(entries[0])
        entries = entries[0][passable], tuple(index[passable] for index in entries[1])
        self._graph = csr_array(entries, shape=(values.size, values.size))
        self._before = {}

    def path(self, start, goal):
        """Places from the cell of `start` to `goal`, which comes last, (n, 2)."""
        ends = [int(at(self._grid, self._number, *place)) for place in (start, goal)]
        if ends[1] not in self._before:
            _, before = dijkstra(self._graph, directed=False, indices=ends[1], return_predecessors=True)
            self._before[ends[1]] = before
        before, cells = self._before[ends[1]], [ends[0]]
        while cells[-1] != ends[1]:
            cells.append(int(before[cells[-1]]))
            assert cells[-1] >= 0, f"no path from {start} to {goal}"
        row, column = np.divmod(np.array(cells), self._columns)
        middles = np.array(self._grid.origin) + (np.column_stack([column, row]) + 0.5) * self._grid.resolution
        return np.vstack([middles, goal])


class PurePursuit:
    """Regulated pure pursuit without its collision check and the regulation by costs.

    Args:
        parameters: of the plugin.
        goal_checker: parameters of that plugin.
        frequency: of the control [Hz].
        reach: how far the path is known, half a local costmap [m].
    """

    def __init__(self, parameters, goal_checker, frequency, reach):
        assert not parameters["allow_reversing"] and not parameters["use_cost_regulated_linear_velocity_scaling"]
        assert parameters["use_velocity_scaled_lookahead_dist"] and parameters["use_rotate_to_heading"]
        self._p, self._checker = parameters, goal_checker
        self._period, self._reach = 1.0 / frequency, reach
        self._within = self._arrived = False

    def set_goal(self, place, heading):
        """A new goal [m, rad]."""
        self._goal = np.array([*place, heading])
        self._within = False

    def set_path(self, path):
        """A new path to the goal, (n, 2)."""
        self._path = np.array(path)
        self._arrived = False

    def reached(self, pose):
        """Whether a pose is within the tolerances; once it has been near, only the heading counts."""
        away = math.hypot(*(pose - self._goal)[:2])
        self._within = self._within or away <= self._checker["xy_goal_tolerance"]
        return self._within and abs(wrapped(self._goal[2] - pose[2])) <= self._checker["yaw_goal_tolerance"]

    def twist(self, pose, speed):
        """Speed ahead and yaw rate, from the pose on the map and the measured speed ahead and yaw rate."""
        p, ahead = self._p, self._seen(pose)
        lookahead = np.clip(abs(speed[0]) * p["lookahead_time"], p["min_lookahead_dist"], p["max_lookahead_dist"])
        carrot = carrot_on(ahead, lookahead)
        bearing, distance = math.atan2(carrot[1], carrot[0]), math.hypot(*carrot)
        self._arrived = self._arrived or distance < self._checker["xy_goal_tolerance"]
        if self._arrived:
            return self._rotation(wrapped(self._goal[2] - pose[2]), speed[1])
        if abs(bearing) > p["rotate_to_heading_min_angle"]:
            return self._rotation(bearing, speed[1])
        curvature = 2.0 * carrot[1] / distance**2 if distance**2 > 0.001 else 0.0
        linear = p["desired_linear_vel"]
        radius = abs(1.0 / curvature) if curvature else math.inf
        if p["use_regulated_linear_velocity_scaling"] and radius < p["regulated_linear_scaling_min_radius"]:
            linear *= radius / p["regulated_linear_scaling_min_radius"]
        linear = max(linear, p["regulated_linear_scaling_min_speed"])
        left = np.sum(np.hypot(*np.diff(ahead, axis=0).T))
        if left < p["approach_velocity_scaling_dist"]:
            slower = linear * math.hypot(*ahead[-1]) / p["approach_velocity_scaling_dist"]
            linear = min(linear, max(slower, p["min_approach_linear_velocity"]))
        return linear, linear * curvature

    def _seen(self, pose):
        """The path from the place that is nearest to the machine, as far as it reaches, in the machine's frame."""
        turn = np.array([[math.cos(pose[2]), -math.sin(pose[2])], [math.sin(pose[2]), math.cos(pose[2])]])
        along = np.cumsum(np.hypot(*np.diff(self._path, axis=0).T), axis=0)
        near = self._path[: 1 + int(np.searchsorted(along, self._reach))]
        nearest = int(np.argmin(np.hypot(*(near - pose[:2]).T)))
        self._path = self._path[min(nearest, len(self._path) - 2) :]
        seen = (self._path - pose[:2]) @ turn
        beyond = np.flatnonzero(np.hypot(*seen.T) > self._reach)
        return seen[: beyond[0]] if len(beyond) else seen

    def _rotation(self, angle, yaw_rate):
        p, change = self._p, self._p["max_angular_accel"] * self._period
        sign = math.copysign(1.0, angle)
        wanted = np.clip(sign * p["rotate_to_heading_angular_vel"], yaw_rate - change, yaw_rate + change)
        stopping = math.sqrt(2.0 * p["max_angular_accel"] * abs(angle))
        return 0.0, float(wanted) if abs(wanted) <= stopping else sign * stopping


class Smoother:
    """The velocity smoother, open loop: every component is limited, and changes by its accelerations.

    Args:
        parameters: of the server.
    """

    def __init__(self, parameters):
        self._p = parameters
        assert parameters["feedback"] == "OPEN_LOOP" and not any(parameters["deadband_velocity"])
        self._last = np.zeros(3)

    def smooth(self, linear, angular):
        """The next twist, one period of the smoother after the last."""
        p = self._p
        wanted = np.clip([linear, 0.0, angular], p["min_velocity"], p["max_velocity"])
        faster = (np.abs(wanted) >= np.abs(self._last)) & (wanted * self._last >= 0.0)
        change = np.where(faster, p["max_accel"], np.negative(p["max_decel"])) / p["smoothing_frequency"]
        self._last = self._last + np.clip(wanted - self._last, -change, change)
        return self._last


def carrot_on(path, distance):
    """The point of a path, in the machine's frame, at which it leaves a circle around the machine; else its end."""
    outside = np.flatnonzero(np.hypot(*path.T) >= distance)
    if not len(outside):
        return path[-1]
    if outside[0] == 0:
        return path[0]
    inner, outer = path[outside[0] - 1], path[outside[0]]
    step = outer - inner
    a, b, c = step @ step, inner @ step, inner @ inner - distance**2
    return inner + step * (-b + math.sqrt(b * b - a * c)) / a


def wrapped(angle):
    """An angle from -pi to pi [rad]."""
    return math.remainder(angle, 2.0 * math.pi)
