"""Kernels that a simulation compiles before its first step, by several processes."""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numba import typeof, types

from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import quaternions_from_matrices
from grouser.physics.base.warm_up import Job, compile_together
from grouser.physics.compliance.loops import make_loop_motion, place_loops
from grouser.physics.compliance.springs import joint_spring_energy
from grouser.physics.contact.collide import find_near, touch_pairs
from grouser.physics.contact.waking import begin_sleeping, wake_island
from grouser.physics.granular import room as granular
from grouser.physics.granular.loads import find_loads
from grouser.physics.hydraulics.piston_rows import cylinder_length
from grouser.physics.integrators.context import (
    IMPLICIT_MIDPOINT,
    SEMI_IMPLICIT_EULER,
    StepContext,
    System,
    entries_of,
    make_schedule,
    make_state,
    make_workspace,
    rooms_of,
)
from grouser.physics.integrators.midpoint import run_midpoint_steps
from grouser.physics.integrators.step import run_steps
from grouser.physics.integrators.variational import run_variational_steps
from grouser.physics.model.command import make_command
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.energy import elastic_energy, kinetic_energy, potential_energy, rotor_energy
from grouser.physics.multibody.factorisation import factorise
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.spans import span_all
from grouser.physics.sensors.ray_caster import arguments_of_a_cast, cast_rays
from grouser.physics.soil import room as soil
from grouser.physics.soil.equilibrium import sinkage_under_load, steady_motion
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.strata import field_mass, heaped_mass
from grouser.physics.tracks.shoes import AREA, place_pads

# Time that a kernel takes to compile, with all that it calls, on a computer of 2025 [s]; the others take less than one.
_COSTS = {
    "hydraulics.oil_room.advance": 12.0,
    "hydraulics.oil_room.predict": 1.1,
    "hydraulics.plain_room.advance": 5.5,
    "hydraulics.room.apply_forces": 1.7,
    "blocks.room.request": 8.0,
    "granular.room.request": 6.3,
    "contact.room.detect": 28.0,
    "contact.room.open_rows": 13.5,
    "contact.room.request": 1.8,
    "contact.collide.touch_pairs": 3.5,
    "contact.sleeping_room.request": 5.0,
    "constraints.room.solve_impulses": 12.0,
    "constraints.room.open_rows": 1.4,
    "soil.room.apply_forces": 12.0,
    "soil.room.commit": 9.0,
    "soil.equilibrium.sinkage_under_load": 2.1,
    "tracks.room.apply_forces": 9.3,
    "tracks.room.commit": 3.0,
    "sensors.ray_caster.cast_rays": 3.7,
    "compliance.loops.place_loops": 12.0,
    "compliance.loops_room.apply_forces": 1.0,
    "multibody.kinematics.update_kinematics": 8.5,
    "multibody.room.apply_forces": 5.5,
    "multibody.room.factorise": 5.0,
    "multibody.room.integrate": 3.5,
    "joints.room.apply_forces": 2.2,
    "integrators.step.run_steps": 2.1,
    "integrators.midpoint.run_midpoint_steps": 12.0,
    "integrators.variational.run_variational_steps": 12.0,
}
_SHORT = 0.5


# What has been compiled or loaded in this process: all machines with the same needs have the same types.
_COMPILED: set[Hashable] = set()


def compile_ahead(system: System, rays: bool = False) -> None:
    """Compiles what a system needs for its steps and its readings, or loads it from the cache.

    Args:
        system: the arrays, as far as they are known without a kernel; only their types count.
        rays: whether the machine has sensors that cast rays.
    """
    needed = _needed(system, rays)
    if needed not in _COMPILED:
        compile_together(list(jobs_of(system, rays)))
        _COMPILED.add(needed)


def _needed(system: System, rays: bool) -> Hashable:
    """All that `jobs_of` depends on."""
    rooms = tuple(room.__name__ for room in rooms_of(system))
    parts = (system.loops.axis, system.contact.pairs.first, system.soil.body, system.hydraulics.geometry.barrel_body)
    return rooms, system.settings.integrator, rays, *(len(part) > 0 for part in parts)


