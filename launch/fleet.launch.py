"""Simulates several machines: `ros2 launch grouser fleet.launch.py fleet:=rover_and_excavator world:=…`."""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import EqualsSubstitution, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from grouser.fleet import load_fleet
from grouser.launching import require_packages
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
                function=state_publishers,
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


def state_publishers(context):
    """A robot_state_publisher for each machine, in its namespace, with the prefix of its frames."""
    return [
        require_packages(["robot_state_publisher"], "sudo apt install ros-$ROS_DISTRO-robot-state-publisher"),
        *(
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                namespace=name,
                output="screen",
                parameters=[
                    {
                        "robot_description": ParameterValue(member.machine.urdf, value_type=str),
                        "frame_prefix": f"{name}/",
                        "use_sim_time": True,
                    }
                ],
            )
            for name, member in load_fleet(LaunchConfiguration("fleet").perform(context)).items()
        ),
    ]
