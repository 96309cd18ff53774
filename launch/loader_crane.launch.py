"""The loader crane raises its payload, by a rigid or flexible boom: `ros2 launch grouser loader_crane.launch.py`."""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription

LAUNCH_FOLDER = Path(__file__).resolve().parent


def generate_launch_description():
    """The general launch file with this machine and its command program."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "flexible", default_value="false", choices=["true", "false"], description="whether the boom bends"
            ),
            DeclareLaunchArgument("world", default_value="flat", description="world file, or a name"),
            DeclareLaunchArgument(
                "program", default_value="loader_crane", description="timed command program, or a name; '': none"
            ),
            DeclareLaunchArgument(
                "view", default_value="true", choices=["true", "false"], description="show the machine in the browser"
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(LAUNCH_FOLDER / "simulator.launch.py")),
                launch_arguments={
                    "machine": "loader_crane",
                    "machine_arguments": ["['flexible:=", LaunchConfiguration("flexible"), "']"],
                    "world": LaunchConfiguration("world"),
                    "program": LaunchConfiguration("program"),
                    "view": LaunchConfiguration("view"),
                }.items(),
            ),
        ]
    )
