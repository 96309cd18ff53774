"""The family of flexible links."""

from grouser.physics.description.elements.flexible_links.attachments import check_flexible_links
from grouser.physics.description.elements.flexible_links.completion import complete_flexible_link, with_inertials
from grouser.physics.description.elements.flexible_links.element import FLEXIBLE_LINK
from grouser.physics.description.table.family import Family

FAMILY = Family(
    (FLEXIBLE_LINK,),
    prepare=with_inertials,
    complete={FLEXIBLE_LINK.field: complete_flexible_link},
    check=check_flexible_links,
)
