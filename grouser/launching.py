"""Parts of launch files."""

from collections.abc import Iterable

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext


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


def _is_installed(package: str) -> bool:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True
