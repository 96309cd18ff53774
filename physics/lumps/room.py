"""Lumps in the steps of a machine: what shovels have cut becomes grains before a step, and those that rest become soil.

The room follows those of the shovels and of the soil, and comes before that of the grains.
"""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.phases import MORE_GRAIN_CONTACTS, MORE_TILES, NOTHING
from grouser.physics.granular.room import System
from grouser.physics.lumps.forming import form_lumps
from grouser.physics.lumps.merging import is_due, merge_lumps, open_tiles_below
from grouser.physics.lumps.notch import take_back


def acts(system: System) -> bool:
    """Whether soil becomes lumps."""
    return system.lumps.mass > 0.0


@kernel
def request(context: Context):
    """Makes lumps of what has been cut; asks for room for them, and for the tiles on which others become soil."""
    if context.workspace.granular.made[0] >= 0:
        return NOTHING
    if is_due(context) and not open_tiles_below(context):
        return MORE_TILES
    return NOTHING if form_lumps(context) else MORE_GRAIN_CONTACTS


@kernel
def detect(context: Context):
    """Turns lumps that have come to rest into loose soil, and takes back those that tools would jam."""
    merge_lumps(context, is_due(context))
    take_back(context)
