"""Flexible links from their elements: stiffnesses from sections, and what the discretisations need."""

from dataclasses import fields, replace

from grouser.physics.description.data.compliance import BeamSection, FlexibleLink
from grouser.physics.description.data.mechanism import Inertial
from grouser.physics.description.elements.flexible_links.element import SIZE_MAX, WrittenFlexibleLink
from grouser.physics.description.elements.flexible_links.end_load import carries_at_end
from grouser.physics.description.elements.flexible_links.inertia import check_agreement, sections_inertial
from grouser.physics.description.elements.flexible_links.sections import SECTION, SectionShape, has_shape, section_of
from grouser.physics.description.table.family import Entry, Extension, Scope
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.robot import Robot

RIGID = "rigid_elements"
# Smallest and largest size. The polynomials of curves of higher degrees are no more independent to rounding.
SIZES = {
    "assumed_modes": (1, 40),
    "finite_elements": (1, 100),
    "bezier": (2, 20),
    "b_spline": (1, 100),
    RIGID: (1, SIZE_MAX),
}
# Largest number of coordinates of one link.
COORDINATES_MAX = 64
_STIFFNESSES = ("bending_stiffness_y", "bending_stiffness_z", "torsional_stiffness")
_MATERIAL = ("modulus", "shear_modulus", "density")
_MODAL = {"axial": 1, "torsion": 1, "bending": "both", "modes": None, "coupling": "first_order", "rotary_inertia": True}
_END_LOADS = "assumed_modes"
_STIFFNESS_MAX = 1e15


def with_inertials(robot: Robot, extension: Extension, _warnings: list[str]) -> Robot:
    """Gives flexible links without mass properties those of their sections.

    Raises:
        MachineError: they cannot be found.
    """
    filled = {entry.value.link for entry in extension["densities"]}
    entries = {entry.value.link: entry for entry in extension["flexible_links"]}
    links = []
    for link in robot.links:
        entry = entries.get(link.name)
        if entry is not None and link.inertial is None and link.name not in filled and entry.value.density is not None:
            flexible = _flexible_link(entry)
            if flexible.sections:
                link = replace(link, inertial=sections_inertial(flexible))
        links.append(link)
    return replace(robot, links=tuple(links))


def complete_flexible_link(entry: Entry, scope: Scope) -> FlexibleLink:
    """Returns a flexible link with its stiffnesses, its density and the defaults of its discretisation.

    Raises:
        MachineError: values that contradict each other, or are out of range.
    """
    flexible = _flexible_link(entry, carries_at_end(entry.value, scope))
    inertial = scope.links[flexible.link].inertial
    if not flexible.sections:
        return flexible
    if flexible.density == 0.0:
        flexible = replace(flexible, density=_density(entry.element, flexible, inertial))
        if flexible.discretisation == RIGID:
            return flexible
    if inertial is not None:
        check_agreement(entry.element, flexible, inertial)
    return flexible


def _flexible_link(entry: Entry, carries: bool = False) -> FlexibleLink:
    """What follows from the element, and whether its end carries something; the density is 0 if it is not given."""
    written, element = entry.value, entry.element
    discretisation = written.discretisation
    end_loads = _end_loads(written, element, carries)
    _check_size(written, element, discretisation, end_loads)
    sections = _sections(written, element)
    _check_one_way(written, element, discretisation, sections)
    if sections:
        modulus, shear = written.modulus, written.shear_modulus or 0.0
        first = sections[0]
        stiffnesses = (
            modulus * first.second_moment_y,
            modulus * first.second_moment_z,
            shear * first.torsion_constant,
        )
        _check_stiffnesses(element, stiffnesses[: 3 if shear else 2])
    else:
        stiffnesses = tuple(getattr(written, name) for name in _STIFFNESSES)
    return FlexibleLink(
        written.link,
        discretisation,
        written.size,
        written.xyz,
        written.rpy,
        written.length,
        *stiffnesses,
        written.damping,
        written.modulus or 0.0,
        written.shear_modulus or 0.0,
        written.density or 0.0,
        sections,
        **{name: getattr(written, name) for name in _MODAL},
        end_loads=end_loads,
    )


def _end_loads(written: WrittenFlexibleLink, element: Element, carries: bool) -> bool:
    if written.discretisation == _END_LOADS:
        return carries if written.end_loads is None else written.end_loads
    if written.end_loads is not None:
        raise element.error(f"end_loads is given for {written.discretisation}, not {_END_LOADS}", "leave it out")
    return False


