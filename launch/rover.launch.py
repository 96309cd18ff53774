"""The rover plays its demonstration, or follows cmd_vel: `ros2 launch grouser rover.launch.py`."""

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
            DeclareLaunchArgument("world", default_value="flat", description="world file, or a name"),
            DeclareLaunchArgument(
                "program", default_value="rover", description="timed command program, or a name; '': none"
            ),
            DeclareLaunchArgument(
                "view", default_value="true", choices=["true", "false"], description="show the machine in the browser"
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(LAUNCH_FOLDER / "simulator.launch.py")),
                launch_arguments={
                    "machine": "rover",
                    "world": LaunchConfiguration("world"),
                    "program": LaunchConfiguration("program"),
                    "view": LaunchConfiguration("view"),
                }.items(),
            ),
        ]
    )
