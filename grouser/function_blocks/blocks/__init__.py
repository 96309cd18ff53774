"""The types of blocks, one file each family. A new one is a file, and a line here."""

from collections.abc import Mapping

from grouser.function_blocks.block import BlockType
from grouser.function_blocks.blocks import (
    arithmetic,
    attitude,
    bistable,
    comparison,
    counters,
    delay,
    dynamics,
    edges,
    function,
    logic,
    lookup,
    pid,
    selection,
    state_chart,
    timed,
    timers,
)

_FAMILIES = (
    *(logic, comparison, arithmetic, attitude, selection),
    *(timers, bistable, edges, counters),
    *(pid, dynamics, delay, lookup, timed),
    *(state_chart, function),
)
TYPES: Mapping[str, BlockType] = {one.name: one for family in _FAMILIES for one in family.BLOCKS}
