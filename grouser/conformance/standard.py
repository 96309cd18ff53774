"""The ROS 2 interface of a simulator of a working machine as tables: topics, services, actions and parameters.

Names follow the node's namespace unless they begin with ``/``; names of services that begin with ``~/`` follow the
node's.
"""

from dataclasses import dataclass

# Parts of a machine that require a topic, a service or an action; `description` finds them in the URDF.
EVERY_MACHINE = "every machine"
FLOATING_BASE = "a base that is free to move"
WHEELS = "wheels"
DRIVEN_WHEELS = "driven wheels"
IMUS = "inertial measurement units"
LIDARS = "lidars"
LIDARS_3D = "lidars with several channels"
DEPTH_CAMERAS = "depth cameras"
GNSS_RECEIVERS = "receivers of satellite navigation"
FORCE_TORQUE_SENSORS = "force-torque sensors"
HYDRAULICS = "cylinders or hydraulic motors"
VALVES = "directional valves"
DRIVES = "servo drives"
FOLLOWING_DRIVES = "drives of position or velocity"
REACTIONS = "loop or compliant joints"
FLEXIBLE_LINKS = "flexible links"
OPTIONAL = "(optional)"

RELIABLE, BEST_EFFORT = "reliable", "best effort"
VOLATILE, TRANSIENT_LOCAL = "volatile", "transient local"

VALUES = "control_msgs/DynamicInterfaceGroupValues"


@dataclass(frozen=True)
class Output:
    """A topic that the simulator publishes.

    Attributes:
        name: ``<…>`` stands for the name of a link, a joint or a sensor, with ``_`` for characters that a topic
            cannot have.
        type: of its messages.
        needs: part of a machine that makes the topic required; `OPTIONAL`: never required.
        reliability, durability, depth: quality of service.
        rate: in simulation time [Hz]; 0: each step; None: on events.
        rate_parameter: parameter of the node that changes it.
        single: name of the topic where a machine has only one such part.
    """

    name: str
    type: str
    needs: str
    reliability: str = RELIABLE
    durability: str = VOLATILE
    depth: int = 10
    rate: float | None = None
    rate_parameter: str = ""
    single: str = ""


