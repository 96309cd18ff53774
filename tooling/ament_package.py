"""Makes an environment a prefix of the ament index with this package, for `ros2 run` and `ros2 launch`."""

from __future__ import annotations

from pathlib import Path

PACKAGE = "grouser"
EXECUTABLES = (
    "grouser",
    "simulator",
    "viewer",
    "operator",
    "composed",
    "attitude_controller",
    "world_map",
    "goal_follower",
    "joystick_bridge",
    "can_bridge",
    "plc_bridge",
    "serial_bridge",
    "fmu_bridge",
)
SHARED = ("package.xml", "config", "urdf")


def register_package(prefix: Path, sources: Path) -> None:
    """Links what an installed package has: a marker in the index, its executables and its shared files.

    Args:
        prefix: folder of the environment; its bin/ has the executables.
        sources: folder with the package's files.
    """
    marker = prefix / "share" / "ament_index" / "resource_index" / "packages" / PACKAGE
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    for name in EXECUTABLES:
        _link(prefix / "lib" / PACKAGE / name, Path("..", "..", "bin", name))
    share = prefix / "share" / PACKAGE
    for name in SHARED:
        _link(share / name, sources / name)
    # `ros2 launch` follows links of files only
    launch = share / "launch"
    for earlier in launch.glob("*"):
        earlier.unlink()
    for file in (sources / "launch").glob("*.launch.py"):
        _link(launch / file.name, file)


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