def _check_size(written: WrittenFlexibleLink, element: Element, discretisation: str, end_loads: bool) -> None:
    least, most = SIZES[discretisation]
    if not least <= written.size <= most:
        raise element.error(f"size = {written.size} of {discretisation}; valid: {least} to {most}")
    if discretisation == RIGID:
        for name, default in _MODAL.items():
            if getattr(written, name) != default:
                raise element.error(f"{name} is given for rigid_elements, which have no such choice", "leave it out")
        return
    directions = 2 if written.bending == "both" else 1
    bent = {"assumed_modes": 0, "finite_elements": written.size, "bezier": -1, "b_spline": 1}[discretisation]
    count = directions * (written.size + bent) + written.axial + written.torsion
    if end_loads:
        count += 2 * directions + (written.axial > 0) + (written.torsion > 0)
    if min(count, written.modes or count) > COORDINATES_MAX:
        raise element.error(
            f"it has {count} elastic coordinates; valid: up to {COORDINATES_MAX}",
            f'modes="{COORDINATES_MAX}" keeps the lowest ones',
        )
    if written.modes is not None and written.modes > count:
        raise element.error(f"modes = {written.modes} of {count} elastic coordinates; valid: 1 to {count}")
    if written.torsion > 0 and written.shear_modulus is None and written.modulus is not None:
        raise element.error(f"torsion = {written.torsion} without shear_modulus", 'give it, or torsion="0"')


def _sections(written: WrittenFlexibleLink, element: Element) -> tuple[BeamSection, ...]:
    """The sections along the axis; empty if none is given."""
    if not written.section:
        if not has_shape(written):
            return ()
        shape = SectionShape(**{field.name: getattr(written, field.name) for field in fields(SectionShape)})
        return (section_of(shape, 0.0, element),)
    if has_shape(written):
        raise element.error("its cross section is given by attributes and by <section>", "give it in one way")
    sections = []
    for one, child in zip(written.section, element.all(SECTION.tag), strict=True):
        if one.at > written.length:
            raise child.error(f"at = {one.at:g} m is beyond the length of {written.length:g} m")
        if sections and one.at < sections[-1].at:
            raise child.error(f"at = {one.at:g} m is before the section above, at {sections[-1].at:g} m")
        if len(sections) > 1 and one.at == sections[-2].at:
            raise child.error(f"three sections are at {one.at:g} m", "two are a step")
        sections.append(section_of(one, one.at, child))
    return tuple(sections)


def _check_one_way(
    written: WrittenFlexibleLink, element: Element, discretisation: str, sections: tuple[BeamSection, ...]
) -> None:
    """Requires either three stiffnesses, of rigid elements, or moduli and sections."""
    material = [name for name in _MATERIAL if getattr(written, name) is not None]
    stiff = [name for name in _STIFFNESSES if getattr(written, name) is not None]
    by_sections = f"{'modulus, shear_modulus' if discretisation == RIGID else 'modulus'} and a cross section"
    ways = f"give either {', '.join(_STIFFNESSES)} or {by_sections}"
    if discretisation != RIGID:
        ways = f"give {by_sections}"
        if stiff:
            raise element.error(f"{stiff[0]} is given for {discretisation}, which needs the cross section", ways)
    if stiff and (material or sections):
        raise element.error("its stiffness is given in two ways", ways)
    if not stiff and not material and not sections:
        raise element.error("its stiffness is given nowhere", ways)
    if stiff:
        needed = {name: getattr(written, name) for name in _STIFFNESSES}
    else:
        needed = {"modulus": written.modulus, "a cross section": sections or None}
        if discretisation == RIGID:
            needed["shear_modulus"] = written.shear_modulus
    for name, value in needed.items():
        if value is None:
            beside = (stiff or material or ["the cross section"])[0]
            raise element.error(f"{name} is missing beside {beside}", ways)


def _check_stiffnesses(element: Element, values: tuple[float, ...]) -> None:
    for name, value in zip(_STIFFNESSES, values, strict=False):
        if not 0.0 < value <= _STIFFNESS_MAX:
            raise element.error(
                f"its section has {name} = {value:g} N m2; valid: above 0, at most {_STIFFNESS_MAX:g}",
                "lengths are in metres, the moduli in pascals",
            )


def _density(element: Element, flexible: FlexibleLink, inertial: Inertial | None) -> float:
    """Density that gives the link its mass."""
    if inertial is None or inertial.mass == 0.0:
        raise element.error(f"link '{flexible.link}' has no mass", "give a density, or the link an <inertial>")
    return inertial.mass / sections_inertial(replace(flexible, density=1.0)).mass
