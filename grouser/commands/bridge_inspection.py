"""`grouser inspect --bridge`: what a bridge's mapping does, one row a signal."""

import json

from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.mapping.table import HEADINGS, mapping_facts, mapping_rows
from grouser.catalogue import bridge_file
from grouser.text_table import table


def show(name: str, as_json: bool) -> None:
    """Prints a mapping.

    Args:
        name: path of a mapping file, or the name of one that comes with grouser.
        as_json: whether as JSON instead of a table.

    Raises:
        MachineError: the mapping is not valid.
    """
    mapping = load_bridge_mapping(bridge_file(name))
    facts = mapping_facts(mapping)
    if as_json:
        print(json.dumps(facts, indent=1, allow_nan=False))
        return
    machine = f" of {mapping.machine}" if mapping.machine else ""
    print(f"{mapping.bridge} bridge{machine}: recovery {mapping.recovery}, {mapping.good} valid messages to be live")
    for line in table(HEADINGS, list(mapping_rows(facts))):
        print(line)
