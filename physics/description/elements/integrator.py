"""The integrator of a machine."""

from grouser.physics.description.data.mechanism import Integrator
from grouser.physics.description.table.attributes import ElementKind, choice
from grouser.physics.description.table.family import Family

INTEGRATOR = ElementKind(
    "integrator",
    "Integration method of the machine. semi_implicit, the default, is of first order and supports everything. "
    "implicit_midpoint is of second order and without numerical damping. It supports smooth mechanisms only: no "
    "contacts, limits, dry friction, hydraulics, motors or drives in position or velocity mode. variational is of "
    "second order, too, and supports smooth trees without loop joints: momenta are conserved to rounding, and the "
    "energy error stays bounded.",
    (choice("method", "the method", ("semi_implicit", "implicit_midpoint", "variational")),),
    Integrator,
    field="integrator",
    single=True,
)


FAMILY = Family((INTEGRATOR,))
