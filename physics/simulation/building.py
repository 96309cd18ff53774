"""Makes the arrays that a step reads, and the initial state, from a machine and a world."""

import hashlib
from dataclasses import dataclass

import numpy as np

from grouser.physics.base.checks import require_count, require_range
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.base.trees import leaves
from grouser.physics.blocks.masonry import make_blocks, warn_many_steps
from grouser.physics.compliance.assembly import assemble
from grouser.physics.compliance.loops import make_loops
from grouser.physics.compliance.springs import make_joint_springs
from grouser.physics.contact.collide import exclude_overlaps, make_collision, shape_name
from grouser.physics.contact.shapes import warn_still_surfaces
from grouser.physics.contact.sleeping_room import System as Sleeping
from grouser.physics.contact.sleeping_room import make_sleeping, no_sleeping
from grouser.physics.contact.terrain import ground_surface
from grouser.physics.description.data.machine import Machine, require_machine
from grouser.physics.description.data.world import Ground, World, require_world
from grouser.physics.description.elements.hydraulics.cylinders import STROKE_TOLERANCE
from grouser.physics.digging.tools import check_tools, make_tools
from grouser.physics.drives.servo import make_drives
from grouser.physics.flexible_links.division import split_flexible_links
from grouser.physics.granular.medium import make_grains
from grouser.physics.hydraulics.actuator_geometry import make_actuator_geometry
from grouser.physics.hydraulics.elements import beyond_published_schemes, make_network
from grouser.physics.hydraulics.faults import Fault, leaks, machine_faults
from grouser.physics.hydraulics.piston_rows import cylinder_length
from grouser.physics.hydraulics.prediction import SCHEMES
from grouser.physics.hydraulics.room import System as Hydraulics
from grouser.physics.integrators.context import INTEGRATORS, Settings, State, System, Workspace, make_state
from grouser.physics.integrators.smooth import check_smooth
from grouser.physics.joints.laws import make_joint_laws
from grouser.physics.joints.room import System as Joints
from grouser.physics.model.build import build_model
from grouser.physics.model.command import Command, make_command
from grouser.physics.model.multibody import with_initial_positions
from grouser.physics.model.names import Names
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.factorisation import factorise
from grouser.physics.multibody.kinematics import update_kinematics
from grouser.physics.multibody.pushing_room import System as Pushing
from grouser.physics.readings.digging import soft_ground
from grouser.physics.readings.flexible_links import Beam, make_beam
from grouser.physics.readings.soil_measurements import check_soils
from grouser.physics.readings.strain import StrainMap, strain_maps
from grouser.physics.simulation.compile_ahead import compile_ahead
from grouser.physics.simulation.membership import RAYS, Elements, element_names, membership_of, sensors_of
from grouser.physics.simulation.named_view import require_name
from grouser.physics.soil.heaps import with_heaps
from grouser.physics.soil.wheels import make_wheels
from grouser.physics.tracks.alternation import warn_alternating_load
from grouser.physics.tracks.belts import make_tracks


@dataclass(frozen=True, eq=False)
class Setup:
    """A machine in a world: everything that steps do not change.

    Attributes:
        machine, world, scheme: as of `Simulation`.
        integrator: of the motion.
        divided: the machine with its flexible links divided into rigid elements.
        names: of the multibody system.
        lines: names of the hydraulic lines.
        flow_element_owners: hydraulic element that each flow element belongs to, as field of `Machine` and name.
        faults: that the hydraulic components can have.
        shape_names: link or obstacle of each collision shape, the ground last.
        elements: names of all elements.
        membership: number of the member that each element belongs to, -1 for none.
        system: the arrays.
        fingerprint: digest of the arrays and settings.
        beams: the flexible links among the divided machine's links.
        strains: of the strain gauges.
        warnings: possible mistakes in the description.
    """

    machine: Machine
    world: World
    scheme: str
    integrator: str
    divided: Machine
    names: Names
    lines: tuple[str, ...]
    flow_element_owners: tuple[tuple[str, str], ...]
    faults: tuple[Fault, ...]
    shape_names: tuple[str, ...]
    elements: Elements[tuple[str, ...]]
    membership: Elements[np.ndarray]
    system: System
    fingerprint: str
    beams: tuple[Beam, ...]
    strains: tuple[StrainMap, ...]
    warnings: tuple[str, ...]


