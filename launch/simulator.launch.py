"""Simulates a machine: `ros2 launch grouser simulator.launch.py machine:=… world:=…`."""

from pathlib import Path

from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, NotEqualsSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from grouser.launching import end_launch
from launch import LaunchDescription

SHARE = Path(__file__).resolve().parent.parent


def generate_launch_description():
    """The simulator, the view in the browser at http://localhost:8080, and the operator if a pattern is given."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("machine", default_value="demolition_robot", description="URDF file, or a name"),
            DeclareLaunchArgument(
                "fleet", default_value="", description="several machines instead: YAML file or a name"
            ),
            DeclareLaunchArgument(
                "beside", default_value="", description="machines beside it from the start: a fleet's file or name"
            ),
            DeclareLaunchArgument(
                "machine_arguments", default_value="['']", description="of its xacro file, as [name:=value, ...]"
            ),
            DeclareLaunchArgument(
                "base",
                default_value="",
                choices=["", "fixed", "floating"],
                description="of the root link; '': fixed if it is named world, else floating",
            ),
            DeclareLaunchArgument(
                "packages", default_value="['']", description="folders of ROS packages, as [NAME=FOLDER, ...]"
            ),
            DeclareLaunchArgument("world", default_value="flat", description="world file, or a name"),
            DeclareLaunchArgument("program", default_value="", description="command program, or its name; '': none"),
            DeclareLaunchArgument(
                "publish_link_tf",
                default_value="true",
                choices=["true", "false"],
                description="false beside a robot_state_publisher",
            ),
            DeclareLaunchArgument(
                "publish_map_tf",
                default_value="true",
                choices=["true", "false"],
                description="false beside a node that localizes",
            ),
            DeclareLaunchArgument(
                "spawn",
                default_value="lifted",
                choices=["lifted", "as_given"],
                description="a machine that starts inside the ground is lifted, or stays there",
            ),
            DeclareLaunchArgument(
                "sleeping",
                default_value="true",
                choices=["true", "false"],
                description="free bodies at rest sleep until something touches them",
            ),
            DeclareLaunchArgument("real_time_factor", default_value="1.0", description="0.0: as fast as possible"),
            DeclareLaunchArgument(
                "start_paused",
                default_value="false",
                choices=["true", "false"],
                description="wait for ~/pause or steps at the start",
            ),
            DeclareLaunchArgument("namespace", default_value="", description="of all nodes and relative topics"),
            DeclareLaunchArgument("map_frame", default_value="map", description="frame of the world"),
            DeclareLaunchArgument("odom_frame", default_value="odom", description="frame of dead reckoning"),
            DeclareLaunchArgument(
                "base_footprint_frame", default_value="base_footprint", description="frame below the base"
            ),
            DeclareLaunchArgument(
                "parameters", default_value=str(SHARE / "config" / "simulator.yaml"), description="parameter file"
            ),
            DeclareLaunchArgument(
                "pattern", default_value="", description="control pattern of the operator, or its name; '': no operator"
            ),
            DeclareLaunchArgument(
                "view", default_value="true", choices=["true", "false"], description="show the machine in the browser"
            ),
            DeclareLaunchArgument("viewer_port", default_value="8080", description="of the view in the browser"),
            Node(
                package="grouser",
                executable="simulator",
                name="simulator",
                namespace=LaunchConfiguration("namespace"),
                output="screen",
                on_exit=end_launch,
                parameters=[
                    LaunchConfiguration("parameters"),
                    {
                        "machine": ParameterValue(LaunchConfiguration("machine"), value_type=str),
                        "fleet": ParameterValue(LaunchConfiguration("fleet"), value_type=str),
                        "beside": ParameterValue(LaunchConfiguration("beside"), value_type=str),
                        "machine_arguments": ParameterValue(
                            LaunchConfiguration("machine_arguments"), value_type=list[str]
                        ),
                        "base": ParameterValue(LaunchConfiguration("base"), value_type=str),
                        "packages": ParameterValue(LaunchConfiguration("packages"), value_type=list[str]),
                        "world": ParameterValue(LaunchConfiguration("world"), value_type=str),
                        "program": ParameterValue(LaunchConfiguration("program"), value_type=str),
                        "spawn": ParameterValue(LaunchConfiguration("spawn"), value_type=str),
                        "sleeping": ParameterValue(LaunchConfiguration("sleeping"), value_type=bool),
                        "publish_link_tf": ParameterValue(LaunchConfiguration("publish_link_tf"), value_type=bool),
                        "publish_map_tf": ParameterValue(LaunchConfiguration("publish_map_tf"), value_type=bool),
                        "real_time_factor": ParameterValue(LaunchConfiguration("real_time_factor"), value_type=float),
                        "start_paused": ParameterValue(LaunchConfiguration("start_paused"), value_type=bool),
                        "map_frame": ParameterValue(LaunchConfiguration("map_frame"), value_type=str),
                        "odom_frame": ParameterValue(LaunchConfiguration("odom_frame"), value_type=str),
                        "base_footprint_frame": ParameterValue(
                            LaunchConfiguration("base_footprint_frame"), value_type=str
                        ),
                    },
                ],
            ),
            Node(
                package="grouser",
                executable="viewer",
                name="viewer",
                namespace=LaunchConfiguration("namespace"),
                output="screen",
                parameters=[
                    {
                        "world": ParameterValue(LaunchConfiguration("world"), value_type=str),
                        "port": ParameterValue(LaunchConfiguration("viewer_port"), value_type=int),
                    }
                ],
                condition=IfCondition(LaunchConfiguration("view")),
            ),
            Node(
                package="grouser",
                executable="operator",
                name="operator",
                namespace=LaunchConfiguration("namespace"),
                output="screen",
                parameters=[{"pattern": ParameterValue(LaunchConfiguration("pattern"), value_type=str)}],
                condition=IfCondition(NotEqualsSubstitution(LaunchConfiguration("pattern"), "")),
            ),
        ]
    )
