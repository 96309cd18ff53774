"""The parameter files for Nav2: Nav2 declares every key, frames and topics are those of the nodes, and the figures are
those of the machines. Nav2 itself is not needed."""

import ast
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import rclpy
import yaml
from nav2_laws import nav2_parameters as parameters

import grouser
from grouser.catalogue import machine_file
from grouser.nodes.navigation import world_map
from grouser.nodes.shared import topics
from grouser.nodes.simulator.parameters import DECLARATIONS
from grouser.occupancy import shape_points
from grouser.physics.description.data.rotation import compose, matrix
from grouser.physics.description.urdf.placement import initial_positions, link_poses
from grouser.resources import share_path
from grouser.runtime.goal_following import Manners
from grouser.runtime.vehicle_parts import make_vehicle

DECLARED = yaml.safe_load((Path(__file__).parents[1] / "data" / "nav2_jazzy_parameters.yaml").read_text())
MACHINES = ["rover", "demolition_robot", "excavator"]
FILES = [*MACHINES, *(f"{machine}_soil" for machine in MACHINES)]
TYPES = {"bool": bool, "integer": int, "double": float, "string": str}
# Parts of the collision monitor, of which it has a list each.
PARTS = {"polygons": "polygon", "observation_sources": "scan"}
# Parameters of a costmap by which costs below those of an obstacle count, and do not lower others.
SOIL_COUNTS = {"use_maximum": True, "trinary_costmap": False}
FRAMES = {
    "map": DECLARATIONS["map_frame"].default,
    "odom": DECLARATIONS["odom_frame"].default,
    "footprint": DECLARATIONS["base_footprint_frame"].default,
}


def flat(mapping, prefix=""):
    for key, value in mapping.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def is_of(kind, value):
    if kind in ("string_array", "double_array"):
        return isinstance(value, list) and all(type(entry) is TYPES[kind.partition("_")[0]] for entry in value)
    return type(value) is TYPES[kind]


def unknown(name, server):
    """The parameters of a server that are not declared or have the wrong type."""
    kind = next((kind for kind in ("costmap", "lifecycle_manager") if kind in name), name)
    kinds = dict(DECLARED["servers"][kind])
    for key, value in server.items():
        if not isinstance(value, dict):
            continue
        if "plugin" in value:
            kinds[f"{key}.plugin"] = "string"
            kinds |= {f"{key}.{own}": kind for own, kind in DECLARED["plugins"][value["plugin"]].items()}
        sources = str(value.get("observation_sources", "")).split()
        for source, (own, kind) in product(sources, DECLARED["parts"]["observation"].items()):
            kinds[f"{key}.{source}.{own}"] = kind
        for listed, part in PARTS.items():
            if key in server.get(listed, []):
                kinds |= {f"{key}.{own}": kind for own, kind in DECLARED["parts"][part].items()}
    return [key for key, value in flat(server) if key not in kinds or not is_of(kinds[key], value)]


@pytest.mark.parametrize("file", FILES)
def test_nav2_declares_every_parameter_and_with_this_type(file):
    for name, server in parameters(file).items():
        assert unknown(name, server) == [], name


@pytest.mark.parametrize(
    ("server", "key", "value"),
    [
        ("planner_server", "planner_plugin", ["GridBased"]),
        ("planner_server", "expected_planner_frequency", 1),
        ("velocity_smoother", "max_velocity", [0.4, 0, 0.4]),
        ("local_costmap", "width", 8.0),
        ("collision_monitor", "scan", {"topics": "scan"}),
    ],
)
def test_misspelt_parameters_and_wrong_types_are_found(server, key, value):
    changed = parameters("rover")[server] | {key: value}
    (slip,) = unknown(server, changed)
    assert slip.startswith(key)


@pytest.mark.parametrize("file", FILES)
def test_listed_plugins_and_configured_plugins_agree(file):
    for name, server in parameters(file).items():
        lists = [key for key in server if key.endswith("plugins") or key in ("navigators", *PARTS)]
        listed = [entry for key in lists for entry in server[key]]
        if "waypoint_task_executor_plugin" in server:
            listed.append(server["waypoint_task_executor_plugin"])
        groups = {key for key, value in server.items() if isinstance(value, dict)} - {"initial_pose"}
        assert sorted(listed) == sorted(groups), name


@pytest.mark.parametrize("machine", MACHINES)
def test_the_manager_starts_the_configured_servers(machine):
    servers = parameters(machine)
    managed = {name: set(servers[f"lifecycle_manager_{name}"]["node_names"]) for name in ("navigation", "localization")}
    inside = {"global_costmap", "local_costmap"}  # of planner and controller
    assert managed["navigation"] == {name for name in servers if "lifecycle" not in name} - inside - {"amcl"}
    assert managed["localization"] == {"amcl"}