def set_up(
    machine: Machine,
    world: World,
    step: float,
    scheme: str,
    tolerance: float,
    most_sweeps: int,
    integrator: str | None,
    sleeping: bool = False,
) -> Setup:
    """Checks the settings and makes the arrays; arguments and errors as of `Simulation`."""
    require_machine("machine", machine)
    require_world("world", world)
    integrator = _check_settings(machine, step, scheme, tolerance, most_sweeps, integrator)
    if not isinstance(sleeping, bool):
        raise ParameterError("sleeping", sleeping, "true or false")
    divided = divided_machine(machine)
    model, names = build_model(divided, world.spawn, world.gravity)
    unsure = check_soils(divided, world) + check_tools(divided, world)
    network, lines, flow_element_owners = make_network(divided)
    _check_scheme(divided, scheme)
    wheels, tools = make_wheels(divided, names, world), make_tools(divided, names, world)
    # what a body carries is not in its own inertia
    model = model._replace(body_alone=model.body_alone & ~np.isin(np.arange(len(model.body_alone)), tools.body))
    collision = make_collision(divided, names, world)
    blocks = make_blocks(divided, world, collision.shapes, float(step))
    system = System(
        settings=Settings(float(step), SCHEMES[scheme], float(tolerance), int(most_sweeps), INTEGRATORS[integrator]),
        multibody=model,
        pushing=Pushing(np.array(names.link_body)),
        springs=make_joint_springs(divided, names),
        joints=Joints(make_joint_laws(divided, names), make_drives(divided, float(step))),
        loops=make_loops(divided, names, model),
        soil=wheels,
        tracks=make_tracks(divided, names, world, wheels),
        digging=tools,
        hydraulics=Hydraulics(make_actuator_geometry(divided, names, model), network),
        contact=collision,
        sleeping=no_sleeping(),
        granular=make_grains(divided, world, collision.shapes, blocks, float(step)),
        blocks=blocks,
    )
    if sleeping:
        system = system._replace(sleeping=_sleeping(system))
    compile_ahead(system, any(sensors_of(machine, kind) for kind in RAYS))
    start, loops, misfits = assemble(divided, model, names, system.loops)
    model = with_initial_positions(model, start)
    collision, excluded = exclude_overlaps(system.contact, divided, names, model, world)
    system = system._replace(multibody=model, loops=loops, contact=collision)
    if integrator != "semi_implicit":
        check_smooth(system, integrator, divided.file)
        if integrator == "implicit_midpoint" and sensors_of(machine, "imu"):
            raise ParameterError("integrator", integrator, "semi_implicit, for a machine with an imu")
    alternating = warn_alternating_load(divided, names, model, system.tracks, world, float(step))
    many = warn_many_steps(system.blocks, float(step))
    shapes, faults = system.contact.shapes, machine_faults(machine)
    beams = tuple(make_beam(flexible, divided, model, names) for flexible in machine.flexible_links)
    elements = element_names(machine, divided, names, shapes, lines, faults)
    return Setup(
        machine=machine,
        world=world,
        scheme=scheme,
        integrator=integrator,
        divided=divided,
        names=names,
        lines=lines,
        flow_element_owners=flow_element_owners,
        faults=faults,
        shape_names=tuple(shape_name(divided, world, shapes, shape) for shape in (*range(len(shapes.kind)), -1)),
        elements=elements,
        membership=membership_of(machine, elements),
        system=system,
        fingerprint=_fingerprint(system),
        beams=beams,
        strains=strain_maps(machine, beams),
        warnings=(*excluded, *misfits, *unsure, *warn_still_surfaces(divided, names), *alternating, *many),
    )


def make_initial_state(setup: Setup, packed: Packed, kinematics: Packed, workspace: Workspace) -> State:
    """The state at the start.

    Args:
        setup: of the simulation.
        packed: its system.
        kinematics: buffer.
        workspace: of the first step, changed.

    Raises:
        MachineError: a part without inertia can move, or a cylinder starts outside its stroke.
    """
    system = setup.system
    state = make_state(system)
    update_kinematics(packed.multibody, state.q, state.v, kinematics)
    _check_inertia(setup, packed, kinematics, workspace)
    state.hydraulics.pressure[:] = system.hydraulics.network.pressure
    state.hydraulics.swash[:] = 1.0
    place_pistons(setup, packed, kinematics, workspace, state)
    if (soil := setup.world.soil) is None or not soil.heaps:
        return state
    return state._replace(soil=with_heaps(soft_ground(system), soil, state.soil))


