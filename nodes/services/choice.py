"""Which entities, worlds and poses are meant: filters of `simulation_interfaces`."""

from collections.abc import Collection
from dataclasses import dataclass

from grouser.nodes.services.host import Entity, EntitySnapshot
from grouser.nodes.services.region import Region
from grouser.nodes.services.regular_expression import RegularExpression
from grouser.nodes.services.request_error import Reason, RequestError

_ANY, _ALL = 0, 1


@dataclass(frozen=True)
class TagChoice:
    """Tags, any or all of which are asked for; none: whatever the tags are.

    Args:
        tags: that are asked for.
        mode: 0 for any of them, 1 for all, as TagsFilter.msg counts.

    Raises:
        RequestError: there is no such mode.
    """

    tags: frozenset[str] = frozenset()
    mode: int = _ANY

    def __post_init__(self) -> None:
        if self.mode not in (_ANY, _ALL):
            raise RequestError(
                Reason.FEATURE_UNSUPPORTED, f"filter_mode {self.mode} is not known; valid: 0 (any), 1 (all)"
            )

    def takes(self, tags: Collection[str]) -> bool:
        """Whether something with these tags is meant."""
        return not self.tags or (self.tags <= set(tags) if self.mode == _ALL else not self.tags.isdisjoint(tags))


@dataclass(frozen=True, eq=False)
class EntityChoice:
    """Entities for which all of these hold.

    Attributes:
        name: some part of the name matches; None: any name.
        categories: numbers of categories, any of which it has; empty: any.
        tags: it has these.
        region: it reaches into this; None: wherever it is.
    """

    name: RegularExpression | None = None
    categories: frozenset[int] = frozenset()
    tags: TagChoice = TagChoice()
    region: Region | None = None

    def of(self, scene: EntitySnapshot) -> list[str]:
        """Names of the entities that are meant, in the order of the scene."""
        return [name for name, entity in scene.entities.items() if self._takes(name, entity)]

    def _takes(self, name: str, entity: Entity) -> bool:
        return (
            (self.name is None or self.name.found_in(name))
            and (not self.categories or entity.traits.category in self.categories)
            and self.tags.takes(entity.traits.tags)
            and (self.region is None or self.region.meets(entity.shapes))
        )
