"""Volumes by which buckets are rated: struck, and heaped with slopes of 1:1 or 1:2."""

from collections.abc import Sequence

# Slopes of the heaps, rise over run: of hoes by SAE J296 and ISO 7451, of loaders by SAE J742 [-].
HOE_HEAP, LOADER_HEAP = 1.0, 0.5


def profile_area(profile: Sequence[Sequence[float]]) -> float:
    """Area of a plane polygon, positive if its points run counter-clockwise [m2].

    Args:
        profile: corners [m], (corners, 2); the last one is joined to the first.
    """
    ends = (*profile[1:], profile[0])
    return 0.5 * sum(x * next_z - next_x * z for (x, z), (next_x, next_z) in zip(profile, ends, strict=True))


def heaped_capacity(profile: Sequence[Sequence[float]], opening: float, width: float, slope: float) -> float:
    """Struck volume of a bucket, and a heap with one slope on all sides of its opening [m3].

    Args:
        profile: of the inner surface, from edge to edge [m], (corners, 2).
        opening, width: of the bucket [m].
        slope: of the heap, rise over run [-]; 0: struck.
    """
    return width * abs(profile_area(profile)) + heap_volume(opening, width, slope)


def heap_volume(opening: float, width: float, slope: float) -> float:
    """Volume of a heap with one slope on all sides, on a level rectangle [m3].

    Args:
        opening, width: sides of the rectangle [m].
        slope: rise over run [-].
    """
    short, long_ = sorted((opening, width))
    return slope * (long_ * short**2 / 4.0 - short**3 / 12.0)
