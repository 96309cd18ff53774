"""What the hydraulic elements of ``<grouser>`` say of each other."""

from grouser.physics.description.extension import Extension


def check_hydraulics(extension: Extension) -> None:
    """Checks that pump, fluid, valves and cylinders make one circuit.

    Raises:
        MachineError: they do not.
    """
    pumps, cylinders = extension["pumps"], extension["cylinders"]
    for entry in pumps:
        pump = entry.value
        if pump.tank_pressure >= pump.supply_pressure:
            raise entry.element.error(
                f"tank_pressure = {pump.tank_pressure:g} Pa is not below supply_pressure = {pump.supply_pressure:g} Pa"
            )
    if len(pumps) > 1:
        raise pumps[1].element.error("there are two pumps; one pump feeds all valves", "keep one of them")
    fed: dict[str, str] = {}
    for entry in cylinders:
        cylinder = entry.value
        if not pumps:
            raise entry.element.error("a cylinder needs a supply", "add <pump supply_pressure=.../> to <grouser>")
        if not extension["fluid"]:
            raise entry.element.error("a cylinder needs oil", "add <fluid/> to <grouser>")
        if cylinder.rod_diameter >= cylinder.bore:
            raise entry.element.error(
                f"rod_diameter = {cylinder.rod_diameter:g} m is not below bore = {cylinder.bore:g} m"
            )
        if cylinder.valve in fed:
            raise entry.element.error(
                f"valve '{cylinder.valve}' already feeds cylinder '{fed[cylinder.valve]}'",
                "give each cylinder its own valve",
            )
        fed[cylinder.valve] = cylinder.name
    for entry in extension["valves"]:
        if entry.value.name not in fed:
            raise entry.element.error(
                f"valve '{entry.value.name}' feeds no cylinder", "name it in a cylinder, or remove it"
            )
