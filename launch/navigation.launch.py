"""A machine that Nav2 drives: `ros2 launch grouser navigation.launch.py world:=obstacle_course`."""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import EqualsSubstitution, IfElseSubstitution, LaunchConfiguration
from launch_ros.actions import Node, SetParameter
from launch_ros.parameter_descriptions import ParameterValue

from grouser.launching import end_launch, require_packages
from launch import LaunchDescription

SHARE = Path(__file__).resolve().parent.parent


def generate_launch_description():
    """The simulator, the map of its world, and Nav2's servers, which need the packages of `navigation2`."""
    # Not `parameters`, an argument of simulator.launch.py: an included file gets the arguments of the file that
    # includes it.
    nav2_parameters = LaunchConfiguration("nav2_parameters")
    # Read after the others: of two files that give a parameter to a node by its name, the later one wins.
    costmap_parameters = [
        nav2_parameters,
        IfElseSubstitution(LaunchConfiguration("soil_layers"), LaunchConfiguration("soil_parameters"), nav2_parameters),
    ]
    measured_machine = IfElseSubstitution(LaunchConfiguration("soil_layers"), LaunchConfiguration("machine"), "")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "machine",
                default_value="rover",
                choices=["rover", "demolition_robot", "excavator"],
                description="machine to drive; the demolition robot stands on its tracks, the excavator has a lidar",
            ),
            DeclareLaunchArgument("world", default_value="obstacle_course", description="world file, or a name"),
            DeclareLaunchArgument(
                "nav2_parameters",
                default_value=[f"{SHARE / 'config' / 'nav2'}/", LaunchConfiguration("machine"), ".yaml"],
                description="parameter file of Nav2's servers",
            ),
            DeclareLaunchArgument(
                "localization",
                default_value="truth",
                choices=["truth", "odometry", "none"],
                description="truth: pose of the simulator; odometry: wheels, tracks, initialpose; none: AMCL does",
            ),
            DeclareLaunchArgument(
                "soil_layers",
                default_value="false",
                choices=["true", "false"],
                description="whether ruts and weak soil have costs, for planner and controller",
            ),
            DeclareLaunchArgument(
                "soil_parameters",
                default_value=[f"{SHARE / 'config' / 'nav2'}/", LaunchConfiguration("machine"), "_soil.yaml"],
                description="parameter file that soil_layers adds",
            ),
            DeclareLaunchArgument("real_time_factor", default_value="1.0", description="0.0: as fast as possible"),
            DeclareLaunchArgument(
                "view", default_value="true", choices=["true", "false"], description="show the machine in the browser"
            ),
            require_packages(
                [
                    "nav2_behaviors",
                    "nav2_bt_navigator",
                    "nav2_collision_monitor",
                    "nav2_controller",
                    "nav2_lifecycle_manager",
                    "nav2_planner",
                    "nav2_velocity_smoother",
                    "nav2_waypoint_follower",
                ],
                "sudo apt install ros-$ROS_DISTRO-navigation2; the node goal_follower drives without Nav2",
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / "launch" / "simulator.launch.py")),
                launch_arguments={
                    "machine": LaunchConfiguration("machine"),
                    "machine_arguments": IfElseSubstitution(
                        EqualsSubstitution(LaunchConfiguration("machine"), "rover"),
                        "['']",
                        IfElseSubstitution(
                            EqualsSubstitution(LaunchConfiguration("machine"), "excavator"),
                            "['lidar:=true']",
                            "['stance:=tracks']",
                        ),
                    ),
                    "world": LaunchConfiguration("world"),
                    "program": "",
                    "publish_map_tf": "false",
                    "real_time_factor": LaunchConfiguration("real_time_factor"),
                    "view": LaunchConfiguration("view"),
                }.items(),
            ),
            Node(
                package="grouser",
                executable="world_map",
                name="world_map",
                output="screen",
                on_exit=end_launch,
                parameters=[
                    {
                        "world": ParameterValue(LaunchConfiguration("world"), value_type=str),
                        "machine": ParameterValue(measured_machine, value_type=str),
                        "localization": ParameterValue(LaunchConfiguration("localization"), value_type=str),
                    }
                ],
            ),
            GroupAction(
                [
                    SetParameter("use_sim_time", True),
                    Node(
                        package="nav2_amcl",
                        executable="amcl",
                        name="amcl",
                        output="screen",
                        parameters=[nav2_parameters],
                        condition=IfCondition(EqualsSubstitution(LaunchConfiguration("localization"), "none")),
                    ),
                    Node(
                        package="nav2_lifecycle_manager",
                        executable="lifecycle_manager",
                        name="lifecycle_manager_localization",
                        output="screen",
                        parameters=[nav2_parameters],
                        condition=IfCondition(EqualsSubstitution(LaunchConfiguration("localization"), "none")),
                    ),
                    Node(
                        package="nav2_planner",
                        executable="planner_server",
                        name="planner_server",
                        output="screen",
                        parameters=costmap_parameters,
                    ),
                    Node(
                        package="nav2_controller",
                        executable="controller_server",
                        name="controller_server",
                        output="screen",
                        parameters=costmap_parameters,
                        remappings=[("cmd_vel", "cmd_vel_nav")],
                    ),
                    Node(
                        package="nav2_behaviors",
                        executable="behavior_server",
                        name="behavior_server",
                        output="screen",
                        parameters=[nav2_parameters],
                        remappings=[("cmd_vel", "cmd_vel_nav")],
                    ),
                    Node(
                        package="nav2_bt_navigator",
                        executable="bt_navigator",
                        name="bt_navigator",
                        output="screen",
                        parameters=[nav2_parameters],
                    ),
                    Node(
                        package="nav2_waypoint_follower",
                        executable="waypoint_follower",
                        name="waypoint_follower",
                        output="screen",
                        parameters=[nav2_parameters],
                    ),
                    Node(
                        package="nav2_velocity_smoother",
                        executable="velocity_smoother",
                        name="velocity_smoother",
                        output="screen",
                        parameters=[nav2_parameters],
                        remappings=[("cmd_vel", "cmd_vel_nav")],
                    ),
                    Node(
                        package="nav2_collision_monitor",
                        executable="collision_monitor",
                        name="collision_monitor",
                        output="screen",
                        parameters=[nav2_parameters],
                    ),
                    Node(
                        package="nav2_lifecycle_manager",
                        executable="lifecycle_manager",
                        name="lifecycle_manager_navigation",
                        output="screen",
                        parameters=[nav2_parameters],
                    ),
                ]
            ),
        ]
    )
