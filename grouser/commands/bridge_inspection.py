"""`grouser inspect --bridge`: what a bridge's mapping does, one row a signal."""

from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.mapping.table import HEADINGS, mapping_facts, mapping_rows
from grouser.catalogue import bridge_file
from grouser.json_output import SCREEN, write_json
from grouser.text_table import table


def show(name: str, json_target: str | None) -> None:
    """Prints a mapping.

    Args:
        name: path of a mapping file, or the name of one that comes with grouser.
        json_target: where as JSON too, see `json_output`; None: nowhere.

    Raises:
        MachineError: the mapping is not valid.
    """
    mapping = load_bridge_mapping(bridge_file(name))
    facts = mapping_facts(mapping)
    if json_target is not None:
        write_json(json_target, facts)
    if json_target == SCREEN:
        return
    machine = f" of {mapping.machine}" if mapping.machine else ""
    print(f"{mapping.bridge} bridge{machine}: recovery {mapping.recovery}, {mapping.good} valid messages to be live")
    for line in table(HEADINGS, list(mapping_rows(facts))):
        print(line)
