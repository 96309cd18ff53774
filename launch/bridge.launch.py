"""A bridge beside a machine: `ros2 launch grouser bridge.launch.py bridge:=joystick_bridge mapping:=gamepad`."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from grouser.bridges.protocols import programs
from launch import LaunchDescription


def generate_launch_description():
    """One bridge; the simulator or a real machine runs elsewhere, or is started by another launch file."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("bridge", choices=programs(), description="program, by the kind of the mapping"),
            DeclareLaunchArgument("mapping", default_value="", description="mapping file, or its name"),
            DeclareLaunchArgument("namespace", default_value="", description="of the machine"),
            DeclareLaunchArgument(
                "scheduling", default_value="other", choices=["other", "fifo"], description="fifo needs the right to it"
            ),
            DeclareLaunchArgument("priority", default_value="50", description="of the scheduling fifo"),
            DeclareLaunchArgument("cpu", default_value="-1", description="processor to stay on; -1: any"),
            DeclareLaunchArgument(
                "lock_memory", default_value="false", choices=["true", "false"], description="no paging out"
            ),
            Node(
                package="grouser",
                executable=LaunchConfiguration("bridge"),
                namespace=LaunchConfiguration("namespace"),
                output="screen",
                parameters=[
                    {
                        "mapping": ParameterValue(LaunchConfiguration("mapping"), value_type=str),
                        "scheduling": ParameterValue(LaunchConfiguration("scheduling"), value_type=str),
                        "priority": ParameterValue(LaunchConfiguration("priority"), value_type=int),
                        "cpu": ParameterValue(LaunchConfiguration("cpu"), value_type=int),
                        "lock_memory": ParameterValue(LaunchConfiguration("lock_memory"), value_type=bool),
                    }
                ],
            ),
        ]
    )
