"""Parts of launch files."""

from collections.abc import Iterable

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.action import Action
from launch.actions import OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from grouser.fleet import load_fleet


def end_launch(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
    """Ends a launch with the process that it is about; for `on_exit` of its node.

    Raises:
        RuntimeError: the process failed. `ros2 launch` shows the text, ends the other processes and has status 1.
    """
    if context.is_shutdown:
        return None
    if event.returncode != 0:
        raise RuntimeError(f"{event.process_name} ended with status {event.returncode}")
    return Shutdown(reason=f"{event.process_name} has ended")


def require_packages(names: Iterable[str], remedy: str) -> OpaqueFunction:
    """An action that ends a launch before anything is started if packages are missing.

    Args:
        names: of the ROS packages.
        remedy: how to install them.
    """

    def check(_context: LaunchContext) -> None:
        missing = [name for name in names if not _is_installed(name)]
        if missing:
            raise RuntimeError(f"these packages are not installed: {', '.join(missing)}; {remedy}")

    return OpaqueFunction(function=check)


def state_publishers_of_fleet(context: LaunchContext) -> list[Action]:
    """A robot_state_publisher for each machine of the launch argument `fleet`: in its namespace, for its frames.

    Raises:
        GrouserError: the fleet is not valid.
    """
    fleet = load_fleet(LaunchConfiguration("fleet").perform(context))
    package = "robot_state_publisher"
    return [
        require_packages([package], "sudo apt install ros-$ROS_DISTRO-robot-state-publisher"),
        *(
            Node(
                package=package,
                executable=package,
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
            for name, member in fleet.items()
        ),
    ]


def _is_installed(package: str) -> bool:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True
