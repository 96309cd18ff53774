"""A body on a ball joint is swung up and held upright: `ros2 launch grouser rigid_pendulum.launch.py`."""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

LAUNCH_FOLDER = Path(__file__).resolve().parent
PARAMETERS = str(LAUNCH_FOLDER.parent / "config" / "rigid_pendulum.yaml")


def generate_launch_description():
    """The general launch file with this machine, and the node that controls it."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "machine_arguments",
                default_value="['roll:=3.0']",
                description="of its xacro file; [roll:=0.1] starts inverted",
            ),
            DeclareLaunchArgument("world", default_value="flat", description="world file, or a name"),
            DeclareLaunchArgument(
                "controller",
                default_value="sliding_mode",
                choices=["energy", "sliding_mode", "pd"],
                description="control law",
            ),
            DeclareLaunchArgument(
                "target", default_value="inverted", choices=["inverted", "hanging"], description="target attitude"
            ),
            DeclareLaunchArgument(
                "view", default_value="true", choices=["true", "false"], description="show the machine in the browser"
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(LAUNCH_FOLDER / "simulator.launch.py")),
                launch_arguments={
                    "machine": "rigid_pendulum",
                    "machine_arguments": LaunchConfiguration("machine_arguments"),
                    "world": LaunchConfiguration("world"),
                    "parameters": PARAMETERS,
                    "view": LaunchConfiguration("view"),
                }.items(),
            ),
            Node(
                package="grouser",
                executable="attitude_controller",
                name="attitude_controller",
                output="screen",
                parameters=[
                    PARAMETERS,
                    {
                        "controller": ParameterValue(LaunchConfiguration("controller"), value_type=str),
                        "target": ParameterValue(LaunchConfiguration("target"), value_type=str),
                    },
                ],
            ),
        ]
    )