OUTPUTS = (
    Output("/clock", "rosgraph_msgs/Clock", EVERY_MACHINE, BEST_EFFORT, VOLATILE, 1, 100.0, "clock_rate"),
    Output("joint_states", "sensor_msgs/JointState", EVERY_MACHINE, rate=100.0, rate_parameter="joint_state_rate"),
    Output("/tf", "tf2_msgs/TFMessage", EVERY_MACHINE, depth=100, rate=100.0, rate_parameter="joint_state_rate"),
    Output("/tf_static", "tf2_msgs/TFMessage", EVERY_MACHINE, durability=TRANSIENT_LOCAL, depth=1),
    Output("robot_description", "std_msgs/String", EVERY_MACHINE, durability=TRANSIENT_LOCAL, depth=1),
    Output("display_description", "std_msgs/String", OPTIONAL, durability=TRANSIENT_LOCAL, depth=1),
    Output("/diagnostics", "diagnostic_msgs/DiagnosticArray", EVERY_MACHINE),
    Output("objects/poses", "tf2_msgs/TFMessage", OPTIONAL, rate=50.0, rate_parameter="object_rate"),
    Output("objects/shapes", "visualization_msgs/MarkerArray", OPTIONAL, durability=TRANSIENT_LOCAL, depth=1),
    Output("odom", "nav_msgs/Odometry", WHEELS, rate=50.0, rate_parameter="odom_rate"),
    Output("ground_truth/odom", "nav_msgs/Odometry", FLOATING_BASE, rate=50.0, rate_parameter="odom_rate"),
    Output("imu/<name>/data", "sensor_msgs/Imu", IMUS, BEST_EFFORT, VOLATILE, 5, 100.0, "imu_rate", "imu/data"),
    Output("scan/<name>", "sensor_msgs/LaserScan", LIDARS, BEST_EFFORT, VOLATILE, 5, 10.0, "scan_rate", "scan"),
    Output(
        *("points/<name>", "sensor_msgs/PointCloud2", LIDARS_3D, BEST_EFFORT, VOLATILE, 5),
        *(10.0, "points_rate", "points"),
    ),
    Output(
        *("depth/<name>/image_rect", "sensor_msgs/Image", DEPTH_CAMERAS, BEST_EFFORT, VOLATILE, 5),
        *(10.0, "depth_rate", "depth/image_rect"),
    ),
    Output(
        *("depth/<name>/camera_info", "sensor_msgs/CameraInfo", DEPTH_CAMERAS, BEST_EFFORT, VOLATILE, 5),
        *(10.0, "depth_rate", "depth/camera_info"),
    ),
    Output("fix/<name>", "sensor_msgs/NavSatFix", GNSS_RECEIVERS, BEST_EFFORT, VOLATILE, 5, 5.0, "fix_rate", "fix"),
    Output(
        *("force_torque/<name>", "geometry_msgs/WrenchStamped", FORCE_TORQUE_SENSORS, BEST_EFFORT, VOLATILE, 5),
        *(100.0, "force_torque_rate"),
    ),
    Output(
        "contact_wrenches/<link>",
        "geometry_msgs/WrenchStamped",
        OPTIONAL,
        BEST_EFFORT,
        VOLATILE,
        5,
        100.0,
        "contact_rate",
    ),
    Output(
        "obstacle_wrenches/<link>",
        "geometry_msgs/WrenchStamped",
        OPTIONAL,
        BEST_EFFORT,
        VOLATILE,
        5,
        100.0,
        "contact_rate",
    ),
    Output("contacts", "ros_gz_interfaces/Contacts", OPTIONAL, BEST_EFFORT, VOLATILE, 5, 100.0, "contact_rate"),
    Output("contact_markers", "visualization_msgs/MarkerArray", OPTIONAL, rate=10.0, rate_parameter="marker_rate"),
    Output("track_markers", "visualization_msgs/MarkerArray", OPTIONAL, rate=10.0, rate_parameter="marker_rate"),
    Output("bucket/load", VALUES, OPTIONAL, rate=10.0, rate_parameter="bucket_rate"),
    Output("digging/force", VALUES, OPTIONAL, rate=50.0, rate_parameter="digging_rate"),
    Output(
        *("terrain/falling", "sensor_msgs/PointCloud2", OPTIONAL, BEST_EFFORT, VOLATILE, 5),
        *(30.0, "falling_rate"),
    ),
    Output(
        "granular/points",
        "sensor_msgs/PointCloud2",
        OPTIONAL,
        BEST_EFFORT,
        VOLATILE,
        5,
        30.0,
        "granular_rate",
    ),
    Output("blocks/markers", "visualization_msgs/MarkerArray", OPTIONAL, rate=30.0, rate_parameter="blocks_rate"),
    Output(
        "terrain",
        "sensor_msgs/PointCloud2",
        OPTIONAL,
        durability=TRANSIENT_LOCAL,
        depth=1,
        rate=1.0,
        rate_parameter="terrain_rate",
    ),
    Output(
        "terrain/rut_depth",
        "nav_msgs/OccupancyGrid",
        OPTIONAL,
        durability=TRANSIENT_LOCAL,
        depth=1,
        rate=1.0,
        rate_parameter="terrain_rate",
    ),
    Output(
        "terrain/bearing_margin",
        "nav_msgs/OccupancyGrid",
        OPTIONAL,
        durability=TRANSIENT_LOCAL,
        depth=1,
        rate=1.0,
        rate_parameter="terrain_rate",
    ),
    Output("hydraulics/state", VALUES, HYDRAULICS, rate=100.0, rate_parameter="hydraulics_rate"),
    Output("hydraulics/circuit", VALUES, OPTIONAL, rate=20.0, rate_parameter="circuit_rate"),
    Output(
        "joint_reactions/<joint>",
        "geometry_msgs/WrenchStamped",
        REACTIONS,
        BEST_EFFORT,
        VOLATILE,
        5,
        100.0,
        "reaction_rate",
    ),
    Output("flexible/state", VALUES, FLEXIBLE_LINKS, rate=50.0, rate_parameter="flexible_rate"),
    Output("slip", VALUES, WHEELS, rate=50.0, rate_parameter="slip_rate"),
)


@dataclass(frozen=True)
class Input:
    """A topic to which the simulator subscribes.

    Attributes:
        name: of the topic.
        types: of its messages; one of them.
        needs: as of an `Output`.
    """

    name: str
    types: tuple[str, ...]
    needs: str


CMD_VEL = Input("cmd_vel", ("geometry_msgs/TwistStamped", "geometry_msgs/Twist"), DRIVEN_WHEELS)
INPUTS = (
    Input("emergency_stop", ("std_msgs/Bool",), EVERY_MACHINE),
    Input("/emergency_stop", ("std_msgs/Bool",), EVERY_MACHINE),
    CMD_VEL,
    Input("joint_commands", ("sensor_msgs/JointState",), DRIVES),
    Input("joint_trajectory", ("trajectory_msgs/JointTrajectory",), FOLLOWING_DRIVES),
    Input("push", ("geometry_msgs/WrenchStamped",), OPTIONAL),
    Input("valve_commands", (VALUES,), VALVES),
    Input("valve_commands_array", ("std_msgs/Float64MultiArray",), VALVES),
)


@dataclass(frozen=True)
class Call:
    """A service or an action that the simulator offers.

    Attributes:
        name: of the service or action.
        type: of the request.
        needs: as of an `Output`.
        instead: type of a service of `simulation_interfaces` that does the same and makes this one dispensable.
    """

    name: str
    type: str
    needs: str
    instead: str = ""


