"""Spans: ranges of consecutive trees. A step moves the bodies of its spans only, those between them sleep.

Only lone free bodies sleep, each of which is a tree and a block of the mass matrix by itself. A span therefore has
whole trees and whole blocks, and no operation on one needs a number of another.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.model.multibody import MultibodyModel


class Span(NamedTuple):
    """A range of bodies with their coordinates; ends are exclusive.

    In kernels the numbers are unsigned: numba tests signed indices for wrap-around, which would keep loops over a span
    from being as fast as those over all.

    Attributes:
        body, body_end: bodies.
        rate, rate_end: coordinate rates.
        place, place_end: numbers in q.
    """

    body: int
    body_end: int
    rate: int
    rate_end: int
    place: int
    place_end: int


class Spans(NamedTuple):
    """The spans of a step; the first `number[0]` are valid.

    Attributes:
        number: number of spans, (1,).
        bound: the six numbers of each, (most, 6).
    """

    number: np.ndarray
    bound: np.ndarray


def make_spans(model: MultibodyModel) -> Spans:
    """One span with everything, and room for the spans between lone free bodies."""
    bound = np.zeros((int(np.count_nonzero(model.body_alone)) + 1, 6), dtype=np.int64)
    bound[0] = (0, model.elastic.carried[0], 0, len(model.rate_damping), 0, len(model.q_initial))
    return Spans(np.ones(1, dtype=np.int64), bound)


@inlined
def whole(model: MultibodyModel):
    """The span of all trees, without carried bodies (`model.elastic_links`)."""
    none = np.uintp(0)
    bodies, rates, places = model.elastic.carried[0], model.rate_damping.shape[0], model.q_initial.shape[0]
    return Span(none, np.uintp(bodies), none, np.uintp(rates), none, np.uintp(places))


@inlined
def carried_bodies(model: MultibodyModel):
    """The carried bodies, without coordinates."""
    none = np.uintp(0)
    return Span(np.uintp(model.elastic.carried[0]), np.uintp(model.body_parent.shape[0]), none, none, none, none)


@inlined
def every_body(model: MultibodyModel):
    """All bodies, carried ones included, without coordinates: elastic links do not count with it."""
    none = np.uintp(0)
    return Span(none, np.uintp(model.body_parent.shape[0]), none, none, none, none)


@inlined
def has_lone_bodies(spans: Spans):
    """Whether the machine has lone free bodies, between which there may be spans."""
    return spans.bound.shape[0] > 1


@inlined
def span_of(model: MultibodyModel, i):
    """The span of one lone free body."""
    rate, place = model.column_rate[model.column_start[i]], model.body_q[i]
    return _span(i, i + 1, rate, rate + 6, place, place + 7)


@inlined
def span_at(spans: Spans, k):
    """Span number k."""
    b = spans.bound
    return _span(b[k, 0], b[k, 1], b[k, 2], b[k, 3], b[k, 4], b[k, 5])


@inlined
def _span(body, body_end, rate, rate_end, place, place_end):
    """A span of signed numbers."""
    return Span(
        np.uintp(body), np.uintp(body_end), np.uintp(rate), np.uintp(rate_end), np.uintp(place), np.uintp(place_end)
    )


@kernel
def span_all(model: MultibodyModel, spans: Spans):
    """Makes one span with everything."""
    all_of, bound = whole(model), spans.bound
    bound[0, 0], bound[0, 2], bound[0, 4] = all_of.body, all_of.rate, all_of.place
    bound[0, 1], bound[0, 3], bound[0, 5] = all_of.body_end, all_of.rate_end, all_of.place_end
    spans.number[0] = 1


@kernel
def list_spans(model: MultibodyModel, asleep, spans: Spans):
    """Lists the spans between the bodies that sleep.

    Args:
        model: the multibody system.
        asleep: whether each body sleeps, only lone free ones, (bodies,).
        spans: result.
    """
    count, body, rate, place = 0, 0, 0, 0
    bound = spans.bound
    bodies = model.elastic.carried[0]
    for i in range(bodies):
        if asleep[i]:
            rate_here, place_here = model.column_rate[model.column_start[i]], model.body_q[i]
            if i > body:
                bound[count, 0], bound[count, 2], bound[count, 4] = body, rate, place
                bound[count, 1], bound[count, 3], bound[count, 5] = i, rate_here, place_here
                count += 1
            body, rate, place = i + 1, rate_here + 6, place_here + 7
    if bodies > body:
        end = whole(model)
        bound[count, 0], bound[count, 2], bound[count, 4] = body, rate, place
        bound[count, 1], bound[count, 3], bound[count, 5] = end.body_end, end.rate_end, end.place_end
        count += 1
    spans.number[0] = count
