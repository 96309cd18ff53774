"""An arm of two flexible links moves and vibrates: `ros2 launch grouser flexible_arm.launch.py`."""

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
                "program", default_value="flexible_arm", description="timed command program, or a name; '': none"
            ),
            DeclareLaunchArgument(
                "view", default_value="true", choices=["true", "false"], description="show the machine in the browser"
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(LAUNCH_FOLDER / "simulator.launch.py")),
                launch_arguments={
                    "machine": "flexible_arm",
                    "world": LaunchConfiguration("world"),
                    "program": LaunchConfiguration("program"),
                    "view": LaunchConfiguration("view"),
                }.items(),
            ),
        ]
    )