CLEAR_EMERGENCY_STOP = Call("~/clear_emergency_stop", "std_srvs/Trigger", EVERY_MACHINE)
SERVICES = (
    Call("~/pause", "std_srvs/SetBool", EVERY_MACHINE, "SetSimulationState"),
    Call("~/step", "std_srvs/Trigger", EVERY_MACHINE, "StepSimulation"),
    Call("~/reset", "std_srvs/Trigger", EVERY_MACHINE, "ResetSimulation"),
    Call("~/record", "std_srvs/SetBool", OPTIONAL),
    Call("~/clear_faults", "std_srvs/Trigger", HYDRAULICS),
    CLEAR_EMERGENCY_STOP,
)
ACTIONS = (Call("follow_joint_trajectory", "control_msgs/FollowJointTrajectory", FOLLOWING_DRIVES),)

# Parameters of the interface, and the value that holds where a node does not have one.
PARAMETERS: dict[str, bool | float | str] = {
    "publish_link_tf": True,
    "publish_map_tf": True,
    "cmd_vel_timeout": 0.5,
    "command_timeout": 0.5,
    "odom_frame": "odom",
    "base_footprint_frame": "base_footprint",
    "map_frame": "map",
    "reset_rewinds_time": False,
    **{output.rate_parameter: float(output.rate or 0.0) for output in OUTPUTS if output.rate_parameter},
}
# Parameters whose default each simulator chooses.
STEP = "step"
STAMPED_TWIST = "enable_stamped_cmd_vel"
STEP_REQUEST_COUNT = "step_request_count"

# Values of each group of a topic, by the group's part of the machine.
CYLINDER_VALUES = (
    "pressure_piston_side",
    "pressure_rod_side",
    "flow",
    "spool_position",
    "force",
    "power",
    "temperature",
)
WHEEL_VALUES = ("slip_ratio", "slip_angle", "sinkage", "drawbar_pull")
FLEXIBLE_VALUES = ("tip_deflection_y", "tip_deflection_z", "tip_twist", "strain_energy")
# Words in the keys of /diagnostics.
DIAGNOSTICS = (
    "real_time_factor",
    "overruns",
    "step_time_p50",
    "step_time_p99",
    "step_time_max",
    "residual",
    "iterations",
    "balance",
    "watchdog",
)
REFUSED, EMERGENCY_STOP = "refused", "emergency_stop"

# Features of simulation_interfaces (`SimulatorFeatures`), and the service or action that each promises.
SIMULATION_INTERFACES = "simulation_interfaces"
FEATURES = {
    "SPAWNING": "SpawnEntity",
    "DELETING": "DeleteEntity",
    "NAMED_POSES": "GetNamedPoses",
    "POSE_BOUNDS": "GetNamedPoseBounds",
    "ENTITY_TAGS": "GetEntities",
    "ENTITY_BOUNDS": "GetEntityBounds",
    "ENTITY_BOUNDS_BOX": "GetEntityBounds",
    "ENTITY_BOUNDS_CONVEX": "GetEntityBounds",
    "ENTITY_CATEGORIES": "GetEntities",
    "SPAWNING_RESOURCE_STRING": "SpawnEntity",
    "ENTITY_STATE_GETTING": "GetEntityState",
    "ENTITY_STATE_SETTING": "SetEntityState",
    "ENTITY_INFO_GETTING": "GetEntityInfo",
    "ENTITY_INFO_SETTING": "SetEntityInfo",
    "SPAWNABLES": "GetSpawnables",
    "SIMULATION_RESET": "ResetSimulation",
    "SIMULATION_RESET_TIME": "ResetSimulation",
    "SIMULATION_RESET_STATE": "ResetSimulation",
    "SIMULATION_RESET_SPAWNED": "ResetSimulation",
    "SIMULATION_STATE_GETTING": "GetSimulationState",
    "SIMULATION_STATE_SETTING": "SetSimulationState",
    "SIMULATION_STATE_PAUSE": "SetSimulationState",
    "STEP_SIMULATION_SINGLE": "StepSimulation",
    "STEP_SIMULATION_MULTIPLE": "StepSimulation",
    "STEP_SIMULATION_ACTION": "SimulateSteps",
    "WORLD_LOADING": "LoadWorld",
    "WORLD_RESOURCE_STRING": "LoadWorld",
    "WORLD_TAGS": "GetAvailableWorlds",
    "WORLD_UNLOADING": "UnloadWorld",
    "WORLD_INFO_GETTING": "GetCurrentWorld",
    "AVAILABLE_WORLDS": "GetAvailableWorlds",
    "SPAWNING_ENTITIES": "SpawnEntities",
}
# Of these, requests that change nothing, and requests about one entity.
GETTERS = ("GetEntities", "GetSpawnables", "GetNamedPoses", "GetAvailableWorlds", "GetCurrentWorld")
ABOUT_ENTITIES = ("GetEntityState", "GetEntityInfo", "GetEntityBounds", "SetEntityState", "DeleteEntity")