def place_pistons(setup: Setup, packed: Packed, kinematics: Packed, workspace: Workspace, state: State) -> None:
    """Sets the pistons of a state to the lengths of their cylinders.

    Args:
        setup: of the simulation.
        packed: its system.
        kinematics: at the positions of the state.
        workspace: changed.
        state: changed.

    Raises:
        MachineError: a cylinder is outside its stroke.
    """
    for c, cylinder in enumerate(setup.machine.cylinders):
        length = cylinder_length(packed.hydraulics.geometry, kinematics, c, workspace.hydraulics.direction[c])
        position = length - cylinder.retracted_length
        if not -STROKE_TOLERANCE <= position <= cylinder.stroke + STROKE_TOLERANCE:
            raise MachineError(
                f"starts at a length of {length:.4f} m, outside its range of {cylinder.retracted_length:.4f} to "
                f"{cylinder.retracted_length + cylinder.stroke:.4f} m",
                file=setup.machine.file,
                element=f'<cylinder name="{cylinder.name}">',
                remedy="change retracted_length, stroke, the attachments or the initial positions",
            )
        state.hydraulics.piston[c] = min(max(position, 0.0), cylinder.stroke)


def make_neutral_command(machine: Machine, links: int) -> Command:
    """Neutral commands without pushes and faults; `links` is the number of links of the divided machine."""
    return make_command(
        valves=len(machine.valves),
        drives=len(machine.drives),
        machines=max(len(machine.members), 1),
        links=links,
        pumps=len(machine.pumps),
        reliefs=len(machine.relief_valves) + len(machine.counterbalance_valves),
        leaks=len(leaks(machine)),
        cylinders=len(machine.cylinders),
    )


def integrator_names() -> tuple[str, ...]:
    """Names of the integrators that `Simulation` takes."""
    return tuple(sorted(INTEGRATORS))


def scheme_names() -> tuple[str, ...]:
    """Names of the hydraulic schemes that `Simulation` takes."""
    return tuple(sorted(SCHEMES))


def divided_machine(machine: Machine) -> Machine:
    """The simulated machine, with flexible links divided into rigid elements; its links are those of `link_poses`.

    Raises:
        MachineError: a flexible link cannot be divided.
    """
    return split_flexible_links(machine)


def ground_height(ground: Ground | None, x: float, y: float) -> float:
    """Height of the natural ground at a place [m]; 0 without ground."""
    return ground_surface(ground, x, y)[0]


def _check_settings(machine, step, scheme, tolerance, most_sweeps, integrator):
    """Refuses settings out of range; returns the integrator."""
    require_name("scheme", scheme, SCHEMES)
    require_range("step", step, 1e-7, 0.1, "s")
    require_range("tolerance", tolerance, 1e-15, 1.0)
    require_count("most_sweeps", most_sweeps, 1, 1_000_000)
    return require_name("integrator", machine.integrator.method if integrator is None else integrator, INTEGRATORS)


def _check_scheme(machine, scheme):
    """Refuses a plain scheme for a circuit that it does not support."""
    if scheme != "implicit" and (part := beyond_published_schemes(machine)):
        raise ParameterError("scheme", scheme, f"implicit: '{part}' is beyond the plain schemes")
    for cylinder in machine.cylinders:
        if scheme == "split" and cylinder.piston_mass == 0.0:
            raise ParameterError("scheme", scheme, f"another: '{cylinder.name}' has no piston_mass")


def _sleeping(system: System) -> Sleeping:
    """The bodies that may sleep: nothing but gravity and contacts acts on them."""
    actuators, laws = system.hydraulics.geometry, system.joints.laws
    bodies = (system.loops.parent_body, system.loops.child_body, actuators.barrel_body, actuators.rod_body)
    rates = (laws.rate_index, system.springs.rate_index, system.multibody.spring_rate)
    touched = (system.soil.body, system.tracks.body, system.digging.body, system.granular.body, system.blocks.body)
    held = np.concatenate([*bodies, *touched])
    return make_sleeping(system.multibody, system.contact.shapes, held, np.concatenate(rates))


def _check_inertia(setup, packed, kinematics, workspace):
    """Refuses joints that move a part without inertia."""
    factor = Packed(workspace.multibody.factor)
    mass_matrix(packed.multibody, kinematics, workspace.multibody.composite, factor)
    stuck = factorise(packed.multibody, kinematics, factor)
    if stuck >= 0:
        raise MachineError(
            "moves a part without inertia about it",
            file=setup.machine.file,
            element=setup.machine.joint_label(setup.names.rate_joint[stuck]),
            remedy="give the links beyond it mass and inertia",
        )


def _fingerprint(system: System) -> str:
    """Digest of everything that a step reads besides state and command."""
    digest = hashlib.sha256(repr(system.settings).encode())
    for array in leaves(system[1:]):
        digest.update(np.asarray(array).tobytes())
    return digest.hexdigest()[:16]
