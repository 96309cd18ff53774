"""Masses on a rail stick and slip under a load that grows: `ros2 launch grouser stick_slip.launch.py`."""

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
                "machine_arguments",
                default_value="['masses:=one']",
                description="as [masses:=two, damping_ratio:=0.06]",
            ),
            DeclareLaunchArgument("world", default_value="flat", description="world file, or a name"),
            DeclareLaunchArgument(
                "program", default_value="stick_slip", description="timed command program, or a name; '': none"
            ),
            DeclareLaunchArgument(
                "view", default_value="true", choices=["true", "false"], description="show the machine in the browser"
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(LAUNCH_FOLDER / "simulator.launch.py")),
                launch_arguments={
                    "machine": "stick_slip",
                    "machine_arguments": LaunchConfiguration("machine_arguments"),
                    "world": LaunchConfiguration("world"),
                    "program": LaunchConfiguration("program"),
                    "view": LaunchConfiguration("view"),
                }.items(),
            ),
        ]
    )
