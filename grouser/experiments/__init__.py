"""Registry of the experiments that reproduce published results: one module each, see `protocol`."""

from importlib import import_module
from typing import Any

from grouser.experiments.protocol import Experiment, Parameter, Result, complete_parameters
from grouser.physics.simulation.named_view import unknown_name

__all__ = ["NAMES", "Experiment", "Parameter", "Result", "load", "run"]

NAMES: tuple[str, ...] = (
    "benchmark_andrews",
    "benchmark_bricard",
    "benchmark_flyball_governor",
    "benchmark_n_four_bar",
    "benchmark_pendulum",
    "blade_cutting",
    "blade_wedge",
    "block_break",
    "block_cantilever",
    "block_column",
    "block_patch",
    "block_slope",
    "block_wave",
    "bucket_fill",
    "dig_and_dump",
    "dig_lumps",
    "double_flexible_pendulum",
    "five_link_arm",
    "flexible_boom",
    "flexible_loop",
    "fmu_roundtrip",
    "heavy_top",
    "hil_faults",
    "hil_latency",
    "hopper_discharge",
    "hydraulic_crane",
    "hydraulic_lift",
    "loading_cycle",
    "multi_pass",
    "oblique_impact",
    "pendulum_control",
    "penetration",
    "pile_push",
    "planar_pendulum",
    "plate_sinkage",
    "repose_heap",
    "rigid_pendulum",
    "rotating_beam",
    "servo_bode",
    "servo_step",
    "servo_stick_slip",
    "skid_steer_moment",
    "slope_climb",
    "sphere_bed",
    "sphere_collision",
    "sphere_column",
    "sphere_rolling",
    "spherical_pendulum",
    "spring_four_bar",
    "stick_slip_one_mass",
    "stick_slip_two_mass",
    "track_drawbar_pull",
    "track_multi_pass",
    "track_slope",
    "track_step_climb",
    "track_turn",
    "trench",
    "vibrating_container",
    "vibrating_floor",
    "vibrating_trough",
    "wheel_soil_bin",
    "wheel_stress",
)


def load(name: str) -> Experiment:
    """Returns the module of an experiment.

    Raises:
        ParameterError: there is none of that name.
    """
    if name not in NAMES:
        raise unknown_name("experiment", name, NAMES)
    return import_module(f"grouser.experiments.{name}")


def run(name: str, **parameters: Any) -> Result:
    """Runs an experiment; parameters that are not given take their defaults.

    Raises:
        ParameterError: an unknown experiment or parameter, or a bad value.
    """
    experiment = load(name)
    return experiment.run(**complete_parameters(experiment, parameters))