@pytest.mark.parametrize("file", FILES)
def test_frames_and_topics_are_those_of_our_nodes(file):
    servers, machine = parameters(file), file.removesuffix("_soil")
    root = grouser.load_machine(machine_file(machine)).root
    values = {f"{name}.{key}": value for name, server in servers.items() for key, value in flat(server)}
    expected = {
        "global_frame": {FRAMES["map"], FRAMES["odom"]},
        "global_frame_id": {FRAMES["map"]},
        "local_frame": {FRAMES["odom"]},
        "odom_frame_id": {FRAMES["odom"]},
        "robot_base_frame": {root},
        "base_frame_id": {FRAMES["footprint"]},
        "scan_topic": {topics.SCAN},
        "cmd_vel_out_topic": {topics.CMD_VEL},
        "odom_topic": {topics.ODOMETRY},
        "map_topic": {f"/{topics.SOIL_COSTS}"},
    }
    for key, value in values.items():
        for name, valid in expected.items():
            if key.endswith(f".{name}"):
                assert value in valid, key
    assert values["global_costmap.global_frame"] == world_map.DECLARATIONS["map_frame"].default
    assert values["local_costmap.global_frame"] == world_map.DECLARATIONS["odom_frame"].default
    assert values["collision_monitor.scan.topic"] == topics.SCAN
    assert values.get("local_costmap.obstacle_layer.scan.topic", f"/{topics.SCAN}") == f"/{topics.SCAN}"
    # the output of one is the input of the next
    assert values["collision_monitor.cmd_vel_in_topic"] == "cmd_vel_smoothed"


def outline(machine, positions):
    """Places in the plane whose hull is the outline of a machine's collision shapes, shape (n, 2)."""
    poses = link_poses(machine, positions)
    places = []
    for link in machine.links:
        for collision in link.collisions:
            pose = compose(poses[link.name], collision.pose)
            places.append(shape_points(collision.geometry) @ matrix(pose.quaternion).T + pose.position)
    return np.concatenate(places)[:, :2]


def swept(machine):
    """The outline with the rover's forks, the demolition robot's outriggers and the excavator's blade, at all angles,
    each by itself."""
    start = initial_positions(machine)
    places = [outline(machine, start)]
    turning = [
        joint
        for joint in machine.joints
        if joint.name.endswith("_steering") or "outrigger" in joint.name or joint.name == "blade"
    ]
    assert len(turning) == (1 if machine.name == "excavator" else 4)
    for joint in turning:
        for position in np.linspace(joint.limit.lower, joint.limit.upper, 41):
            places.append(outline(machine, {**start, joint.name: position}))
    return np.concatenate(places)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_footprint_holds_the_machine_and_not_much_more(machine):
    servers = parameters(machine)
    (text,) = {servers[name]["footprint"] for name in ("global_costmap", "local_costmap")}
    corners = np.array(ast.literal_eval(text))
    low, high = corners.min(axis=0), corners.max(axis=0)
    assert len(corners) == 4 and {tuple(corner) for corner in corners} == set(
        product(*zip(low.tolist(), high.tolist(), strict=True))
    )
    places = swept(grouser.load_machine(machine_file(machine)))
    assert np.all(places.min(axis=0) >= low) and np.all(places.max(axis=0) <= high)
    # at most a cell of the costmap larger than the machine
    cell = servers["local_costmap"]["resolution"]
    assert np.all(places.min(axis=0) - low < cell) and np.all(high - places.max(axis=0) < cell)


@pytest.mark.parametrize("machine", MACHINES)
def test_inflation_radius_exceeds_the_radius_of_the_footprint(machine):
    """Nav2's planner treats the machine as a point: only the costs around obstacles keep it at a distance."""
    servers = parameters(machine)
    for name in ("global_costmap", "local_costmap"):
        corners = np.array(ast.literal_eval(servers[name]["footprint"]))
        around = np.max(np.hypot(*corners.T)) + servers[name]["footprint_padding"]
        assert servers[name]["inflation_layer"]["inflation_radius"] > around
        assert servers["local_costmap"]["width"] > 2.0 * around


def speeds(machine):
    """Greatest speeds of the servers that command any: (ahead [m/s], yaw [rad/s])."""
    servers = parameters(machine)
    follow, smooth = servers["controller_server"]["FollowPath"], servers["velocity_smoother"]
    yield follow["desired_linear_vel"], follow["rotate_to_heading_angular_vel"]
    yield smooth["max_velocity"][0], smooth["max_velocity"][2]
    yield -smooth["min_velocity"][0], -smooth["min_velocity"][2]
    yield 0.0, servers["behavior_server"]["max_rotational_vel"]
    assert smooth["max_velocity"][1] == smooth["min_velocity"][1] == 0.0


