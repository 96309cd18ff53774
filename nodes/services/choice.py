"""Filters of `simulation_interfaces` for entities, worlds and poses."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grouser.nodes.services.host import Entity, EntitySnapshot
from grouser.nodes.services.regular_expression import RegularExpression
from grouser.nodes.services.request_error import Reason, RequestError

if TYPE_CHECKING:
    from grouser.nodes.services.region import Region

_ANY, _ALL = 0, 1


@dataclass(frozen=True)
class TagChoice:
    """A filter for tags; without tags everything matches.

    Args:
        tags: to match.
        mode: 0 for any of them, 1 for all, as in TagsFilter.msg.

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
        """Whether something with these tags matches."""
        return not self.tags or (self.tags <= set(tags) if self.mode == _ALL else not self.tags.isdisjoint(tags))


@dataclass(frozen=True, eq=False)
class EntityChoice:
    """A filter for entities; all of its conditions must hold.

    Attributes:
        name: a part of the name matches; None: any name.
        categories: numbers of categories, of which it has one; empty: any.
        tags: filter for its tags.
        region: intersects one of its shapes; None: anywhere.
    """

    name: RegularExpression | None = None
    categories: frozenset[int] = frozenset()
    tags: TagChoice = TagChoice()
    region: "Region | None" = None

    def of(self, scene: EntitySnapshot) -> list[str]:
        """Names of the matching entities, in the order of the snapshot."""
        return [name for name, entity in scene.entities.items() if self._takes(name, entity)]

    def _takes(self, name: str, entity: Entity) -> bool:
        return (
            (self.name is None or self.name.found_in(name))
            and (not self.categories or entity.traits.category in self.categories)
            and self.tags.takes(entity.traits.tags)
            and (self.region is None or self.region.meets(entity.shapes))
        )