def jobs_of(system: System, rays: bool = False) -> Iterator[Job]:
    """The kernels that Python calls for a system, with the types of their arguments; arguments as above."""
    command = make_command(valves=0, drives=0, machines=1, links=0, pumps=0, reliefs=0, leaks=0, cylinders=0)
    schedule = make_schedule(system)
    context = Packed(StepContext(system, make_state(system), command, make_workspace(system), schedule))
    if system.settings.integrator == SEMI_IMPLICIT_EULER:
        for phase in entries_of(system):
            for entry in phase:
                yield _job(entry, context)
        yield _job_of_types(run_steps, (types.int64, typeof(context)))
    else:
        midpoint = system.settings.integrator == IMPLICIT_MIDPOINT
        yield _job(run_midpoint_steps if midpoint else run_variational_steps, 1, context)
    kinematics = Packed(make_kinematics(system.multibody))
    yield from _other_jobs(context, kinematics)
    if len(system.soil.body):
        # called with the bare tuple of soils
        rolling = steady_motion(0.0)
        yield _job(sinkage_under_load, system.soil.soils, 0, 1.0, 1.0, 1.0, 1.0, 0.0, rolling, 1.0, 1.0)
    if soil.acts(system.soil):
        ground, cells = SoftGround(system.soil.soils, system.contact.terrain, 1.0, 1.0), soil.make_state(system.soil)
        yield _job(field_mass, ground, cells)
        yield _job(heaped_mass, ground, cells)
    if granular.acts(system.granular):
        yield _job(find_loads, context.system.granular.grains, context.state.granular.grains, np.zeros(0))
    if rays:
        yield _job(cast_rays, *arguments_of_a_cast(context, kinematics))


def _other_jobs(context: Packed, kinematics: Packed) -> Iterator[Job]:
    """Kernels that build and read a simulation."""
    system, state, work = context.system, context.state, context.workspace
    model, contact = system.multibody, system.contact
    matrix = work.multibody.factor
    yield _job(update_kinematics, model, state.q, state.v, kinematics)
    yield _job(mass_matrix, model, kinematics, work.multibody.composite, matrix)
    yield _job(factorise, model, kinematics, matrix)
    yield _job(kinetic_energy, model, kinematics)
    yield _job(rotor_energy, model, state.v)
    yield _job(potential_energy, model, kinematics)
    yield _job(elastic_energy, model, state.q)
    yield _job(joint_spring_energy, system.springs, state.q)
    yield _job(quaternions_from_matrices, np.zeros((1, 3, 3)), np.zeros((1, 7))[:, 3:])
    if len(contact.pairs.first):
        memory, found, due = state.contact.memory, work.contact.contacts, work.contact.detection
        yield _job(find_near, contact, kinematics, 0.0, due)
        yield _job(touch_pairs, contact.shapes, contact.pairs, kinematics, 0.0, memory, due, found)
    if len(system.sleeping.reach):
        yield _job(begin_sleeping, context)
        yield _job(wake_island, context, 0)
        yield _job(span_all, model, work.multibody.awake)
    if len(system.loops.axis):
        motion = Packed(make_loop_motion(system.loops, len(state.v)))
        yield _job(place_loops, model, system.loops, state.q, kinematics, motion)
    if len(system.tracks.body):
        yield _job(place_pads, system.tracks, 0, 0.0, np.zeros((1, AREA + 1)))
    if len(system.hydraulics.geometry.barrel_body):
        yield _job(cylinder_length, system.hydraulics.geometry, kinematics, 0, work.hydraulics.direction[0])


def _job(kernel: Any, *arguments: Any) -> Job:
    return _job_of_types(kernel, tuple(map(typeof, arguments)))


def _job_of_types(kernel: Any, arguments: tuple[Any, ...]) -> Job:
    function = kernel.py_func
    place = f"{function.__module__}.{function.__name__}".removeprefix("grouser.physics.")
    return Job(function.__module__, function.__name__, arguments, _COSTS.get(place, _SHORT))