def test_speed_limits_suit_the_wheels_of_the_rover():
    vehicle = make_vehicle(grouser.load_machine(machine_file("rover")))
    limits = np.array([wheel.speed_limit for wheel in vehicle.wheels])
    manners = Manners()
    for ahead, yaw in [*speeds("rover"), (manners.speed, manners.yaw_rate)]:
        for twist in (np.array([ahead, 0.0, 0.0]), np.array([0.0, 0.0, yaw])):
            allowed, angles = vehicle.steer(twist, np.zeros(len(limits)))
            np.testing.assert_array_equal(allowed, twist)
            assert np.all(np.abs(vehicle.wheel_speeds(twist, angles)) <= limits)


@pytest.mark.parametrize(("name", "arguments"), [("demolition_robot", {"stance": "tracks"}), ("excavator", {})])
def test_speed_limits_suit_the_tracks(name, arguments):
    vehicle = make_vehicle(grouser.load_machine(machine_file(name), arguments))
    limits = np.array([wheel.speed_limit for wheel in vehicle.wheels])
    for ahead, yaw in speeds(name):
        for twist in (np.array([ahead, 0.0, 0.0]), np.array([0.0, 0.0, yaw])):
            assert np.all(np.abs(vehicle.wheel_speeds(twist, np.zeros(len(limits)))) <= limits)


def test_the_goal_follower_keeps_the_rovers_circle_free():
    """The circle in which it turns, with wheels at any angle, and the distance of two more commands."""
    places = swept(grouser.load_machine(machine_file("rover")))
    manners = Manners()
    assert manners.radius > np.max(np.hypot(*places.T)) + 2.0 * manners.speed / 20.0
    assert math.isclose(manners.speed, parameters("rover")["velocity_smoother"]["max_velocity"][0])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("costmap", "soil"), list(product(("global_costmap", "local_costmap"), (False, True))))
def test_rcl_gives_the_soil_layer_to_the_costmaps(ros, costmap, soil, machine):
    """A node as Nav2 makes its costmaps, with the arguments that launch_ros gives to its process.

    `SetParameter` comes first, and is for nodes of any name.
    """
    names = (machine, f"{machine}_soil" if soil else machine)
    files = [share_path("config", "nav2", f"{name}.yaml") for name in names]
    arguments = ["--ros-args", "-p", "use_sim_time:=true"]
    for file in files:
        arguments += ["--params-file", str(file)]
    node = rclpy.create_node(costmap, namespace=costmap, cli_args=arguments)
    layers = node.declare_parameter("plugins", [""]).value
    topic = node.declare_parameter("soil_layer.map_topic", "").value
    others = [node.declare_parameter(f"{layer}.plugin", "").value for layer in layers]
    enough = [node.declare_parameter(name, not wanted).value for name, wanted in SOIL_COUNTS.items()]
    node.destroy_node()
    assert ("soil_layer" in layers) == soil
    assert layers[-1] == "inflation_layer" and all(others)
    if soil:
        assert topic == f"/{topics.SOIL_COSTS}"
        assert enough == list(SOIL_COUNTS.values())


def test_a_dictionary_of_a_launch_file_does_not_change_what_a_file_gives_by_name(ros, tmp_path):
    """Why soil has a file of its own: launch_ros writes a dictionary for any node, below what is given before it."""
    any_node = tmp_path / "launch_params"
    any_node.write_text("/**:\n  ros__parameters:\n    robot_base_frame: other\n")
    given = ["-p", "use_sim_time:=true", "--params-file", str(share_path("config", "nav2", "rover.yaml"))]
    node = rclpy.create_node("controller", namespace="/", cli_args=["--ros-args", "--params-file", str(any_node)])
    costmap = rclpy.create_node(
        "local_costmap", namespace="local_costmap", cli_args=["--ros-args", *given, "--params-file", str(any_node)]
    )
    values = [one.declare_parameter("robot_base_frame", "").value for one in (node, costmap)]
    for one in (node, costmap):
        one.destroy_node()
    assert values == ["other", "base_link"]


@pytest.mark.parametrize("machine", MACHINES)
def test_timeouts_hold_on_a_busy_computer(machine):
    """Answers take wall time: at a real-time factor of 10 a tenth of a second must do, and bonds at a tenth of it."""
    servers = parameters(machine)
    assert servers["bt_navigator"]["default_server_timeout"] >= 1000  # [ms] of simulation time
    assert servers["bt_navigator"]["wait_for_service_timeout"] >= 5000  # [ms]
    for name in ("navigation", "localization"):
        assert servers[f"lifecycle_manager_{name}"]["bond_timeout"] >= 10.0  # [s]
