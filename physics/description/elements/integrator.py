"""The integrator of a machine."""

from grouser.physics.description.data.mechanism import Integrator
from grouser.physics.description.table.attributes import ElementKind, choice
from grouser.physics.description.table.family import Family

INTEGRATOR = ElementKind(
    "integrator",
    "How the machine's motion is integrated; semi_implicit where nothing is said: of first order, for everything. "
    "implicit_midpoint is of second order and damps nothing, for smooth mechanisms: no contacts, limits, dry "
    "friction, hydraulics, motors, nor drives that are not commanded by effort. variational is of second order, "
    "too, for smooth trees, which have no loop joints either: momenta keep to rounding, and the energy's error "
    "stays bounded however long it runs.",
    (choice("method", "the method", ("semi_implicit", "implicit_midpoint", "variational")),),
    Integrator,
    field="integrator",
    single=True,
)


FAMILY = Family((INTEGRATOR,))
