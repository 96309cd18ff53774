"""Simulates several machines: `ros2 launch grouser fleet.launch.py fleet:=rover_and_excavator world:=…`."""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import EqualsSubstitution, LaunchConfiguration

from grouser.launching import state_publishers_of_fleet
from launch import LaunchDescription

LAUNCH_FOLDER = Path(__file__).resolve().parent


def generate_launch_description():
    """One simulator, with the topics and frames of each machine under its name, and publishers of robot states."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "fleet",
                default_value="rover_and_excavator",
                description="YAML file, a name, or text: {NAME: {machine: FILE or name, xyz: [x, y, z]}, ...}",
            ),
            DeclareLaunchArgument("world", default_value="flat", description="world file, or a name"),
            DeclareLaunchArgument(
                "publish_link_tf",
                default_value="true",
                choices=["true", "false"],
                description="false: a robot_state_publisher for each machine publishes the links' transforms",
            ),
            OpaqueFunction(
                function=state_publishers_of_fleet,
                condition=IfCondition(EqualsSubstitution(LaunchConfiguration("publish_link_tf"), "false")),
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(LAUNCH_FOLDER / "simulator.launch.py")),
                launch_arguments={
                    "fleet": LaunchConfiguration("fleet"),
                    "world": LaunchConfiguration("world"),
                    "publish_link_tf": LaunchConfiguration("publish_link_tf"),
                    "view": "false",  # it shows a single machine
                }.items(),
            ),
        ]
    )
